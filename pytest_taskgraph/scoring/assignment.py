"""One-to-one matchings of the largest total gain (Kuhn 1955), by shortest augmenting paths (Crouse 2016).

Small matchings are computed here, for importing scipy takes as long as some hundreds of them. Larger ones are scipy's
(`linear_sum_assignment`), by the same steps: the pairs are the same, also of several matchings with the same total.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import inf
from typing import Final

LARGE: Final = 10_000  # number of entries from which on scipy is faster, its import included


def assign(gain: Sequence[Sequence[float]]) -> list[tuple[int, int]]:
    """Return a matching of rows with columns, as pairs sorted by row; it is empty without rows or columns.

    It is complete: min(rows, columns) pairs, however small their gains.
    """
    rows, columns = len(gain), len(gain[0]) if gain else 0
    if not rows * columns:
        return []
    if rows * columns >= LARGE:
        import numpy as np
        from scipy.optimize import linear_sum_assignment

        chosen_rows, chosen_columns = linear_sum_assignment(np.asarray(gain, dtype=float), maximize=True)
        return list(zip(chosen_rows.tolist(), chosen_columns.tolist(), strict=True))
    if columns < rows:
        return sorted((row, column) for column, row in enumerate(_assign_rows([*zip(*gain, strict=True)])))
    return [*enumerate(_assign_rows(gain))]


def _assign_rows(gain: Sequence[Sequence[float]]) -> list[int]:
    """Return the column of each row; there are rows, and at least as many columns."""
    columns = len(gain[0])
    row_duals, column_duals = [0.0] * len(gain), [0.0] * columns
    column_of, row_of = [-1] * len(gain), [-1] * columns
    for start in range(len(gain)):
        costs, previous = [inf] * columns, [-1] * columns  # of the shortest path to each column, and the row before it
        open_columns = [*reversed(range(columns))]
        row, lowest, reached = start, 0.0, list[int]()
        while True:
            at, least, base = -1, inf, row_duals[row]
            for place, column in enumerate(open_columns):
                cost = lowest - gain[row][column] - base - column_duals[column]
                if cost < costs[column]:
                    costs[column], previous[column] = cost, row
                if costs[column] < least or (costs[column] == least and row_of[column] < 0):
                    at, least = place, costs[column]
            lowest, column = least, open_columns[at]
            open_columns[at] = open_columns[-1]
            open_columns.pop()
            if row_of[column] < 0:
                break
            reached.append(column)
            row = row_of[column]
        row_duals[start] += lowest
        for other in reached:
            row_duals[row_of[other]] += lowest - costs[other]
            column_duals[other] -= lowest - costs[other]
        while column >= 0:
            row = row_of[column] = previous[column]
            column_of[row], column = column, column_of[row]
    return column_of


def gainful_pairs(gain: Sequence[Sequence[float]]) -> dict[int, int]:
    """Return the column that each row is matched with in such a matching, without the pairs that gain nothing."""
    return {row: column for row, column in assign(gain) if gain[row][column] > 0}
