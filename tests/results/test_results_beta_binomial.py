"""The beta-binomial posterior: sums over scipy's distribution, and properties."""

from __future__ import annotations

from collections import Counter
from functools import cache

import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pytest_taskgraph.results.statistics.beta_binomial import correlation, interval, intervals
from pytest_taskgraph.results.statistics.intervals import (
    ENOUGH_CLUSTERS,
    dependent_rate_interval,
    rate_interval,
    wilson,
)
from pytest_taskgraph.results.statistics.power import draw_passes, rate_intervals

Counts = list[tuple[int, int]]

counts_of_clusters = st.lists(
    st.integers(1, 8).flatmap(lambda answers: st.tuples(st.integers(0, answers), st.just(answers))),
    min_size=2,
    max_size=12,
)


@st.composite
def equal_clusters(draw: st.DrawFn) -> tuple[list[int], int]:
    """Draw the passes and the numbers of answers of at least six clusters."""
    answers = draw(st.integers(2, 8))
    return draw(st.lists(st.integers(0, answers), min_size=ENOUGH_CLUSTERS, max_size=14)), answers


def brute_force(counts: Counts, confidence: float) -> tuple[float, float, float]:
    """Return both ends and the mean correlation, summed over a fine even grid with scipy's probabilities."""
    below, mean, alike = distribution(tuple(sorted(counts)))
    ends = np.interp([(1 - confidence) / 2, (1 + confidence) / 2], below, mean)
    return float(ends[0]), float(ends[1]), alike


@cache
def distribution(counts: tuple[tuple[int, int], ...]) -> tuple[npt.NDArray[np.float64], npt.NDArray[np.float64], float]:
    """Return the distribution function of the mean, where it is known, and the mean correlation."""
    from scipy import stats

    mean, correlations = (np.arange(400) + 0.5) / 400, (np.arange(400) + 0.5) / 400
    m, r = np.meshgrid(mean, correlations, indexing="ij")
    weight = (1 - r) / r
    logs = sum(
        times * stats.betabinom.logpmf(k, n, m * weight, (1 - m) * weight) for (k, n), times in Counter(counts).items()
    )
    mass = np.exp(logs - np.max(logs))
    below = np.cumsum(mass.sum(axis=1)) / mass.sum()
    return below, mean + 0.5 / 400, float((mass * r).sum() / mass.sum())


def ends_of(passed: list[int], answers: int) -> tuple[float, float]:
    """Return the interval of questions asked once, with the given number a workflow."""
    clusters = [[[at < passes] for at in range(answers)] for passes in passed]
    return dependent_rate_interval(clusters, 0.95)


@pytest.mark.parametrize(
    "counts",
    [
        [(18, 20), (20, 20), (15, 20), (9, 10), (20, 20), (3, 4)],
        [(5, 5), (0, 5), (5, 5), (1, 5), (5, 5), (4, 5), (5, 5)],
        [(1, 3), (2, 3), (1, 3), (2, 3)] * 5,
        [(7, 9), (2, 2)],
    ],
)
@pytest.mark.parametrize("confidence", [0.8, 0.95])
def test_interval_matches_brute_force_over_scipy(counts: Counts, confidence: float) -> None:
    low, high, alike = brute_force(counts, confidence)
    assert interval(tuple(counts), confidence) == pytest.approx((low, high), abs=0.003)
    assert correlation(counts) == pytest.approx(alike, abs=0.003)


@given(st.integers(2, 40).flatmap(lambda n: st.tuples(st.integers(1, n - 1), st.just(n))))
def test_interval_single_answers_matches_beta_distribution(counts: tuple[int, int]) -> None:
    from scipy import stats

    passes, answers = counts
    posterior = stats.beta(1 + passes, 1 + answers - passes)
    ends = interval(tuple((int(at < passes), 1) for at in range(answers)))
    assert ends == pytest.approx(posterior.ppf([0.025, 0.975]), abs=0.002)


@given(counts_of_clusters, st.randoms(use_true_random=False))
def test_interval_reordered_or_mirrored_is_consistent(counts: Counts, rng: object) -> None:
    low, high = interval(tuple(counts))
    shuffled = list(counts)
    rng.shuffle(shuffled)  # type: ignore[attr-defined]
    assert interval(tuple(shuffled)) == pytest.approx((low, high), abs=1e-9)
    mirrored = interval(tuple((answers - passes, answers) for passes, answers in counts))
    assert mirrored == pytest.approx((1 - high, 1 - low), abs=1e-9)


def test_interval_without_passes_or_failures_reaches_end() -> None:
    assert interval(((5, 5),) * 7)[1] == 1.0
    assert interval(((0, 5),) * 7)[0] == 0.0
    assert 0.7 < interval(((5, 5),) * 7)[0] < 0.8


def test_correlation_grows_with_uneven_clusters() -> None:
    even, uneven, whole = ([(5, 10)] * 20, [(2, 10), (8, 10)] * 10, [(0, 10), (10, 10)] * 10)
    assert correlation(even) < 0.03 < 0.2 < correlation(uneven) < 0.5 < 0.9 < correlation(whole)


@given(equal_clusters())
def test_rate_interval_rises_with_additional_passes(ends: tuple[list[int], int]) -> None:
    passed, answers = ends
    before, after = ends_of(passed, answers), ends_of([min(answers, passes + 1) for passes in passed], answers)
    assert before[0] <= after[0] + 1e-9
    assert before[1] <= after[1] + 1e-9


@given(equal_clusters())
def test_rate_interval_widens_with_correlation(ends: tuple[list[int], int]) -> None:
    passed, answers = sorted(ends[0]), ends[1]
    if passed[0] == 0 or passed[-1] == answers:
        return
    apart = [passed[0] - 1, *passed[1:-1], passed[-1] + 1]
    (low, high), (lower, higher) = ends_of(passed, answers), ends_of(apart, answers)
    assert higher - lower >= high - low - 1e-9


@given(st.lists(st.booleans(), min_size=ENOUGH_CLUSTERS, max_size=30))
def test_rate_interval_single_questions_is_wilson(rights: list[bool]) -> None:
    answers = [(f"q{at}", f"w{at}", right) for at, right in enumerate(rights)]
    assert rate_interval(answers) == wilson(sum(rights), len(rights))


@given(st.lists(equal_clusters(), min_size=1, max_size=3))
def test_intervals_many_samples_match_single_interval(samples: list[tuple[list[int], int]]) -> None:
    for passed, answers in samples:
        rows = np.array([passed, passed[::-1], [answers - passes for passes in passed]])
        low, high = rate_intervals(rows, np.full(len(passed), answers), 0.95)
        assert (low[0], high[0]) == pytest.approx(ends_of(passed, answers), abs=1e-9)
        assert (low[1], high[1]) == pytest.approx((low[0], high[0]), abs=1e-9)
        assert (low[2], high[2]) == pytest.approx((1 - high[0], 1 - low[0]), abs=1e-9)


@pytest.mark.parametrize(
    ("workflows", "questions", "alike", "rate"),
    [
        *((6, 20, 0.3, 0.8), (40, 5, 0.5, 0.8), (100, 20, 0.1, 0.98)),
        *(pytest.param(*sizes, marks=pytest.mark.exhaustive) for sizes in ((10, 20, 0.3, 0.9), (20, 10, 0.3, 0.8))),
    ],
)
def test_interval_rarely_misses_true_rate(workflows: int, questions: int, alike: float, rate: float) -> None:
    answers = np.full(workflows, questions)
    passed = draw_passes(answers, rate, alike, 1500, seed=7)
    assert np.mean(rate_intervals(passed, answers, 0.95)[0] >= rate) <= 0.05
    independent = [wilson(int(row.sum()), int(answers.sum()))[0] for row in passed]
    assert np.mean(np.array(independent) >= rate) > 0.08, "as if independent, far more runs pass"


def test_posterior_covers_rate_that_robust_interval_misses() -> None:
    from scipy import stats

    answers = np.full(20, 5)
    passed = draw_passes(answers, 0.95, 0.2, 1500, seed=3)
    assert np.mean(intervals(passed, answers)[0] >= 0.95) <= 0.05
    share = passed / 5
    robust = share.mean(axis=1) - stats.t.ppf(0.975, 19) * share.std(axis=1, ddof=1) / np.sqrt(20)
    assert np.mean(robust >= 0.95) > 0.1


def test_robust_interval_covers_rate_if_size_predicts_difficulty() -> None:
    rng = np.random.default_rng(11)
    answers = np.repeat([2, 20], [80, 40])
    rates = np.repeat([0.95, 0.6], [80, 40])
    rate = float(answers @ rates) / float(answers.sum())
    passed = rng.binomial(answers, rates, (400, 120))
    assert np.mean(intervals(passed, answers)[0] >= rate) > 0.15
    assert np.mean(rate_intervals(passed, answers, 0.95)[0] >= rate) <= 0.05
