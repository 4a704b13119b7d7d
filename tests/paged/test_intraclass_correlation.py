"""The intraclass correlation against worked examples."""

from __future__ import annotations

from math import inf, nan
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pytest_taskgraph.families.paged.document_quality.document_annotations import intraclass_correlation

SHROUT_FLEISS = [[9, 2, 5, 8], [6, 1, 3, 2], [8, 4, 6, 8], [7, 1, 2, 6], [10, 5, 6, 9], [6, 2, 4, 7]]
TABLES = st.integers(2, 4).flatmap(
    lambda k: st.lists(st.lists(st.integers(1, 5), min_size=k, max_size=k), min_size=2, max_size=6)
)


def test_intraclass_correlation_shrout_and_fleiss_table() -> None:
    """Their Table 3: MSB = 11.24, MSW = 6.26, so ICC(1,1) = (11.24 - 6.26) / (11.24 + 3 * 6.26) = .17."""
    correlation = intraclass_correlation(SHROUT_FLEISS)
    assert correlation == pytest.approx(0.165742, abs=1e-6)
    assert round(correlation or 0.0, 2) == 0.17


def test_intraclass_correlation_worked_by_hand() -> None:
    """Means 1.5 and 4.5, grand mean 3: MSB = 2 * (2.25 + 2.25) / 1 = 9, MSW = (4 * 0.25) / 2 = 0.5; 8.5 / 9.5."""
    assert intraclass_correlation([[1, 2], [4, 5]]) == 17 / 19


def test_intraclass_correlation_raters_agree_is_one() -> None:
    assert intraclass_correlation([[1, 1, 1], [4, 4, 4], [5, 5, 5]]) == 1.0


def test_intraclass_correlation_same_means_is_its_least_value() -> None:
    assert intraclass_correlation([[1, 3, 5], [5, 1, 3]]) == -0.5


@pytest.mark.parametrize("rows", [[], [[1, 2, 3]], [[1], [2]], [[], []], [[4, 4], [4, 4]]])
def test_intraclass_correlation_undefined_is_none(rows: list[list[int]]) -> None:
    assert intraclass_correlation(rows) is None


def test_intraclass_correlation_uneven_rows_are_refused() -> None:
    with pytest.raises(ValueError, match="documents with 2 and 3 ratings; expected one number for all"):
        intraclass_correlation([[1, 2], [1, 2, 3]])


@pytest.mark.parametrize("rating", [inf, nan])
def test_intraclass_correlation_infinite_rating_is_refused(rating: float) -> None:
    with pytest.raises(ValueError, match="not a finite number"):
        intraclass_correlation([[1, 2], [3, rating]])


@given(rows=TABLES, factor=st.integers(1, 9), shift=st.integers(-9, 9))
def test_intraclass_correlation_other_scale_and_order_change_nothing(
    rows: list[list[int]], factor: int, shift: int
) -> None:
    correlation = intraclass_correlation(rows)
    changed = [[factor * rating + shift for rating in reversed(row)] for row in reversed(rows)]
    assert intraclass_correlation(changed) == correlation
    assert correlation is None or -1 / (len(rows[0]) - 1) - 1e-9 <= correlation <= 1.0


@pytest.mark.parametrize("seed", range(5))
def test_intraclass_correlation_is_that_of_scipys_variance_ratio(seed: int) -> None:
    """With F = MSB / MSW of a one-way analysis of variance, ICC(1,1) = (F - 1) / (F + k - 1)."""
    from scipy.stats import f_oneway

    rng = Random(f"{seed}|ratings")
    k = rng.randint(2, 5)
    rows = [[min(5, max(1, round(rng.gauss(mean, 0.8)))) for _ in range(k)] for mean in rng.choices(range(1, 6), k=12)]
    ratio = float(f_oneway(*rows).statistic)
    assert intraclass_correlation(rows) == pytest.approx((ratio - 1) / (ratio + k - 1), abs=1e-12)
