"""The chain of layers around a client."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator, Mapping
from contextlib import closing
from pathlib import Path

import pytest

from pytest_taskgraph.errors import ProviderError
from pytest_taskgraph.models.middleware.budget import BudgetLayer
from pytest_taskgraph.models.middleware.chain import Budget, chain
from pytest_taskgraph.models.middleware.layer import ClientLayer, WrappingLayer
from pytest_taskgraph.models.middleware.limits import LimitLayer, Limits
from pytest_taskgraph.models.middleware.request_counters import RequestCounters
from pytest_taskgraph.models.middleware.retries import RetryLayer, TimeoutLayer
from pytest_taskgraph.models.middleware.score_checked import ScoreCheckLayer
from pytest_taskgraph.models.middleware.single_texts import SingleTextLayer
from pytest_taskgraph.models.middleware.stored import StoreLayer, UnstoredLayer
from pytest_taskgraph.models.prices import Price
from pytest_taskgraph.models.store import Store
from pytest_taskgraph.trial import Json, Reply, Request

REQUEST = Request([{"role": "user", "content": "Which?"}], settings={"max_tokens": 10})


class Client:
    """Fails once, then answers; notes what is in flight and reserved while it does."""

    live = True
    name = "client"

    def __init__(self) -> None:
        self.settings: Mapping[str, Json] = {}
        self.asked = 0
        self.was_ready = False

    async def ready(self) -> None:
        self.was_ready = True

    async def answer(self, request: Request) -> Reply:
        assert self.was_ready
        self.asked += 1
        if self.asked == 1:
            raise ProviderError("connection", "connection reset")
        return Reply("a", tokens_in=1, tokens_out=1)


async def _no_sleep(seconds: float) -> None:
    await asyncio.sleep(0)


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    with closing(Store(tmp_path, "run")) as opened:
        yield opened


def test_chain_layers_have_documented_order(store: Store) -> None:
    model = chain(Client(), store, Limits(1, None, None, RequestCounters()), RequestCounters(), Budget())
    assert isinstance(model, StoreLayer)
    kinds, layer = [type(model).__name__], model.inner
    while isinstance(layer, WrappingLayer):
        kinds.append(type(layer).__name__)
        layer = layer.inner
    order = [
        kind.__name__
        for kind in (
            StoreLayer,
            SingleTextLayer,
            RetryLayer,
            LimitLayer,
            ScoreCheckLayer,
            TimeoutLayer,
            BudgetLayer,
            ClientLayer,
        )
    ]
    assert [*kinds, type(layer).__name__] == order


def test_chain_retries_settles_and_stores_reply_once(store: Store) -> None:
    client, counters = Client(), RequestCounters()
    limits = Limits(1, None, None, counters)
    budget = Budget(Price(1.0, 1.0, stated=True), max_calls=2)
    model = chain(client, store, limits, counters, budget, sleep=_no_sleep)

    async def ask_twice() -> list[Reply]:
        return [await model.answer(REQUEST), await model.answer(REQUEST)]

    first, second = asyncio.run(ask_twice())
    assert (first.retries, first.cost, second.text) == (1, 2.0, first.text)
    assert (client.asked, counters.sent, counters.retries, counters.stored, counters.in_flight) == (2, 2, 1, 1, 0)
    assert limits.in_flight == 0


def test_chain_without_store_sends_each_time() -> None:
    client, counters = Client(), RequestCounters()
    model = chain(
        client, None, Limits(1, None, None, counters), counters, Budget(), keep_replies=False, sleep=_no_sleep
    )

    async def ask_twice() -> None:
        assert [(await model.answer(REQUEST)).retries for _ in range(2)] == [1, 0]

    asyncio.run(ask_twice())
    assert isinstance(model, UnstoredLayer)
    assert client.asked == 3
