from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from pytest_taskgraph.results.statistics import deviation, mean, wilson

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
