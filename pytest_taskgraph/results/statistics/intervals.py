"""Statistics of one row: mean, standard deviation, and intervals."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from math import fsum, sqrt
from statistics import NormalDist

ENOUGH_CLUSTERS = 6  # with fewer no test can reach 0.025: 2^-5 is greater

_ROUNDING = 1e-9  # a smaller standard error comes from rounding alone


def mean(values: Sequence[float]) -> float | None:
    """Return the arithmetic mean, None for no values. The sum is exact, so the order of the values does not matter."""
    return fsum(values) / len(values) if values else None


def deviation(values: Sequence[float]) -> float | None:
    """Return the sample standard deviation (divided by n - 1), None for fewer than two values."""
    if len(values) < 2:
        return None
    middle = fsum(values) / len(values)
    return sqrt(fsum((value - middle) ** 2 for value in values) / (len(values) - 1))


def wilson(right: float, n: float, confidence: float = 0.95) -> tuple[float, float]:
    """Return the Wilson score interval (low, high) for the rate right / n, within 0 and 1; (0, 1) if n is 0.

    E. B. Wilson, JASA 22 (1927) 209-212. Unlike the normal interval it has a width at rates of 0 and 1, which are
    frequent in small benchmarks.

    Args:
        right: Right answers, 0 to n. Need not be whole, as scipy.stats.binomtest requires.
        n: Answers. Need not be whole either.
        confidence: Level of the interval, 0 to 1, both excluded.
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
    """Return the cluster-robust interval (low, high) of the mean of all values; None for fewer than two clusters.

    Values of one cluster may depend on each other, values of different clusters do not. The interval is the mean +- t
    standard errors: the error from the sums of each cluster's distances from the mean, with the factor G / (G - 1) for
    G clusters, and t with G - 1 degrees of freedom (A. C. Cameron, D. L. Miller, J. Human Resources 50 (2015) 317-372,
    section VI). If the distances cancel in every cluster, for example because all values are 1, that interval has no
    width; Wilson's interval of the mean with n = G is returned instead.

    Args:
        values_by_cluster: Values of each cluster, each 0.0 to 1.0.
        confidence: Level of the interval, 0 to 1, both excluded.

    Returns:
        Both ends, 0 to 1.
    """
    clusters = [values for values in values_by_cluster.values() if values]
    if len(clusters) < 2:
        return None
    middle, half = _robust(clusters, confidence)
    if half == 0:
        return wilson(min(1.0, max(0.0, middle)) * len(clusters), len(clusters), confidence)
    return max(0.0, middle - half), min(1.0, middle + half)


def _robust(clusters: Sequence[Sequence[float]], confidence: float) -> tuple[float, float]:
    """Return the mean and the cluster-robust half width of its interval, 0 if no cluster differs from the mean."""
    size = sum(map(len, clusters))
    middle = fsum(value for values in clusters for value in values) / size
    squares = fsum(fsum(value - middle for value in values) ** 2 for values in clusters)
    error = sqrt(squares * len(clusters) / (len(clusters) - 1)) / size
    return middle, 0.0 if error < _ROUNDING else student_quantile((1 + confidence) / 2, len(clusters) - 1) * error


def rate_interval(answers: Iterable[tuple[str, str, bool]], confidence: float = 0.95) -> tuple[float, float] | None:
    """Return the interval of the share of right answers.

    Answers to one question depend on each other; questions of one cluster may. With fewer than ENOUGH_CLUSTERS
    clusters, the interval is about these alone, and only answers to the same question depend. The interval is Wilson's
    if every answer is independent, else that of `dependent_rate_interval`. Each question has the same weight, however
    often it was answered.

    Args:
        answers: Question, cluster and correctness of each answer.
        confidence: Level of the interval, 0 to 1, both excluded.

    Returns:
        Both ends, 0 to 1; None for no answer, and for several answers to a single question.
    """
    answers_by_question: dict[tuple[str, str], list[bool]] = {}
    for question, cluster, right in answers:
        answers_by_question.setdefault((question, cluster), []).append(right)
    enough = len({cluster for _, cluster in answers_by_question}) >= ENOUGH_CLUSTERS
    clusters: dict[str, list[list[bool]]] = {}
    for (question, cluster), rights in answers_by_question.items():
        clusters.setdefault(cluster if enough else question, []).append(rights)
    if all(
        len(answers_by_question) == 1 and len(answers_by_question[0]) == 1 for answers_by_question in clusters.values()
    ):
        return (
            wilson(
                sum(answers_by_question[0][0] for answers_by_question in clusters.values()), len(clusters), confidence
            )
            if clusters
            else None
        )
    return dependent_rate_interval(list(clusters.values()), confidence) if len(clusters) > 1 else None


def dependent_rate_interval(clusters: Sequence[Sequence[Sequence[bool]]], confidence: float) -> tuple[float, float]:
    """Return the interval of the share of right answers if answers of a cluster depend on each other.

    The interval is the hull of two: the beta-binomial posterior, which holds for few clusters and near 0 and 1; and the
    cluster-robust interval of the mean, which holds for many clusters whatever the distribution of their rates, also if
    larger clusters are harder.

    Args:
        clusters: At least two; each a sequence of questions, each of these a sequence of at least one answer.
        confidence: Level of the interval, 0 to 1, both excluded.
    """
    from .beta_binomial import interval  # imports numpy and scipy.special, needed by such runs only

    middle, half = _robust([[sum(rights) / len(rights) for rights in questions] for questions in clusters], confidence)
    low, high = interval(
        tuple(sorted((sum(map(sum, questions)), sum(map(len, questions))) for questions in clusters)), confidence
    )
    return max(0.0, min(low, middle - half)), min(1.0, max(high, middle + half))


def describe_restriction(clusters: int, noun: str) -> str:
    """Return the words that restrict a figure to the clusters it was computed over.

    Args:
        clusters: Number of clusters.
        noun: What the family calls a cluster.
    """
    return f"over {f'this 1 {noun}' if clusters == 1 else f'these {clusters} {noun}s'} only"


def _z(confidence: float) -> float:
    return NormalDist().inv_cdf((1 + confidence) / 2)


def student_quantile(probability: float, freedom: int) -> float:
    """Return the quantile of Student's t distribution.

    Args:
        probability: Probability of a smaller value, 0 to 1.
        freedom: Degrees of freedom, at least 1.
    """
    from scipy.special import stdtrit  # scipy.stats takes longer to import

    return float(stdtrit(freedom, probability))


def student_tail(value: float, freedom: int) -> float:
    """Return the probability that Student's t distribution exceeds the value.

    Args:
        value: The value.
        freedom: Degrees of freedom, at least 1.
    """
    from scipy.special import stdtr

    return float(stdtr(freedom, -value))
