"""Servers are checked once: shifted log-probabilities are not used, and ignored tools are noticed."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable, Iterator
from contextlib import closing
from dataclasses import replace
from functools import partial
from pathlib import Path

import pytest
from loopback import CHECKED, Answer, Loopback, Raw, echoed, induced, refuse, reply

from pytest_taskgraph.asking import Model
from pytest_taskgraph.errors import CannotScoreError, NotAskedError, ProviderError
from pytest_taskgraph.models import close, open_model
from pytest_taskgraph.models.clients.text_scores import read_scores
from pytest_taskgraph.models.middleware.chain import Budget, chain
from pytest_taskgraph.models.middleware.limits import Limits
from pytest_taskgraph.models.middleware.probes import SCORE_PROBE, ProbedModel, score_fault, tool_fault
from pytest_taskgraph.models.middleware.request_counters import RequestCounters
from pytest_taskgraph.models.middleware.stored import ReplayModel
from pytest_taskgraph.models.store import Store
from pytest_taskgraph.trial import Reply, Request

SCORE = Request(kind="score", context="Boil water.", texts=[" Eat.", " Sleep."])
TOOLS = [{"type": "function", "function": {"name": "look", "parameters": {"type": "object", "properties": {}}}}]
ASKED = Request([{"role": "user", "content": "Which task is first?"}], tools=TOOLS)
CALL = {"id": "c", "type": "function", "function": {"name": "look", "arguments": "{}"}}
CALLED = reply(None, finish_reason="tool_calls", message={"tool_calls": [CALL]})
Outcome = Reply | ProviderError | NotAskedError


class Checked:
    """A client of a server with all that a run puts around it, or with a replay of the store."""

    def __init__(self, server: Loopback, store: Store, replays: bool = False) -> None:
        self.counters = RequestCounters()
        client = open_model(f"{server.url}#any", {})
        inner: Model = ReplayModel(client.name, {"max_tokens": 4096}, store, self.counters)
        if not replays:
            limits = Limits(4, None, None, self.counters)
            inner = chain(client, store, limits, self.counters, Budget(), retries=0)  # type: ignore[arg-type]
        self.model = ProbedModel(inner, client, self.counters)  # type: ignore[arg-type]

    def ask(self, *requests: Request) -> list[Outcome]:
        """Return what came of each request; they are sent side by side."""

        async def run() -> list[Outcome]:
            try:
                return [*await asyncio.gather(*map(self._outcome, requests))]
            finally:
                await close()

        return asyncio.run(run())

    async def _outcome(self, request: Request) -> Outcome:
        try:
            return await self.model.answer(request)
        except (ProviderError, NotAskedError) as failure:
            return failure


@pytest.fixture
def checked(server: Loopback, tmp_path: Path) -> Iterator[Callable[..., Checked]]:
    with closing(Store(tmp_path, "run")) as store:
        yield partial(Checked, server, store)


def times(request: Request, number: int) -> list[Request]:
    return [replace(request, repetition=at) for at in range(1, number + 1)]


def test_loopback_server_knows_the_check() -> None:
    assert SCORE_PROBE.context == CHECKED


@pytest.mark.parametrize(
    ("shift", "words"),
    [(0, ""), (1, "one token late"), (2, "one token late"), (-1, "one token early"), (-2, "one token early")],
)
def test_shift_of_log_probabilities_is_recognized(shift: int, words: str) -> None:
    answer = echoed(*(induced(SCORE_PROBE.context + text, shift) for text in SCORE_PROBE.texts))
    fault = score_fault(read_scores(json.loads(answer.body), SCORE_PROBE, "any", 0.1))
    assert words in fault
    assert bool(words) == bool(fault)


def test_values_that_are_equal_everywhere_follow_no_tokens() -> None:
    fault = score_fault(Reply("", logprobs=[[-8.0, 4, None]] * 4))
    assert fault == (
        "its log-probabilities do not follow the tokens (a wrong first, second, last token of a repeated text costs "
        "0.0, 0.0, 0.0 nats)"
    )


def test_log_probabilities_are_checked_once_before_first_use(checked: Callable[..., Checked], server: Loopback) -> None:
    run = checked()
    outcomes = run.ask(*times(SCORE, 3))
    assert all(isinstance(outcome, Reply) for outcome in outcomes)
    assert (len(server.requests), len(server.probes), run.counters.sent) == (3, 1, 4)


def test_shifted_log_probabilities_are_not_used(checked: Callable[..., Checked], server: Loopback) -> None:
    server.shift = 1
    run = checked()
    outcomes = run.ask(*times(SCORE, 3))
    assert [type(outcome) for outcome in outcomes] == [CannotScoreError] * 3
    failed = f"the model {server.url}#any cannot score texts"
    fault = (
        "its log-probabilities seem to stand one token late (a wrong first, second, last token of a repeated text "
        "costs 10.8, 10.8, 0.0 nats)"
    )
    assert {str(outcome) for outcome in outcomes} == {f"{failed}: {fault}"}
    follows = "questions are asked for text where the method allows it, else skipped"
    assert run.counters.remarks == (f"{failed} ({follows}): {fault}",)
    assert (len(server.requests), len(server.probes)) == (0, 1)


def test_check_is_stored_for_later_runs_and_replays(
    checked: Callable[..., Checked], server: Loopback, tmp_path: Path
) -> None:
    server.shift = -1
    checked().ask(SCORE)
    server.shift = 0
    with closing(Store(tmp_path, "later")) as later:
        for replays in (False, True):
            (outcome,) = Checked(server, later, replays).ask(SCORE)
            assert "one token early" in str(outcome)
    assert len(server.probes) == 1


def test_replay_without_stored_check_counts_what_is_stored(
    checked: Callable[..., Checked], server: Loopback, tmp_path: Path
) -> None:
    client = open_model(f"{server.url}#any", {})
    with closing(Store(tmp_path, "before")) as store:

        async def ask_unchecked() -> None:
            counters = RequestCounters()
            await chain(client, store, Limits(1, None, None, counters), counters, Budget()).answer(SCORE)  # type: ignore[arg-type]
            await close()

        asyncio.run(ask_unchecked())
    (outcome,) = checked(replays=True).ask(SCORE)
    assert isinstance(outcome, Reply)
    assert server.probes == []


def test_failed_check_fails_request_and_is_sent_again(checked: Callable[..., Checked], server: Loopback) -> None:
    run = checked()
    server.completions = refuse(429, "slow down")
    (failed,) = run.ask(SCORE)
    server.completions = None
    (outcome,) = run.ask(SCORE)
    assert (type(failed), type(outcome)) == (ProviderError, Reply)


def test_endpoint_without_log_probabilities_gets_check_alone(checked: Callable[..., Checked], server: Loopback) -> None:
    server.completions = Raw(404, b'{"detail": "Not Found"}')
    run = checked()
    outcomes = run.ask(*times(SCORE, 3))
    assert [type(outcome) for outcome in outcomes] == [CannotScoreError] * 3
    assert (len(server.requests), run.counters.remarks) == (1, ())


def test_model_that_calls_tools_is_not_checked(checked: Callable[..., Checked], server: Loopback) -> None:
    server.script(CALLED)
    run = checked()
    run.ask(ASKED)
    (outcome,) = run.ask(replace(ASKED, repetition=2))
    assert isinstance(outcome, Reply)
    assert server.probes == []


def test_model_that_could_call_but_answers_at_once_is_heard(checked: Callable[..., Checked], server: Loopback) -> None:
    outcomes = checked().ask(*times(ASKED, 3))
    assert [outcome.text for outcome in outcomes if isinstance(outcome, Reply)] == ["Final answer: yes"] * 3
    assert len(server.probes) == 1


def test_server_that_ignores_tools_is_not_heard(checked: Callable[..., Checked], server: Loopback) -> None:
    server.tools = False
    run = checked()
    (first,) = run.ask(ASKED)
    (second,) = run.ask(replace(ASKED, repetition=2))
    failed = f"the model {server.url}#any cannot call tools"
    fault = "its server ignores them; told to call one, with tool_choice=required, it replied 'I am ready.'"
    message = f"{failed}: {fault}"
    assert (type(first), type(second), str(first), str(second)) == (NotAskedError, NotAskedError, message, message)
    assert (len(server.requests), len(server.probes)) == (1, 1)
    assert run.counters.remarks == (f"{failed} (its questions are skipped): {fault}",)


@pytest.mark.parametrize(
    "answer", [refuse(400, "tool_choice 'required' is not supported"), refuse(500, "broken"), Raw(200, b"{")]
)
def test_failed_check_of_tools_proves_nothing(
    checked: Callable[..., Checked], server: Loopback, answer: Answer
) -> None:
    server.forced = answer
    outcomes = checked().ask(*times(ASKED, 2))
    assert all(isinstance(outcome, Reply) for outcome in outcomes)
    assert len(server.probes) == 1


@pytest.mark.parametrize(
    ("answer", "ignores"),
    [
        (Reply("I am ready"), True),
        (Reply("I am ready, and", finish_reason="length"), True),
        (Reply('{"name": "report_ready"}'), True),
        (Reply('{"name": "rep', finish_reason="length"), False),
        (Reply("", finish_reason="length", reasoning="Let me see"), False),
        (Reply("Now:", tool_calls=[CALL]), False),
    ],
)
def test_reply_to_forced_call_shows_whether_tools_are_ignored(answer: Reply, ignores: bool) -> None:
    assert bool(tool_fault(answer)) is ignores


def test_requests_without_tools_or_texts_are_not_checked(checked: Callable[..., Checked], server: Loopback) -> None:
    checked().ask(Request([{"role": "user", "content": "Eat?"}]))
    assert server.probes == []
