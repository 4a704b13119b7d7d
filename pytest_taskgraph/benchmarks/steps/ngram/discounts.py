"""How much modified Kneser-Ney smoothing takes off the counts of n-grams, estimated from the counts of counts."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from itertools import pairwise
from typing import Final

from ....errors import UsageError


@dataclass(frozen=True, slots=True)
class Discounts:
    """What is taken off a count, by how large the count is.

    Each discount is above 0, so that a part of the probability is left for words not seen, and at most the smallest
    count that it is taken off.

    Args:
        once: Taken off a count of 1; above 0, at most 1.
        twice: Taken off a count of 2; above 0, at most 2.
        more: Taken off a count of 3 or more; above 0, at most 3.

    Raises:
        UsageError: if a discount is out of its range.
    """

    once: float
    twice: float
    more: float

    def __post_init__(self) -> None:
        for count, discount in enumerate(self.by_count[1:], start=1):
            if not 0.0 < discount <= count:
                raise UsageError(
                    f"the discount of a count of {count} is {discount!r}; expected a number above 0, at most {count}"
                )

    @property
    def by_count(self) -> tuple[float, float, float, float]:
        """The discounts of the counts 0, 1, 2, and 3 or more."""
        return (0.0, self.once, self.twice, self.more)


FALLBACK: Final = Discounts(0.5, 1.0, 1.5)
"""The discounts where the counts of counts allow no estimate: those of KenLM's `--discount_fallback`."""


def estimate_discounts(counts: Iterable[int]) -> Discounts:
    """Return the discounts for the n-grams of one length, from their counts.

    With n_k, the number of n-grams that have the count k, and Y = n_1 / (n_1 + 2 n_2), the discount of the count k is
    D_k = k - (k + 1) Y n_{k+1} / n_k for k = 1, 2, and 3, which serves for all larger counts as well (Chen and Goodman
    1999, "Modified Kneser-Ney smoothing"). These are used if n_1 to n_4 are all above 0 and so are the three discounts.

    Small training sets lack some of these counts. Then Y itself is taken off every count, as in the Kneser-Ney
    smoothing that is not modified (Ney, Essen and Kneser 1994), if n_1 and n_2 are above 0; else
    `FALLBACK` is used.

    Args:
        counts: The count of each n-gram, at least 1.
    """
    counts_of_counts = Counter(counts)
    ones, twos, threes, fours = (counts_of_counts[count] for count in range(1, 5))
    if not (ones and twos):
        return FALLBACK
    absolute = ones / (ones + 2 * twos)
    if threes and fours:
        steps = enumerate(pairwise((ones, twos, threes, fours)), start=1)
        modified = [count - (count + 1) * absolute * more / fewer for count, (fewer, more) in steps]
        if min(modified) > 0.0:
            return Discounts(*modified)
    return Discounts(absolute, absolute, absolute)
