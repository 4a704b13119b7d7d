"""What is asked again, how often and after how long, in virtual time."""

from __future__ import annotations

import asyncio
import re
from collections.abc import AsyncIterator, Awaitable, Callable, Coroutine, Iterable, Mapping
from contextlib import asynccontextmanager
from dataclasses import replace
from pathlib import Path
from random import Random
from typing import Any, get_args

import pytest
from hypothesis import given
from hypothesis import strategies as st
from virtual_time import clock, run

from pytest_taskgraph.errors import BudgetSpentError, ProviderError, ProviderErrorKind, UnsentError
from pytest_taskgraph.models.middleware.layer import Attempt, ClientLayer
from pytest_taskgraph.models.middleware.limits import LONGEST_WAIT, STRIKES, LimitLayer, Limits
from pytest_taskgraph.models.middleware.request_counters import RequestCounters
from pytest_taskgraph.models.middleware.retries import CAP, RETRIED, RetryLayer, TimeoutLayer, worth_repeating
from pytest_taskgraph.trial import Json, Reply, Request
from pytest_taskgraph.usage import Usage

KINDS: tuple[ProviderErrorKind, ...] = get_args(ProviderErrorKind)
PAGE = Path(__file__).parents[2] / "docs" / "how-to" / "asking.md"
REQUEST = Request([{"role": "user", "content": "Which?"}])
Turn = Reply | Exception | float  # a reply, a failure, or seconds until a reply


class Client:
    """Takes one turn after the other; the last one again and again."""

    name = "client"
    settings: Mapping[str, Json] = {}

    def __init__(self, turns: Iterable[Turn]) -> None:
        self.turns = list(turns)
        self.asked: list[float] = []
        self.busy = 0

    async def answer(self, request: Request) -> Reply:
        self.asked.append(clock())
        turn = self.turns.pop(0) if len(self.turns) > 1 else self.turns[0]
        if isinstance(turn, Exception):
            raise turn
        if isinstance(turn, Reply):
            return turn
        self.busy += 1
        try:
            await asyncio.sleep(turn)
        finally:
            self.busy -= 1
        return Reply("late")


def retried(
    client: Client,
    limits: Limits,
    counters: RequestCounters,
    retries: int = 5,
    timeout: float = 300.0,
    sleep: Callable[[float], Awaitable[object]] = asyncio.sleep,
    random: Random | None = None,
) -> RetryLayer:
    return RetryLayer(
        LimitLayer(TimeoutLayer(ClientLayer(client), counters, timeout), limits), counters, retries, sleep, random
    )


class Asking:
    """A client behind `RetryLayer`, with all there is to look at."""

    def __init__(self, *turns: Turn, retries: int = 5, timeout: float = 300.0, concurrency: int | None = 5) -> None:
        self.counters = RequestCounters()
        self.limits = Limits(concurrency, None, None, self.counters, clock=clock)
        self.client = Client(turns)
        self.slept: list[float] = []
        self.retried = retried(self.client, self.limits, self.counters, retries, timeout, self._sleep, Random(7))

    async def _sleep(self, seconds: float) -> None:
        assert self.limits.in_flight == 0
        self.slept.append(seconds)
        await asyncio.sleep(seconds)

    async def reply(self) -> Reply:
        return await self.retried.answer(REQUEST)

    async def failure(self) -> ProviderError:
        with pytest.raises(ProviderError) as caught:
            await self.retried.answer(REQUEST)
        return caught.value


def failure(kind: ProviderErrorKind, retry_after: float | None = None, words: str = "no") -> ProviderError:
    return ProviderError(kind, words, retry_after)


def alone(main: Callable[[], Coroutine[Any, Any, None]]) -> None:
    run(main)


def rows() -> dict[str, int]:
    """The table of the page: kind, and how often it is asked again."""
    table = PAGE.read_text(encoding="utf-8").partition("## What is worth retrying")[2].partition("\n## ")[0]
    cells = re.findall(r"^\| `([\w-]+)` \| [^|]+ \| (no|up to (\d+) times?) \| [^|]+ \|$", table, re.MULTILINE)
    return {kind: int(number or 0) for kind, _, number in cells}


def test_retry_page_has_row_for_every_kind() -> None:
    assert sorted(rows()) == sorted(KINDS)


@pytest.mark.parametrize("kind", KINDS)
def test_retry_counts_per_kind_match_page(kind: ProviderErrorKind) -> None:
    async def main() -> None:
        asking = Asking(failure(kind))
        error = await asking.failure()
        again = rows()[kind]
        assert (error.kind, error.attempts) == (kind, again + 1)
        assert len(asking.client.asked) == again + 1
        assert (kind in RETRIED) == (again > 0)
        counters = asking.counters
        assert (counters.sent, counters.retries, counters.failed) == (again + 1, again, 1)
        assert (counters.usage.replies, counters.in_flight, asking.limits.in_flight) == (0, 0, 0)

    alone(main)


REASONING = Reply("", 5, 900)
CALLS = [{"id": "c", "type": "function", "function": {"name": "f", "arguments": "{}"}}]


@pytest.mark.parametrize(
    ("turns", "kind", "attempts"),
    [
        ([REASONING, Reply(" \n")], "empty", 2),
        ([REASONING, Reply("a")], "", 2),
        ([failure("server"), REASONING, failure("server"), REASONING], "empty", 4),
        ([Reply("half", finish_reason="content_filter")], "content-filter", 1),
        ([Reply("", finish_reason="content_filter")], "content-filter", 1),
        ([Reply("", finish_reason="length")], "", 1),
        ([Reply("", finish_reason="tool_calls", tool_calls=CALLS)], "", 1),
        ([Reply("", embeddings=[[1.0]])], "", 1),
    ],
)
def test_retry_of_empty_reply_becomes_error(turns: list[Turn], kind: str, attempts: int) -> None:
    stored: list[Reply] = []

    async def answer_and_keep(model: RetryLayer) -> None:
        async with model.attempt(REQUEST) as attempt:
            stored.append(await attempt.send())

    async def main() -> None:
        asking = Asking(*turns)
        if kind:
            with pytest.raises(ProviderError, match=f"^{kind}: "):
                await answer_and_keep(asking.retried)
        else:
            await answer_and_keep(asking.retried)
        assert len(asking.client.asked) == attempts
        assert asking.counters.usage.replies == sum(
            isinstance(turn, Reply) for turn in turns
        )  # each of them is paid for
        assert len(stored) == (not kind)

    alone(main)


def test_retry_holds_slot_until_reply_is_kept() -> None:
    async def main() -> None:
        asking = Asking(Reply("a"), concurrency=1)
        is_written = asyncio.Event()

        async def answer_and_keep() -> Reply:
            async with asking.retried.attempt(REQUEST) as attempt:
                reply = await attempt.send()
                await is_written.wait()
                return replace(reply, source="kept")

        first = asyncio.create_task(answer_and_keep())
        second = asyncio.create_task(asking.reply())
        await asyncio.sleep(100)
        assert (len(asking.client.asked), asking.counters.in_flight) == (1, 0)
        is_written.set()
        assert await first == Reply("a", source="kept")
        assert await second == Reply("a")

    alone(main)


@pytest.mark.parametrize("kind", KINDS)
def test_retry_zero_sends_each_kind_once(kind: ProviderErrorKind) -> None:
    async def main() -> None:
        asking = Asking(failure(kind), retries=0)
        assert (await asking.failure()).attempts == len(asking.client.asked) == 1

    alone(main)


def test_retry_count_is_in_reply() -> None:
    async def main() -> None:
        turns: list[Turn] = [failure("server"), failure("malformed"), failure("rate-limit"), Reply("yes", cost=0.25)]
        asking = Asking(*turns)
        assert await asking.reply() == Reply("yes", cost=0.25, retries=3)
        counters = asking.counters
        assert (counters.sent, counters.retries, counters.usage.replies, counters.failed) == (4, 3, 1, 0)
        assert (counters.usage.cost, counters.usage.unpriced) == (0.25, 0)

    alone(main)


def test_retry_none_needed_returns_reply_unchanged() -> None:
    async def main() -> None:
        reply = Reply("yes")
        asking = Asking(reply)
        assert await asking.reply() is reply
        assert (asking.counters.usage, asking.counters.sent) == (Usage(1, untold=1, unpriced=1), 1)

    alone(main)


def test_retry_rate_limits_have_own_bound() -> None:
    async def main() -> None:
        mixed = [failure("rate-limit")] * 12 + [failure("server")]
        assert (await Asking(*mixed).failure()).attempts == 16
        few = [failure("rate-limit"), failure("server")]
        assert (await Asking(*few).failure()).attempts == 1 + 1 + 5

    alone(main)


@given(st.lists(st.sampled_from(["rate-limit", "timeout", "connection", "server"]), max_size=40))
def test_retry_attempts_are_bounded_for_any_failures(kinds: list[ProviderErrorKind]) -> None:
    async def main() -> None:
        error = await Asking(*map(failure, kinds), failure("server"), retries=4).failure()
        assert error.attempts <= 1 + 3 * 4

    alone(main)


def test_backoff_grows_randomly_up_to_cap() -> None:
    async def main() -> None:
        asking = Asking(failure("server"), retries=40)
        await asking.failure()
        most = [min(CAP, 0.5 * 2**n) for n in range(40)]
        assert all(0 <= slept <= bound for slept, bound in zip(asking.slept, most, strict=True))
        assert len({slept / bound for slept, bound in zip(asking.slept, most, strict=True)}) == 40
        assert max(asking.slept) > CAP / 2
        again = Asking(failure("server"), retries=40)
        await again.failure()
        assert again.slept == asking.slept  # the same Random, the same waits

    alone(main)


@pytest.mark.parametrize("kind", ["rate-limit", "server"])
def test_backoff_is_at_least_retry_after(kind: ProviderErrorKind) -> None:
    async def main() -> None:
        asking = Asking(failure(kind, retry_after=30.0), Reply("yes"))
        await asking.reply()
        first, second = asking.client.asked
        assert 30 <= second - first <= 30.5
        assert asking.slept[0] >= 30  # itself, not only for the pause of all

    alone(main)


@pytest.mark.parametrize(
    ("words", "retry_after", "again"),
    [
        ("Rate limit reached for requests", None, True),
        ("You exceeded your current quota, please check your plan and billing details.", None, False),
        ("code: insufficient_quota", None, False),
        ("Insufficient Balance", None, False),
        ("You exceeded your current quota; see https://ai.google.dev. Please retry in 34.07s.", None, True),
        ("Quota exceeded: requests per minute; billing account 7", None, True),
        ("You exceeded your current quota", 20.0, True),
        ("Too many tokens", LONGEST_WAIT, True),
        ("Too many tokens today", LONGEST_WAIT + 1, False),
    ],
)
def test_quota_spent_differs_from_rate_limit(words: str, retry_after: float | None, again: bool) -> None:
    assert worth_repeating(failure("rate-limit", retry_after, words)) == again


def test_retry_after_above_ten_minutes_is_not_retried() -> None:
    assert not worth_repeating(failure("server", LONGEST_WAIT + 1))


def test_timeout_of_attempt_is_retried() -> None:
    async def main() -> None:
        asking = Asking(1000.0, 0.5, timeout=10.0)
        assert await asking.reply() == Reply("late", retries=1)
        assert asking.client.busy == 0
        never = Asking(1000.0, timeout=10.0, retries=1)
        error = await never.failure()
        assert (str(error), error.attempts) == ("timeout: no reply within 10 s", 2)
        assert error.__context__ is None  # no way back to the frames that hold keys

    alone(main)


def test_timeout_excludes_wait_for_ready_client() -> None:
    async def main() -> None:
        class Importing(Client):
            async def ready(self) -> None:
                await asyncio.sleep(3.0)

        client, counters = Importing([0.5]), RequestCounters()
        limits = Limits(5, None, None, counters, clock=clock)
        assert (await retried(client, limits, counters, 0, 1.0).answer(REQUEST)).text == "late"
        assert client.asked == [3.0]

    alone(main)


def test_timeout_excludes_wait_for_slot() -> None:
    async def main() -> None:
        asking = Asking(8.0, timeout=10.0, concurrency=1)
        replies = await asyncio.gather(*(asking.reply() for _ in range(5)))
        assert [reply.retries for reply in replies] == [0] * 5
        assert clock() == pytest.approx(40.0)

    alone(main)


def test_timeout_of_client_is_raised_unchanged() -> None:
    async def main() -> None:
        asking = Asking(TimeoutError("own"))
        with pytest.raises(TimeoutError, match="own"):
            await asking.reply()
        assert (asking.counters.in_flight, asking.limits.in_flight) == (0, 0)

    alone(main)


def test_counters_exclude_attempts_beyond_budget() -> None:
    async def main() -> None:
        asking = Asking(BudgetSpentError("calls", "100 calls are spent"))
        with pytest.raises(BudgetSpentError):
            await asking.reply()
        counters = asking.counters
        assert (counters.sent, counters.failed, counters.in_flight, asking.limits.in_flight) == (0, 0, 0, 0)

    alone(main)


def test_retry_wait_frees_slot_for_others() -> None:
    async def main() -> None:
        asking = Asking(failure("server", 60.0), Reply("yes"), concurrency=1)
        asking.limits.note_failure = lambda error, slot: None  # type: ignore[method-assign] # no pause for all
        first = asyncio.ensure_future(asking.reply())
        await asyncio.sleep(1)
        await asking.reply()
        assert clock() == pytest.approx(1.0)
        assert (await first).retries == 1

    alone(main)


@given(st.floats(0.0, 40.0), st.integers(1, 4))
def test_retry_cancellation_at_any_time_frees_all(after: float, concurrency: int) -> None:
    async def main() -> None:
        turns: list[Turn] = [failure("server"), 3.0, failure("rate-limit", 4.0), 2.0] * 20
        asking = Asking(*turns, concurrency=concurrency)
        asking.retried.sleep = asyncio.sleep
        tasks = [asyncio.ensure_future(asking.reply()) for _ in range(6)]
        await asyncio.sleep(after)
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        assert (asking.client.busy, asking.counters.in_flight, asking.limits.in_flight) == (0, 0, 0)
        assert asyncio.all_tasks() == {asyncio.current_task()}

    alone(main)


def test_retry_broken_key_stops_thousand_requests() -> None:
    async def main() -> None:
        asking = Asking(failure("authentication", words="Incorrect API key provided"), concurrency=1)
        outcomes = await asyncio.gather(*(asking.reply() for _ in range(1000)), return_exceptions=True)
        assert len(asking.client.asked) == asking.counters.sent == STRIKES
        assert asking.counters.failed == 1000
        messages = {str(error) for error in outcomes}
        assert len(messages) == 2  # the provider's own, of those that were sent, and ours
        late = await asking.failure()
        assert (late.kind, late.attempts) == ("authentication", 1)
        assert str(late) in messages
        page = PAGE.read_text(encoding="utf-8")
        assert f"\n> {late}\n" in page

    alone(main)


def test_retry_unsent_request_is_not_counted_and_ends_model() -> None:
    async def main() -> None:
        asking = Asking(UnsentError("authentication", "no key is known: set KEY"), concurrency=1)
        outcomes = await asyncio.gather(*(asking.reply() for _ in range(9)), return_exceptions=True)
        assert {str(error) for error in outcomes} == {"authentication: no key is known: set KEY"}
        assert (len(asking.client.asked), asking.counters.sent, asking.counters.failed) == (1, 0, 9)

    alone(main)


def test_retry_after_end_of_run_is_not_done() -> None:
    async def main() -> None:
        asking = Asking(9.0, timeout=1.0)
        failing = asyncio.ensure_future(asking.failure())
        await asyncio.sleep(0.5)
        asking.limits.end()
        assert (await failing).attempts == 1
        assert asking.slept == []

    run(main)


def test_retry_alternating_failures_are_all_sent() -> None:
    async def main() -> None:
        turns: list[Turn] = [failure("authentication"), failure("authentication"), Reply("yes")] * 10
        asking = Asking(*turns, concurrency=1)
        outcomes = await asyncio.gather(*(asking.reply() for _ in range(30)), return_exceptions=True)
        assert sum(isinstance(outcome, Reply) for outcome in outcomes) == 10
        assert (asking.counters.sent, asking.limits.broken) == (30, None)

    alone(main)


def test_retry_at_broken_model_states_attempts() -> None:
    async def main() -> None:
        asking = Asking(failure("server", 5.0), failure("server"), failure("authentication"), concurrency=1)
        asking.retried._random.uniform = lambda a, b: 9.0  # type: ignore[method-assign]
        waiting = asyncio.ensure_future(asking.retried.answer(REQUEST))
        await asyncio.sleep(7)
        asking.client.turns = [failure("authentication")]
        for _ in range(STRIKES):
            await asking.failure()
        with pytest.raises(ProviderError, match="no more is sent") as caught:
            await waiting
        assert caught.value.attempts == 1

    alone(main)


def test_limit_layer_expects_tokens_by_length_of_messages() -> None:
    async def main() -> None:
        limits = Limits(5, None, 600, RequestCounters(), clock=clock)
        client = Client([Reply("yes")])
        model = retried(client, limits, RequestCounters())
        for _ in range(4):
            await model.answer(Request([{"role": "user", "content": "a" * 7 * 272}, {"role": "user", "content": None}]))
        assert client.asked == pytest.approx([0.0, 29.0, 60.1, 89.1], abs=1.0)

    alone(main)


def test_budget_wait_takes_neither_slot_nor_time_of_attempt() -> None:
    counters, client = RequestCounters(), Client([5.0])
    limits = Limits(1, None, None, counters, clock=clock)
    entered = []

    class Reserving(ClientLayer):
        @asynccontextmanager
        async def attempt(self, request: Request) -> AsyncIterator[Attempt]:
            await asyncio.sleep(1000.0)
            entered.append((limits.in_flight, counters.in_flight))
            async with super().attempt(request) as attempt:
                yield attempt

    async def main() -> None:
        model = RetryLayer(LimitLayer(TimeoutLayer(Reserving(client), counters, 10.0), limits), counters)
        assert (await model.answer(REQUEST)).text == "late"
        assert (client.asked, entered) == ([1000.0], [(0, 0)])

    run(main)


def test_budget_of_attempt_refused_by_broken_model_is_free() -> None:
    counters, client, left = RequestCounters(), Client([Reply("never")]), []
    limits = Limits(1, None, None, counters, clock=clock)
    limits.broken = ProviderError("authentication", "no key")

    class Reserving(ClientLayer):
        @asynccontextmanager
        async def attempt(self, request: Request) -> AsyncIterator[Attempt]:
            try:
                async with super().attempt(request) as attempt:
                    yield attempt
            finally:
                left.append(request)

    async def main() -> None:
        with pytest.raises(ProviderError, match="authentication"):
            await RetryLayer(LimitLayer(TimeoutLayer(Reserving(client), counters), limits), counters).answer(REQUEST)
        assert (client.asked, left) == ([], [REQUEST])

    run(main)
