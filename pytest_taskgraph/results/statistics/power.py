"""How many questions a decision needs: with as many, 4 of 5 runs decide if rate and spread stay what they are.

scipy has the distributions, but no sample size for a power.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from math import ceil, sqrt
from statistics import NormalDist
from typing import TYPE_CHECKING

from .intervals import student_quantile

if TYPE_CHECKING:
    from .beta_binomial import Floats, Whole

POWER = 0.8
TOLERANCE = 0.05  # a number may have as much more power, if one with less is close
MOST = 10_000_000  # questions; more are not worth a number
SAMPLES = 600  # simulated for a number of clusters
SIMULATED = 10_000  # answers of a sample; beyond, the normal approximation stands in
NEAR = 1.02  # a number of clusters within 2 % is found

_SEED = 20_240_501


def independent_needed(rate: float, threshold: float, confidence: float, start: int, most: int = MOST) -> int | None:
    """Return how many independent answers decide by Wilson's interval; None if even `most` do not.

    Args:
        rate: true rate of passes, 0 to 1; it differs from the threshold.
        threshold: 0 to 1, both excluded.
        confidence: Level of the two-sided interval.
        start: Number of answers that does not decide.
        most: Greatest number tried.
    """
    from scipy.special import bdtrc

    z = NormalDist().inv_cdf((1 + confidence) / 2)
    if rate < threshold:
        rate, threshold = 1 - rate, 1 - threshold

    def share(answers: int) -> float:
        passes = ceil(answers * threshold + z * sqrt(answers * threshold * (1 - threshold)) - 1e-9)
        return float(bdtrc(passes - 1, answers, rate)) if passes <= answers else 0.0

    number = find_least(start, most, lambda answers: share(answers) >= POWER)
    # The share rises by steps, each with a slope down behind it: near a rate of 1 the steps are high.
    while number is not None and share(number) > POWER + TOLERANCE and share(number + 1) < share(number):
        number += 1
    return number


def mean_needed(distance: float, variance: float, confidence: float, start: int, most: int = MOST) -> int | None:
    """Return how many clusters decide by the cluster-robust interval; None if even `most` do not.

    Args:
        distance: of the mean from the threshold, above 0.
        variance: of what one cluster tells: that of the mean, times the number of clusters.
        confidence: Level of the two-sided interval.
        start: Number of clusters that does not decide.
        most: Greatest number tried.
    """

    def decides(clusters: int) -> bool:
        reached = student_quantile((1 + confidence) / 2, clusters - 1) + student_quantile(POWER, clusters - 1)
        return clusters > 1 and reached * sqrt(variance / clusters) <= distance

    return find_least(start, most, decides)


def clusters_needed(
    counts: Sequence[tuple[int, int]], rate: float, threshold: float, confidence: float, most: int
) -> int | None:
    """Return how many clusters decide whose answers depend on each other; None if even `most` do not.

    Runs are simulated from the beta-binomial distribution with the given rate and the correlation of the counts, and
    the interval of `rate_intervals` is computed for each. The same arguments give the same number.

    Args:
        counts: passes and answers of each cluster; more clusters have the same sizes in turn.
        rate: true rate of passes, 0 to 1; it differs from the threshold.
        threshold: 0 to 1, both excluded.
        confidence: Level of the two-sided interval.
        most: Greatest number of clusters tried.
    """
    import numpy as np

    from .beta_binomial import correlation

    sizes = np.array([answers for _, answers in counts], dtype=np.int64)
    alike = correlation(counts)
    inflation = 1 + (float(sizes @ sizes) / float(sizes.sum()) - 1) * alike
    variance = rate * (1 - rate) * inflation / float(sizes.mean())

    reached = NormalDist().inv_cdf((1 + confidence) / 2) + NormalDist().inv_cdf(POWER)
    normal = ceil((reached / (rate - threshold)) ** 2 * variance)

    def decides(clusters: int) -> bool:
        if clusters * sizes.mean() > SIMULATED:
            return clusters >= normal
        answers = np.resize(sizes, clusters)
        low, high = rate_intervals(draw_passes(answers, rate, alike, SAMPLES, _SEED), answers, confidence)
        right = low >= threshold if rate > threshold else high < threshold
        return float(np.mean(right)) >= POWER

    return find_least(len(counts), most, decides, guess=normal, near=NEAR)


def draw_passes(answers: Whole, rate: float, correlation: float, samples: int, seed: int) -> Whole:
    """Return simulated passes, one row a sample, one column a cluster of so many answers.

    Args:
        answers: answers of each cluster.
        rate: mean of the clusters' rates, 0 to 1.
        correlation: Intra-class correlation, 0 to 1: clusters' rates follow the beta distribution that has it.
        samples: rows.
        seed: The same seed gives the same passes.
    """
    import numpy as np

    rng = np.random.default_rng(seed)
    shape = (samples, len(answers))
    if correlation in (0.0, 1.0) or rate in (0.0, 1.0):
        rates = (rng.random(shape) < rate).astype(np.float64) if correlation == 1.0 else np.full(shape, rate)
    else:
        weight = (1 - correlation) / correlation
        rates = rng.beta(rate * weight, (1 - rate) * weight, shape)
    return rng.binomial(answers, rates)


def rate_intervals(passed: Whole, answers: Whole, confidence: float) -> tuple[Floats, Floats]:
    """Return the ends of `statistics.dependent_rate_interval` for many samples of clusters of the same sizes.

    Args:
        passed: passes, one row a sample, one column a cluster.
        answers: answers of each cluster, to questions that have one each.
        confidence: Level of the intervals.
    """
    import numpy as np

    from .beta_binomial import intervals

    total, clusters = answers.sum(), len(answers)
    mean = passed.sum(axis=1) / total
    distances = passed - mean[:, np.newaxis] * answers
    error = np.sqrt((distances**2).sum(axis=1) * clusters / (clusters - 1)) / total
    half = student_quantile((1 + confidence) / 2, clusters - 1) * error
    low, high = intervals(passed, answers, confidence)
    return np.maximum(0.0, np.minimum(low, mean - half)), np.minimum(1.0, np.maximum(high, mean + half))


def find_least(
    start: int, most: int, decides: Callable[[int], bool], guess: int | None = None, near: float = 1.0
) -> int | None:
    """Return the least number above `start`, which does not decide, that does; None where even `most` do not.

    Args:
        start: Number below the least.
        most: Greatest number tried, but for the first.
        decides: Returns True if so many decide.
        guess: Number that is probably close, tried first.
        near: The answer may be greater than the least by this factor.
    """
    inconclusive, top, growth = (start, guess, 1.4) if guess and guess > start else (start, start * 2, 2.0)
    while not decides(top):
        if top >= most:
            return None
        inconclusive, top = top, ceil(top * growth)
    while top - inconclusive > 1 and top > inconclusive * near:
        middle = (top + inconclusive) // 2
        inconclusive, top = (inconclusive, middle) if decides(middle) else (middle, top)
    return top
