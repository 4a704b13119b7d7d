"""The intraclass correlation of ratings: ICC(1,1) of Shrout and Fleiss (1979), a one-way random model.

Du et al. (2024, appendix B) state it as (MSB - MSW) / (MSB + (k - 1) MSW): MSB is the mean square between documents,
MSW that within them. They call k the number of groups; in the formula of Shrout and Fleiss it is the number of ratings
of each document.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction


def intraclass_correlation(rows: Sequence[Sequence[int | float | Fraction]]) -> float | None:
    """Return the intraclass correlation ICC(1,1) of ratings, computed exactly and rounded once.

    Args:
        rows: The ratings of each document, the same number for each; who gave which does not matter.

    Returns:
        From -1 / (k - 1) to 1.0. None if it is undefined: for fewer than two documents or two ratings of each, or if
        all ratings are the same.

    Raises:
        ValueError: if documents have different numbers of ratings, or a rating is not a finite number.
    """
    sizes = {len(row) for row in rows}
    if len(sizes) > 1:
        raise ValueError(f"documents with {' and '.join(map(str, sorted(sizes)))} ratings; expected one number for all")
    n, k = len(rows), next(iter(sizes), 0)
    if n < 2 or k < 2:
        return None
    try:
        ratings = [[Fraction(rating) for rating in row] for row in rows]
    except (OverflowError, ValueError):
        raise ValueError("found a rating that is not a finite number; expected finite ratings") from None
    means = [sum(row, Fraction()) / k for row in ratings]
    grand = sum(means, Fraction()) / n
    between = k * sum(((mean - grand) ** 2 for mean in means), Fraction()) / (n - 1)
    within = sum(
        ((rating - mean) ** 2 for row, mean in zip(ratings, means, strict=True) for rating in row), Fraction()
    ) / (n * (k - 1))
    total = between + (k - 1) * within
    return float((between - within) / total) if total else None
