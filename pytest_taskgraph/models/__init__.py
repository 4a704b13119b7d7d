"""Models: whoever answers requests.

remote      any litellm name
lean        an address and a name, `http://host/v1#name`: the OpenAI protocol without litellm
recorded    a file of replies
python_model  a callable of the user's own, `python:package.module:name`
scripted    for tests: replies given in Python
simulated   for testing the machinery: right with a known probability; opened with a look-up of answers

Around the live ones stand layers, from the outside in:

chain       puts them together
stored      replies that the store has (request_key: what makes two requests the same); a replay asks nobody
retries     what is asked again
limited     a slot among those in flight, within limits that adapt
timed       the time of one attempt
budget      calls and dollars that may be spent, at prices stated or listed
layer       the interface of them all: an attempt, which is entered, then sent

Beside them:

watch       counts of what they do
scoring     log-probabilities of given texts: what is sent for them, and what a response holds
transport   the HTTP session of both clients, which limits the size of replies
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial

from ..asking import Model
from ..catalog import Catalog
from ..errors import UsageError
from ..trial import Json
from .lean import Lean
from .python_model import SCHEME, open_callable
from .recorded import open_recorded
from .remote import Remote
from .remote import close as close_clients


def _endpoint(scheme: str, rest: str, settings: Mapping[str, Json]) -> Lean:
    return Lean(f"{scheme}:{rest}", settings)


Opener = Callable[[str, Mapping[str, Json]], Model]
"""From what stands after the scheme, empty where a name stands alone, and the model options to the model."""

_SCHEMES: dict[str, Opener] = {
    "litellm": Remote,  # also where no scheme is given
    "http": partial(_endpoint, "http"),
    "https": partial(_endpoint, "https"),
    "recorded": open_recorded,
    SCHEME: open_callable,
}
MODELS: Catalog[Opener] = Catalog("model", _SCHEMES)


def open_model(spec: str, settings: Mapping[str, Json]) -> Model:
    """The model that `spec` names: `SCHEME:REST` with a scheme of MODELS, a registered name, else a litellm name.

    A litellm name may hold a colon itself (`ollama/llama3:8b`), so only the schemes of MODELS are schemes. Raises
    UsageError for an empty name, and whatever the opener finds wrong: a recorded file is read here.
    """
    if (name := registered_name(spec)) and name == spec.strip():
        return MODELS[name]("", settings)
    scheme, colon, rest = spec.strip().partition(":")
    if scheme.lower() in ("http", "https"):
        scheme = scheme.lower()
    if not colon or scheme not in MODELS:
        scheme, rest = "litellm", spec.strip()
    if not rest.strip():
        raise UsageError(f"the model {spec!r} has no name; give one, such as openai/gpt-4o or recorded:replies.jsonl")
    return MODELS[scheme](rest, settings)


def registered_name(spec: str) -> str:
    """Return the name of the registered model that the specification is of; empty where it is of none."""
    name = spec.strip().partition(":")[0]
    return name if name in MODELS.registered else ""


async def close() -> None:
    """Nothing; the connections that live models left open in the running event loop are closed.

    To be awaited in the loop that asked, before it stops. Imports no client's library; more can be asked afterwards.
    """
    await close_clients()
