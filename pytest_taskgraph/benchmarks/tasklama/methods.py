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

METHODS: Final[Mapping[str, Method]] = MappingProxyType({one.name: one for one in (*SEQUENCE_METHODS, *EDGE_METHODS)})
SECTIONS: Final = tuple(dict.fromkeys(one.section for one in METHODS.values()))
ALL: Final = "all"
_SEVERAL: Final = {ALL: SECTIONS, "steps": SECTIONS[:1], "golden": SECTIONS[1:2], "generated": SECTIONS[2:]}
"""Names that stand for all methods of these sections."""


EMBEDDINGS_SUFFIX: Final = "+embeddings"
"""Behind the name of an episode: an embedder measures the similarity of steps, in a request more."""


def episodes() -> dict[str, Episode]:
    """Return the episodes by name: those of all methods, and each with an embedder, whose requests no plan foresees."""
    own = {name: method.episode for name, method in METHODS.items()}
    return own | {f"{name}{EMBEDDINGS_SUFFIX}": partial(episode) for name, episode in own.items()}


def select(names: Iterable[str]) -> tuple[Method, ...]:
    """Return the methods that are named, each once, in the order of reports.

    Args:
        names: Names of methods, or "steps", "golden", "generated" or "all" for all of a kind.

    Raises:
        UnknownNameError: if a name is none.
    """
    chosen: set[str] = set()
    for name in names:
        if name in _SEVERAL:
            chosen.update(one.name for one in METHODS.values() if one.section in _SEVERAL[name])
        elif name in METHODS:
            chosen.add(name)
        else:
            raise UnknownNameError("method of TaskLAMA", name, [*METHODS, *_SEVERAL])
    return tuple(one for one in METHODS.values() if one.name in chosen)
