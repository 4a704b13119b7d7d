"""Bounds on the work about a large level that were reached, so that a run can report what it left out.

Whatever is bounded gives no answer beyond its bound, never a guess.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Literal

Bound = Literal["cases", "steps"]  # a sample was taken; an answer would have taken too many steps

_reached: ContextVar[set[Bound] | None] = ContextVar("reached bounds", default=None)


def record_bound(bound: Bound) -> None:
    """Record that a bound was reached, if a caller collects reached bounds."""
    reached = _reached.get()
    if reached is not None:
        reached.add(bound)


@contextmanager
def reached_bounds() -> Iterator[set[Bound]]:
    """Collect the bounds that are reached inside the block."""
    reached: set[Bound] = set()
    token = _reached.set(reached)
    try:
        yield reached
    finally:
        _reached.reset(token)
