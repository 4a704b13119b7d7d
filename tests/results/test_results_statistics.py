from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

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
def test_the_wilson_interval_is_that_of_scipy(counts: tuple[int, int], confidence: float) -> None:
    right, n = counts
    expected = stats.binomtest(right, n).proportion_ci(confidence, method="wilson")
    assert wilson(right, n, confidence) == pytest.approx((expected.low, expected.high), abs=1e-12)


def test_the_wilson_interval_of_nothing_is_everything() -> None:
    assert wilson(0, 0) == (0.0, 1.0)


def test_the_wilson_interval_has_a_width_at_the_ends_and_touches_them() -> None:
    assert wilson(0, 4)[0] == 0.0 < wilson(0, 4)[1]
    assert wilson(4, 4)[0] < 1.0 == wilson(4, 4)[1]


@given(values)
def test_mean_and_deviation_are_those_of_numpy(ones: list[float]) -> None:
    assert mean(ones) == (pytest.approx(sum(ones) / len(ones)) if ones else None)
    assert deviation(ones) == (pytest.approx(float(np.std(ones, ddof=1)), abs=1e-9) if len(ones) > 1 else None)


@given(values, st.randoms(use_true_random=False))
def test_the_order_of_values_changes_not_a_bit(ones: list[float], rng: object) -> None:
    shuffled = list(ones)
    rng.shuffle(shuffled)  # type: ignore[attr-defined]
    assert (mean(shuffled), deviation(shuffled)) == (mean(ones), deviation(ones))


clusters = st.dictionaries(st.sampled_from("abcdef"), st.lists(st.floats(0, 1), max_size=5))


@given(clusters)
def test_the_clustered_interval_is_the_sandwich_of_a_regression_on_a_constant(ones: dict[str, list[float]]) -> None:
    found = clustered_interval(ones)
    kept = [np.array(one) for one in ones.values() if one]
    if len(kept) < 2:
        assert found is None
        return
    every = np.concatenate(kept)
    meat = sum(float(np.sum(one - every.mean())) ** 2 for one in kept) * len(kept) / (len(kept) - 1)
    error = meat**0.5 / len(every)
    assert found is not None
    if error > 1e-6:
        half = float(stats.t.ppf(0.975, len(kept) - 1)) * error
        assert found == pytest.approx((max(0, every.mean() - half), min(1, every.mean() + half)), abs=1e-9)
    assert 0.0 <= found[0] <= every.mean() + 1e-9
    assert every.mean() - 1e-9 <= found[1] <= 1.0


def test_where_no_cluster_differs_each_counts_once_as_in_wilson_s() -> None:
    assert clustered_interval({"v": [1.0] * 9, "w": [1.0]}) == wilson(2, 2)
    assert clustered_interval({"v": [0.0], "w": [0.0], "x": [0.0]}) == wilson(0, 3)
    assert clustered_interval({"v": [0.0, 1.0], "w": [1.0, 0.0]}) == wilson(1, 2)


def test_values_in_one_cluster_are_worth_less_than_in_many() -> None:
    apart = clustered_interval({str(at): [float(at % 2)] for at in range(40)})
    together = clustered_interval({str(at): [float(at % 2)] * 10 for at in range(4)})
    assert apart is not None
    assert together is not None
    assert together[1] - together[0] > 2 * (apart[1] - apart[0])


@given(st.lists(st.booleans(), min_size=1, max_size=20))
def test_without_repetitions_the_interval_of_a_rate_is_wilson_s(rights: list[bool]) -> None:
    answers = [(str(at), "w", right) for at, right in enumerate(rights)]
    assert rate_interval(answers) == wilson(sum(rights), len(rights))


@pytest.mark.parametrize("workflows", [1, 5, 6])
def test_repeated_questions_about_fewer_than_six_workflows_are_told_apart_by_question(workflows: int) -> None:
    shares = {(question, f"w{question % workflows}"): [question % 3 > 0, question % 2 > 0] for question in range(12)}
    answers = [(f"q{question}", workflow, right) for (question, workflow), ones in shares.items() for right in ones]
    by: dict[str, list[list[bool]]] = {}
    for (question, workflow), ones in shares.items():
        by.setdefault(workflow if workflows == 6 else f"q{question}", []).append(ones)
    assert len(by) == (6 if workflows == 6 else 12)
    assert rate_interval(answers) == dependent_rate_interval(list(by.values()), 0.95)


def test_questions_with_unequal_repetitions_keep_their_mean_inside() -> None:
    answers = [("q0", "w0", True)] * 9 + [(f"q{at}", f"w{at}", False) for at in range(1, 8)]
    found = rate_interval(answers)
    assert found is not None
    assert found[0] <= 1 / 8 <= found[1]
    assert found[1] < 0.7


def test_no_answers_have_no_interval() -> None:
    assert rate_interval([]) is None
