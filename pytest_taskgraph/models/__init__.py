"""Models: whoever answers requests.

clients.litellm_client     any litellm name
clients.openai_compatible  an address and a name, `http://host/v1#name`: the OpenAI protocol without litellm
clients.local_model        a model on this machine, `local:PATH`: a folder of transformers
clients.recorded           a file of replies
clients.python_callable    a callable of the user's own, `python:package.module:name`
clients.scripted           for tests: replies given in Python
clients.simulated          for testing the machinery: right with a known probability; opened with a look-up of answers
middleware.chain           the layers around the live ones, listed from the outside in
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from functools import partial

from ..asking import Model
from ..catalog import Catalog
from ..errors import UsageError
from ..trial import Json
from .clients.litellm_client import LiteLLMModel
from .clients.litellm_client import close as close_clients
from .clients.local_model import LOCAL, open_local
from .clients.openai_compatible import OpenAICompatibleModel
from .clients.python_callable import SCHEME, open_callable
from .clients.recorded import open_recorded


def _endpoint(scheme: str, rest: str, settings: Mapping[str, Json]) -> OpenAICompatibleModel:
    return OpenAICompatibleModel(f"{scheme}:{rest}", settings)


Opener = Callable[[str, Mapping[str, Json]], Model]
"""From what stands after the scheme, empty where a name stands alone, and the model options to the model."""

_SCHEMES: dict[str, Opener] = {
    "litellm": LiteLLMModel,  # also where no scheme is given
    "http": partial(_endpoint, "http"),
    "https": partial(_endpoint, "https"),
    "recorded": open_recorded,
    SCHEME: open_callable,
    LOCAL: open_local,
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


def check_installed(clients: Iterable[Model]) -> None:
    """Raise UsageError if a model needs a package to send requests that is not installed."""
    for client in clients:
        if isinstance(client, LiteLLMModel):
            client.check_installed()


async def close() -> None:
    """Nothing; the connections that live models left open in the running event loop are closed.

    To be awaited in the loop that asked, before it stops. Imports no client's library; more can be asked afterwards.
    """
    await close_clients()
