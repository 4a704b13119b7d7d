"""Matchings of generated steps (rows) with gold steps (columns), and the precision and recall that follow.

There are three, after Yuan et al. (2024), "Metrics":

- unlimited: every step counts with its best partner (Zhang et al. 2021; it rewards duplicates);
- Hungarian: a one-to-one matching of the largest total (Kuhn 1955);
- relaxed: "one-to-two", for a step that a graph splits. Precision takes the best way to give every generated step one
  gold step, no gold step to more than two; recall the best way to give every gold step one generated step, likewise. It
  lies between the two others, and is the Hungarian algorithm with the gold columns, or the generated rows, doubled.

Precision is the total over the number of generated steps, recall over that of gold steps; 0 where there are none.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import fsum

from ..assignment import assign

Matrix = Sequence[Sequence[float]]

_TIE = 1e-9  # weight of the order of the steps in a pair: it decides among equal totals only


def match_steps(matrix: Matrix) -> list[tuple[int, int]]:
    """Return a one-to-one matching of the largest total, as pairs of row and column, sorted by row.

    It is complete: min(rows, columns) pairs, however poor. Among equal totals it keeps to the order of the steps: the
    sum of the squared distances between row and column is least. So equal graphs are matched step by step, even where
    two of their steps are alike.
    """
    if not matrix or not matrix[0]:
        return []
    import numpy as np

    gain = np.asarray(matrix, dtype=float)
    rows, columns = gain.shape
    distance = (np.arange(rows)[:, None] - np.arange(columns)[None, :]) ** 2
    return assign(gain - _TIE / max(rows, columns) ** 2 * distance)


def unlimited_scores(matrix: Matrix) -> tuple[float, float]:
    """Return precision and recall where every step counts with its most similar one."""
    if not matrix or not matrix[0]:
        return 0.0, 0.0
    best_columns = [max(column) for column in zip(*matrix, strict=True)]
    return fsum(map(max, matrix)) / len(matrix), fsum(best_columns) / len(best_columns)


def hungarian_scores(matrix: Matrix) -> tuple[float, float]:
    """Return precision and recall of a one-to-one matching of the largest total."""
    if not matrix or not matrix[0]:
        return 0.0, 0.0
    total = fsum(matrix[row][column] for row, column in match_steps(matrix))
    return total / len(matrix), total / len(matrix[0])


def relaxed_scores(matrix: Matrix) -> tuple[float, float]:
    """Return precision and recall where a step may be the partner of two."""
    if not matrix or not matrix[0]:
        return 0.0, 0.0
    rows, columns = len(matrix), len(matrix[0])
    doubled_columns = [[*row, *row] for row in matrix]
    doubled_rows = [*matrix, *matrix]
    return _largest_total(doubled_columns) / rows, _largest_total(doubled_rows) / columns


def _largest_total(matrix: Matrix) -> float:
    return fsum(matrix[row][column] for row, column in assign(matrix))
