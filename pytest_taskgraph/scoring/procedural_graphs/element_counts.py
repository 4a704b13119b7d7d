"""Numerators and counts of precision and recall of one element, to be summed over graphs before they are divided."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from math import fsum

Part = tuple[float, int]
"""The sum of the scores of the elements of one side, each 0.0 to 1.0, and their number."""


@dataclass(frozen=True, slots=True)
class ElementCounts:
    """The scores of extracted elements against gold elements (precision), and the reverse (recall).

    A ratio whose count is 0 is undefined.
    """

    extracted: Part
    gold: Part

    @property
    def precision(self) -> float | None:
        """Return the mean score of the extracted elements."""
        return _ratio(self.extracted)

    @property
    def recall(self) -> float | None:
        """Return the mean score of the gold elements."""
        return _ratio(self.gold)

    @property
    def f1(self) -> float | None:
        """Return the harmonic mean of precision and recall; 0.0 if only one side has elements, None if neither has."""
        if self.precision is None and self.recall is None:
            return None
        precision, recall = self.precision or 0.0, self.recall or 0.0
        return 2 * precision * recall / (precision + recall) if precision + recall else 0.0


def pool_counts(counts: Iterable[ElementCounts]) -> ElementCounts:
    """Return the sums of several counts: of the types of one graph, or of one type over graphs."""
    all_counts = list(counts)
    return ElementCounts(
        _sum_parts(count.extracted for count in all_counts), _sum_parts(count.gold for count in all_counts)
    )


def _sum_parts(parts: Iterable[Part]) -> Part:
    all_parts = list(parts)
    return fsum(score for score, _ in all_parts), sum(count for _, count in all_parts)


def _ratio(part: Part) -> float | None:
    return part[0] / part[1] if part[1] else None
