from __future__ import annotations

from itertools import product
from math import comb, fsum, sqrt
from random import Random

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pytest_taskgraph.results.statistics import paired
from pytest_taskgraph.results.statistics.intervals import wilson
from pytest_taskgraph.results.statistics.paired import (
    LossEstimate,
    estimate_loss,
    holm,
    loss_interval,
    mcnemar,
    needed_clusters,
    needed_questions,
    sign_flip,
)

counts = st.integers(0, 60)
thousandths = st.lists(st.integers(-1000, 1000).map(lambda loss: loss / 1000), max_size=9)


@given(counts, counts)
def test_mcnemar_matches_binomial_tail(lost: int, won: int) -> None:
    n = lost + won
    assert mcnemar(lost, won) == pytest.approx(sum(comb(n, k) for k in range(lost, n + 1)) / 2**n, rel=1e-9)


@given(st.integers(0, 40), st.integers(0, 40), st.integers(0, 40))
def test_sign_flip_single_questions_matches_mcnemar(lost: int, won: int, same: int) -> None:
    assert sign_flip([1.0] * lost + [-1.0] * won + [0.0] * same) == pytest.approx(mcnemar(lost, won), rel=1e-9)


def by_listing(losses: list[float]) -> float:
    """Return the p-value by enumerating all sign flips."""
    whole = fsum(losses)
    sums = [
        fsum(sign * loss for sign, loss in zip(signs, losses, strict=True))
        for signs in product((1, -1), repeat=len(losses))
    ]
    return sum(total >= whole - 1e-9 for total in sums) / len(sums)


@given(thousandths)
def test_sign_flip_matches_enumeration(losses: list[float]) -> None:
    assert sign_flip(losses) == pytest.approx(by_listing(losses), abs=1e-12)


@given(st.lists(st.builds(lambda a, b: a / b, st.integers(-6, 6), st.integers(1, 6)), max_size=9))
def test_sign_flip_shares_of_repetitions_are_exact(losses: list[float]) -> None:
    assert sign_flip(losses) == pytest.approx(by_listing(losses), abs=1e-12)


def test_sign_flip_matches_scipy() -> None:
    from scipy import stats

    losses = [0.25, -0.125, 0.5, 0.75, 0.0, 0.375, -0.25, 0.625]
    estimate = stats.permutation_test(
        (losses,), lambda x, axis: x.sum(axis=axis), permutation_type="samples", n_resamples=10_000,
        vectorized=True, alternative="greater",
    )  # fmt: skip
    assert sign_flip(losses) == pytest.approx(estimate.pvalue, abs=1e-12)


def test_sign_flip_many_clusters_is_exact_and_fast() -> None:
    from scipy import stats

    rng = Random(7)
    losses = [float(rng.choice((-2, -1, 1, 2))) for _ in range(600)]
    losses += [1.0] * round(90 - fsum(losses))
    normal = stats.norm.sf((fsum(losses) - 0.5) / sqrt(fsum(loss * loss for loss in losses)))
    assert sign_flip(losses) == pytest.approx(float(normal), rel=0.03)


def test_sign_flip_beyond_exact_size_is_normal(monkeypatch: pytest.MonkeyPatch) -> None:
    rng = Random(3)
    losses = [round(rng.uniform(-1, 1.2), 3) for _ in range(70)]
    exact = sign_flip(losses)
    monkeypatch.setattr(paired, "MOST_BITS", 0)
    assert sign_flip(losses) == pytest.approx(exact, abs=0.001)
    assert sign_flip(losses) != exact


@given(thousandths)
def test_sign_flip_both_sides_sum_to_at_least_one(losses: list[float]) -> None:
    assert sign_flip(losses) + sign_flip([-loss for loss in losses]) >= 1 - 1e-12


def test_holm_matches_textbook_example() -> None:
    assert holm([0.01, 0.04, 0.03, 0.005]) == pytest.approx([0.03, 0.06, 0.06, 0.02])
    assert holm([]) == []


@given(st.lists(st.floats(0, 1), max_size=12), st.floats(0.001, 0.5))
def test_holm_matches_step_down_rejection(values: list[float], level: float) -> None:
    adjusted = holm(values)
    rejected = set()
    for rank, at in enumerate(sorted(range(len(values)), key=values.__getitem__)):
        if values[at] * (len(values) - rank) > level:
            break
        rejected.add(at)
    assert {at for at, value in enumerate(adjusted) if value <= level} == rejected


def test_estimate_loss_without_change_has_bound_of_tango() -> None:
    from scipy import stats

    z = stats.norm.ppf(0.975)
    estimate = estimate_loss({str(at): [0.0] for at in range(100)})
    assert (estimate.n, estimate.clusters, estimate.mean) == (100, 100, 0.0)
    assert estimate.upper == pytest.approx(z * z / (100 + z * z))


def test_estimate_loss_bound_depends_on_clusters() -> None:
    from scipy import stats

    losses = [1.0, 0.0, 0.0, -1.0, 1.0, 0.0, 1.0, 0.0] * 5
    alone = estimate_loss({str(at): [loss] for at, loss in enumerate(losses)})
    together = estimate_loss({str(at): [loss] * 4 for at, loss in enumerate(losses[:10])})
    assert alone.mean == pytest.approx(fsum(losses) / 40)
    expected = alone.mean + stats.t.ppf(0.975, 39) * stats.sem(losses)
    assert alone.upper == pytest.approx(expected)
    assert together.n == 40
    assert together.upper > alone.upper


def test_estimate_loss_single_cluster_has_no_bound() -> None:
    estimate = estimate_loss({"w": [0.0] * 500})
    assert (estimate.upper, estimate.variance) == (1.0, None)
    assert estimate_loss({}).n == 0


def test_needed_clusters_many_matches_normal_test() -> None:
    estimate = LossEstimate(20_000, 20_000, 0.0, 0.001, 0.2)
    assert needed_questions(estimate, 0.0005) == 6_300_000  # 0.2 (1.960 + 0.842)² / 0.0005² = 6,279,000
    assert needed_questions(estimate, 0.0) is None


def test_needed_clusters_few_is_greater() -> None:
    many, few = (needed_clusters(LossEstimate(n, n, 0.0, 0.09, 0.2), 0.05) for n in (600, 6))
    assert many is not None
    assert few is not None
    assert many == 630
    assert few > 1.2 * many


def test_needed_clusters_beyond_zero_loss_assumes_observed_loss() -> None:
    between = needed_questions(LossEstimate(700, 700, 0.02, 0.07, 0.2), 0.05)
    assert between == 1800  # 0.2 (1.960 + 0.842)² / 0.03² = 1744 and a little: the farther of none and the margin
    assert needed_questions(LossEstimate(700, 700, 0.03, 0.07, 0.2), 0.05) == between


def test_needed_questions_scale_with_cluster_size() -> None:
    estimates = [estimate_loss({str(at): [0.0] * size for at in range(10)}) for size in (10, 20)]
    assert [needed_clusters(estimate, 0.05) for estimate in estimates] == [77, 75]
    assert [needed_questions(estimate, 0.05) for estimate in estimates] == [770, 1500]


def random_loss(rng: Random, clusters: int, size: int, flips: float) -> LossEstimate:
    """Return the loss if each question changes with that probability, in a random direction."""
    sides = ((1.0, -1.0, 0.0), (flips / 2, flips / 2, 1 - flips))
    return estimate_loss({str(at): rng.choices(*sides, k=size) for at in range(clusters)})


@pytest.mark.parametrize(
    ("clusters", "size", "flips"),
    [
        *((50, 1, 0.1), (12, 4, 0.4)),
        *(
            pytest.param(*sizes, marks=pytest.mark.exhaustive)
            for sizes in ((100, 1, 0.3), (10, 10, 0.1), (8, 20, 0.3), (10, 20, 0.02))
        ),
    ],
)
def test_needed_clusters_decide_in_4_of_5_runs(clusters: int, size: int, flips: float) -> None:
    rng = Random(f"{clusters} {size} {flips}")
    first = [
        estimate for estimate in (random_loss(rng, clusters, size, flips) for _ in range(400)) if estimate.upper >= 0.05
    ]
    numbers = [needed_clusters(estimate, 0.05) or 0 for estimate in first]
    decided = sum(random_loss(rng, number, size, flips).upper < 0.05 for number in numbers)
    by_half = sum(random_loss(rng, number // 2, size, flips).upper < 0.05 for number in numbers)
    assert len(numbers) >= 150
    assert 0.72 * len(numbers) <= decided <= 0.88 * len(numbers)
    assert by_half <= decided - 0.2 * len(numbers)


@pytest.mark.parametrize("between", [0.0, 0.02, 0.025])
def test_needed_clusters_followed_repeatedly_terminates(between: float) -> None:
    rng = Random(f"{between}")
    clusters, rounds = 20, 0
    while (estimate := random_loss_between(rng, clusters, between)).upper >= 0.05 and rounds < 10:
        clusters, rounds = needed_clusters(estimate, 0.05) or 0, rounds + 1
    assert 0 < rounds < 8


def random_loss_between(rng: Random, clusters: int, lost: float) -> LossEstimate:
    sides = ((1.0, -1.0, 0.0), (0.05 + lost, 0.05, 0.9 - lost))
    return estimate_loss({str(at): rng.choices(*sides, k=3) for at in range(clusters)})


@given(st.integers(2, 5000), st.floats(0, 2), st.floats(0.001, 1))
def test_needed_is_more_than_present(n: int, variance: float, margin: float) -> None:
    number = needed_questions(LossEstimate(n, n, 0.0, 1.0, variance), margin)
    assert number is not None
    assert number > n


def test_loss_interval_is_t_interval_of_clusters() -> None:
    from scipy import stats

    losses = [1.0, 1.0, 0.0, 0.0, 0.0, -1.0, 0.0, 0.0]
    low, high = loss_interval(estimate_loss({str(at): [loss] for at, loss in enumerate(losses)})) or (0, 0)
    expected = stats.t.interval(0.95, 7, np.mean(losses), stats.sem(losses))
    assert (low, high) == pytest.approx(expected)


def test_loss_interval_nothing_changed_has_width() -> None:
    low, high = loss_interval(estimate_loss({str(at): [0.0] for at in range(20)})) or (0, 0)
    assert -low == high == pytest.approx(wilson(0, 20)[1])


@pytest.mark.parametrize("sign", [1, -1])
def test_loss_interval_all_changed_excludes_zero(sign: int) -> None:
    low, high = loss_interval(estimate_loss({str(at): [float(sign)] for at in range(20)})) or (0, 0)
    assert min(abs(low), abs(high)) == pytest.approx(wilson(20, 20)[0])
    assert low * high > 0


def test_loss_interval_single_cluster_is_none() -> None:
    assert loss_interval(estimate_loss({"a": [0.0, 1.0]})) is None
