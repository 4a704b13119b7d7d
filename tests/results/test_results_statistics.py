from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pytest_taskgraph.results.statistics.intervals import (
    clustered_interval,
    dependent_rate_interval,
    deviation,
    mean,
    rate_interval,
    wilson,
)

values = st.lists(st.floats(0, 1), max_size=30)


@given(st.integers(1, 400).flatmap(lambda n: st.tuples(st.integers(0, n), st.just(n))), st.sampled_from([0.8, 0.95]))
def test_wilson_matches_scipy(counts: tuple[int, int], confidence: float) -> None:
    from scipy import stats

    right, n = counts
    expected = stats.binomtest(right, n).proportion_ci(confidence, method="wilson")
    assert wilson(right, n, confidence) == pytest.approx((expected.low, expected.high), abs=1e-12)


def test_wilson_without_answers_is_0_to_1() -> None:
    assert wilson(0, 0) == (0.0, 1.0)


def test_wilson_at_0_and_1_has_width_and_touches_end() -> None:
    assert wilson(0, 4)[0] == 0.0 < wilson(0, 4)[1]
    assert wilson(4, 4)[0] < 1.0 == wilson(4, 4)[1]


@given(values)
def test_mean_and_deviation_match_numpy(values: list[float]) -> None:
    assert mean(values) == (pytest.approx(sum(values) / len(values)) if values else None)
    assert deviation(values) == (pytest.approx(float(np.std(values, ddof=1)), abs=1e-9) if len(values) > 1 else None)


@given(values, st.randoms(use_true_random=False))
def test_mean_and_deviation_are_order_independent(values: list[float], rng: object) -> None:
    shuffled = list(values)
    rng.shuffle(shuffled)  # type: ignore[attr-defined]
    assert (mean(shuffled), deviation(shuffled)) == (mean(values), deviation(values))


clusters = st.dictionaries(st.sampled_from("abcdef"), st.lists(st.floats(0, 1), max_size=5))


@given(clusters)
def test_clustered_interval_matches_sandwich_estimator(values_by_cluster: dict[str, list[float]]) -> None:
    from scipy import stats

    interval = clustered_interval(values_by_cluster)
    clusters = [np.array(values) for values in values_by_cluster.values() if values]
    if len(clusters) < 2:
        assert interval is None
        return
    every = np.concatenate(clusters)
    meat = sum(float(np.sum(values - every.mean())) ** 2 for values in clusters) * len(clusters) / (len(clusters) - 1)
    error = meat**0.5 / len(every)
    assert interval is not None
    if error > 1e-6:
        half = float(stats.t.ppf(0.975, len(clusters) - 1)) * error
        assert interval == pytest.approx((max(0, every.mean() - half), min(1, every.mean() + half)), abs=1e-9)
    assert 0.0 <= interval[0] <= every.mean() + 1e-9
    assert every.mean() - 1e-9 <= interval[1] <= 1.0


def test_clustered_interval_without_difference_is_wilson() -> None:
    assert clustered_interval({"v": [1.0] * 9, "w": [1.0]}) == wilson(2, 2)
    assert clustered_interval({"v": [0.0], "w": [0.0], "x": [0.0]}) == wilson(0, 3)
    assert clustered_interval({"v": [0.0, 1.0], "w": [1.0, 0.0]}) == wilson(1, 2)


def test_clustered_interval_fewer_clusters_is_wider() -> None:
    apart = clustered_interval({str(at): [float(at % 2)] for at in range(40)})
    together = clustered_interval({str(at): [float(at % 2)] * 10 for at in range(4)})
    assert apart is not None
    assert together is not None
    assert together[1] - together[0] > 2 * (apart[1] - apart[0])


@given(st.lists(st.booleans(), min_size=1, max_size=20))
def test_rate_interval_without_repetitions_is_wilson(rights: list[bool]) -> None:
    answers = [(str(at), "w", right) for at, right in enumerate(rights)]
    assert rate_interval(answers) == wilson(sum(rights), len(rights))


@pytest.mark.parametrize("workflows", [1, 5, 6])
def test_rate_interval_few_workflows_clusters_by_question(workflows: int) -> None:
    shares = {(question, f"w{question % workflows}"): [question % 3 > 0, question % 2 > 0] for question in range(12)}
    answers = [(f"q{question}", workflow, right) for (question, workflow), rights in shares.items() for right in rights]
    by: dict[str, list[list[bool]]] = {}
    for (question, workflow), rights in shares.items():
        by.setdefault(workflow if workflows == 6 else f"q{question}", []).append(rights)
    assert len(by) == (6 if workflows == 6 else 12)
    assert rate_interval(answers) == dependent_rate_interval(list(by.values()), 0.95)


def test_rate_interval_unequal_repetitions_contains_mean() -> None:
    answers = [("q0", "w0", True)] * 9 + [(f"q{at}", f"w{at}", False) for at in range(1, 8)]
    interval = rate_interval(answers)
    assert interval is not None
    assert interval[0] <= 1 / 8 <= interval[1]
    assert interval[1] < 0.7


def test_rate_interval_without_answers_is_none() -> None:
    assert rate_interval([]) is None
