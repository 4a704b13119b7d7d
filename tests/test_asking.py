from __future__ import annotations

import asyncio
from collections.abc import Sequence
from contextlib import suppress
from contextvars import ContextVar

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pytest_taskgraph.asking import Exchange, Transcript, Turns, drive
from pytest_taskgraph.errors import BudgetSpentError, CannotScoreError, NoLogprobsError, NotAskedError, ProviderError
from pytest_taskgraph.trial import Reply, Request


def asking(text: str) -> Request:
    return Request(messages=[{"role": "user", "content": text}])


def turns_of(plan: Sequence[Sequence[str]]) -> Turns:
    """An episode that asks each list of texts in a turn of its own; what it comes to are all replies in a row."""
    texts_so_far: list[str] = []
    for texts in plan:
        replies = yield [asking(text) for text in texts]
        texts_so_far += [reply.text for reply in replies]
    return Transcript(Reply("".join(texts_so_far)))


def prompts(exchanges: Sequence[Exchange]) -> list[str]:
    return [exchange.request.prompt for exchange in exchanges]


def test_drive_keeps_exchanges_in_order_of_asking() -> None:
    arrived: list[str] = []

    async def answer(request: Request) -> Reply:
        if request.prompt == "a":  # replies after the other
            while "b" not in arrived:
                await asyncio.sleep(0)
        arrived.append(request.prompt)
        return Reply(request.prompt.upper())

    exchanges: list[Exchange] = []
    transcript = asyncio.run(drive(turns_of([["a", "b"], ["c"]]), answer, exchanges))
    assert arrived == ["b", "a", "c"]
    assert [(exchange.request.prompt, exchange.reply and exchange.reply.text) for exchange in exchanges] == [
        ("a", "A"), ("b", "B"), ("c", "C"),
    ]  # fmt: skip
    assert transcript.reply.text == "ABC"


def test_drive_failed_turn_ends_once_all_requests_have() -> None:
    failed: list[str] = []

    async def answer(request: Request) -> Reply:
        if request.prompt in ("no", "never"):
            failed.append(request.prompt)
            raise ProviderError("server", request.prompt)
        while not failed:
            await asyncio.sleep(0)
        return Reply(request.prompt)

    exchanges: list[Exchange] = []
    with pytest.raises(ProviderError, match="server: no"):
        asyncio.run(drive(turns_of([["late", "no", "never"], ["next"]]), answer, exchanges))
    assert prompts(exchanges) == ["late", "no", "never"]
    assert [exchange.reply for exchange in exchanges] == [Reply("late"), None, None]
    assert [str(exchange.failure) for exchange in exchanges[1:]] == ["server: no", "server: never"]


@given(st.lists(st.lists(st.booleans(), min_size=1, max_size=4), max_size=5))
def test_drive_loses_no_exchange_wherever_episode_fails(plan: list[list[bool]]) -> None:
    """A request whose flag is False fails."""
    requests_by_turn = [[f"{turn}.{at}.{fine}" for at, fine in enumerate(flags)] for turn, flags in enumerate(plan)]
    failing = next((turn for turn, flags in enumerate(plan) if not all(flags)), None)
    expected_turns = requests_by_turn if failing is None else requests_by_turn[: failing + 1]

    async def answer(request: Request) -> Reply:
        if request.prompt.endswith("False"):
            raise NotAskedError(request.prompt)
        return Reply(request.prompt)

    exchanges: list[Exchange] = []
    if failing is None:
        asyncio.run(drive(turns_of(requests_by_turn), answer, exchanges))
    else:
        with pytest.raises(NotAskedError) as met:
            asyncio.run(drive(turns_of(requests_by_turn), answer, exchanges))
        assert str(met.value) == next(text for text in requests_by_turn[failing] if text.endswith("False"))
    assert prompts(exchanges) == [text for texts in expected_turns for text in texts]
    for exchange in exchanges:
        assert (exchange.reply is None) == (exchange.failure is not None) == exchange.request.prompt.endswith("False")


def falling_back(caught: type[Exception], expected_turns: Sequence[str] = ("score",)) -> Turns:
    """An episode that asks in a chat where its first turn fails in the way that it catches."""
    try:
        (reply, *_) = yield [asking(text) for text in expected_turns]
    except caught as failure:
        (reply,) = yield [asking(f"chat after {failure}")]
    return Transcript(reply, notes=[{"first": True}])


async def refuse_scores(request: Request) -> Reply:
    """Answer in a chat only; "score" cannot be asked, and "broken" breaks the server."""
    if request.prompt == "score":
        raise CannotScoreError("no scores")
    if request.prompt == "broken":
        raise ProviderError("server", "broken")
    return Reply(f"to {request.prompt}")


def test_drive_episode_that_catches_failure_goes_on() -> None:
    exchanges: list[Exchange] = []
    transcript = asyncio.run(drive(falling_back(NotAskedError), refuse_scores, exchanges))
    assert transcript.reply.text == "to chat after no scores"
    assert prompts(exchanges) == ["score", "chat after no scores"]
    assert [(exchange.reply is None, str(exchange.failure or ""), dict(exchange.note)) for exchange in exchanges] == [
        (True, "no scores", {"first": True}), (False, "", {}),
    ]  # fmt: skip


def test_drive_episode_that_catches_failure_may_end_there() -> None:
    def giving_up() -> Turns:
        try:
            yield [asking("score")]
        except NotAskedError as failure:
            return Transcript(Reply(f"none: {failure}"))
        return Transcript(Reply("never"))

    assert asyncio.run(drive(giving_up(), refuse_scores)).reply.text == "none: no scores"


@pytest.mark.parametrize(
    ("replies", "caught", "raised"),
    [
        (["broken"], NotAskedError, "server: broken"),
        (["score"], ProviderError, "no scores"),
        (["score"], BudgetSpentError, "no scores"),
        (["broken", "score"], NotAskedError, "server: broken"),
        (["fine", "score", "broken"], ProviderError, "no scores"),
    ],
)
def test_drive_failure_that_episode_does_not_catch_ends_it(
    replies: list[str], caught: type[Exception], raised: str
) -> None:
    """The first failure of a turn counts, by the order of its requests."""
    exchanges: list[Exchange] = []
    with pytest.raises((ProviderError, NotAskedError)) as met:
        asyncio.run(drive(falling_back(caught, replies), refuse_scores, exchanges))
    assert str(met.value) == raised
    assert prompts(exchanges) == replies


def test_drive_failure_of_second_way_ends_episode() -> None:
    async def answer(request: Request) -> Reply:
        raise NotAskedError(request.prompt)

    with pytest.raises(NotAskedError, match="chat after score"):
        asyncio.run(drive(falling_back(NotAskedError), answer))


def test_drive_episode_that_asks_on_for_ever_can_be_cancelled() -> None:
    def stubborn() -> Turns:
        while True:
            with suppress(NotAskedError):
                yield [asking("score")]

    async def run() -> None:
        async with asyncio.timeout(0):
            await drive(stubborn(), refuse_scores)

    with pytest.raises(TimeoutError):
        asyncio.run(run())


def test_drive_one_after_the_other_needs_no_event_loop() -> None:
    async def answer(request: Request) -> Reply:
        return Reply(request.prompt.upper())

    exchanges: list[Exchange] = []
    coroutine = drive(turns_of([["a", "b"], [], ["c"]]), answer, exchanges, waits=False)
    with pytest.raises(StopIteration) as ended:
        coroutine.send(None)
    assert ended.value.value.reply.text == "ABC"
    assert prompts(exchanges) == ["a", "b", "c"]


def test_drive_keeps_context_of_each_request_apart() -> None:
    count, counts = ContextVar("count", default=0), []

    async def answer(request: Request) -> Reply:
        count.set(count.get() + 1)
        counts.append(count.get())
        return Reply("A")

    asyncio.run(drive(turns_of([["a"], ["b"], ["c", "d"]]), answer))
    assert counts == [1, 1, 1, 1]


@pytest.mark.parametrize(
    ("failure", "sent"),
    [
        (None, True),
        (ProviderError("server", "broken"), True),
        (NotAskedError("no"), False),
        (CannotScoreError("no scores"), False),
        (NoLogprobsError("no log-probabilities"), True),
    ],
)
def test_exchange_is_sent_unless_it_was_not_asked(failure: ProviderError | NotAskedError | None, sent: bool) -> None:
    assert Exchange(asking("a"), failure=failure).sent is sent


def test_drive_any_other_error_is_not_taken_for_failure() -> None:
    async def answer(request: Request) -> Reply:
        raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        asyncio.run(drive(turns_of([["a"]]), answer))


def test_drive_budget_spent_keeps_kind() -> None:
    async def answer(request: Request) -> Reply:
        raise BudgetSpentError("calls", "1 of 1 calls made")

    with pytest.raises(BudgetSpentError):
        asyncio.run(drive(turns_of([["a", "b"]]), answer))


@pytest.mark.parametrize(("notes", "kept"), [((), {}), (({"step": 1},), {"step": 1})])
def test_drive_puts_notes_on_exchanges_of_this_episode(notes: tuple[dict[str, int], ...], kept: dict[str, int]) -> None:
    def noting() -> Turns:
        (reply,) = yield [asking("a")]
        return Transcript(reply, notes=notes)

    async def answer(request: Request) -> Reply:
        return Reply("A")

    exchanges = [Exchange(asking("of an earlier episode"))]
    asyncio.run(drive(noting(), answer, exchanges))
    assert [exchange.note for exchange in exchanges] == [{}, kept]


def test_drive_more_notes_than_exchanges_is_error() -> None:
    def noting() -> Turns:
        (reply,) = yield [asking("a")]
        return Transcript(reply, notes=[{}, {}])

    async def answer(request: Request) -> Reply:
        return Reply("A")

    with pytest.raises(ValueError, match="an episode of 1 exchanges has 2 notes"):
        asyncio.run(drive(noting(), answer))
