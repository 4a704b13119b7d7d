from __future__ import annotations

from dataclasses import replace

import pytest
from described_runs import described
from hypothesis import given
from hypothesis import strategies as st

from pytest_taskgraph.results.run_forecast import CostAmount, ForecastEntry, build_forecast

ENTRY = ForecastEntry("m", "understanding", "chain", "structure", 1, 100, 0.25, 0.5)

entries = st.builds(
    ForecastEntry,
    st.sampled_from(["m", "n"]),
    st.just("understanding"),
    st.sampled_from(["chain", "loops", "other"]),
    st.just("structure"),
    st.integers(0, 5),
    st.integers(0, 900),
    st.none() | st.integers(0, 64).map(lambda number: number / 8),
    st.none() | st.integers(0, 64).map(lambda number: number / 8),
    st.integers(0, 3),
    st.integers(0, 3),
)


def test_forecast_row_sums_its_entries() -> None:
    total = build_forecast([ENTRY, replace(ENTRY, requests=3)]).total
    assert (total.questions, total.requests, total.stored, total.tokens_in) == (2, 4, 0, 200)
    assert (total.expected, total.worst) == (CostAmount(0.5), CostAmount(1.0))


def test_forecast_worst_case_bills_every_retry() -> None:
    assert build_forecast([ENTRY], retries=5).total.worst == CostAmount(3.0)
    assert build_forecast([ENTRY], retries=5).total.expected == CostAmount(0.25)


def test_forecast_stored_requests_cost_nothing() -> None:
    total = build_forecast([replace(ENTRY, expected=None, worst=None, requests=0, tokens_in=0, stored=2)]).total
    assert (total.questions, total.requests, total.stored, total.tokens_in) == (1, 0, 2, 0)
    assert (total.expected, total.worst) == (CostAmount(0.0), CostAmount(0.0))


@pytest.mark.parametrize(
    ("costs", "amount"),
    [
        ([], CostAmount(0.0)),
        ([None], CostAmount(None, True)),
        ([None, 1.0], CostAmount(1.0, True)),
        ([0.0], CostAmount(0.0)),
    ],
)
def test_forecast_unknown_costs_are_not_zero(costs: list[float | None], amount: CostAmount) -> None:
    total = build_forecast([replace(ENTRY, expected=cost, worst=cost) for cost in costs]).total
    assert total.expected == total.worst == amount


def test_forecast_order_of_models_and_patterns() -> None:
    given_entries = [
        replace(ENTRY, model=model, group=pattern, section=category)
        for model in ("z", "a")
        for pattern, category in (
            ("x", ""),
            ("b", "behaviour"),
            ("d", "structure"),
            ("c", "structure"),
            ("e", "structure"),
        )
    ]
    plan = build_forecast(given_entries, descriptions=described("e", "c"))
    assert [row.name for row in plan.rows_of("z")] == ["e", "c", "d", "b", "x"]
    assert [total.model for total in plan.totals] == ["z", "a"]


@given(st.lists(entries, max_size=12), st.integers(0, 3))
def test_forecast_rows_and_models_sum_to_total(given_entries: list[ForecastEntry], retries: int) -> None:
    plan = build_forecast(given_entries, retries)
    for parts in (plan.rows, plan.totals):
        for count in ("questions", "requests", "stored", "shared", "tokens_in"):
            assert sum(getattr(row, count) for row in parts) == getattr(plan.total, count)
        for cost in ("expected", "worst"):
            amounts: list[CostAmount] = [getattr(row, cost) for row in parts]
            total: CostAmount = getattr(plan.total, cost)
            assert sum(amount.dollars or 0 for amount in amounts) == (total.dollars or 0)
            assert any(amount.more for amount in amounts) is total.more
    assert plan.total.questions == len(given_entries)
