"""How much two sets overlap: the words of two texts, or the places where two things occur."""

from __future__ import annotations

from math import sqrt


def association(joint: int, first: int, second: int) -> float:
    """Return the discounted Ochiai coefficient, 0.0 to 1.0.

    It is `joint / sqrt(first * second)`, the cosine of the two sets of places, times `joint / (joint + 1)`, the
    discount of Pantel and Lin (2002) for small counts: one place that two rare things share says little.

    Args:
        joint: The number of places where both occur.
        first: The number of places where the first occurs, at least `joint`.
        second: That of the second.
    """
    return joint / sqrt(first * second) * joint / (joint + 1) if joint else 0.0


def jaccard_index(first: frozenset[str], second: frozenset[str]) -> float:
    """Return the number of words that two sets share over that of all their words; 0.0 for two empty sets."""
    shared = len(first & second)
    return shared / (len(first) + len(second) - shared) if shared else 0.0
