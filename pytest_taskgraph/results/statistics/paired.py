"""Tests and bounds for paired results: exact McNemar, sign flips of clusters, Holm, the loss that may still be there.

A loss is what a question scored before less what it scores now: above 0 is worse. Questions of one cluster may
depend on each other, those about two do not, so chance flips the losses of a whole cluster together.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from math import floor, fsum, gcd, log10, sqrt
from statistics import NormalDist

from .intervals import student_quantile, wilson
from .power import POWER, find_least

GRID = 1000  # steps of a score for the sign-flip test
DENOMINATORS = 60  # shares of so many repetitions are counted exactly
MOST_BITS = 1 << 22  # of the exact distribution of the flips; beyond it the normal one stands in
MOST_NEEDED = 10**9  # more can be asked by nobody

_ROUNDING = 1e-9
_UNSEEN = 0.1  # of a question that differs, beside those that do


@dataclass(frozen=True, slots=True)
class LossEstimate:
    """The mean loss of paired questions, -1 to 1, and what it may be."""

    n: int  # questions
    clusters: int
    mean: float
    upper: float  # one-sided bound of the confidence asked for; 1.0 where nothing bounds it
    variance: float | None  # of the mean, times the clusters: of what one tells; None for fewer than two clusters


def mcnemar(lost: int, won: int) -> float:
    """The one-sided exact p-value of McNemar's test: the chance of at least `lost` of lost + won, each a fair coin.

    `lost` questions were right before and are not now, `won` the other way round. Q. McNemar, Psychometrika 12 (1947)
    153-157.
    """
    from scipy.special import bdtrc  # what scipy.stats.binomtest computes, without the second that its import takes

    return float(bdtrc(lost - 1, lost + won, 0.5))


def sign_flip(losses: Sequence[float]) -> float:
    """The one-sided p-value of the sign-flip test: the chance of a sum as high, were each sign that of a fair coin.

    A loss is the sum over one cluster. The test is exact: for shares of up to 60 repetitions over their values, for
    other scores over values rounded to thousandths, which keeps the level. Only where the distribution would
    take more than MOST_BITS (many clusters with fine scores) the normal approximation stands in. Losses of -1, 0 and 1
    give McNemar's test. R. A. Fisher, The Design of Experiments (1935), section 21. scipy.stats.permutation_test lists
    all flips, 2 to the number of losses, and draws some at random where these are too many.
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
    """The losses as whole numbers: of the greatest common share, of thousandths where there is none."""
    for share in range(1, DENOMINATORS + 1):
        if all(abs(loss * share - round(loss * share)) < _ROUNDING * share for loss in losses):
            return [round(loss * share) for loss in losses]
    return [round(loss * GRID) for loss in losses]


def _exact(steps: Sequence[int]) -> float:
    """The share of all flips whose sum is at least that of the steps.

    The flips are counted by what they keep positive: as the product of 1 + x^step, whose coefficients stand in one
    whole number, `width` bits each. The sum of those from the least exponent on is a remainder, as of digits by nine.
    """
    width = len(steps) + 2
    counts = 1
    for step in steps:
        counts += counts << abs(step) * width
    least = (sum(steps) + sum(map(abs, steps))) // 2
    return int((counts >> least * width) % ((1 << width) - 1)) / (1 << len(steps))


def holm(p_values: Sequence[float]) -> list[float]:
    """The p-values adjusted for being many, in the same order; the family errs with the level they are compared with.

    S. Holm, Scandinavian Journal of Statistics 6 (1979) 65-70. scipy adjusts for the false discovery rate only.
    """
    adjusted = [1.0] * len(p_values)
    highest = 0.0
    for rank, at in enumerate(sorted(range(len(p_values)), key=p_values.__getitem__)):
        highest = max(highest, min(1.0, (len(p_values) - rank) * p_values[at]))
        adjusted[at] = highest
    return adjusted


def estimate_loss(by_cluster: Mapping[str, Sequence[float]], confidence: float = 0.975) -> LossEstimate:
    """The mean loss of all questions, and the bound that it is below with that confidence.

    The greater of two bounds: the mean and t standard errors, from the sums of the clusters' distances from the mean;
    and Wilson's for a share as high among so many clusters. The second has a width where nothing changed: it is then
    Tango's (Statistics in Medicine 17 (1998) 891-908), z² / (n + z²), so that few questions without a change are no
    proof that nothing is lost.
    """
    clusters = [list(losses) for losses in by_cluster.values() if losses]
    n, count = sum(map(len, clusters)), len(clusters)
    mean = fsum(one for losses in clusters for one in losses) / n if n else 0.0
    if count < 2:
        return LossEstimate(n, count, mean, 1.0, None)
    squares = fsum(fsum(one - mean for one in losses) ** 2 for losses in clusters)
    variance = squares * (count / n) ** 2 / (count - 1)
    by_error = mean + student_quantile(confidence, count - 1) * sqrt(variance / count)
    by_share = wilson(min(1.0, max(0.0, mean)) * count, count, 2 * confidence - 1)[1]
    return LossEstimate(n, count, mean, min(1.0, max(by_error, by_share)), variance)


def needed_questions(found: LossEstimate, margin: float, confidence: float = 0.975) -> int | None:
    """Return about how many questions decide, on as many clusters as `needed_clusters` returns; None where it does.

    Each cluster has as many questions as now: more on the same clusters do not help.
    """
    clusters = needed_clusters(found, margin, confidence)
    return None if clusters is None else max(found.n + 1, two_digits(clusters * found.n / found.clusters))


def needed_clusters(found: LossEstimate, margin: float, confidence: float = 0.975) -> int | None:
    """Return about how many clusters decide, more than there are; None where no number can be given.

    With so many, 4 of 5 runs decide if nothing is lost and clusters differ as much as they do here. Where there are as
    many already, the loss is taken for what it was here: the number is that by which it is told from none, or from the
    margin. Two digits are given.
    """
    if margin <= 0 or found.variance is None:
        return None
    # Clusters without a difference are no proof that there is none among more: a fraction of a question more differs.
    question = found.clusters / found.n
    variance = found.variance + _UNSEEN * question * question / (found.clusters - 1)
    decides = partial(_decides, variance, margin, confidence, _likely(confidence, found.clusters - 1))
    loss = found.mean if decides(0.0, found.clusters) else 0.0
    number = find_least(found.clusters, MOST_NEEDED, partial(decides, loss))
    return None if number is None else max(found.clusters + 1, two_digits(number))


def _likely(confidence: float, freedom: int) -> float:
    """Return how many standard errors must lie beyond the test's, for 4 of 5 runs to decide.

    f = `freedom`, the degrees of freedom of the variance.

    Runs as large as an estimated variance demands have less power, on average, than with the true variance. Let x be
    the standard errors in all, a the quantile of the test and b that of the power. The estimated deviation's share of
    the true one has mean c = 1 - 1/4f and variance 1/2f, so the power is that of (cx - a) / sqrt(1 + x²/2f) = b. That
    inconclusive runs mostly overestimate the variance makes up for half of it, so that 4f stands for 2f.
    """
    a, b = NormalDist().inv_cdf(confidence), NormalDist().inv_cdf(POWER)
    c, spread = 1 - 0.25 / freedom, b * b / (4 * freedom)
    weight = c * c - spread
    return (a * c + sqrt(a * a * c * c - weight * (a * a - b * b))) / weight - a


def _decides(variance: float, margin: float, confidence: float, likely: float, loss: float, clusters: int) -> bool:
    """Return True if 4 of 5 runs with this loss find that it is below the margin, or else that there is one."""
    error = sqrt(variance / clusters)
    reached = (student_quantile(confidence, clusters - 1) + likely) * error
    worst = min(1.0, max(0.0, loss + NormalDist().inv_cdf(POWER) * error))
    share = wilson(worst * clusters, clusters, 2 * confidence - 1)[1]
    return max(loss + reached, share) < margin or loss >= reached > 0


def two_digits(number: float) -> int:
    """Return the nearest whole number with no more than two digits that are not 0, at least 1; for a number above 0."""
    step: int = 10 ** max(0, floor(log10(number)) - 1)
    return max(1, round(number / step)) * step
