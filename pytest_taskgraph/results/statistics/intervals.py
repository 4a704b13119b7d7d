"""The statistics of one row: mean, spread, and intervals."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from math import fsum, sqrt
from statistics import NormalDist

ENOUGH_CLUSTERS = 6  # fewer say little of others, and no test of them can reach 0.025: 2^-5 is more

_ROUNDING = 1e-9  # a standard error below it is nothing but the rounding of sums


def mean(values: Sequence[float]) -> float | None:
    """The arithmetic mean, None for no values. The sum is exact, so the order of the values does not matter."""
    return fsum(values) / len(values) if values else None


def deviation(values: Sequence[float]) -> float | None:
    """The sample standard deviation (divided by n - 1), None for fewer than two values."""
    if len(values) < 2:
        return None
    middle = fsum(values) / len(values)
    return sqrt(fsum((value - middle) ** 2 for value in values) / (len(values) - 1))


def wilson(right: float, n: int, confidence: float = 0.95) -> tuple[float, float]:
    """The Wilson score interval (low, high) for the rate right / n, within 0 and 1; (0, 1) where n is 0.

    0 <= right <= n, 0 < confidence < 1. E. B. Wilson, JASA 22 (1927) 209-212. Unlike the normal interval it has a
    width at rates of 0 and 1, where small benchmarks often stand. `right` need not be whole, as
    scipy.stats.binomtest demands.
    """
    if n == 0:
        return 0.0, 1.0
    z = _z(confidence)
    rate, weight = right / n, z * z / n
    centre = (rate + weight / 2) / (1 + weight)
    half = z / (1 + weight) * sqrt(rate * (1 - rate) / n + weight / (4 * n))
    low = 0.0 if right == 0 else max(0.0, centre - half)
    high = 1.0 if right == n else min(1.0, centre + half)
    return low, high


def clustered_interval(
    values_by_cluster: Mapping[str, Sequence[float]], confidence: float = 0.95
) -> tuple[float, float] | None:
    """Return the interval (low, high) of the mean of all values, within 0 and 1; None for fewer than two clusters.

    Values, each 0.0 to 1.0, of one cluster may depend on each other, those of two do not: mean +- t standard errors,
    the error from the sums of each cluster's distances from the mean, with the factor G / (G - 1) for G clusters, and
    t with G - 1 degrees of freedom (A. C. Cameron, D. L. Miller, J. Human Resources 50 (2015) 317-372, section VI).
    Where these cancel in every cluster, as where all values are 1, that has no width, and Wilson's interval of the
    mean stands, with n = G.
    """
    clusters = [values for values in values_by_cluster.values() if values]
    if len(clusters) < 2:
        return None
    middle, half = _robust(clusters, confidence)
    if half == 0:
        return wilson(min(1.0, max(0.0, middle)) * len(clusters), len(clusters), confidence)
    return max(0.0, middle - half), min(1.0, middle + half)


def _robust(clusters: Sequence[Sequence[float]], confidence: float) -> tuple[float, float]:
    """Return the mean and the cluster-robust half width of its interval, 0 where no cluster differs from the mean."""
    size = sum(map(len, clusters))
    middle = fsum(value for values in clusters for value in values) / size
    squares = fsum(fsum(value - middle for value in values) ** 2 for values in clusters)
    error = sqrt(squares * len(clusters) / (len(clusters) - 1)) / size
    return middle, 0.0 if error < _ROUNDING else student_quantile((1 + confidence) / 2, len(clusters) - 1) * error


def rate_interval(answers: Iterable[tuple[str, str, bool]], confidence: float = 0.95) -> tuple[float, float] | None:
    """Return the interval of the share of right answers, each given as question, cluster and whether it is right.

    The answers of one question depend on each other, and so may those of one cluster. Where there are fewer than
    ENOUGH_CLUSTERS clusters, the interval is about these alone, and only the answers of one question depend. Where each
    answer is independent, the interval is Wilson's, else that of `dependent_rate_interval`. Each question has the same
    weight, however often it was answered.

    Returns:
        The ends, 0 to 1; None for no answer, and for several answers to a single question.
    """
    questions: dict[tuple[str, str], list[bool]] = {}
    for question, cluster, right in answers:
        questions.setdefault((question, cluster), []).append(right)
    enough = len({cluster for _, cluster in questions}) >= ENOUGH_CLUSTERS
    clusters: dict[str, list[list[bool]]] = {}
    for (question, cluster), rights in questions.items():
        clusters.setdefault(cluster if enough else question, []).append(rights)
    if all(len(asked) == 1 and len(asked[0]) == 1 for asked in clusters.values()):
        return wilson(sum(asked[0][0] for asked in clusters.values()), len(clusters), confidence) if clusters else None
    return dependent_rate_interval(list(clusters.values()), confidence) if len(clusters) > 1 else None


def dependent_rate_interval(clusters: Sequence[Sequence[Sequence[bool]]], confidence: float) -> tuple[float, float]:
    """Return the interval of the share of right answers where those of a cluster depend on each other.

    It reaches as far as either of two: the beta-binomial posterior, which holds with few clusters and near 0 and 1; and
    the cluster-robust interval of the mean, which holds with many clusters, whatever the distribution of their rates,
    also where larger clusters are harder.

    Args:
        clusters: at least two; of each its questions, of each of these its answers, at least one.
        confidence: Level of the interval, 0 to 1, both excluded.
    """
    from .beta_binomial import interval  # numpy and scipy.special, which only such runs need

    middle, half = _robust([[sum(rights) / len(rights) for rights in asked] for asked in clusters], confidence)
    low, high = interval(tuple(sorted((sum(map(sum, asked)), sum(map(len, asked))) for asked in clusters)), confidence)
    return max(0.0, min(low, middle - half)), min(1.0, max(high, middle + half))


def describe_restriction(clusters: int, noun: str) -> str:
    """Return what a figure is restricted to that says nothing of other clusters, which are called by the noun."""
    return f"over {f'this 1 {noun}' if clusters == 1 else f'these {clusters} {noun}s'} only"


def _z(confidence: float) -> float:
    return NormalDist().inv_cdf((1 + confidence) / 2)


def student_quantile(probability: float, freedom: int) -> float:
    """Return the quantile of Student's t distribution with so many degrees of freedom, at least 1."""
    from scipy.special import stdtrit  # of scipy.stats, which takes long to import, the part that is needed

    return float(stdtrit(freedom, probability))


def student_tail(value: float, freedom: int) -> float:
    """Return the probability of a greater value by Student's t distribution with so many degrees of freedom."""
    from scipy.special import stdtr

    return float(stdtr(freedom, -value))
