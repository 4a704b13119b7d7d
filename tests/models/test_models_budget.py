from __future__ import annotations

import asyncio
import json
from collections.abc import Callable, Iterator, Mapping
from contextlib import closing, suppress
from pathlib import Path
from typing import Any
from uuid import uuid4

import pytest
from hypothesis import given
from hypothesis import strategies as st
from loopback import Loopback, as_json
from loopback import reply as provider_reply

from pytest_taskgraph.errors import BudgetSpentError, NotAskedError, ProviderError, ProviderErrorKind, UsageError
from pytest_taskgraph.models import close, open_model
from pytest_taskgraph.models.middleware.budget import UNBILLED, BudgetLayer, check_budget
from pytest_taskgraph.models.middleware.layer import ClientLayer
from pytest_taskgraph.models.middleware.time_limit import TIME_LIMIT
from pytest_taskgraph.models.prices import ASSUMED_OUT, Price
from pytest_taskgraph.models.store import Store
from pytest_taskgraph.models.store.schema import open_store
from pytest_taskgraph.trial import Json, Reply, Request

PRICE = Price(1.0, 1.0, stated=False)  # a dollar a token
REQUEST = Request([{"role": "user", "content": "abcd"}])  # 20 tokens at worst
WORST = 20 + 5.0


class Client:
    """A model that answers with a given function, once it may, and counts."""

    def __init__(self, answer: Callable[[], Reply], settings: Mapping[str, Json] | None = None) -> None:
        self.name, self.settings = "gpt-x", {"max_tokens": 5} if settings is None else settings
        self.calls = 0
        self.asked, self.may_answer = asyncio.Event(), asyncio.Event()
        self.may_answer.set()
        self._answer = answer

    async def answer(self, request: Request) -> Reply:
        self.calls += 1
        self.asked.set()
        await self.may_answer.wait()
        return self._answer()


def failing(error: Exception) -> Callable[[], Reply]:
    def fail() -> Reply:
        raise error

    return fail


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("store")


def new_run(folder: Path) -> Store:
    return Store(folder, uuid4().hex)


@pytest.fixture
def store(folder: Path) -> Iterator[Store]:
    with closing(new_run(folder)) as opened:
        yield opened


def budgeted(
    store: Store,
    client: Client,
    max_cost: float | None = 100.0,
    max_calls: int | None = None,
    price: Price | None = PRICE,
) -> BudgetLayer:
    return BudgetLayer(ClientLayer(client), store, price, max_calls, max_cost)


def ledger(store: Store) -> tuple[int, float, float]:
    """Calls, US dollars that are spent, and those that are still reserved."""
    asyncio.run(store.look("after all that was asked of the store"))
    with closing(open_store(store.path, create=False)) as connection:
        row = connection.execute("SELECT calls, cost FROM ledger WHERE run = ?", (store.run,)).fetchone()
        reserved = connection.execute("SELECT total(reserved) FROM reservations WHERE run = ?", (store.run,)).fetchone()
    return (*(row or (0, 0.0)), *reserved)


def spent_after(store: Store, answer: Callable[[], Reply]) -> tuple[int, float, float]:
    """The ledger after one attempt."""
    with suppress(ProviderError, NotAskedError, RuntimeError):
        asyncio.run(budgeted(store, Client(answer)).answer(REQUEST))
    return ledger(store)


def test_budget_reply_settles_at_its_cost(store: Store) -> None:
    assert spent_after(store, lambda: Reply("a", cost=3.0)) == (1, 3.0, 0.0)


def test_budget_reply_without_cost_is_priced_by_tokens(store: Store) -> None:
    model = budgeted(store, Client(lambda: Reply("a", 10, 2)))
    assert asyncio.run(model.answer(REQUEST)) == Reply("a", 10, 2, 12.0)
    assert ledger(store) == (1, 12.0, 0.0)


def test_budget_stated_price_overrides_cost_of_reply(store: Store) -> None:
    model = budgeted(store, Client(lambda: Reply("a", 10, 2, cost=99.0)), price=Price(0.0, 0.0, stated=True))
    assert asyncio.run(model.answer(REQUEST)).cost == 0.0
    assert ledger(store) == (1, 0.0, 0.0)


@pytest.mark.parametrize("cost", [None, float("nan"), -1.0, float("inf")])
def test_budget_reply_of_unknown_cost_settles_at_worst(store: Store, cost: float | None) -> None:
    assert spent_after(store, lambda: Reply("a", cost=cost)) == (1, WORST, 0.0)


@pytest.mark.parametrize("tokens", [(-5000, 2), (10, -5000)])
def test_budget_reply_of_negative_tokens_settles_at_worst(store: Store, tokens: tuple[int, int]) -> None:
    assert spent_after(store, lambda: Reply("a", *tokens)) == (1, WORST, 0.0)


@pytest.mark.parametrize("usage", [{"prompt_tokens": -5000, "completion_tokens": 2}, {"prompt_tokens": 10**9}])
def test_budget_malformed_usage_of_provider_settles_at_worst(store: Store, usage: dict[str, int]) -> None:
    body = json.loads(provider_reply("yes").body) | {"usage": usage}
    with Loopback(as_json(body)) as server:
        client: Any = open_model(f"{server.url}#gpt-x", {"max_tokens": 5})

        async def ask() -> Reply:
            try:
                return await BudgetLayer(ClientLayer(client), store, PRICE, None, 100.0).answer(REQUEST)
            finally:
                await close()

        with pytest.raises(ProviderError, match=r"^malformed: .* expected a number of tokens from 0 to 100,000,000"):
            asyncio.run(ask())
    assert ledger(store) == (1, WORST, 0.0)


@pytest.mark.parametrize("kind", sorted(UNBILLED))
def test_budget_refused_request_costs_nothing(store: Store, kind: ProviderErrorKind) -> None:
    assert spent_after(store, failing(ProviderError(kind, "no"))) == (1, 0.0, 0.0)


@pytest.mark.parametrize("kind", ["timeout", "connection", "malformed", "content-filter", "truncated"])
def test_budget_failure_that_may_be_billed_settles_at_worst(store: Store, kind: ProviderErrorKind) -> None:
    assert spent_after(store, failing(ProviderError(kind, "reset by peer"))) == (1, WORST, 0.0)


@pytest.mark.parametrize(
    "error",
    [
        ProviderError("connection", "Cannot connect to host localhost:1 [Connection refused]"),
        NotAskedError("cannot call tools"),
    ],
)
def test_budget_unsent_request_costs_nothing(store: Store, error: Exception) -> None:
    assert spent_after(store, failing(error)) == (1, 0.0, 0.0)


def test_budget_unknown_failure_settles_at_worst(store: Store) -> None:
    assert spent_after(store, failing(RuntimeError("?"))) == (1, WORST, 0.0)


@pytest.fixture
def full(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    """A store whose disk is full once something is reserved."""

    async def settle(reserved: float, cost: float) -> None:
        raise UsageError("the disk is full")

    monkeypatch.setattr(store, "settle", settle)


@pytest.mark.usefixtures("full")
def test_budget_unsettled_reply_is_returned_and_stays_reserved(store: Store) -> None:
    reply = asyncio.run(budgeted(store, Client(lambda: Reply("a", cost=3.0))).answer(REQUEST))
    assert (reply, ledger(store)) == (Reply("a", cost=3.0), (1, 0.0, WORST))


@pytest.mark.usefixtures("full")
def test_budget_unsettled_failure_is_raised_unchanged(store: Store) -> None:
    with pytest.raises(ProviderError, match="rate-limit: slowly"):
        asyncio.run(budgeted(store, Client(failing(ProviderError("rate-limit", "slowly")))).answer(REQUEST))
    assert ledger(store) == (1, 0.0, WORST)


def test_budget_cancelled_attempt_counts_at_worst(store: Store) -> None:
    client = Client(lambda: Reply("a"))
    client.may_answer.clear()

    async def run() -> None:
        task = asyncio.create_task(budgeted(store, client).answer(REQUEST))
        await client.asked.wait()
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task

    asyncio.run(run())
    assert ledger(store) == (1, WORST, 0.0)


def side_by_side(store: Store, client: Client, model: BudgetLayer, number: int) -> list[Any]:
    """What becomes of so many attempts; none is answered before all are reserved or refused, or wait."""
    client.may_answer.clear()

    async def run() -> list[Any]:
        attempts = [asyncio.create_task(model.answer(REQUEST)) for _ in range(number)]
        await asyncio.sleep(0)
        await store.look("after all attempts")
        client.may_answer.set()
        return await asyncio.gather(*attempts, return_exceptions=True)

    return asyncio.run(run())


@given(st.integers(0, 12), st.integers(0, 12))
def test_max_calls_bounds_concurrent_requests(folder: Path, number: int, most: int) -> None:
    client = Client(failing(ProviderError("server", "500")))
    with closing(new_run(folder)) as store:
        results = side_by_side(store, client, budgeted(store, client, None, most), number)
        calls = ledger(store)[0]
    assert client.calls == calls == min(number, most)
    assert sum(isinstance(result, BudgetSpentError) for result in results) == number - client.calls


@given(st.integers(0, 12), st.floats(0, 300), st.floats(0, WORST) | st.none())
def test_max_cost_bounds_spent_and_reserved_cost(folder: Path, number: int, most: float, cost: float | None) -> None:
    client = Client(lambda: Reply("a", cost=cost))
    with closing(new_run(folder)) as store:
        side_by_side(store, client, budgeted(store, client, most), number)
        spent = ledger(store)
    counted, one_by_one = WORST if cost is None else cost, 0
    while one_by_one < number and one_by_one * counted + WORST <= most * (1 + 1e-9):
        one_by_one += 1
    assert spent[1] <= most * (1 + 1e-9)
    assert (client.calls, spent[2]) == (one_by_one, 0.0)


def test_budget_remainder_allows_further_requests(store: Store) -> None:
    client = Client(lambda: Reply("a", cost=1.0))
    model = budgeted(store, client, 27.0)

    async def one_by_one() -> None:
        for _ in range(9):
            await model.answer(REQUEST)

    with pytest.raises(BudgetSpentError) as spent:
        asyncio.run(one_by_one())
    assert client.calls == 3
    assert str(spent.value) == "--taskgraph-max-cost=27 allows no request of up to 25 US$ more: 3 US$ are spent"
    assert spent.value.limit == "cost"


def test_max_calls_when_spent_error_names_option(store: Store) -> None:
    model = budgeted(store, Client(lambda: Reply("a")), None, 0, None)
    with pytest.raises(BudgetSpentError, match="--taskgraph-max-calls=0 is spent") as spent:
        asyncio.run(model.answer(REQUEST))
    assert spent.value.limit == "calls"


def test_budget_without_limits_adds_cost_only(store: Store) -> None:
    model = budgeted(store, Client(lambda: Reply("a", 1, 1), {}), None)
    assert asyncio.run(model.answer(REQUEST)).cost == 2.0
    assert ledger(store) == (0, 0.0, 0.0)


def test_max_cost_with_unknown_price_is_usage_error(store: Store) -> None:
    with pytest.raises(UsageError, match=r"price of the model gpt-x is not known.*--taskgraph-price gpt-x=IN/OUT"):
        budgeted(store, Client(lambda: Reply("a")), price=None)


def test_budget_unbounded_reply_reserves_assumed_length(store: Store) -> None:
    client = Client(lambda: Reply("a", cost=1.0), {})
    with pytest.raises(BudgetSpentError, match=r"no request of up to 3\.279e\+04 US"):
        asyncio.run(budgeted(store, client, 20.0 + ASSUMED_OUT - 1).answer(REQUEST))
    assert asyncio.run(budgeted(store, client, 20.0 + ASSUMED_OUT).answer(REQUEST)).cost == 1.0
    assert client.calls == 1


def test_max_cost_with_price_raising_setting_needs_stated_price() -> None:
    settings: dict[str, Json] = {"max_tokens": 5, "service_tier": "priority"}
    with pytest.raises(UsageError, match="service_tier may change the price"):
        check_budget("gpt-x", PRICE, 1.0, settings)
    check_budget("gpt-x", Price(1.0, 1.0, stated=True), 1.0, settings)


def test_max_cost_with_billed_extra_setting_is_usage_error() -> None:
    with pytest.raises(UsageError, match="web_search_options is billed beside the tokens"):
        check_budget("gpt-x", Price(1.0, 1.0, stated=True), 1.0, {"max_tokens": 5, "web_search_options": {"a": 1}})


def test_max_cost_with_price_raising_request_is_not_asked(store: Store) -> None:
    client = Client(lambda: Reply("a"))
    model = budgeted(store, client)
    with pytest.raises(NotAskedError, match="service_tier"):
        asyncio.run(model.answer(Request(REQUEST.messages, settings={"service_tier": "priority"})))
    assert (client.calls, ledger(store)) == (0, (0, 0.0, 0.0))


def test_budget_attempt_never_sent_counts_nothing(store: Store) -> None:
    client = Client(lambda: Reply("a"))

    async def run() -> None:
        async with budgeted(store, client, max_calls=3).attempt(REQUEST):
            await store.look("after it is reserved")

    asyncio.run(run())
    assert (client.calls, ledger(store)) == (0, (0, 0.0, 0.0))


def test_budget_wait_extends_time_limit_of_question(store: Store) -> None:
    client = Client(lambda: Reply("a", cost=1.0))
    model = budgeted(store, client, WORST + 1.0)
    client.may_answer.clear()

    async def run() -> Reply:
        first = asyncio.create_task(model.answer(REQUEST))
        await client.asked.wait()
        async with asyncio.timeout(1000.0) as limit:
            TIME_LIMIT.set(limit)
            second = asyncio.create_task(model.answer(REQUEST))
            await store.look("after the second waits")
            assert limit.when() is None
            client.may_answer.set()
            reply = await second
            assert limit.when() is not None
        await first
        return reply

    assert asyncio.run(run()).text == "a"
    assert ledger(store) == (2, 2.0, 0.0)
