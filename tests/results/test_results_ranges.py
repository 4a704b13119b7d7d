"""Ranges contain every number once, begin and end with given numbers, and are about equally full."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from pytest_taskgraph.results.tally import split_into_ranges

NUMBERS = st.lists(st.integers(-50, 50), min_size=1, max_size=60)


@given(NUMBERS, st.integers(1, 8))
def test_split_into_ranges_each_number_in_one_range(numbers: list[int], most: int) -> None:
    ranges = split_into_ranges(numbers, most)
    assert 1 <= len(ranges) <= most
    assert all(sum(least <= number <= greatest for least, greatest in ranges) == 1 for number in numbers)
    assert all({least, greatest} <= set(numbers) for least, greatest in ranges)
    assert ranges == sorted(ranges)


@given(NUMBERS, st.integers(1, 8))
def test_split_into_ranges_is_order_independent(numbers: list[int], most: int) -> None:
    assert split_into_ranges(numbers, most) == split_into_ranges(sorted(numbers), most)


def test_split_into_ranges_few_numbers_have_own_ranges() -> None:
    assert split_into_ranges([3, 1, 3, 2], 5) == [(1, 1), (2, 2), (3, 3)]


def test_split_into_ranges_many_numbers_divided_evenly() -> None:
    assert split_into_ranges(range(100), 4) == [(0, 24), (25, 49), (50, 74), (75, 99)]


def test_split_into_ranges_no_numbers_has_no_range() -> None:
    assert split_into_ranges([], 3) == []
