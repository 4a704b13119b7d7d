"""Count the work of a function in calls, which is the same on a busy machine, unlike its time."""

from __future__ import annotations

import sys
from collections.abc import Callable
from types import FrameType


def count_calls(work: Callable[[], object]) -> int:
    """Return how many functions, of Python and of C, are called while `work` runs."""
    count = 0

    def note(frame: FrameType, event: str, argument: object) -> None:
        nonlocal count
        count += event in ("call", "c_call")

    before = sys.getprofile()
    sys.setprofile(note)
    try:
        work()
    finally:
        sys.setprofile(before)
    return count


def growth(work: Callable[[int], object], size: int) -> float:
    """Return how many times as many calls `work` makes for twice the size: 2 if it is linear, 4 if quadratic."""
    work(size // 4)  # what is built once and kept does not count
    return count_calls(lambda: work(2 * size)) / count_calls(lambda: work(size))
