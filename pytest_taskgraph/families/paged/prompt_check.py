"""The check of the user's prompt templates: each can be rendered, and the document is in what comes of it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from typing import Final

from ...errors import UsageError
from ...workflow.procedural_graph import ProceduralGraph
from .document_sets import DocumentPair
from .extraction_methods import elements_prompt, extraction_prompt
from .paged_options import PagedSettings
from .prompts import PROMPTS
from .refinement.verifier_feedback import FEEDBACK_PROMPT, VerifierFeedback

_PROBE: Final = DocumentPair("probe", "Probe", ProceduralGraph.of([]), "Every quiet otter must fold seven paper boats.")
_ASKING: Final[Mapping[str, tuple[Callable[[DocumentPair, PagedSettings], str], ...]]] = {
    "extract": (partial(extraction_prompt, False), partial(extraction_prompt, True)),
    "elements": (elements_prompt,),
}
"""From the name of a template to the prompts that are rendered of it."""
_FEEDBACK: Final = (
    VerifierFeedback("exclusive", "XOR1", "XOR2", ("it is wet", "it is late")),
    VerifierFeedback("inclusive", "OR1", "", ("it is wet", "it is dry")),
    VerifierFeedback("parallel", "AND1", "AND2", ("fold the boat", "paint the boat")),
    VerifierFeedback("sequential", "", "", ("fold the boat", "wash the car")),
)
"""Feedback of each kind, with and without a join."""


def check_prompts(settings: PagedSettings) -> None:
    """Check the templates that replace built-in ones.

    Raises:
        UnknownNameError: if there is no prompt of a template's name.
        UsageError: if a template cannot be read, is not Jinja, uses a name that it does not see, or leaves out the
            document.
    """
    PROMPTS.check(settings)
    if not settings.templates:
        return
    for name, prompts in _ASKING.items():
        for prompt in prompts:
            if _PROBE.document not in " ".join(prompt(_PROBE, settings).split()):
                raise UsageError(
                    f"--taskgraph-templates={settings.templates}: {PROMPTS.name}/{name}.jinja does not show the "
                    "document; add {{ document }}"
                )
    for with_marker in (False, True):
        PROMPTS.render(FEEDBACK_PROMPT, {"feedback": [*_FEEDBACK], "marked": with_marker}, settings)
