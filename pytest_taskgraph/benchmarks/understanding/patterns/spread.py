"""Samples of what may be asked about a large level, taken before the expensive part: spread, and always the same."""

from __future__ import annotations

from collections.abc import Sequence
from random import Random
from typing import Final, TypeVar

from ....workflow.bounds import reach

ALL: Final = 60
"""Tasks of a level about which everything is asked that there is; of larger ones, a sample."""

WORK: Final = 120_000
"""Candidates times tasks: about so many tasks are looked at, at most, for the cases of one pattern about a level."""

LEAST: Final = 40
"""Candidates that are looked at in any level."""

T = TypeVar("T")


def spread(candidates: Sequence[T], size: int, most: int | None = None) -> Sequence[T]:
    """Return all candidates of a small level, and a sample of those of a large one, in their order.

    Args:
        candidates: What may be asked about, in an order that does not depend on the process.
        size: The number of tasks of the level that they are of.
        most: How many are wanted of a large level; by default so many that WORK is kept to.
    """
    most = max(LEAST, WORK // max(1, size)) if most is None else most
    if size <= ALL or len(candidates) <= most:
        return candidates
    reach("cases")
    chosen = Random(f"spread|{size}|{len(candidates)}").sample(range(len(candidates)), most)
    return [candidates[i] for i in sorted(chosen)]
