"""The user's own application as a model: where it is imported from, its options, and what a run says of it."""

from __future__ import annotations

import difflib
import json
import sys
from collections.abc import Iterable, Iterator, Mapping
from typing import TYPE_CHECKING

import pytest

from ..models import MODELS, registered_name
from ..models.python_model import SCHEME, VERSION

if TYPE_CHECKING:
    from ..asking import Model
    from ..trial import Json


def is_application(spec: str) -> bool:
    """Return True if the specification of a model names a callable, or a model that is registered."""
    return spec.strip().startswith(f"{SCHEME}:") or bool(registered_name(spec))


def make_importable(config: pytest.Config, specs: Iterable[str]) -> None:
    """Add the working directory and the root folder to `sys.path` if a model is a callable that is to be imported.

    They go to its start, as Python has it for `python -m pytest`: `pytest` alone adds neither.
    """
    if not any(spec.strip().startswith(f"{SCHEME}:") for spec in specs):
        return
    for folder in (config.rootpath, config.invocation_params.dir):
        if str(folder) not in sys.path:
            sys.path.insert(0, str(folder))


def model_settings(specs: Iterable[str], stated: Mapping[str, str]) -> dict[str, Json]:
    """Return the model options as JSON values where their texts are JSON.

    The version of an application stays a text, or 1.10 and 1.1 were the same.
    """
    kept = {VERSION} if any(map(is_application, specs)) else set()
    return {name: text if name in kept else plain(text) for name, text in stated.items()}


def plain(text: str) -> Json:
    """A number, true, false, null, a list or an object, where the text is JSON; else the text itself."""
    try:
        found: Json = json.loads(text)
        return found
    except ValueError:
        return text


def is_storable(client: Model) -> bool:
    """Return True if the replies of a live model may be stored: an application has to state its version."""
    return bool(getattr(client, "storable", True))


def unstored_notices(clients: Iterable[Model]) -> Iterator[str]:
    """Yield a line for each application without a version."""
    for client in clients:
        if not is_storable(client):
            registered = "where it is registered, or " if registered_name(client.name) else ""
            where = f"{registered}as a model option"
            yield f"replies of {client.name} are not stored: it states no version ({VERSION}=... {where})"


def misspelling_notices(specs: Iterable[str]) -> Iterator[str]:
    """Yield a line for each model of no scheme whose name resembles that of a registered one."""
    for spec in specs:
        close = difflib.get_close_matches(spec, MODELS.registered, n=1, cutoff=0.75)
        if close and spec not in MODELS and not {"/", ":"} & set(spec):
            yield f"the model {spec!r} is not registered, and asked through litellm; did you mean {close[0]!r}?"
