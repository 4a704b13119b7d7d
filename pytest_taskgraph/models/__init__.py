"""Models under test, by the schemes that name them.

clients.openai_compatible  a model of a provider that speaks the OpenAI protocol, `openai/gpt-4o`, or behind an address,
                           `http://host/v1#name`: without litellm
clients.litellm_client     any other model name of litellm; `litellm:NAME` for all
clients.local_model        a model on this machine, `local:PATH`: a folder of transformers, or a GGUF file
clients.recorded           a file of replies
clients.python_callable    a callable of the user, `python:package.module:name`
clients.simulated          correct with a known probability, for tests of the machinery; opened with a look-up of
answers
middleware.chain           the layers around live models, listed from the outside in
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from difflib import get_close_matches
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from ..asking import Model
from ..catalog import Catalog
from ..errors import UsageError
from ..trial import Json
from .clients.schemes import BASELINE, LOCAL, PYTHON, SIMULATED

if TYPE_CHECKING:
    from .clients.litellm_client import LiteLLMModel
    from .clients.local_model import LocalModel
    from .clients.openai_compatible import OpenAICompatibleModel
    from .clients.python_callable import PythonModel
    from .clients.recorded import RecordedModel


# Clients are imported when one is opened: all of them take as long as 30 questions of a simulated model.


def _open_litellm(name: str, settings: Mapping[str, Json]) -> LiteLLMModel:
    from .clients.litellm_client import LiteLLMModel

    return LiteLLMModel(name, settings)


def _open_endpoint(scheme: str, rest: str, settings: Mapping[str, Json]) -> OpenAICompatibleModel:
    """Return the model behind an endpoint, whose address was split at its scheme."""
    from .clients.openai_compatible import open_endpoint

    return open_endpoint(f"{scheme}:{rest}", settings)


def _open_named(name: str, settings: Mapping[str, Json]) -> OpenAICompatibleModel | LiteLLMModel:
    """Return the model of a provider of the OpenAI protocol, else the model that litellm knows by this name."""
    from .clients.providers import find_provider

    if (found := find_provider(name)) is None:
        return _open_litellm(name, settings)
    from .clients.openai_compatible import OpenAICompatibleModel

    return OpenAICompatibleModel(name, *found, settings)


def _open_recorded(path: str, settings: Mapping[str, Json]) -> RecordedModel:
    from .clients.recorded import open_recorded

    return open_recorded(path, settings)


def _open_callable(path: str, settings: Mapping[str, Json]) -> PythonModel:
    from .clients.python_callable import open_callable

    return open_callable(path, settings)


def _open_local(path: str, settings: Mapping[str, Json]) -> LocalModel:
    from .clients.local_model import open_local

    return open_local(path, settings)


Opener = Callable[[str, Mapping[str, Json]], Model]
"""Opens a model. Takes the text after the scheme, which is empty for a name alone, and the model options."""

_SCHEMES: dict[str, Opener] = {
    "litellm": _open_litellm,
    "http": partial(_open_endpoint, "http"),
    "https": partial(_open_endpoint, "https"),
    "recorded": _open_recorded,
    PYTHON: _open_callable,
    LOCAL: _open_local,
}
MODELS: Catalog[Opener] = Catalog("model", _SCHEMES)


def open_model(spec: str, settings: Mapping[str, Json]) -> Model:
    """Return the model that a specification names.

    The specification is `SCHEME:REST` with a scheme of MODELS, a registered name, a name with the prefix of a provider
    of the OpenAI protocol, or else a litellm name. A name may hold a colon itself (`ollama/llama3:8b`), so only the
    schemes of MODELS count as schemes.

    Args:
        spec: The specification, as --taskgraph-model takes it.
        settings: The model options.

    Raises:
        UsageError: if the name is empty or the opener refuses it. A recorded file is read here.
    """
    if (name := registered_name(spec)) and name == spec.strip():
        return MODELS[name]("", settings)
    scheme, colon, rest = spec.strip().partition(":")
    if scheme.lower() in ("http", "https"):
        scheme = scheme.lower()
    is_named = not colon or scheme not in MODELS
    if is_named:
        rest = spec.strip()
    if not rest.strip():
        raise UsageError(f"the model {spec!r} has no name; give one, such as openai/gpt-4o or recorded:replies.jsonl")
    if is_named or scheme == PYTHON:
        _refuse_file_name(spec, rest)
    if is_named:
        _refuse_misspelt_kind(rest)
        return _open_named(rest, settings)
    return MODELS[scheme](rest, settings)


def _refuse_file_name(spec: str, rest: str) -> None:
    """Raise UsageError for the file of an application in the place of its module, before litellm is asked for it."""
    path, _, function = rest.strip().partition(":")
    if path.endswith(".py"):
        module = ".".join(part for part in path.removesuffix(".py").split("/") if part not in ("", "."))
        named = f"{PYTHON}:{module}:{function or 'answer'}"
        raise UsageError(f"the model {spec.strip()!r} is a Python file; name the function in it that answers: {named}")


def _refuse_misspelt_kind(spec: str) -> None:
    """Raise UsageError for a name whose part before the colon resembles a kind of models, or is a module here.

    litellm, which takes any name, needs seconds to say that it knows no such provider.
    """
    kind, colon, rest = spec.partition(":")
    if not colon or "/" in kind:
        return
    close = get_close_matches(kind, [*MODELS, BASELINE, SIMULATED], 1, 0.75)
    if close or (rest.isidentifier() and Path(f"{kind.replace('.', '/')}.py").is_file()):
        meant = f"{close[0]}:{rest}" if close else f"{PYTHON}:{spec}"
        raise UsageError(f"the model {spec!r} is of no known kind; did you mean {meant}?")


def registered_name(spec: str) -> str:
    """Return the name of the registered model that a specification refers to; empty if it refers to none."""
    name = spec.strip().partition(":")[0]
    return name if name in MODELS.registered else ""


def check_installed(clients: Iterable[Model]) -> None:
    """Raise UsageError if a model needs a package to send requests that is not installed."""
    from .clients.litellm_client import LiteLLMModel

    for client in clients:
        if isinstance(client, LiteLLMModel):
            client.check_installed()


async def close() -> None:
    """Close the connections that live models left open in the running event loop.

    Await it in the loop that sent the requests, before the loop stops. It imports no client's library, and further
    requests may follow.
    """
    from .clients.litellm_client import close as close_clients

    await close_clients()
