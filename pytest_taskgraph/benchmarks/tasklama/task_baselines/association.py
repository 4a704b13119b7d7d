"""How strongly two things are associated that occur in the same places: words in tasks, clusters in sessions."""

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
