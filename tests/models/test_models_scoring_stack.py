"""Requests that score and embed go through store, replay, retries, limits and budget, with either client."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import Any, cast

import pytest
from loopback import Loopback, Raw, as_json, echoed, refuse

from pytest_taskgraph.asking import Model
from pytest_taskgraph.errors import BudgetSpentError, NoLogprobsError, ProviderError
from pytest_taskgraph.models import close, open_model
from pytest_taskgraph.models.middleware.chain import Budget, chain
from pytest_taskgraph.models.middleware.layer import LiveModel
from pytest_taskgraph.models.middleware.limits import Limits
from pytest_taskgraph.models.middleware.request_counters import RequestCounters
from pytest_taskgraph.models.middleware.stored import ReplayModel
from pytest_taskgraph.models.prices import Price
from pytest_taskgraph.models.store import Store
from pytest_taskgraph.models.store.schema import open_store
from pytest_taskgraph.trial import Json, Reply, Request

CLIENTS = ("openai/any", "{url}#any")
SCORE = Request(kind="score", context="Boil water.", texts=[" Eat.", " Sleep."])
CHAT_SCORE = Request([{"role": "user", "content": "Eat? Yes or No."}], kind="score", texts=["Yes", "No"])
EMBED = Request(role="embedder", kind="embed", texts=["one", "other"])
PRICE = Price(1.0, 1.0, stated=True)  # a dollar a token
USAGE = {"prompt_tokens": 9, "completion_tokens": 2, "total_tokens": 11}


def _scored() -> Raw:
    boil = [("Boil", None), (" water.", -2.0)]
    return echoed([*boil, (" Eat.", -1.0)], [*boil, (" Sleep.", -3.0)])


def _chat_with_tops() -> Raw:
    tops = [{"token": "Yes", "logprob": -1.0}, {"token": "No", "logprob": -3.0}]
    message = {"role": "assistant", "content": "Yes"}
    content = [{"token": "Yes", "logprob": -1.0, "bytes": None, "top_logprobs": tops}]
    choice = {"index": 0, "finish_reason": "length", "message": message, "logprobs": {"content": content}}
    return as_json({"id": "c", "object": "chat.completion", "model": "any", "choices": [choice], "usage": USAGE})


def _embedded() -> Raw:
    data = [{"object": "embedding", "index": at, "embedding": [1.0, float(at)]} for at in range(2)]
    usage = {"prompt_tokens": 9, "total_tokens": 9}
    return as_json({"object": "list", "model": "any", "data": data, "usage": usage})


KINDS: dict[str, tuple[Request, Raw, float]] = {
    "score": (SCORE, _scored(), 11.0),
    "score with messages": (CHAT_SCORE, _chat_with_tops(), 11.0),
    "embed": (EMBED, _embedded(), 9.0),
}
PARAMETERS = [(kind, model) for kind in KINDS for model in CLIENTS]


class Stack:
    """What a run puts around a client, over a store."""

    def __init__(
        self, client: LiveModel, store: Store, max_calls: int | None = None, max_cost: float | None = None
    ) -> None:
        self.counters, self.store = RequestCounters(), store
        self.limits = Limits(1, None, None, self.counters)
        budget = Budget(PRICE, max_calls, max_cost)
        self.model = chain(client, store, self.limits, self.counters, budget, retries=2, timeout=30.0, sleep=_no_sleep)

    def spent(self) -> tuple[int, float]:
        """Return the calls and the dollars that the ledger holds."""
        asyncio.run(self.store.look("after all that was asked of the store"))
        with closing(open_store(self.store.path, create=False)) as connection:
            row = connection.execute("SELECT calls, cost FROM ledger WHERE run = ?", (self.store.run,)).fetchone()
        return row[0], row[1]


async def _no_sleep(seconds: float) -> None:
    await asyncio.sleep(0)


def client_of(model: str, server: Loopback) -> LiveModel:
    own: dict[str, Json] = {"api_key": "test-key-123456"}
    if "#" not in model:
        own["api_base"] = server.url
    return cast("LiveModel", open_model(model.format(url=server.url), own))


def ask(model: Model, *requests: Request) -> list[Reply]:
    async def run() -> list[Reply]:
        try:
            return [await model.answer(request) for request in requests]
        finally:
            await close()

    return asyncio.run(run())


def text_and_scores(reply: Reply) -> tuple[Any, Any]:
    return reply.scores, reply.embeddings


@pytest.mark.parametrize(("kind", "model"), PARAMETERS)
def test_score_request_is_sent_once_stored_and_replayed(
    kind: str, model: str, server: Loopback, tmp_path: Path
) -> None:
    request, answer, cost = KINDS[kind]
    server.script(refuse(429, "slow down"), answer)
    client = client_of(model, server)
    with closing(Store(tmp_path, "run")) as store:
        stack = Stack(client, store, max_calls=5, max_cost=1000.0)
        first, second = ask(stack.model, request, request)
        assert text_and_scores(first) == text_and_scores(second)
        assert first.scores or first.embeddings
        assert (first.cost, first.retries, len(server.requests)) == (cost, 1, 2)
        assert stack.spent() == (2, cost)
    with closing(Store(tmp_path, "later")) as later:
        (again,) = ask(ReplayModel(client.name, client.settings, later, RequestCounters()), request)
        assert (text_and_scores(again), again.stored) == (text_and_scores(first), True)
        with pytest.raises(ProviderError, match="not-stored"):
            ask(ReplayModel(client.name, client.settings, later, RequestCounters()), _other(request))
    assert len(server.requests) == 2


def _other(request: Request) -> Request:
    return Request(request.messages, request.role, request.kind, [*request.texts, " more"], context=request.context)


@pytest.mark.parametrize(("kind", "model"), PARAMETERS)
def test_score_request_beyond_max_calls_is_not_sent(kind: str, model: str, server: Loopback, tmp_path: Path) -> None:
    request, answer, _ = KINDS[kind]
    server.script(answer)
    with closing(Store(tmp_path, "run")) as store:
        stack = Stack(client_of(model, server), store, max_calls=1)
        ask(stack.model, request)
        with pytest.raises(BudgetSpentError):
            ask(stack.model, _other(request))
    assert len(server.requests) == 1


@pytest.mark.parametrize("model", CLIENTS)
def test_score_request_reserves_context_per_text(model: str, server: Loopback, tmp_path: Path) -> None:
    bytes_of = sum(len(SCORE.context + text) for text in SCORE.texts)
    worst = bytes_of + 2 * 16 + 2.0
    server.script(_scored())
    with closing(Store(tmp_path, "run")) as store:
        client = client_of(model, server)
        with pytest.raises(BudgetSpentError):
            ask(Stack(client, store, max_cost=worst - 0.5).model, SCORE)
        assert server.requests == []
        ask(Stack(client, store, max_cost=worst + 0.5).model, SCORE)
    assert len(server.requests) == 1


@pytest.mark.parametrize("model", CLIENTS)
def test_score_reply_without_logprobs_counts_at_worst(model: str, server: Loopback, tmp_path: Path) -> None:
    server.script(as_json({"model": "any", "choices": [{"index": at, "text": " and"} for at in range(2)]}))
    with closing(Store(tmp_path, "run")) as store:
        stack = Stack(client_of(model, server), store, max_cost=1000.0)
        with pytest.raises(NoLogprobsError):
            ask(stack.model, SCORE)
        calls, cost = stack.spent()
        assert (calls, len(server.requests), stack.counters.sent, stack.counters.failed) == (1, 1, 1, 1)
        assert cost > 40.0


@pytest.mark.parametrize("model", CLIENTS)
def test_score_request_refused_by_endpoint_costs_nothing(model: str, server: Loopback, tmp_path: Path) -> None:
    server.script(refuse(400, "echo is not supported"))
    with closing(Store(tmp_path, "run")) as store:
        stack = Stack(client_of(model, server), store, max_cost=1000.0)
        with pytest.raises(Exception, match="cannot score texts"):
            ask(stack.model, SCORE)
        assert stack.spent() == (1, 0.0)


@pytest.mark.parametrize(("kind", "model"), PARAMETERS)
def test_score_requests_keep_in_flight_limit(kind: str, model: str, server: Loopback, tmp_path: Path) -> None:
    request, answer, _ = KINDS[kind]
    server.script(answer, answer)
    most: list[int] = []
    with closing(Store(tmp_path, "run")) as store:
        stack = Stack(client_of(model, server), store)
        stack.limits.note_reply = _noting(stack.limits.note_reply, most, stack.limits)  # type: ignore[method-assign]

        async def run() -> None:
            try:
                await asyncio.gather(*(stack.model.answer(_repeated(request, number)) for number in (1, 2)))
            finally:
                await close()

        asyncio.run(run())
    assert most == [1, 1]


def _repeated(request: Request, repetition: int) -> Request:
    return Request(
        request.messages, request.role, request.kind, request.texts, context=request.context, repetition=repetition
    )


def _noting(inner: Callable[..., None], most: list[int], limits: Limits) -> Callable[..., None]:
    def note_reply(*args: object) -> None:
        most.append(limits.in_flight)
        inner(*args)

    return note_reply
