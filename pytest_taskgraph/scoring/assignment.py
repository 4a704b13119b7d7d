"""One-to-one matchings of the largest total gain (Kuhn 1955), by scipy."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from numpy.typing import ArrayLike


def assign(gain: ArrayLike) -> list[tuple[int, int]]:
    """Return a matching of rows with columns, as pairs sorted by row; it is empty without rows or columns.

    It is complete: min(rows, columns) pairs, however small their gains.
    """
    import numpy as np  # half a second with scipy, which most answers do not need
    from scipy.optimize import linear_sum_assignment

    matrix = np.asarray(gain, dtype=float)
    if not matrix.size:
        return []
    rows, columns = linear_sum_assignment(matrix, maximize=True)
    return list(zip(rows.tolist(), columns.tolist(), strict=True))


def gainful_pairs(gain: Sequence[Sequence[float]]) -> dict[int, int]:
    """Return the column that each row is matched with in such a matching, without the pairs that gain nothing."""
    return {row: column for row, column in assign(gain) if gain[row][column] > 0}
