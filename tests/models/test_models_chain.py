"""The chain of layers around a client."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator, Mapping
from contextlib import closing
from pathlib import Path

import pytest

from pytest_taskgraph.errors import ProviderError
from pytest_taskgraph.models.middleware.budget import Budgeted
from pytest_taskgraph.models.middleware.chain import Budget, chain
from pytest_taskgraph.models.middleware.layer import Around, Direct
from pytest_taskgraph.models.middleware.limits import Limited, Limits
from pytest_taskgraph.models.middleware.request_counters import RequestCounters
from pytest_taskgraph.models.middleware.retries import Retried
from pytest_taskgraph.models.middleware.score_checked import ScoreChecked
from pytest_taskgraph.models.middleware.stored import Stored, Unstored
from pytest_taskgraph.models.middleware.timed import Timed
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


def test_chain_layers_stand_in_the_documented_order(store: Store) -> None:
    model = chain(Client(), store, Limits(1, None, None, RequestCounters()), RequestCounters(), Budget())
    assert isinstance(model, Stored)
    kinds, layer = [type(model).__name__], model.inner
    while isinstance(layer, Around):
        kinds.append(type(layer).__name__)
        layer = layer.inner
    order = [kind.__name__ for kind in (Stored, Retried, Limited, ScoreChecked, Timed, Budgeted, Direct)]
    assert [*kinds, type(layer).__name__] == order


def test_chain_repeats_pays_and_keeps_a_reply_once(store: Store) -> None:
    client, watch = Client(), RequestCounters()
    limits = Limits(1, None, None, watch)
    budget = Budget(Price(1.0, 1.0, stated=True), max_calls=2)
    model = chain(client, store, limits, watch, budget, sleep=_no_sleep)

    async def ask_twice() -> list[Reply]:
        return [await model.answer(REQUEST), await model.answer(REQUEST)]

    first, second = asyncio.run(ask_twice())
    assert (first.retries, first.cost, second.text) == (1, 2.0, first.text)
    assert (client.asked, watch.sent, watch.retries, watch.stored, watch.in_flight) == (2, 2, 1, 1, 0)
    assert limits.in_flight == 0


def test_chain_without_store_asks_each_time() -> None:
    client, watch = Client(), RequestCounters()
    model = chain(client, None, Limits(1, None, None, watch), watch, Budget(), is_kept=False, sleep=_no_sleep)

    async def ask_twice() -> None:
        assert [(await model.answer(REQUEST)).retries for _ in range(2)] == [1, 0]

    asyncio.run(ask_twice())
    assert isinstance(model, Unstored)
    assert client.asked == 3
