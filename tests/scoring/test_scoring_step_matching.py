"""Unlimited, one-to-one and one-to-two matching of steps, against every way to match them."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import combinations, permutations, product

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pytest_taskgraph.scoring.metrics.texts import f_beta
from pytest_taskgraph.scoring.task_graphs.step_matching import (
    hungarian_scores,
    match_steps,
    relaxed_scores,
    unlimited_scores,
)

Rows = list[list[float]]

VALUES = st.sampled_from([0.0, 0.2, 0.5, 2 / 3, 1.0]) | st.floats(0, 1)
MATRICES = st.tuples(st.integers(1, 4), st.integers(1, 4)).flatmap(
    lambda shape: st.lists(st.lists(VALUES, min_size=shape[1], max_size=shape[1]), min_size=shape[0], max_size=shape[0])
)


def best_matching(matrix: Rows) -> float:
    """Return the largest total of a one-to-one matching, by trying every matching."""
    tall = matrix if len(matrix) >= len(matrix[0]) else [list(column) for column in zip(*matrix, strict=True)]
    totals: Iterator[float] = (
        sum(tall[row][column] for column, row in enumerate(rows))
        for rows in permutations(range(len(tall)), len(tall[0]))
    )
    return max(totals)


def best_lending(matrix: Rows) -> float:
    """Return the largest total where a row takes at most one column, and a column is taken by at most two rows."""
    columns = range(len(matrix[0]))
    choices = product([None, *columns], repeat=len(matrix))
    totals: Iterator[float] = (
        sum(row[column] for row, column in zip(matrix, choice, strict=True) if column is not None)
        for choice in choices
        if all(choice.count(column) <= 2 for column in columns)
    )
    return max(totals)


def turned(matrix: Rows) -> Rows:
    return [list(column) for column in zip(*matrix, strict=True)]


WORKED = [
    # matrix, unlimited P R, Hungarian P R F1 F2, relaxed P R
    ([[0.6, 0], [0, 0]], (0.3, 0.3), (0.3, 0.3, 0.3, 0.3), (0.3, 0.3)),
    ([[0.6, 0], [0.6, 0], [0, 0]], (0.4, 0.3), (0.2, 0.3, 0.24, 0.2727), (0.4, 0.3)),
    ([[0.9, 0.2], [0.8, 0.1], [0.3, 0.7]], (0.8, 0.8), (0.5333, 0.8, 0.64, 0.7273), (0.8, 0.8)),
    ([[0.9, 0.1]] * 3, (0.9, 0.5), (0.3333, 0.5, 0.4, 0.4545), (0.6333, 0.5)),
    ([[0.9, 0.8], [0.8, 0.1]], (0.85, 0.85), (0.8, 0.8, 0.8, 0.8), (0.85, 0.85)),
]


@pytest.mark.parametrize(("matrix", "unlimited", "hungarian", "relaxed"), WORKED)
def test_scores_of_worked_examples_are_reproduced(
    matrix: Rows, unlimited: tuple[float, ...], hungarian: tuple[float, ...], relaxed: tuple[float, ...]
) -> None:
    assert unlimited_scores(matrix) == pytest.approx(unlimited, abs=5e-5)
    precision, recall = hungarian_scores(matrix)
    values = (precision, recall, f_beta(precision, recall), f_beta(precision, recall, 2))
    assert values == pytest.approx(hungarian, abs=5e-5)
    assert relaxed_scores(matrix) == pytest.approx(relaxed, abs=5e-5)


def test_relaxed_f_of_three_equal_steps_is_that_of_the_page() -> None:
    scores = relaxed_scores([[0.9, 0.1]] * 3)
    assert (f_beta(*scores), f_beta(*scores, 2)) == pytest.approx((0.5588, 0.5220), abs=5e-5)


@given(MATRICES)
def test_hungarian_total_is_the_best_of_all_matchings(matrix: Rows) -> None:
    best = best_matching(matrix)
    assert hungarian_scores(matrix) == pytest.approx((best / len(matrix), best / len(matrix[0])), abs=1e-8)


@given(MATRICES)
def test_relaxed_totals_are_the_best_of_all_lendings(matrix: Rows) -> None:
    expected = best_lending(matrix) / len(matrix), best_lending(turned(matrix)) / len(matrix[0])
    assert relaxed_scores(matrix) == pytest.approx(expected, abs=1e-12)


@given(MATRICES)
def test_scores_relaxed_lie_between_hungarian_and_unlimited(matrix: Rows) -> None:
    for strict, relaxed, free in zip(
        hungarian_scores(matrix), relaxed_scores(matrix), unlimited_scores(matrix), strict=True
    ):
        assert 0 <= strict <= relaxed + 1e-12
        assert relaxed <= free + 1e-12
        assert free <= 1


@given(MATRICES)
def test_match_steps_is_complete_and_sorted(matrix: Rows) -> None:
    pairs = match_steps(matrix)
    assert len(pairs) == min(len(matrix), len(matrix[0]))
    assert pairs == sorted(pairs)
    assert len({row for row, _ in pairs}) == len({column for _, column in pairs}) == len(pairs)


@pytest.mark.parametrize(("rows", "columns"), [(4, 4), (60, 60), (2, 5), (5, 2), (40, 60)])
def test_match_steps_among_ties_keeps_the_order(rows: int, columns: int) -> None:
    for value in (0.0, 0.5, 1.0):
        matrix = [[value] * columns for _ in range(rows)]
        assert match_steps(matrix) == [(at, at) for at in range(min(rows, columns))]


@given(
    st.tuples(st.integers(1, 4), st.integers(1, 4)).flatmap(
        lambda shape: st.lists(
            st.lists(st.sampled_from([0.0, 0.5, 1.0]), min_size=shape[1], max_size=shape[1]),
            min_size=shape[0],
            max_size=shape[0],
        )
    )
)
def test_match_steps_among_best_totals_keeps_closest_to_the_order(matrix: Rows) -> None:
    rows, columns = len(matrix), len(matrix[0])
    size = min(rows, columns)
    matchings = [
        list(zip(chosen, order, strict=True))
        for chosen in combinations(range(rows), size)
        for order in permutations(range(columns), size)
    ]
    worth = {
        (sum(matrix[row][column] for row, column in pairs), -sum((row - column) ** 2 for row, column in pairs))
        for pairs in matchings
    }
    pairs = match_steps(matrix)
    total, distance = (
        sum(matrix[row][column] for row, column in pairs),
        sum((row - column) ** 2 for row, column in pairs),
    )
    assert (total, -distance) == max(worth)


def test_match_steps_duplicate_of_a_step_stays_behind() -> None:
    assert match_steps([[1, 0, 0], [0, 1, 0], [1, 0, 0], [0, 0, 1]]) == [(0, 0), (1, 1), (3, 2)]


@given(MATRICES, st.data())
def test_hungarian_f1_is_never_raised_by_a_duplicate_of_a_step(matrix: Rows, data: st.DataObject) -> None:
    pairs = match_steps(matrix)
    row, column = data.draw(st.sampled_from(pairs))
    alike = [value if at == column else 0.0 for at, value in enumerate(matrix[row])]
    single = [*matrix[:row], alike, *matrix[row + 1 :]]
    if (row, column) in match_steps(single):
        at = data.draw(st.integers(0, len(single)))
        doubled = [*single[:at], alike, *single[at:]]
        assert f_beta(*hungarian_scores(doubled)) <= f_beta(*hungarian_scores(single)) + 1e-8


def test_unlimited_precision_is_raised_by_a_duplicate_of_a_step() -> None:
    assert unlimited_scores([[0.6, 0], [0.6, 0], [0, 0]])[0] > unlimited_scores([[0.6, 0], [0, 0]])[0]


@pytest.mark.parametrize("matrix", [[], [[]], [[], []]])
def test_scores_of_an_empty_side_are_zero(matrix: Rows) -> None:
    assert unlimited_scores(matrix) == hungarian_scores(matrix) == relaxed_scores(matrix) == (0.0, 0.0)
    assert match_steps(matrix) == []
