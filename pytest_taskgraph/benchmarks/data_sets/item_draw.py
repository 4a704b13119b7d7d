"""Draws of items from a data set, by the seed and the ids alone."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from typing import Protocol, TypeVar


class Identified(Protocol):
    """An item with an id that is unique in its set."""

    @property
    def id(self) -> str:
        """Return the id."""


_I = TypeVar("_I", bound=Identified)


def draw_items(items: Sequence[_I], count: int, seed: int | str) -> tuple[_I, ...]:
    """Return `count` of the items in their order, none twice, drawn by the seed; all if there are no more.

    A larger number keeps the items of a smaller one, so that stored replies are used again. The draw depends on the ids
    alone.
    """
    ranks = {item.id: hashlib.sha256(f"{seed}|{item.id}".encode()).digest() for item in items}
    chosen = set(sorted(ranks, key=ranks.__getitem__)[: max(count, 0)])
    return tuple(item for item in items if item.id in chosen)
