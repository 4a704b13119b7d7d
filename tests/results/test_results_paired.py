from __future__ import annotations

from itertools import product
from math import comb, fsum, sqrt
from random import Random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from pytest_taskgraph.results.statistics import paired
from pytest_taskgraph.results.statistics.paired import (
    LossEstimate,
    estimate_loss,
    holm,
    mcnemar,
    needed_clusters,
    needed_questions,
    sign_flip,
)

counts = st.integers(0, 60)
thousandths = st.lists(st.integers(-1000, 1000).map(lambda one: one / 1000), max_size=9)


@given(counts, counts)
def test_mcnemar_is_the_share_of_fair_flips_with_as_many_losses(lost: int, won: int) -> None:
    n = lost + won
    assert mcnemar(lost, won) == pytest.approx(sum(comb(n, k) for k in range(lost, n + 1)) / 2**n, rel=1e-9)


@given(st.integers(0, 40), st.integers(0, 40), st.integers(0, 40))
def test_flips_of_single_questions_are_mcnemars_test(lost: int, won: int, same: int) -> None:
    assert sign_flip([1.0] * lost + [-1.0] * won + [0.0] * same) == pytest.approx(mcnemar(lost, won), rel=1e-9)


def by_listing(losses: list[float]) -> float:
    """The p-value from every flip of signs."""
    whole = fsum(losses)
    sums = [
        fsum(sign * one for sign, one in zip(signs, losses, strict=True))
        for signs in product((1, -1), repeat=len(losses))
    ]
    return sum(one >= whole - 1e-9 for one in sums) / len(sums)


@settings(max_examples=60)
@given(thousandths)
def test_sign_flips_are_counted_as_by_listing_them_all(losses: list[float]) -> None:
    assert sign_flip(losses) == pytest.approx(by_listing(losses), abs=1e-12)


@settings(max_examples=40)
@given(st.lists(st.builds(lambda a, b: a / b, st.integers(-6, 6), st.integers(1, 6)), max_size=9))
def test_shares_of_repetitions_are_summed_without_rounding(losses: list[float]) -> None:
    assert sign_flip(losses) == pytest.approx(by_listing(losses), abs=1e-12)


def test_sign_flips_agree_with_scipy() -> None:
    losses = [0.25, -0.125, 0.5, 0.75, 0.0, 0.375, -0.25, 0.625]
    found = stats.permutation_test(
        (losses,), lambda x, axis: x.sum(axis=axis), permutation_type="samples", n_resamples=10_000,
        vectorized=True, alternative="greater",
    )  # fmt: skip
    assert sign_flip(losses) == pytest.approx(found.pvalue, abs=1e-12)


def test_many_clusters_are_counted_exactly_and_fast() -> None:
    rng = Random(7)
    losses = [float(rng.choice((-2, -1, 1, 2))) for _ in range(600)]
    losses += [1.0] * round(90 - fsum(losses))
    normal = stats.norm.sf((fsum(losses) - 0.5) / sqrt(fsum(one * one for one in losses)))
    assert sign_flip(losses) == pytest.approx(float(normal), rel=0.03)


def test_beyond_the_room_for_exact_counts_the_normal_approximation_stands_in(monkeypatch: pytest.MonkeyPatch) -> None:
    rng = Random(3)
    losses = [round(rng.uniform(-1, 1.2), 3) for _ in range(70)]
    exact = sign_flip(losses)
    monkeypatch.setattr(paired, "MOST_BITS", 0)
    assert sign_flip(losses) == pytest.approx(exact, abs=0.001)
    assert sign_flip(losses) != exact


@given(thousandths)
def test_both_sides_of_the_test_cover_everything(losses: list[float]) -> None:
    assert sign_flip(losses) + sign_flip([-one for one in losses]) >= 1 - 1e-12


def test_holm_adjusts_as_in_the_book() -> None:
    assert holm([0.01, 0.04, 0.03, 0.005]) == pytest.approx([0.03, 0.06, 0.06, 0.02])
    assert holm([]) == []


@given(st.lists(st.floats(0, 1), max_size=12), st.floats(0.001, 0.5))
def test_holm_rejects_what_stepping_down_rejects(values: list[float], level: float) -> None:
    adjusted = holm(values)
    rejected = set()
    for rank, at in enumerate(sorted(range(len(values)), key=values.__getitem__)):
        if values[at] * (len(values) - rank) > level:
            break
        rejected.add(at)
    assert {at for at, value in enumerate(adjusted) if value <= level} == rejected


def test_without_a_change_the_bound_of_the_loss_is_tangos() -> None:
    z = stats.norm.ppf(0.975)
    found = estimate_loss({str(at): [0.0] for at in range(100)})
    assert (found.n, found.clusters, found.mean) == (100, 100, 0.0)
    assert found.upper == pytest.approx(z * z / (100 + z * z))


def test_the_bound_follows_the_clusters_not_the_questions() -> None:
    losses = [1.0, 0.0, 0.0, -1.0, 1.0, 0.0, 1.0, 0.0] * 5
    alone = estimate_loss({str(at): [one] for at, one in enumerate(losses)})
    together = estimate_loss({str(at): [one] * 4 for at, one in enumerate(losses[:10])})
    assert alone.mean == pytest.approx(fsum(losses) / 40)
    expected = alone.mean + stats.t.ppf(0.975, 39) * stats.sem(losses)
    assert alone.upper == pytest.approx(expected)
    assert together.n == 40
    assert together.upper > alone.upper


def test_one_cluster_bounds_nothing() -> None:
    found = estimate_loss({"w": [0.0] * 500})
    assert (found.upper, found.variance) == (1.0, None)
    assert estimate_loss({}).n == 0


def test_number_needed_is_that_of_a_normal_test_with_many_clusters() -> None:
    found = LossEstimate(20_000, 20_000, 0.0, 0.001, 0.2)
    assert needed_questions(found, 0.0005) == 6_300_000  # 0.2 (1.960 + 0.842)² / 0.0005² = 6,279,000
    assert needed_questions(found, 0.0) is None


def test_number_needed_is_greater_where_the_variance_is_known_from_few() -> None:
    many, few = (needed_clusters(LossEstimate(n, n, 0.0, 0.09, 0.2), 0.05) for n in (600, 6))
    assert many is not None
    assert few is not None
    assert many == 630
    assert few > 1.2 * many


def test_number_needed_beyond_that_of_no_loss_assumes_the_loss_seen() -> None:
    between = needed_questions(LossEstimate(700, 700, 0.02, 0.07, 0.2), 0.05)
    assert between == 1800  # 0.2 (1.960 + 0.842)² / 0.03² = 1744 and a little: the farther of none and the margin
    assert needed_questions(LossEstimate(700, 700, 0.03, 0.07, 0.2), 0.05) == between


def test_number_needed_counts_clusters_however_many_questions_they_have() -> None:
    found = [estimate_loss({str(at): [0.0] * size for at in range(10)}) for size in (10, 20)]
    assert [needed_clusters(one, 0.05) for one in found] == [77, 75]
    assert [needed_questions(one, 0.05) for one in found] == [770, 1500]


def drawn(rng: Random, clusters: int, size: int, flips: float) -> LossEstimate:
    """The loss where each question changes with that chance, one way or the other."""
    sides = ((1.0, -1.0, 0.0), (flips / 2, flips / 2, 1 - flips))
    return estimate_loss({str(at): rng.choices(*sides, k=size) for at in range(clusters)})


@pytest.mark.parametrize(
    ("clusters", "size", "flips"),
    [(50, 1, 0.1), (100, 1, 0.3), (10, 10, 0.1), (12, 4, 0.4), (8, 20, 0.3), (10, 20, 0.02)],
)
def test_runs_of_the_number_needed_decide_in_4_of_5(clusters: int, size: int, flips: float) -> None:
    rng = Random(f"{clusters} {size} {flips}")
    first = [one for one in (drawn(rng, clusters, size, flips) for _ in range(400)) if one.upper >= 0.05]
    numbers = [needed_clusters(one, 0.05) or 0 for one in first]
    decided = sum(drawn(rng, number, size, flips).upper < 0.05 for number in numbers)
    by_half = sum(drawn(rng, number // 2, size, flips).upper < 0.05 for number in numbers)
    assert len(numbers) >= 150
    assert 0.72 * len(numbers) <= decided <= 0.88 * len(numbers)
    assert by_half <= decided - 0.2 * len(numbers)


@pytest.mark.parametrize("between", [0.0, 0.02, 0.025])
def test_following_the_number_comes_to_an_end(between: float) -> None:
    rng = Random(f"{between}")
    clusters, rounds = 20, 0
    while (found := drawn_with(rng, clusters, between)).upper >= 0.05 and rounds < 10:
        clusters, rounds = needed_clusters(found, 0.05) or 0, rounds + 1
    assert 0 < rounds < 8


def drawn_with(rng: Random, clusters: int, lost: float) -> LossEstimate:
    sides = ((1.0, -1.0, 0.0), (0.05 + lost, 0.05, 0.9 - lost))
    return estimate_loss({str(at): rng.choices(*sides, k=3) for at in range(clusters)})


@given(st.integers(2, 5000), st.floats(0, 2), st.floats(0.001, 1))
def test_what_decides_is_more_than_there_is(n: int, variance: float, margin: float) -> None:
    number = needed_questions(LossEstimate(n, n, 0.0, 1.0, variance), margin)
    assert number is not None
    assert number > n
