"""The methods of TaskLAMA, in the order of reports, and how users choose among them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from functools import partial
from types import MappingProxyType
from typing import Final

from ...asking import Episode
from ...errors import UnknownNameError
from .edges import METHODS as EDGE_METHODS
from .method import Method
from .sequences import METHODS as SEQUENCE_METHODS

METHODS: Final[Mapping[str, Method]] = MappingProxyType(
    {method.name: method for method in (*SEQUENCE_METHODS, *EDGE_METHODS)}
)
SECTIONS: Final = tuple(dict.fromkeys(method.section for method in METHODS.values()))
ALL: Final = "all"
_SEVERAL: Final = {ALL: SECTIONS, "steps": SECTIONS[:1], "golden": SECTIONS[1:2], "generated": SECTIONS[2:]}
"""Names that stand for all methods of these sections."""
EMBEDDINGS_SUFFIX: Final = "+embeddings"
"""Suffix of the name of an episode that asks an embedder for the similarity of steps, in one further request."""


def episodes() -> dict[str, Episode]:
    """Return the episodes by name: those of all methods, and each with an embedder, whose requests no plan foresees."""
    own = {name: method.episode for name, method in METHODS.items()}
    return own | {f"{name}{EMBEDDINGS_SUFFIX}": partial(episode) for name, episode in own.items()}


def select(names: Iterable[str]) -> tuple[Method, ...]:
    """Return the methods that are named, each once, in the order of reports.

    Args:
        names: Names of methods, or "steps", "golden", "generated" or "all" for all of a kind.

    Raises:
        UnknownNameError: if there is no method of a name.
    """
    chosen: set[str] = set()
    for name in names:
        if name in _SEVERAL:
            chosen.update(method.name for method in METHODS.values() if method.section in _SEVERAL[name])
        elif name in METHODS:
            chosen.add(name)
        else:
            raise UnknownNameError("method of TaskLAMA", name, [*METHODS, *_SEVERAL])
    return tuple(method for method in METHODS.values() if method.name in chosen)
