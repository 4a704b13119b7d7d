"""Models: whoever answers requests.

remote      any litellm name
recorded    a file of replies
scripted    for tests: replies given in Python
oracle      for testing the machinery: right with a known probability; opened with a look-up of answers
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

from ..asking import Model
from ..errors import UsageError
from ..trial import Json
from .recorded import open_recorded
from .remote import Remote

MODELS: dict[str, Callable[[str, Mapping[str, Json]], Model]] = {
    "litellm": Remote,  # also where no scheme is given
    "recorded": open_recorded,
}


def open_model(spec: str, settings: Mapping[str, Json]) -> Model:
    """The model that `spec` names: `SCHEME:REST` with a scheme of MODELS, otherwise a litellm name as it stands.

    A litellm name may hold a colon itself (`ollama/llama3:8b`), so only the schemes of MODELS are schemes. Raises
    UsageError for an empty name, and whatever the opener finds wrong: a recorded file is read here.
    """
    scheme, colon, rest = spec.strip().partition(":")
    if not colon or scheme not in MODELS:
        scheme, rest = "litellm", spec.strip()
    if not rest.strip():
        raise UsageError(f"the model {spec!r} has no name; give one, such as openai/gpt-4o or recorded:replies.jsonl")
    return MODELS[scheme](rest, settings)
