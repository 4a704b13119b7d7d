"""An endpoint that showed that it scores no texts is not sent another request to do so, whatever is in its way."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator
from contextlib import closing
from dataclasses import replace
from functools import partial
from pathlib import Path

import pytest
from loopback import Loopback, Raw, as_json, echoed, refuse, reply

from pytest_taskgraph.asking import Model
from pytest_taskgraph.errors import BudgetSpentError, CannotScoreError, NoLogprobsError, NotAskedError, ProviderError
from pytest_taskgraph.models import close, open_model
from pytest_taskgraph.models.middleware.chain import Budget, chain
from pytest_taskgraph.models.middleware.limits import Limits
from pytest_taskgraph.models.middleware.request_counters import RequestCounters
from pytest_taskgraph.models.prices import Price
from pytest_taskgraph.models.store import Store
from pytest_taskgraph.trial import Reply, Request

SCORE = Request(kind="score", context="Boil water.", texts=[" Eat."])
CHAT_SCORE = Request([{"role": "user", "content": "Eat? Yes or No."}], kind="score", texts=["Yes", "No"])
CHAT = Request([{"role": "user", "content": "Eat?"}], settings={"max_tokens": 10})
BARE = as_json({"model": "any", "choices": [{"index": 0, "text": " and"}]})  # no log-probabilities
LLAMA_CPP = as_json(  # no echo, and log-probabilities of what is written, in the form of chats
    {"choices": [{"index": 0, "text": " and", "logprobs": {"content": [{"token": " and", "logprob": -1.3}]}}]}
)
NOT_FOUND = Raw(404, b'{"detail": "Not Found"}')
SCORED = echoed([("Boil water.", None), (" Eat.", -1.0)])
NO_LOGPROBS, NO_PATH = "gives no log-probabilities of given text", "cannot score texts: "
NO_ECHO = "does not repeat the text that it is sent"


class Stack:
    """What a run puts around a client of a server on this machine."""

    def __init__(self, server: Loopback, store: Store, in_flight: int = 1, max_calls: int | None = None) -> None:
        self.counters, self.server, self.store = RequestCounters(), server, store
        self.limits = Limits(in_flight, None, None, self.counters)
        client = open_model(f"{server.url}#any", {"api_key": "test-key-123456"})
        budget = Budget(Price(1.0, 1.0, stated=True), max_calls, 1000.0)
        self.model: Model = chain(client, store, self.limits, self.counters, budget, retries=0)  # type: ignore[arg-type]

    def ask(self, *requests: Request, at_once: bool = False) -> list[Reply | ProviderError | NotAskedError]:
        """Return what came of each request, one after the other or side by side."""

        async def run() -> list[Reply | ProviderError | NotAskedError]:
            try:
                if at_once:
                    return [*await asyncio.gather(*map(self._outcome, requests))]
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
    def paths(self) -> list[str]:
        return [request.path.removeprefix("/v1/") for request in self.server.requests]


@pytest.fixture
def stack(server: Loopback, tmp_path: Path) -> Iterator[Callable[..., Stack]]:
    with closing(Store(tmp_path, "run")) as store:
        yield partial(Stack, server, store)


def repeated(request: Request, times: int) -> list[Request]:
    return [replace(request, repetition=at) for at in range(1, times + 1)]


@pytest.mark.parametrize(
    ("answer", "words"),
    [
        (BARE, NO_LOGPROBS),
        (LLAMA_CPP, NO_ECHO),
        (NOT_FOUND, NO_PATH),
        (refuse(400, "Only no echo is supported"), "echo"),
    ],
)
def test_score_request_after_unsupported_is_not_sent(
    stack: Callable[..., Stack], server: Loopback, answer: Raw, words: str
) -> None:
    server.completions = answer
    run = stack(max_calls=2)
    first, *later = run.ask(*repeated(SCORE, 4), CHAT)
    assert len(server.requests) == 2
    assert isinstance(first, CannotScoreError)
    assert words in first.message
    *refused, chat_reply = later
    assert [type(error) for error in refused] == [CannotScoreError] * 3
    assert {(str(error), error.kind) for error in refused if isinstance(error, CannotScoreError)} == {
        (str(first), first.kind)
    }
    assert isinstance(chat_reply, Reply)  # the second of two calls: the others cost none


def test_score_requests_with_and_without_messages_are_separate(stack: Callable[..., Stack], server: Loopback) -> None:
    server.completions = BARE
    run = stack()
    outcomes = run.ask(SCORE, CHAT_SCORE, *repeated(SCORE, 3)[1:], *repeated(CHAT_SCORE, 3)[1:], CHAT)
    assert run.paths == ["completions", "chat/completions", "chat/completions"]
    assert [isinstance(outcome, NotAskedError) for outcome in outcomes] == [True] * 6 + [False]
    reasons = ["of given text" if "of given text" in str(outcome) else "of its reply" for outcome in outcomes[:6]]
    assert reasons == ["of given text", "of its reply", *["of given text"] * 2, *["of its reply"] * 2]
    assert [isinstance(outcome, NoLogprobsError) for outcome in outcomes[:6]] == [True, True, *[False] * 4]


def test_score_requests_waiting_for_slot_are_not_sent(stack: Callable[..., Stack], server: Loopback) -> None:
    server.completions = BARE
    run = stack(in_flight=2)
    outcomes = run.ask(*repeated(SCORE, 20), at_once=True)
    assert len(server.requests) == 2
    assert all(isinstance(outcome, CannotScoreError) for outcome in outcomes)
    assert (run.counters.sent, run.counters.in_flight, run.limits.in_flight) == (2, 0, 0)


def test_score_requests_waiting_for_slot_return_their_calls(stack: Callable[..., Stack], server: Loopback) -> None:
    server.completions = BARE
    run = stack(in_flight=1, max_calls=6)
    run.ask(*repeated(SCORE, 6), at_once=True)
    assert len(server.requests) == 1
    replies = run.ask(*repeated(CHAT, 6))
    assert [isinstance(reply, Reply) for reply in replies] == [True] * 5 + [False]
    assert isinstance(replies[-1], BudgetSpentError)


def test_score_failure_after_success_stops_no_others(stack: Callable[..., Stack], server: Loopback) -> None:
    server.script(SCORED, BARE, SCORED)
    outcomes = stack().ask(*repeated(SCORE, 3))
    assert [type(outcome) for outcome in outcomes] == [Reply, NoLogprobsError, Reply]
    assert len(server.requests) == 3


@pytest.mark.parametrize("failing", [refuse(500, "broken"), refuse(429, "slow down"), Raw(200, b"{")])
def test_score_failure_for_other_reason_stops_no_others(
    stack: Callable[..., Stack], server: Loopback, failing: Raw
) -> None:
    server.script(failing, SCORED)
    outcomes = stack().ask(*repeated(SCORE, 2))
    assert [type(outcome) for outcome in outcomes] == [ProviderError, Reply]


def test_score_requests_of_another_run_are_sent(server: Loopback, tmp_path: Path) -> None:
    for run, answer in (("first", BARE), ("second", SCORED)):
        server.script(answer)
        with closing(Store(tmp_path, run)) as store:
            (outcome,) = Stack(server, store).ask(SCORE)
        assert isinstance(outcome, Reply) == (run == "second")
    assert len(server.requests) == 2


def test_chat_request_after_unsupported_score_is_sent(stack: Callable[..., Stack], server: Loopback) -> None:
    server.completions = BARE
    server.script(reply("before"))
    before, _, after = stack().ask(CHAT, SCORE, replace(CHAT, repetition=2))
    assert isinstance(before, Reply)
    assert isinstance(after, Reply)
