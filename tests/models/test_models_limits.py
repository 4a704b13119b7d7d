"""Limits of one model, in virtual time."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st
from virtual_time import clock, run

from pytest_taskgraph.errors import NotAskedError, ProviderError, ProviderErrorKind
from pytest_taskgraph.models.middleware.limits import (
    LOCAL_START,
    LONGEST_WAIT,
    MOST,
    POSITION,
    START,
    Limits,
    RequestPace,
    RequestSlot,
)
from pytest_taskgraph.models.middleware.request_counters import RequestCounters
from pytest_taskgraph.trial import Reply

GOOD = Reply("yes")
LATENCIES = st.lists(st.floats(0.001, 10.0), min_size=1, max_size=40)


def limits_of(
    concurrency: int | None = None,
    rpm: float | None = None,
    tpm: float | None = None,
    workers: int = 1,
    counters: RequestCounters | None = None,
) -> Limits:
    return Limits(concurrency, rpm, tpm, counters or RequestCounters(), workers, clock)


def refusal(retry_after: float | None = None) -> ProviderError:
    return ProviderError("rate-limit", "slow down", retry_after)


async def filled(limits: Limits, number: int | None = None) -> list[RequestSlot]:
    """So many slots that are held, by default as many as may be."""
    return [await limits.slot().__aenter__() for _ in range(limits.now if number is None else number)]


async def left(slots: Sequence[RequestSlot]) -> None:
    for slot in slots:
        await slot.__aexit__(None, None, None)


async def grown(limits: Limits, replies: int) -> None:
    """So many good replies, while as many requests are in flight as may be."""
    slots = await filled(limits)
    for _ in range(replies):
        limits.note_reply(GOOD, slots[0])
        await left([slots.pop(0)])
        slots += await filled(limits, limits.now - len(slots))
    await left(slots)


async def free_slots(limits: Limits) -> int:
    """How many slots can be had at once."""
    taken = 0
    slots = []
    for _ in range(limits.now + 1):
        entering = asyncio.ensure_future(limits.slot().__aenter__())
        await asyncio.sleep(0)
        if not entering.done():
            entering.cancel()
            await asyncio.gather(entering, return_exceptions=True)
            break
        slots.append(await entering)
        taken += 1
    await left(slots)
    return taken


class Provider:
    """Takes `most` at a time, answers in `latency` seconds, and refuses what is beyond, at once."""

    def __init__(self, limits: Limits, most: int, latency: float = 1.0) -> None:
        self.limits, self.most, self.latency = limits, most, latency
        self.busy, self.highest = 0, 0
        self.answered: list[float] = []

    async def ask(self) -> None:
        async with self.limits.slot() as slot:
            if self.busy >= self.most:
                await asyncio.sleep(0.01)
                self.limits.note_failure(refusal(), slot)
                return
            self.busy += 1
            self.highest = max(self.highest, self.busy)
            await asyncio.sleep(self.latency)
            self.busy -= 1
            self.answered.append(clock())
            self.limits.note_reply(GOOD, slot)


@given(st.one_of(st.integers(1, 6), st.just(None)), LATENCIES)
def test_limits_in_flight_never_exceeds_limit(concurrency: int | None, latencies: list[float]) -> None:
    async def main() -> None:
        limits, flying = limits_of(concurrency), 0

        async def send(latency: float) -> None:
            nonlocal flying
            async with limits.slot():
                flying += 1
                assert flying <= limits.in_flight <= limits.now
                await asyncio.sleep(latency)
                flying -= 1

        await asyncio.gather(*map(send, latencies * 3))
        assert limits.in_flight == 0

    run(main)


def test_limits_fixed_limit_is_used_fully_and_constant() -> None:
    async def main() -> None:
        limits = limits_of(7)
        provider = Provider(limits, most=1000)
        await asyncio.gather(*(provider.ask() for _ in range(70)))
        assert provider.highest == 7
        assert clock() == pytest.approx(10.0)
        slots = await filled(limits)
        limits.note_failure(refusal(), slots[0])
        assert limits.now == 7

    run(main)


@given(st.permutations(range(12)), st.integers(1, 4))
def test_limits_free_slot_goes_to_lowest_position(positions: list[int], concurrency: int) -> None:
    async def main() -> None:
        limits, went, waiting = limits_of(concurrency), list[int](), set[int]()

        async def send(position: int) -> None:
            POSITION.set(position)
            waiting.add(position)
            async with limits.slot():
                waiting.remove(position)
                went.append(position)
                await asyncio.sleep(1.0)

        holders = await filled(limits)
        tasks = [asyncio.ensure_future(send(position)) for position in positions]
        await asyncio.sleep(0)
        await left(holders)
        await asyncio.gather(*tasks)
        assert went == sorted(positions)

    run(main)


def test_limits_equal_positions_go_in_order_of_arrival() -> None:
    async def main() -> None:
        limits, went = limits_of(1), list[int]()

        async def send(number: int) -> None:
            async with limits.slot():
                went.append(number)

        holders = await filled(limits)
        tasks = [asyncio.ensure_future(send(number)) for number in range(9)]
        await asyncio.sleep(0)
        await left(holders)
        await asyncio.gather(*tasks)
        assert went == list(range(9))

    run(main)


@given(st.lists(st.integers(0, 3), min_size=1, max_size=30), LATENCIES)
def test_limits_all_waiting_requests_are_sent(positions: list[int], latencies: list[float]) -> None:
    async def main() -> None:
        limits, went = limits_of(2, rpm=120, tpm=6000), 0

        async def send(number: int, position: int) -> None:
            nonlocal went
            POSITION.set(position)
            await asyncio.sleep(latencies[-1 - number % len(latencies)])
            async with limits.slot(number * 100.0):
                await asyncio.sleep(latencies[number % len(latencies)])
                went += 1

        await asyncio.gather(*(send(n, position) for n, position in enumerate(positions)))
        assert went == len(positions)

    run(main)


@given(st.lists(st.tuples(st.integers(0, 60), st.integers(0, 11)), max_size=12), st.booleans())
def test_limits_cancellation_at_any_point_frees_slot(cuts: list[tuple[int, int]], paced: bool) -> None:
    async def main() -> None:
        limits = limits_of(3, rpm=600 if paced else None)

        async def send(number: int) -> None:
            POSITION.set(number % 4)
            async with limits.slot() as slot:
                for _ in range(number % 3):
                    await asyncio.sleep(0)
                limits.note_reply(GOOD, slot)

        tasks = [asyncio.ensure_future(send(number)) for number in range(12)]
        for hop in range(61):
            for at, number in cuts:
                if at == hop:
                    tasks[number].cancel()
            await asyncio.sleep(0)
        await asyncio.gather(*tasks, return_exceptions=True)
        assert limits.in_flight == 0
        await asyncio.sleep(120)
        assert await free_slots(limits) == 3

    run(main)


def test_limits_slot_of_task_cancelled_before_running_goes_on() -> None:
    async def main() -> None:
        limits, went = limits_of(1), list[str]()

        async def send(name: str) -> None:
            async with limits.slot():
                went.append(name)

        holders = await filled(limits)
        first, second = (asyncio.ensure_future(send(name)) for name in ("first", "second"))
        await asyncio.sleep(0)
        await left(holders)  # the slot is the first one's now, who has not run yet
        first.cancel()
        await asyncio.gather(first, second, return_exceptions=True)
        assert (went, limits.in_flight) == (["second"], 0)

    run(main)


def test_limits_adaptive_limit_grows_to_bound() -> None:
    async def main() -> None:
        limits = limits_of()
        assert limits.now == START == 20
        await grown(limits, 100)
        assert limits.now >= 100
        await grown(limits, 2000)
        assert limits.now == MOST

    run(main)


def test_limits_unreached_limit_does_not_grow() -> None:
    async def main() -> None:
        limits = limits_of()
        for _ in range(100):
            slots = await filled(limits, 5)
            limits.note_reply(GOOD, slots[0])
            await left(slots)
        assert limits.now == START

    run(main)


def test_limits_burst_of_refusals_halves_limit_once() -> None:
    async def main() -> None:
        limits = limits_of()
        await grown(limits, 20)
        assert limits.now == 40
        slots = await filled(limits)
        for slot in slots:
            limits.note_failure(refusal(), slot)
        await left(slots)
        assert limits.now == 20
        slots = await filled(limits)
        for slot in slots:
            limits.note_failure(refusal(), slot)
        await left(slots)
        assert limits.now == 10

    run(main)


def test_limits_timeouts_of_one_burst_halve_limit_once() -> None:
    async def main() -> None:
        limits = limits_of()
        for expected in (10, 5, 2, 1, 1):
            slots = await filled(limits)
            for slot in slots:
                limits.note_failure(ProviderError("timeout", "no reply within 10 s"), slot)
            await left(slots)
            assert limits.now == expected

    run(main)


def in_flight_to_local_server(slots: int, requests: int) -> list[int]:
    """Return how many requests were in flight at each reply of a server that lets others wait than those in its slots.

    A reply takes 2 to 4 seconds in a slot.
    """
    numbers: list[int] = []

    async def main() -> None:
        limits, server = Limits(None, None, None, RequestCounters(), clock=clock, local=True), asyncio.Semaphore(slots)
        assert limits.now == LOCAL_START == 2

        async def ask(number: int) -> None:
            async with limits.slot() as slot:
                start = clock()
                async with server:
                    await asyncio.sleep(2.0 + number * 7 % 11 / 5)
                numbers.append(limits.in_flight)
                limits.note_reply(replace(GOOD, latency=clock() - start), slot)

        await asyncio.gather(*map(ask, range(requests)))

    run(main)
    return numbers


@pytest.mark.parametrize("slots", [1, 4, 8])
def test_limits_local_server_is_sent_hardly_more_than_it_has_slots(slots: int) -> None:
    numbers = in_flight_to_local_server(slots, 200)[20 * slots : -4 * slots]
    assert slots <= sum(numbers) / len(numbers) <= 2.5 * slots
    assert max(numbers) <= 4 * slots


def test_limits_local_server_that_batches_is_asked_as_much_as_any() -> None:
    assert max(in_flight_to_local_server(1000, 2000)) >= 150


def test_limits_server_that_nothing_reached_breaks_the_model() -> None:
    async def main() -> None:
        limits, nowhere = limits_of(), ProviderError("connection", "refused")
        limits.note_given_up(ProviderError("server", "down"))
        assert limits.broken is None
        limits.note_given_up(nowhere)
        assert limits.broken is not None
        assert "check that the server runs at the address" in limits.broken.message
        with pytest.raises(ProviderError, match="did not reach the server"):
            await limits.slot().__aenter__()

    run(main)


def test_limits_server_that_replied_once_is_asked_on() -> None:
    async def main() -> None:
        limits = limits_of()
        slots = await filled(limits)
        limits.note_reply(GOOD, slots[0])
        limits.note_given_up(ProviderError("connection", "refused"))
        assert limits.broken is None
        await left(slots)

    run(main)


def test_limits_limit_stays_above_zero_and_recovers() -> None:
    async def main() -> None:
        limits = limits_of()
        for _ in range(12):
            slots = await filled(limits)
            limits.note_failure(refusal(), slots[0])
            await left(slots)
            assert limits.now >= 1
        assert limits.now == 1
        await grown(limits, 300)
        assert limits.now >= 100

    run(main)


@pytest.mark.parametrize("kind", ["server", "connection"])
def test_limits_server_failure_stops_growth_for_round(kind: ProviderErrorKind) -> None:
    async def main() -> None:
        limits = limits_of()
        slots = await filled(limits)
        limits.note_failure(ProviderError(kind, "down"), slots[0])
        for slot in slots[1:]:
            limits.note_reply(GOOD, slot)
        await left(slots)
        assert limits.now == START
        await grown(limits, 2)
        assert limits.now == START + 1

    run(main)


@pytest.mark.parametrize("most", [1, 50, *(pytest.param(most, marks=pytest.mark.exhaustive) for most in (5, 30, 120))])
def test_limits_limit_converges_to_capacity_of_provider(most: int) -> None:
    async def main() -> None:
        limits = limits_of()
        provider = Provider(limits, most)

        async def keep_asking() -> None:
            while clock() < 400:
                await provider.ask()
                await asyncio.sleep(0.5)

        await asyncio.gather(*(keep_asking() for _ in range(300)))
        late = sum(200 < at <= 400 for at in provider.answered)
        assert late / 200 > 0.75 * most

    run(main)


def test_limits_retry_after_pauses_all_and_is_noted() -> None:
    async def main() -> None:
        counters = RequestCounters()
        limits = limits_of(counters=counters)
        slots = await filled(limits, 2)
        await asyncio.sleep(5)
        limits.note_failure(refusal(retry_after=12.0), slots[0])
        limits.note_failure(refusal(retry_after=3.0), slots[1])  # shorter: changes nothing
        await left(slots)
        assert counters.waiting == {"rate limit": 17.0}
        sent = []

        async def send() -> None:
            async with limits.slot():
                sent.append(clock())

        await asyncio.gather(send(), send(), send())
        assert sent == [pytest.approx(17.0)] * 3
        assert counters.waiting == {}

    run(main)


def test_limits_very_long_retry_after_pauses_none() -> None:
    async def main() -> None:
        counters = RequestCounters()
        limits = limits_of(counters=counters)
        slots = await filled(limits, 1)
        limits.note_failure(refusal(LONGEST_WAIT + 1), slots[0])
        await left(slots)
        assert counters.waiting == {}
        assert await free_slots(limits) > 0

    run(main)


def test_limits_repeated_refusals_pause_increasingly() -> None:
    async def main() -> None:
        limits, begun = limits_of(3), list[float]()
        for _ in range(6):
            async with limits.slot() as slot:
                begun.append(clock())
                limits.note_failure(refusal(), slot)
        assert begun == pytest.approx([0, 0, 1, 3, 7, 15])
        async with limits.slot() as slot:
            limits.note_reply(GOOD, slot)
            limits.note_failure(refusal(), slot)
        assert await free_slots(limits) == 3

    run(main)


def test_limits_two_waiting_models_note_longer_wait() -> None:
    async def main() -> None:
        counters = RequestCounters()
        for seconds in (50.0, 20.0):
            limits = limits_of(counters=counters)
            async with limits.slot() as slot:
                limits.note_failure(refusal(seconds), slot)
        await asyncio.sleep(30)
        assert counters.waiting == {"rate limit": 50.0}
        await asyncio.sleep(30)
        assert counters.waiting == {}

    run(main)


def most_in_a_minute(sent: Sequence[tuple[float, float]]) -> float:
    """The most that any window of 60 s holds, both its ends included."""
    return max(sum(amount for at, amount in sent if start <= at <= start + 60) for start, _ in sent)


def sender(limits: Limits, sent: list[tuple[float, float]], tokens: float = 0.0) -> Callable[[float], Awaitable[None]]:
    async def send(arrival: float) -> None:
        await asyncio.sleep(arrival)
        async with limits.slot(tokens):
            sent.append((clock(), 1.0))

    return send


@given(st.sampled_from([0.5, 1, 2, 7, 30, 90.5]), st.lists(st.floats(0, 100), min_size=1, max_size=80))
def test_pace_requests_in_any_minute_stay_within_rpm(rpm: float, arrivals: list[float]) -> None:
    async def main() -> None:
        sent: list[tuple[float, float]] = []
        await asyncio.gather(*map(sender(limits_of(50, rpm=rpm), sent), arrivals))
        assert len(sent) == len(arrivals)
        assert most_in_a_minute(sent) <= max(1, rpm)

    run(main)


def test_pace_requests_are_spread_evenly_and_used_fully() -> None:
    async def main() -> None:
        sent: list[tuple[float, float]] = []
        limits = limits_of(50, rpm=120)
        await asyncio.gather(*map(sender(limits, sent), [0.0] * 600))
        assert clock() == pytest.approx(300, rel=0.01)
        assert sum(at < 10 for at, _ in sent) <= 10 * 2 + 2 + 1

    run(main)


@given(
    st.lists(st.tuples(st.integers(1, 400), st.integers(0, 400), st.floats(0, 60)), min_size=1, max_size=40),
    st.integers(400, 2000),
)
def test_pace_tokens_in_any_minute_stay_within_tpm(requests: list[tuple[int, int, float]], tpm: int) -> None:
    async def main() -> None:
        limits = limits_of(10, tpm=tpm)
        counted: list[list[float]] = []

        async def send(expected: int, true: int, latency: float) -> None:
            async with limits.slot(expected) as slot:
                now = clock()
                amount_known = sum(amount for at, amount in counted if at >= now - 60)
                assert amount_known == 0 or amount_known + expected <= tpm
                entry = [now, float(expected)]
                counted.append(entry)
                await asyncio.sleep(latency)
                entry[1] = float(true)
                limits.note_reply(Reply("", tokens_in=true, tokens_out=0), slot)

        await asyncio.gather(*(send(*request) for request in requests))

    run(main)


def test_pace_unused_tokens_are_returned() -> None:
    async def finished(reported: int) -> float:
        limits = limits_of(1, tpm=1000)
        for _ in range(20):
            async with limits.slot(500) as slot:
                limits.note_reply(Reply("", tokens_in=reported, tokens_out=0), slot)
        return clock()

    assert run(lambda: finished(500)) == pytest.approx(9.5 * 60, rel=0.06)
    assert run(lambda: finished(5)) < 10


def test_pace_request_above_tpm_is_sent_alone() -> None:
    async def main() -> list[float]:
        limits, sent = limits_of(5, tpm=100), []
        for tokens in (10, 500, 10):
            async with limits.slot(tokens):
                sent.append(clock())
        return sent

    first, large, last = run(main)
    assert first == 0.0
    assert 60 <= large < 62
    assert large + 60 <= last < large + 302


def test_pace_wait_is_noted() -> None:
    async def main() -> None:
        counters = RequestCounters()
        limits = limits_of(5, rpm=2, counters=counters)
        async with limits.slot():
            pass
        waiting = asyncio.ensure_future(limits.slot().__aenter__())
        await asyncio.sleep(0)
        assert counters.waiting == {"requests a minute": pytest.approx(29.0)}
        await left([await waiting])
        assert counters.waiting == {}

    run(main)


def test_pace_small_request_of_lower_position_goes_first() -> None:
    async def main() -> None:
        counters, sent = RequestCounters(), dict[str, float]()
        limits = limits_of(5, tpm=600, counters=counters)

        async def send(name: str, position: int, tokens: float) -> None:
            POSITION.set(position)
            async with limits.slot(tokens):
                sent[name] = clock()

        await send("first", 0, 100)
        large = asyncio.ensure_future(send("large", 2, 600))
        await asyncio.sleep(1)
        assert counters.waiting == {"tokens a minute": pytest.approx(60.1)}
        small = asyncio.ensure_future(send("small", 1, 50))
        await asyncio.sleep(1)
        assert counters.waiting == {"tokens a minute": pytest.approx(9.0)}
        await asyncio.gather(large, small)
        assert sent["small"] == pytest.approx(9.0)
        assert sent["large"] > 60
        assert counters.waiting == {}

    run(main)


@pytest.mark.parametrize(("concurrency", "workers", "share"), [(10, 2, 5), (10, 3, 3), (2, 4, 1), (None, 2, 10)])
def test_limits_workers_share_in_flight(concurrency: int | None, workers: int, share: int) -> None:
    assert limits_of(concurrency, workers=workers).now == share


def test_limits_workers_share_pace_and_growth() -> None:
    async def main() -> None:
        sent: list[tuple[float, float]] = []
        limits = limits_of(50, rpm=120, tpm=6000, workers=4)
        await asyncio.gather(*map(sender(limits, sent, tokens=50), [0.0] * 60))
        assert clock() == pytest.approx(120, rel=0.05)
        adapting = limits_of(workers=4)
        await grown(adapting, 2000)
        assert adapting.now == MOST // 4

    run(main)


def fail(limits: Limits, kind: ProviderErrorKind, words: str = "wrong key") -> Awaitable[None]:
    async def send() -> None:
        async with limits.slot() as slot:
            limits.note_failure(ProviderError(kind, words), slot)

    return send()


@pytest.mark.parametrize(
    ("kind", "words", "remedy"),
    [
        ("authentication", "wrong key", "check the key"),
        ("not-found", "no such model", "check the name"),
        ("rate-limit", "insufficient_quota", "check the quota"),
    ],
)
def test_limits_three_permanent_failures_break_model(kind: ProviderErrorKind, words: str, remedy: str) -> None:
    async def main() -> None:
        limits = limits_of(1)
        holders = await filled(limits)
        waiting = [asyncio.ensure_future(limits.slot().__aenter__()) for _ in range(5)]
        waiting[0].cancel()
        await asyncio.sleep(0)
        for _ in range(3):
            assert limits.broken is None
            limits.note_failure(ProviderError(kind, words), holders[0])
        errors = await asyncio.gather(*waiting[1:], limits.slot().__aenter__(), return_exceptions=True)
        for error in errors:
            assert isinstance(error, ProviderError)
            assert error.kind == kind
            assert all(part in str(error) for part in ("3 requests", words, remedy))
        assert len({id(error) for error in errors}) == 5  # one each: a shared one would gather tracebacks
        await left(holders)
        assert limits.in_flight == 0

    run(main)


def test_limits_end_rejects_waiting_and_lets_in_flight_arrive() -> None:
    async def main() -> None:
        limits = limits_of(1)
        holders = await filled(limits)
        waiting = [asyncio.ensure_future(limits.slot().__aenter__()) for _ in range(3)]
        await asyncio.sleep(0)
        limits.end()
        errors = await asyncio.gather(*waiting, limits.slot().__aenter__(), return_exceptions=True)
        assert [type(error) for error in errors] == [NotAskedError] * 4
        assert limits.in_flight == 1
        limits.note_reply(GOOD, holders[0])
        await left(holders)
        assert limits.in_flight == 0

    run(main)


def test_limits_unpaid_model_breaks_after_three_failures() -> None:
    async def main() -> None:
        limits = limits_of(5)
        for _ in range(3):
            await fail(limits, "payment")
        assert limits.broken is not None
        assert "check the billing of the account" in str(limits.broken)

    run(main)


def test_limits_success_resets_failure_count() -> None:
    async def main() -> None:
        limits = limits_of(5)
        for _ in range(4):
            await fail(limits, "authentication")
            await fail(limits, "authentication")
            async with limits.slot() as slot:
                limits.note_reply(GOOD, slot)
        assert limits.broken is None

    run(main)


@pytest.mark.parametrize(
    ("between", "broken"),
    [("timeout", True), ("rate-limit", True), ("not-found", False), ("bad-request", False), ("content-filter", False)],
)
def test_limits_only_failures_that_prove_key_reset_count(between: ProviderErrorKind, broken: bool) -> None:
    async def main() -> None:
        limits = limits_of(5)
        for kind in ("authentication", "authentication", between, "authentication"):
            await fail(limits, kind)
        assert (limits.broken is not None) == broken

    run(main)


def test_pace_correction_after_window_is_harmless() -> None:
    pace = RequestPace(100)
    entry = pace.send(100, 0.0)
    assert pace.wait(100, 61.0) == 0.0
    pace.send(100, 61.0)
    pace.correct(entry, 0)
    assert pace.wait(1, 61.0) == pytest.approx(60.1)
