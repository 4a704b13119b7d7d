"""The statistics of one row: mean, spread, and an interval for a rate."""

from __future__ import annotations

from collections.abc import Sequence
from math import fsum, sqrt
from statistics import NormalDist


def mean(values: Sequence[float]) -> float | None:
    """The arithmetic mean, None for no values. The sum is exact, so the order of the values does not matter."""
    return fsum(values) / len(values) if values else None


def deviation(values: Sequence[float]) -> float | None:
    """The sample standard deviation (divided by n - 1), None for fewer than two values."""
    if len(values) < 2:
        return None
    middle = fsum(values) / len(values)
    return sqrt(fsum((value - middle) ** 2 for value in values) / (len(values) - 1))


def wilson(right: int, n: int, confidence: float = 0.95) -> tuple[float, float]:
    """The Wilson score interval (low, high) for the rate right / n, within 0 and 1; (0, 1) where n is 0.

    0 <= right <= n, 0 < confidence < 1. E. B. Wilson, JASA 22 (1927) 209-212. Unlike the normal interval it has a
    width at rates of 0 and 1, where small benchmarks often stand.
    """
    if n == 0:
        return 0.0, 1.0
    z = NormalDist().inv_cdf((1 + confidence) / 2)
    rate, weight = right / n, z * z / n
    centre = (rate + weight / 2) / (1 + weight)
    half = z / (1 + weight) * sqrt(rate * (1 - rate) / n + weight / (4 * n))
    low = 0.0 if right == 0 else max(0.0, centre - half)
    high = 1.0 if right == n else min(1.0, centre + half)
    return low, high
