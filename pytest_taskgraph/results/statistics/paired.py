"""Tests and bounds for paired results: McNemar's test, sign flips of clusters, Holm's adjustment, and the mean loss.

A loss is the score before minus the score after: above 0 is worse. Questions of one cluster may depend on each other,
questions of different clusters do not, so chance flips all losses of a cluster together.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from math import floor, fsum, gcd, log10, sqrt
from statistics import NormalDist

from .intervals import student_quantile, wilson
from .power import POWER, find_least

GRID = 1000  # steps of a score for the sign-flip test
DENOMINATORS = 60  # greatest number of repetitions whose shares are counted exactly
MOST_BITS = 1 << 22  # size of the exact distribution of the flips; beyond it the normal approximation is used
MOST_NEEDED = 10**9  # nobody can ask more questions

_ROUNDING = 1e-9
_UNSEEN = 0.1  # fraction of a question assumed to differ beside those that do


@dataclass(frozen=True, slots=True)
class LossEstimate:
    """The mean loss of paired questions, -1 to 1, and its upper bound."""

    n: int  # questions
    clusters: int
    mean: float
    upper: float  # one-sided upper bound at the given confidence; 1.0 if there is none
    variance: float | None  # variance of the mean times the clusters; None for fewer than two clusters


def mcnemar(lost: int, won: int) -> float:
    """Return a one-sided exact p-value of McNemar's test.

    It is the probability of at least `lost` heads in lost + won tosses of a fair coin. Q. McNemar, Psychometrika 12
    (1947) 153-157.

    Args:
        lost: Questions that were right before and are wrong after.
        won: Questions that were wrong before and are right after.
    """
    from scipy.special import bdtrc  # as scipy.stats.binomtest, whose import takes a second

    return float(bdtrc(lost - 1, lost + won, 0.5))


def sign_flip(losses: Sequence[float]) -> float:
    """Return a one-sided p-value of the sign-flip test: the probability of a sum as high if every sign were random.

    The test is exact: over their values for shares of up to 60 repetitions, over values rounded to thousandths for
    other scores, which keeps the level. The normal approximation is used only if the distribution takes more than
    MOST_BITS (many clusters with fine scores). Losses of -1, 0 and 1 give McNemar's test. R. A. Fisher, The Design of
    Experiments (1935), section 21. scipy.stats.permutation_test enumerates all flips, 2 to the number of losses, and
    samples them if there are too many.

    Args:
        losses: The summed loss of each cluster.
    """
    steps = [step for step in _steps(losses) if step]
    if not steps:
        return 1.0
    divisor = gcd(*steps)
    steps = [step // divisor for step in steps]
    if sum(map(abs, steps)) * len(steps) <= MOST_BITS:
        return _exact(steps)
    return 1.0 - NormalDist().cdf(sum(steps) / sqrt(sum(step * step for step in steps)))


def _steps(losses: Sequence[float]) -> list[int]:
    """Return the losses as whole numbers, in units of their greatest common share or else of thousandths."""
    for share in range(1, DENOMINATORS + 1):
        if all(abs(loss * share - round(loss * share)) < _ROUNDING * share for loss in losses):
            return [round(loss * share) for loss in losses]
    return [round(loss * GRID) for loss in losses]


def _exact(steps: Sequence[int]) -> float:
    """Return the share of all flips whose sum is at least that of the steps.

    The flips are counted by what they keep positive: as the product of 1 + x^step, whose coefficients are stored in one
    whole number, `width` bits each. The sum of those from the least exponent on is a remainder, as the digit sum of a
    decimal number is modulo nine.
    """
    width = len(steps) + 2
    counts = 1
    for step in steps:
        counts += counts << abs(step) * width
    least = (sum(steps) + sum(map(abs, steps))) // 2
    return int((counts >> least * width) % ((1 << width) - 1)) / (1 << len(steps))


def holm(p_values: Sequence[float]) -> list[float]:
    """Return the p-values adjusted for multiple tests by Holm's method, in the same order.

    S. Holm, Scandinavian Journal of Statistics 6 (1979) 65-70. scipy adjusts for the false discovery rate only.

    Args:
        p_values: The p-values, each 0 to 1.
    """
    adjusted = [1.0] * len(p_values)
    highest = 0.0
    for rank, at in enumerate(sorted(range(len(p_values)), key=p_values.__getitem__)):
        highest = max(highest, min(1.0, (len(p_values) - rank) * p_values[at]))
        adjusted[at] = highest
    return adjusted


def estimate_loss(by_cluster: Mapping[str, Sequence[float]], confidence: float = 0.975) -> LossEstimate:
    """Return the mean loss of all questions and its one-sided upper bound.

    The bound is the greater of two: the mean plus t standard errors, from the sums of the clusters' distances from the
    mean; and Wilson's bound for a share as high among so many clusters. The second has a width even if nothing changed:
    it is then Tango's (Statistics in Medicine 17 (1998) 891-908), z² / (n + z²), so that few questions without a change
    do not prove that nothing is lost.

    Args:
        by_cluster: Losses of the questions of each cluster, each -1 to 1.
        confidence: One-sided confidence of the bound, 0 to 1, both excluded.
    """
    clusters = [list(losses) for losses in by_cluster.values() if losses]
    n, count = sum(map(len, clusters)), len(clusters)
    mean = fsum(value for losses in clusters for value in losses) / n if n else 0.0
    if count < 2:
        return LossEstimate(n, count, mean, 1.0, None)
    squares = fsum(fsum(value - mean for value in losses) ** 2 for losses in clusters)
    variance = squares * (count / n) ** 2 / (count - 1)
    by_error = mean + student_quantile(confidence, count - 1) * sqrt(variance / count)
    by_share = wilson(min(1.0, max(0.0, mean)) * count, count, 2 * confidence - 1)[1]
    return LossEstimate(n, count, mean, min(1.0, max(by_error, by_share)), variance)


def loss_interval(estimate: LossEstimate, confidence: float = 0.95) -> tuple[float, float] | None:
    """Return the two-sided interval of the mean loss; None for fewer than two clusters.

    It is the mean +- t standard errors. If no cluster differs from the mean, that has no width, and Wilson's interval
    for a share as high among so many clusters is returned; if nothing changed, its bound to both sides.

    Args:
        estimate: The loss of the questions.
        confidence: Level of the interval, 0 to 1, both excluded.

    Returns:
        Both ends, -1 to 1.
    """
    if estimate.variance is None:
        return None
    mean, clusters = estimate.mean, estimate.clusters
    half = student_quantile((1 + confidence) / 2, clusters - 1) * sqrt(estimate.variance / clusters)
    if half > _ROUNDING:
        return max(-1.0, mean - half), min(1.0, mean + half)
    low, high = wilson(min(1.0, abs(mean)) * clusters, clusters, confidence)
    if abs(mean) < _ROUNDING:
        return -high, high
    return (low, high) if mean > 0 else (-high, -low)


def needed_questions(estimate: LossEstimate, margin: float, confidence: float = 0.975) -> int | None:
    """Return about how many questions decide, on `needed_clusters` clusters; None if no number can be given.

    Each cluster has as many questions as now: more questions on the same clusters do not help.

    Args:
        estimate: The loss of the questions so far.
        margin: The non-inferiority margin, 0 to 1.
        confidence: One-sided confidence of the bound, 0 to 1, both excluded.
    """
    clusters = needed_clusters(estimate, margin, confidence)
    return None if clusters is None else max(estimate.n + 1, two_digits(clusters * estimate.n / estimate.clusters))


def needed_clusters(estimate: LossEstimate, margin: float, confidence: float = 0.975) -> int | None:
    """Return about how many clusters decide, more than there are; None if no number can be given.

    With so many, 4 of 5 runs decide if the loss is the assumed one and the clusters differ as much as they do now. The
    number is rounded to two digits.

    Args:
        estimate: The loss of the questions so far.
        margin: The non-inferiority margin, 0 to 1.
        confidence: One-sided confidence of the bound, 0 to 1, both excluded.
    """
    if margin <= 0 or estimate.variance is None:
        return None
    decides = _decider(estimate, estimate.variance, margin, confidence)
    number = find_least(estimate.clusters, MOST_NEEDED, partial(decides, assumed_loss(estimate, margin, confidence)))
    return None if number is None else max(estimate.clusters + 1, two_digits(number))


def assumed_loss(estimate: LossEstimate, margin: float, confidence: float = 0.975) -> float:
    """Return the loss that `needed_clusters` assumes: none, or if the present number of clusters does for it, the mean.

    The number of clusters then separates the mean from 0 or from the margin.

    Args:
        estimate: The loss of the questions so far, with a variance.
        margin: The non-inferiority margin, 0 to 1.
        confidence: One-sided confidence of the bound, 0 to 1, both excluded.
    """
    variance = estimate.variance or 0.0
    return estimate.mean if _decider(estimate, variance, margin, confidence)(0.0, estimate.clusters) else 0.0


def _decider(estimate: LossEstimate, variance: float, margin: float, confidence: float) -> Callable[[float, int], bool]:
    """Return a function of a loss and a number of clusters: True if 4 of 5 such runs decide."""
    # Clusters without a difference do not prove that larger samples have none: assume a fraction of a question more.
    question = estimate.clusters / estimate.n
    unseen = _UNSEEN * question * question / (estimate.clusters - 1)
    power_errors = _power_errors(confidence, estimate.clusters - 1)
    return partial(_decides, variance + unseen, margin, confidence, power_errors)


def _power_errors(confidence: float, freedom: int) -> float:
    """Return how many standard errors beyond the test's quantile let 4 of 5 runs decide.

    Runs as large as an estimated variance demands have less power, on average, than with the true variance. Let x be
    the standard errors in all, a the quantile of the test and b that of the power. The estimated deviation's share of
    the true one has mean c = 1 - 1/4f and variance 1/2f, so the power is that of (cx - a) / sqrt(1 + x²/2f) = b. That
    inconclusive runs mostly overestimate the variance makes up for half of it, so that 4f replaces 2f.

    Args:
        confidence: One-sided confidence of the test.
        freedom: Degrees of freedom of the variance, f above.
    """
    a, b = NormalDist().inv_cdf(confidence), NormalDist().inv_cdf(POWER)
    c, spread = 1 - 0.25 / freedom, b * b / (4 * freedom)
    weight = c * c - spread
    return (a * c + sqrt(a * a * c * c - weight * (a * a - b * b))) / weight - a


def _decides(
    variance: float, margin: float, confidence: float, power_errors: float, loss: float, clusters: int
) -> bool:
    """Return True if 4 of 5 runs with this loss find that it is below the margin, or else above 0."""
    error = sqrt(variance / clusters)
    reached = (student_quantile(confidence, clusters - 1) + power_errors) * error
    worst = min(1.0, max(0.0, loss + NormalDist().inv_cdf(POWER) * error))
    share = wilson(worst * clusters, clusters, 2 * confidence - 1)[1]
    return max(loss + reached, share) < margin or loss >= reached > 0


def two_digits(number: float) -> int:
    """Return the number, above 0, rounded to two significant digits; at least 1."""
    step: int = 10 ** max(0, floor(log10(number)) - 1)
    return max(1, round(number / step)) * step
