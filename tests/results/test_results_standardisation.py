"""Standardised rates, checked by hand, by naive sums and by least squares with dummy variables."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from math import sqrt
from random import Random

import numpy as np
import pytest
from scipy.stats import t as student

from pytest_taskgraph.results.statistics.intervals import wilson
from pytest_taskgraph.results.statistics.standardisation import (
    Method,
    Observation,
    StandardisedRate,
    cells_of,
    estimate_rates,
    standardise,
)


def observe(counts: Mapping[str, Sequence[tuple[int, int]]]) -> list[Observation]:
    """Return the outcomes of questions, each a cluster of its own, from right answers and questions by value."""
    return [
        Observation(group, at, float(place < right), f"{group}-{at}-{place}", f"{group}-{at}-{place}")
        for group, row in counts.items()
        for at, (right, questions) in enumerate(row)
        for place in range(questions)
    ]


def weights_of(observations: Sequence[Observation]) -> dict[str, float]:
    return {group: float(n) for group, n in Counter(each.group for each in observations).items()}


def rates(observations: Sequence[Observation], values: int, method: Method) -> list[float | None]:
    return estimate_rates(cells_of(observations, values), weights_of(observations), method)


def draw_observations(seed: int, missing: float = 0.3, clusters: int = 0) -> list[Observation]:
    draw = Random(seed)
    observations = []
    for group in "abcde":
        for at in range(4):
            size = 0 if draw.random() < missing else draw.randint(2, 5)
            for place in range(size):
                own = f"{group}-{at}-{place}"
                cluster = f"c{draw.randrange(clusters)}" if clusters else own
                observations.append(Observation(group, at, float(draw.random() < 0.3 + 0.1 * at), cluster, own))
    return observations


# Simpson's paradox: the easy group a is right in 8 of 10, the hard group b in 2 of 10, at both values; but the second
# value has mostly questions of b.
PARADOX = {"a": [(16, 20), (4, 5)], "b": [(1, 5), (4, 20)]}


@pytest.mark.parametrize("method", ["direct", "within"])
def test_estimate_rates_mix_alone_changes_is_flat(method: Method) -> None:
    pooled = [(16 + 1) / 25, (4 + 4) / 25]
    assert pooled == [0.68, 0.32]
    assert rates(observe(PARADOX), 2, method) == pytest.approx([0.5, 0.5])


def test_estimate_rates_direct_is_weighted_mean_of_groups() -> None:
    observations = observe({"a": [(9, 10), (6, 10)], "b": [(2, 4), (3, 6)], "c": [(1, 1), (0, 0)]})
    # c is not asked at the second value. a weighs 20, b weighs 10.
    assert rates(observations, 2, "direct") == pytest.approx([(20 * 0.9 + 10 * 0.5) / 30, (20 * 0.6 + 10 * 0.5) / 30])


def test_estimate_rates_within_two_values_is_mantel_haenszel() -> None:
    counts = {"a": [(9, 10), (6, 14)], "b": [(2, 4), (3, 9)], "c": [(5, 7), (1, 3)]}
    first, second = rates(observe(counts), 2, "within")
    terms = [(r0, n0, r1, n1, n0 + n1) for (r0, n0), (r1, n1) in counts.values()]
    difference = sum(r0 * n1 / n - r1 * n0 / n for r0, n0, r1, n1, n in terms)
    difference /= sum(n0 * n1 / n for _, n0, _, n1, n in terms)
    assert first is not None
    assert second is not None
    assert first - second == pytest.approx(difference)


@pytest.mark.parametrize("seed", range(8))
def test_estimate_rates_within_equals_dummy_regression(seed: int) -> None:
    observations = draw_observations(seed)
    groups = sorted({each.group for each in observations})
    design = np.array(
        [[each.group == group for group in groups] + [each.at == at for at in range(1, 4)] for each in observations],
        dtype=float,
    )
    solution = np.linalg.lstsq(design, np.array([each.outcome for each in observations]), rcond=None)[0]
    level = np.mean([solution[groups.index(each.group)] for each in observations])
    expected = level + np.array([0.0, *solution[len(groups) :]])
    assert rates(observations, 4, "within") == pytest.approx(list(expected))


@pytest.mark.parametrize("method", ["direct", "within"])
def test_estimate_rates_same_mix_everywhere_equals_pooled(method: Method) -> None:
    counts = {"a": [(9, 10), (6, 10), (2, 10)], "b": [(3, 5), (1, 5), (0, 5)]}
    pooled = [12 / 15, 7 / 15, 2 / 15]
    assert rates(observe(counts), 3, method) == pytest.approx(pooled)


def test_estimate_rates_within_unconnected_value_is_none() -> None:
    counts = {"a": [(9, 10), (6, 10), (0, 0)], "b": [(3, 5), (1, 5), (0, 0)], "c": [(0, 0), (0, 0), (4, 4)]}
    connected = rates(observe(counts), 3, "within")
    assert connected[2] is None
    assert connected[:2] == pytest.approx([12 / 15, 7 / 15])


def naive_jackknife(observations: Sequence[Observation], method: Method, values: int = 4) -> list[float]:
    """Return the jackknife standard errors over clusters, by estimating anew without each."""
    weights, whole = weights_of(observations), rates(observations, values, method)
    clusters = sorted({each.cluster for each in observations})
    replicates = [
        estimate_rates(cells_of([each for each in observations if each.cluster != name], values), weights, method)
        for name in clusters
    ]
    columns = zip(*[[rate or 0.0 for rate in replicate] for replicate in replicates], strict=True)
    squares = [sum((rate - (mean or 0.0)) ** 2 for rate in column) for column, mean in zip(columns, whole, strict=True)]
    return [sqrt(square * (len(clusters) - 1) / len(clusters)) for square in squares]


@pytest.mark.parametrize("method", ["direct", "within"])
@pytest.mark.parametrize("clusters", [0, 30])
@pytest.mark.parametrize("seed", range(3))
def test_standardise_interval_is_hull_of_jackknife_and_wilson(method: Method, clusters: int, seed: int) -> None:
    observations = draw_observations(seed, 0.0, clusters)
    errors = naive_jackknife(observations, method)
    rates = standardise(observations, 4, weights_of(observations), method)
    for at, (each, error) in enumerate(zip(rates, errors, strict=True)):
        assert each is not None
        units = len({o.cluster for o in observations if o.at == at})
        low, high = wilson(each.rate * each.effective, each.effective)
        half = student.ppf(0.975, units - 1) * error
        ends = max(0.0, min(low, each.rate - half)), min(1.0, max(high, each.rate + half))
        assert each.interval == pytest.approx(ends)


def effective(counts: Mapping[str, Sequence[tuple[int, int]]], method: Method) -> list[float]:
    observations = observe(counts)
    rates = standardise(observations, len(next(iter(counts.values()))), weights_of(observations), method)
    return [each.effective for each in rates if each is not None]


@pytest.mark.parametrize("method", ["direct", "within"])
def test_standardise_effective_number_of_same_mix_is_number(method: Method) -> None:
    assert effective({"a": [(9, 10), (6, 10)], "b": [(3, 5), (1, 5)]}, method) == pytest.approx([15, 15])


def test_standardise_effective_number_is_smaller_with_other_mix() -> None:
    # Weights 25 and 25: 1 / (0.25 / 20 + 0.25 / 5) at both values.
    assert effective(PARADOX, "direct") == pytest.approx([16, 16])
    assert all(number <= 25 for number in effective(PARADOX, "within"))


@pytest.mark.parametrize("method", ["direct", "within"])
def test_standardise_all_right_interval_has_width(method: Method) -> None:
    observations = observe({"a": [(4, 4), (4, 4)], "b": [(4, 4), (4, 4)]})
    for each in standardise(observations, 2, weights_of(observations), method):
        assert each is not None
        assert each.rate == pytest.approx(1)
        assert each.interval == pytest.approx(wilson(8, 8))


def test_standardise_value_that_one_question_connects_has_no_interval() -> None:
    observations = observe({"a": [(9, 10), (1, 1)], "b": [(6, 10), (0, 0)]})
    first, second = standardise(observations, 2, weights_of(observations), "within")
    assert first is not None
    assert second is not None
    assert second.interval is None


def test_standardise_few_clusters_use_questions() -> None:
    shared = [Observation(o.group, o.at, o.outcome, f"w{o.at}", o.unit) for o in observe(PARADOX)]
    assert standardise(shared, 2, weights_of(shared), "direct") == standardise(
        observe(PARADOX), 2, weights_of(shared), "direct"
    )


def test_standardise_shared_clusters_widen_interval() -> None:
    alone = observe({"a": [(20, 40), (20, 40)], "b": [(20, 40), (20, 40)]})
    # Twenty clusters at each value, each of four questions that are all right or all wrong.
    shared = [
        Observation(o.group, o.at, o.outcome, f"{o.at}-{o.outcome}-{int(o.unit.split('-')[2]) % 10}", o.unit)
        for o in alone
    ]
    widths = [
        [each.interval[1] - each.interval[0] for each in rates if each and each.interval]
        for rates in (standardise(some, 2, weights_of(some), "direct") for some in (alone, shared))
    ]
    assert all(wide > 1.7 * narrow for narrow, wide in zip(*widths, strict=True))


@pytest.mark.parametrize("method", ["direct", "within"])
def test_standardise_order_of_questions_does_not_matter(method: Method) -> None:
    observations = draw_observations(3, 0.0)
    mixed = Random(1).sample(observations, len(observations))
    weights = weights_of(observations)
    assert standardise(mixed, 4, weights, method) == standardise(observations, 4, weights, method)


@pytest.mark.parametrize(("method", "missing"), [("direct", 0.0), ("within", 0.4)])
def test_standardise_intervals_hold_in_nine_of_ten_draws(method: Method, missing: float) -> None:
    hits = total = 0
    for seed in range(60):
        observations = draw_observations(seed, missing)
        rates: list[StandardisedRate | None] = standardise(observations, 4, weights_of(observations), method)
        for at, each in enumerate(rates):
            if each is not None and each.interval is not None:
                total += 1
                hits += each.interval[0] <= 0.3 + 0.1 * at <= each.interval[1]
    assert total > 150
    assert hits / total > 0.9


def test_standardise_nothing_answered_is_none() -> None:
    assert standardise([], 3, {}, "within") == [None, None, None]
    assert standardise([], 3, {}, "direct") == [None, None, None]
