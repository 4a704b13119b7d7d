"""Endpoints that refuse several prompts in one request get each text by itself, in requests that count."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator
from contextlib import closing
from dataclasses import replace
from functools import partial
from pathlib import Path

import pytest
from loopback import Loopback, Raw, echoed, refuse

from pytest_taskgraph.errors import BudgetSpentError, CannotScoreError, NotAskedError, ProviderError
from pytest_taskgraph.models import close, open_model
from pytest_taskgraph.models.middleware.chain import Budget, chain
from pytest_taskgraph.models.middleware.limits import Limits
from pytest_taskgraph.models.middleware.request_counters import RequestCounters
from pytest_taskgraph.models.prices import Price
from pytest_taskgraph.models.store import Store
from pytest_taskgraph.models.store.schema import open_store
from pytest_taskgraph.trial import Reply, Request, TextScore

SCORE = Request(kind="score", context="Boil water.", texts=[" Eat.", " Sleep.", " Go."])
SCORES = [(-5.0, 1, True), (-7.0, 1, True), (-4.0, 1, True)]
NO_MESSAGE = Raw(500, b"", "text/plain")  # llama-cpp-python
ONE_CHOICE = echoed([("Boil water.", None), (" Eat.", -5.0)])
REFUSALS = {
    "500": NO_MESSAGE,
    "400": refuse(400, "prompt must be a string"),
    "422": refuse(422, "Input should be a valid string"),
    "one choice": ONE_CHOICE,
}


class Stack:
    """What a run puts around a client of a server on this machine, with one slot."""

    def __init__(self, server: Loopback, store: Store, max_calls: int | None = None) -> None:
        self.counters, self.server, self.store = RequestCounters(), server, store
        self.pauses: list[float] = []
        client = open_model(f"{server.url}#any", {})
        budget = Budget(Price(1.0, 1.0, stated=True), max_calls, 1000.0)
        limits = Limits(1, None, None, self.counters)
        self.model = chain(client, store, limits, self.counters, budget, retries=2, sleep=self._sleep)  # type: ignore[arg-type]

    async def _sleep(self, seconds: float) -> None:
        self.pauses.append(seconds)

    def ask(self, *requests: Request) -> list[Reply | ProviderError | NotAskedError]:
        async def run() -> list[Reply | ProviderError | NotAskedError]:
            try:
                return [await self._outcome(request) for request in requests]
            finally:
                await close()

        return asyncio.run(run())

    async def _outcome(self, request: Request) -> Reply | ProviderError | NotAskedError:
        try:
            return await self.model.answer(request)
        except (ProviderError, NotAskedError) as failure:
            return failure

    @property
    def sent(self) -> list[int]:
        """The number of prompts of each request that arrived."""
        return [len(request.prompts) for request in self.server.requests]

    def calls(self) -> int:
        asyncio.run(self.store.look("after all that was asked of the store"))
        with closing(open_store(self.store.path, create=False)) as connection:
            return int(connection.execute("SELECT calls FROM ledger").fetchone()[0])


@pytest.fixture
def stack(server: Loopback, tmp_path: Path) -> Iterator[Callable[..., Stack]]:
    with closing(Store(tmp_path, "run")) as store:
        yield partial(Stack, server, store)


def scores(outcome: Reply | ProviderError | NotAskedError) -> list[TextScore]:
    assert isinstance(outcome, Reply), outcome
    return outcome.scores


@pytest.mark.parametrize("refusal", REFUSALS)
def test_refused_texts_are_sent_one_by_one_without_pause(
    stack: Callable[..., Stack], server: Loopback, refusal: str
) -> None:
    server.several = REFUSALS[refusal]
    run = stack()
    (reply,) = run.ask(SCORE)
    assert scores(reply) == SCORES
    assert (run.sent, run.pauses) == ([3, 1, 1, 1], [])
    assert [request.body["prompt"] for request in server.requests[1:]] == [SCORE.context + text for text in SCORE.texts]


def test_texts_after_refusal_are_sent_one_by_one_at_once(stack: Callable[..., Stack], server: Loopback) -> None:
    server.several = NO_MESSAGE
    run = stack()
    replies = run.ask(SCORE, replace(SCORE, repetition=2))
    assert [scores(reply) for reply in replies] == [SCORES] * 2
    assert run.sent == [3, 1, 1, 1, 1, 1, 1]
    name = f"{server.url}#any"
    why = "server: HTTP status 500, content type text/plain, empty"
    assert run.counters.remarks == (
        f"each text is sent to {name} in a request of its own, since it refuses several in one ({why})",
    )


def test_single_texts_count_add_up_and_are_stored_together(stack: Callable[..., Stack], server: Loopback) -> None:
    server.several = NO_MESSAGE
    run = stack(max_calls=4)
    reply, again = run.ask(SCORE, SCORE)
    assert isinstance(reply, Reply)
    assert (reply.tokens_in, reply.tokens_out, reply.cost) == (27, 6, 33.0)
    assert (run.calls(), run.counters.sent, run.counters.usage.replies) == (4, 4, 3)
    assert scores(again) == SCORES
    assert run.counters.stored == 1


def test_failure_after_several_texts_were_answered_is_retried(stack: Callable[..., Stack], server: Loopback) -> None:
    run = stack()
    run.ask(SCORE)
    server.script(NO_MESSAGE)
    (reply,) = run.ask(replace(SCORE, repetition=2))
    assert scores(reply) == SCORES
    assert (run.sent, len(run.pauses), run.counters.remarks) == ([3, 3, 3], 1, ())


def test_rate_limit_of_several_texts_is_retried(stack: Callable[..., Stack], server: Loopback) -> None:
    server.script(refuse(429, "slow down"))
    run = stack()
    (reply,) = run.ask(SCORE)
    assert scores(reply) == SCORES
    assert run.sent == [3, 3]


def test_endpoint_that_refuses_single_texts_too_cannot_score(stack: Callable[..., Stack], server: Loopback) -> None:
    server.completions = NO_MESSAGE
    run = stack()
    (failure,) = run.ask(SCORE)
    assert isinstance(failure, CannotScoreError)
    assert "refuses several in one request (server: HTTP status 500" in failure.message
    assert "and a single one (server: HTTP status 500" in failure.message
    assert run.sent == [3, 1, 1, 1]  # a single text is retried like any request
    (remark,) = run.counters.remarks
    failed, why = failure.message.split(": ", 1)
    assert remark == f"{failed} (questions are asked for text where the method allows it, else skipped): {why}"


def test_budget_that_ends_between_single_texts_is_reported(stack: Callable[..., Stack], server: Loopback) -> None:
    server.several = NO_MESSAGE
    run = stack(max_calls=3)
    (failure,) = run.ask(SCORE)
    assert isinstance(failure, BudgetSpentError)
    assert run.sent == [3, 1, 1]
