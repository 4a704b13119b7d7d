"""The discounts of n-gram counts, against hand-worked numbers."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pytest_taskgraph.benchmarks.steps.ngram.discounts import FALLBACK, Discounts, estimate_discounts
from pytest_taskgraph.errors import UsageError


def test_estimate_discounts_all_counts_of_counts_gives_modified_ones() -> None:
    # Y = 4 / (4 + 2 * 2) = 0.5; 1 - 2 Y 2/4, 2 - 3 Y 1/2, 3 - 4 Y 1/1
    assert estimate_discounts([1, 1, 1, 1, 2, 2, 3, 4, 9]) == Discounts(0.5, 1.25, 1.0)


@pytest.mark.parametrize(
    ("counts", "absolute"),
    [
        ([1, 1, 2, 4, 5], 0.5),  # none occurs three times
        ([1, 1, 1, 2, 2, 3, 9], 3 / 7),  # none occurs four times
        ([1, 1, 2, 3, 3, 3, 4], 0.5),  # the discount of 2 were 2 - 3 * 0.5 * 3/1 < 0
        ([1, 1, 2, 3, 4, 4], 0.5),  # the discount of 3 were 3 - 4 * 0.5 * 2/1 < 0
    ],
)
def test_estimate_discounts_no_modified_ones_takes_one_for_all(counts: list[int], absolute: float) -> None:
    assert estimate_discounts(counts) == Discounts(absolute, absolute, absolute)


@pytest.mark.parametrize("counts", [[], [1], [1, 1, 3, 4], [2, 2, 3, 4], [7]])
def test_estimate_discounts_no_ones_or_no_twos_falls_back(counts: list[int]) -> None:
    assert estimate_discounts(counts) == FALLBACK == Discounts(0.5, 1.0, 1.5)


@given(st.lists(st.integers(1, 6)))
def test_estimate_discounts_any_counts_leaves_probability(counts: list[int]) -> None:
    discounts = estimate_discounts(counts)
    assert 0 < discounts.once <= 1
    assert 0 < discounts.twice <= 2
    assert 0 < discounts.more <= 3


@pytest.mark.parametrize(("numbers", "count"), [((0.0, 1, 1), 1), ((0.5, 2.5, 1), 2), ((0.5, 1, float("nan")), 3)])
def test_discounts_out_of_range_are_an_error(numbers: tuple[float, float, float], count: int) -> None:
    with pytest.raises(UsageError, match=rf"^the discount of a count of {count} is .*; expected a number above 0, at"):
        Discounts(*numbers)
