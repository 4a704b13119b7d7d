"""Sample sizes: with so many questions, 4 of 5 runs decide if rate and spread stay the same.

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
TOLERANCE = 0.05  # accepted excess of power, if a smaller number is close
MOST = 10_000_000  # questions; no greater number is computed
SAMPLES = 600  # simulated samples for a number of clusters
SIMULATED = 10_000  # most answers of a simulated sample; beyond, the normal approximation is used
NEAR = 1.02  # the number of clusters is at most 2 % too great

_SEED = 20_240_501


def independent_needed(rate: float, threshold: float, confidence: float, start: int, most: int = MOST) -> int | None:
    """Return the number of independent answers that decides by Wilson's interval; None if even `most` do not.

    Args:
        rate: True rate of passes, 0 to 1; it differs from the threshold.
        threshold: Threshold of the rate, 0 to 1, both excluded.
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
    # The share rises in steps and falls slightly after each; near a rate of 1 the steps are high.
    while number is not None and share(number) > POWER + TOLERANCE and share(number + 1) < share(number):
        number += 1
    return number


def mean_needed(distance: float, variance: float, confidence: float, start: int, most: int = MOST) -> int | None:
    """Return the number of clusters that decides by the cluster-robust interval; None if even `most` do not.

    Args:
        distance: Distance of the mean from the threshold, above 0.
        variance: Variance of one cluster's contribution: that of the mean, times the number of clusters.
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
    """Return the number of clusters of dependent answers that decides; None if even `most` do not.

    Runs are simulated from the beta-binomial distribution with the given rate and the correlation of the counts, and
    the interval of `rate_intervals` is computed for each. The same arguments give the same number.

    Args:
        counts: Passes and answers of each cluster; further clusters repeat these sizes.
        rate: True rate of passes, 0 to 1; it differs from the threshold.
        threshold: Threshold of the rate, 0 to 1, both excluded.
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
    """Simulate passes from the beta-binomial distribution, one row a sample, one column a cluster.

    Args:
        answers: Number of answers of each cluster.
        rate: Mean of the clusters' rates, 0 to 1.
        correlation: Intra-class correlation, 0 to 1, of the beta distribution of the clusters' rates.
        samples: Number of rows.
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
        passed: Number of passes, one row a sample, one column a cluster.
        answers: Number of answers of each cluster, each to another question.
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
    """Return the least number above `start` that decides; None if even `most` does not.

    Args:
        start: Number that does not decide.
        most: Greatest number tried, except for the first.
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
