from __future__ import annotations

from dataclasses import replace

import pytest
from described_runs import described
from hypothesis import given
from hypothesis import strategies as st

from pytest_taskgraph.results.plan import Amount, PlanEntry, plan_of

ONE = PlanEntry("m", "understanding", "chain", "structure", 1, 100, 0.25, 0.5)

entries = st.builds(
    PlanEntry,
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


def test_a_row_adds_its_questions_up() -> None:
    total = plan_of([ONE, replace(ONE, requests=3)]).total
    assert (total.questions, total.requests, total.stored, total.tokens_in) == (2, 4, 0, 200)
    assert (total.expected, total.worst) == (Amount(0.5), Amount(1.0))


def test_at_worst_every_retry_is_billed() -> None:
    assert plan_of([ONE], retries=5).total.worst == Amount(3.0)
    assert plan_of([ONE], retries=5).total.expected == Amount(0.25)


def test_what_is_stored_is_not_sent_and_costs_nothing() -> None:
    total = plan_of([replace(ONE, expected=None, worst=None, requests=0, tokens_in=0, stored=2)]).total
    assert (total.questions, total.requests, total.stored, total.tokens_in) == (1, 0, 2, 0)
    assert (total.expected, total.worst) == (Amount(0.0), Amount(0.0))


@pytest.mark.parametrize(
    ("costs", "amount"),
    [([], Amount(0.0)), ([None], Amount(None, True)), ([None, 1.0], Amount(1.0, True)), ([0.0], Amount(0.0))],
)
def test_the_unknown_is_never_nothing(costs: list[float | None], amount: Amount) -> None:
    total = plan_of([replace(ONE, expected=cost, worst=cost) for cost in costs]).total
    assert total.expected == total.worst == amount


def test_models_stand_as_they_come_and_patterns_as_in_the_catalogue() -> None:
    given_entries = [
        replace(ONE, model=model, group=pattern, section=category)
        for model in ("z", "a")
        for pattern, category in (
            ("x", ""),
            ("b", "behaviour"),
            ("d", "structure"),
            ("c", "structure"),
            ("e", "structure"),
        )
    ]
    plan = plan_of(given_entries, descriptions=described("e", "c"))
    assert [row.name for row in plan.of("z")] == ["e", "c", "d", "b", "x"]
    assert [total.model for total in plan.totals] == ["z", "a"]


@given(st.lists(entries, max_size=12), st.integers(0, 3))
def test_rows_and_models_add_up_to_the_total(given_entries: list[PlanEntry], retries: int) -> None:
    plan = plan_of(given_entries, retries)
    for parts in (plan.rows, plan.totals):
        for count in ("questions", "requests", "stored", "shared", "tokens_in"):
            assert sum(getattr(row, count) for row in parts) == getattr(plan.total, count)
        for cost in ("expected", "worst"):
            amounts: list[Amount] = [getattr(row, cost) for row in parts]
            total: Amount = getattr(plan.total, cost)
            assert sum(amount.known or 0 for amount in amounts) == (total.known or 0)
            assert any(amount.more for amount in amounts) is total.more
    assert plan.total.questions == len(given_entries)
