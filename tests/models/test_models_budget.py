from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping
from contextlib import suppress
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pytest_taskgraph.errors import BudgetSpentError, NotAskedError, ProviderError, ProviderErrorKind, UsageError
from pytest_taskgraph.models.budget import UNBILLED, Budgeted, MemoryLedger, check_budget
from pytest_taskgraph.models.prices import Price
from pytest_taskgraph.trial import Json, Reply, Request

PRICE = Price(1.0, 1.0, stated=False)  # a dollar a token
ASKED = Request([{"role": "user", "content": "abcd"}])  # 20 tokens at worst
WORST = 20 + 5.0


class Client:
    """A model that answers as it is told, and counts."""

    def __init__(self, answer: Callable[[], Reply], settings: Mapping[str, Json] | None = None) -> None:
        self.name, self.settings = "gpt-x", {"max_tokens": 5} if settings is None else settings
        self.calls = 0
        self._answer = answer

    async def answer(self, request: Request) -> Reply:
        self.calls += 1
        await asyncio.sleep(0)
        return self._answer()


def failing(error: Exception) -> Callable[[], Reply]:
    def fail() -> Reply:
        raise error

    return fail


def budgeted(
    client: Client, max_cost: float | None = 100.0, max_calls: int | None = None, price: Price | None = PRICE
) -> tuple[Budgeted, MemoryLedger]:
    ledger = MemoryLedger()
    return Budgeted(client, ledger, price, max_calls, max_cost), ledger


def spent_after(answer: Callable[[], Reply], price: Price | None = PRICE) -> tuple[float, float]:
    """What is spent, and what is still reserved, after one attempt."""
    model, ledger = budgeted(Client(answer), price=price)
    with suppress(ProviderError, NotAskedError, RuntimeError):
        asyncio.run(model.answer(ASKED))
    return ledger.cost, ledger.reserved


def test_a_reply_settles_at_its_cost() -> None:
    assert spent_after(lambda: Reply("a", cost=3.0)) == (3.0, 0.0)


def test_a_reply_without_a_cost_is_given_one_from_its_tokens() -> None:
    model, ledger = budgeted(Client(lambda: Reply("a", 10, 2)))
    assert asyncio.run(model.answer(ASKED)) == Reply("a", 10, 2, 12.0)
    assert ledger.cost == 12.0


def test_a_stated_price_takes_the_place_of_the_cost_that_a_reply_says() -> None:
    model, ledger = budgeted(Client(lambda: Reply("a", 10, 2, cost=99.0)), price=Price(0.0, 0.0, stated=True))
    assert asyncio.run(model.answer(ASKED)).cost == 0.0
    assert ledger.cost == 0.0


@pytest.mark.parametrize("cost", [None, float("nan"), -1.0, float("inf")])
def test_a_reply_of_unknown_cost_settles_at_the_worst(cost: float | None) -> None:
    assert spent_after(lambda: Reply("a", cost=cost)) == (WORST, 0.0)


@pytest.mark.parametrize("kind", sorted(UNBILLED))
def test_what_a_provider_turned_down_costs_nothing(kind: ProviderErrorKind) -> None:
    assert spent_after(failing(ProviderError(kind, "no"))) == (0.0, 0.0)


@pytest.mark.parametrize("kind", ["timeout", "connection", "malformed", "content-filter", "truncated"])
def test_what_may_be_billed_settles_at_the_worst(kind: ProviderErrorKind) -> None:
    assert spent_after(failing(ProviderError(kind, "reset by peer"))) == (WORST, 0.0)


def test_what_never_left_costs_nothing() -> None:
    refused = ProviderError("connection", "Cannot connect to host localhost:1 [Connection refused]")
    assert spent_after(failing(refused)) == (0.0, 0.0)
    assert spent_after(failing(NotAskedError("cannot call tools"))) == (0.0, 0.0)


def test_an_unforeseen_failure_settles_at_the_worst() -> None:
    assert spent_after(failing(RuntimeError("?"))) == (WORST, 0.0)


def test_a_cancelled_attempt_stays_reserved() -> None:
    async def run() -> MemoryLedger:
        model, ledger = budgeted(Client(lambda: Reply("a")))
        task = asyncio.create_task(model.answer(ASKED))
        await asyncio.sleep(0)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        return ledger

    assert asyncio.run(run()).reserved == WORST


def gathered(model: Budgeted, number: int) -> list[Any]:
    async def run() -> list[Any]:
        return await asyncio.gather(*(model.answer(ASKED) for _ in range(number)), return_exceptions=True)

    return asyncio.run(run())


@given(st.integers(0, 12), st.integers(0, 12))
def test_no_more_calls_than_allowed_are_sent_side_by_side(number: int, most: int) -> None:
    client = Client(failing(ProviderError("server", "500")))
    model, ledger = budgeted(client, None, most)
    results = gathered(model, number)
    assert client.calls == ledger.calls == min(number, most)
    assert sum(isinstance(result, BudgetSpentError) for result in results) == number - client.calls


@given(st.integers(0, 12), st.floats(0, 300), st.floats(0, WORST) | st.none())
def test_no_more_than_allowed_is_spent_with_what_is_in_flight(number: int, most: float, cost: float | None) -> None:
    client = Client(lambda: Reply("a", cost=cost))
    model, ledger = budgeted(client, most)
    gathered(model, number)
    assert ledger.cost <= most * (1 + 1e-9)
    assert client.calls == min(number, int(most * (1 + 1e-9) // WORST))  # all are in flight before one is settled


def test_what_is_left_over_is_spent_on() -> None:
    client = Client(lambda: Reply("a", cost=1.0))
    model, _ = budgeted(client, 27.0)

    async def one_by_one() -> None:
        for _ in range(9):
            await model.answer(ASKED)

    with pytest.raises(BudgetSpentError) as spent:
        asyncio.run(one_by_one())
    assert client.calls == 3
    assert str(spent.value) == "--taskgraph-max-cost=27 allows no request of up to 25 US$ more: 3 US$ are spent"
    assert spent.value.limit == "cost"


def test_spent_calls_name_their_limit() -> None:
    model, _ = budgeted(Client(lambda: Reply("a")), None, 0, None)
    with pytest.raises(BudgetSpentError, match="--taskgraph-max-calls=0 is spent") as spent:
        asyncio.run(model.answer(ASKED))
    assert spent.value.limit == "calls"


def test_without_limits_nothing_is_counted_but_the_cost_is_told() -> None:
    model, ledger = budgeted(Client(lambda: Reply("a", 1, 1), {}), None)
    assert asyncio.run(model.answer(ASKED)).cost == 2.0
    assert ledger.calls == 0


def test_an_unknown_price_cannot_be_limited() -> None:
    with pytest.raises(UsageError, match=r"price of the model gpt-x is not known.*--taskgraph-price gpt-x=IN/OUT"):
        budgeted(Client(lambda: Reply("a")), price=None)


def test_a_reply_without_bound_cannot_be_limited() -> None:
    with pytest.raises(UsageError, match=r"--taskgraph-model-option max_tokens=N"):
        check_budget("gpt-x", PRICE, 1.0, {})
    check_budget("gpt-x", PRICE, None, {})
    check_budget("gpt-x", Price(0.0, 0.0), 1.0, {})
    check_budget("gpt-x", Price(1.0, 1.0, most_out=9), 1.0, {})


def test_a_setting_that_makes_tokens_dearer_needs_a_stated_price() -> None:
    settings: dict[str, Json] = {"max_tokens": 5, "service_tier": "priority"}
    with pytest.raises(UsageError, match="service_tier may change the price"):
        check_budget("gpt-x", PRICE, 1.0, settings)
    check_budget("gpt-x", Price(1.0, 1.0, stated=True), 1.0, settings)


def test_what_is_billed_beside_the_tokens_cannot_be_limited() -> None:
    with pytest.raises(UsageError, match="web_search_options is billed beside the tokens"):
        check_budget("gpt-x", Price(1.0, 1.0, stated=True), 1.0, {"max_tokens": 5, "web_search_options": {"a": 1}})


def test_a_request_whose_own_settings_cannot_be_limited_is_not_sent() -> None:
    client = Client(lambda: Reply("a"))
    model, ledger = budgeted(client)
    with pytest.raises(NotAskedError, match="service_tier"):
        asyncio.run(model.answer(Request(ASKED.messages, settings={"service_tier": "priority"})))
    assert (client.calls, ledger.calls) == (0, 0)
