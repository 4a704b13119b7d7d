"""The methods of PAGED, in the order of reports, and how users choose among them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from functools import partial
from types import MappingProxyType
from typing import TYPE_CHECKING, Final

from ...errors import UnknownNameError
from .element_extraction import extract_elements
from .extraction_method import ExtractionMethod
from .extraction_rules.document_elements import FORMAT
from .prompts import PROMPTS
from .refinement.refine_episode import check_refinement, refine, refine_settings
from .worked_examples import read_worked_examples

if TYPE_CHECKING:
    from ...asking import Episode
    from .document_sets import DocumentPair
    from .paged_options import PagedSettings

SECTION: Final = "extraction"
ALL: Final = "all"


def extraction_prompt(reasoning: bool, pair: DocumentPair, settings: PagedSettings) -> str:
    """Return the prompt that asks for the graph of a document, after worked examples.

    Args:
        reasoning: Whether the model is to reason before the graph.
        pair: The document.
        settings: They state the number of worked examples.

    Raises:
        UsageError: if the user's template cannot be read or fails.
    """
    examples = read_worked_examples()[: settings.examples]
    fields = {"document": pair.document.strip(), "examples": examples, "reasoning": reasoning}
    return PROMPTS.render("extract", fields, settings)


def elements_prompt(pair: DocumentPair, settings: PagedSettings) -> str:
    """Return the prompt that asks for the elements of a document, after worked examples.

    Raises:
        UsageError: if the user's template cannot be read or fails.
    """
    examples = read_worked_examples()[: settings.examples]
    fields = {"document": pair.document.strip(), "examples": examples, "format": FORMAT.strip()}
    return PROMPTS.render("elements", fields, settings)


METHODS: Final[Mapping[str, ExtractionMethod]] = MappingProxyType(
    {
        method.name: method
        for method in (
            ExtractionMethod("extract", "the graph at once", partial(extraction_prompt, False), "whole"),
            ExtractionMethod("reason", "the graph after reasoning", partial(extraction_prompt, True), "marker"),
            ExtractionMethod(
                "elements", "the elements, of which rules build the graph", elements_prompt, "whole", extract_elements
            ),
            ExtractionMethod(
                "refine",
                "the graph, refined by feedback",
                partial(extraction_prompt, False),
                "whole",
                refine,
                refine_settings,
                check_refinement,
            ),
        )
    }
)


def extraction_episodes() -> dict[str, Episode]:
    """Return the episodes of the methods that have one, by the name of the method."""
    return {name: method.episode for name, method in METHODS.items() if method.episode is not None}


def select_methods(names: Iterable[str]) -> tuple[ExtractionMethod, ...]:
    """Return the methods that are named, each once, in the order of reports.

    Args:
        names: Names of methods, or "all".

    Raises:
        UnknownNameError: if there is no method of a name.
    """
    chosen: set[str] = set()
    for name in names:
        if name != ALL and name not in METHODS:
            raise UnknownNameError("method of PAGED", name, [*METHODS, ALL])
        chosen.update(METHODS if name == ALL else [name])
    return tuple(method for method in METHODS.values() if method.name in chosen)
