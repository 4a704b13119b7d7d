"""One-to-one matchings, against scipy's."""

from __future__ import annotations

from random import Random

import pytest

from pytest_taskgraph.scoring import assignment
from pytest_taskgraph.scoring.assignment import assign, gainful_pairs


def draw_gain(rng: Random, rows: int, columns: int) -> list[list[float]]:
    """Return a matrix of few different values, so that several matchings have the same total, or of many."""
    values = rng.choice([[0.0, 1.0], [0.0, 1 / 3, 0.5, 2 / 3], [rng.random() for _ in range(9)] + [0.0] * 9])
    return [[rng.choice(values) for _ in range(columns)] for _ in range(rows)]


def scipy_pairs(gain: list[list[float]]) -> list[tuple[int, int]]:
    import numpy as np
    from scipy.optimize import linear_sum_assignment

    rows, columns = linear_sum_assignment(np.asarray(gain), maximize=True)
    return list(zip(rows.tolist(), columns.tolist(), strict=True))


@pytest.mark.parametrize("seed", range(5))
def test_assign_any_matrix_has_pairs_of_scipy(seed: int) -> None:
    rng = Random(seed)
    for _ in range(200):
        gain = draw_gain(rng, rng.randint(1, 12), rng.randint(1, 12))
        assert assign(gain) == scipy_pairs(gain), gain


def test_assign_equal_gains_keeps_order() -> None:
    assert assign([[1.0] * 4] * 3) == [(0, 0), (1, 1), (2, 2)]
    assert assign([[1.0] * 2] * 3) == [(0, 0), (1, 1)]


@pytest.mark.parametrize("gain", [[], [[]], [[], []]])
def test_assign_without_rows_or_columns_is_empty(gain: list[list[float]]) -> None:
    assert assign(gain) == []


def test_assign_large_matrix_is_left_to_scipy(monkeypatch: pytest.MonkeyPatch) -> None:
    gain = draw_gain(Random(0), 8, 11)
    small = assign(gain)
    monkeypatch.setattr(assignment, "LARGE", 88)
    monkeypatch.setattr(assignment, "_assign_rows", None)
    assert assign(gain) == small


def test_gainful_pairs_leave_out_those_without_gain() -> None:
    assert gainful_pairs([[0.5, 0.0], [0.0, 0.0]]) == {0: 0}
