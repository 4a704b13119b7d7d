"""The reduction of any family's question: what is accepted, what is counted, and what it does not depend on."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Iterator
from random import Random

import pytest

from pytest_taskgraph.benchmarks.instances import Instance
from pytest_taskgraph.errors import NotAskedError, UsageError
from pytest_taskgraph.soundness.reduction import Reduction, ReductionLimits, reduce
from pytest_taskgraph.trial import Question

Numbers = tuple[int, ...]


class NumberQuestion:
    """A question about numbers; about none of them, or about an odd count above six, there is no question."""

    def __init__(self, *start: int) -> None:
        self.start = start

    def smaller(self, subject: Numbers) -> Iterator[Numbers]:
        """Yield the numbers without some in a row, those nearest half as many first."""
        count = len(subject)
        cuts = {subject[:i] + subject[j:] for i in range(count) for j in range(i + 1, count + 1)}
        yield from sorted(cuts, key=lambda numbers: (abs(2 * len(numbers) - count), numbers))

    def key(self, subject: Numbers) -> str:
        """Return the numbers as text."""
        return repr(subject)

    def size(self, subject: Numbers) -> int:
        """Return how many they are."""
        return len(subject)

    def instance(self, subject: Numbers) -> Instance | None:
        """Return the question for their sum."""
        if not subject or (len(subject) > 6 and len(subject) % 2):
            return None
        text = f"What is the sum of {', '.join(map(str, subject))}?"
        question = Question(repr(subject), "numbers", "sum", "", text, text, "number", sum(subject), "exact")
        return Instance(question, size=len(subject))


def errs_on(*causes: int, calls: list[str] | None = None) -> Callable[[Instance, int], Awaitable[bool | None]]:
    """Return a model that errs where all of these numbers are in the question."""

    async def asks(instance: Instance, repetition: int) -> bool | None:
        if calls is not None:
            calls.append(f"{instance.question.id}-{repetition}")
        return all(f"{cause}" in instance.question.text.replace("?", ",").replace(",", "").split() for cause in causes)

    return asks


def reduced(asks: Callable[[Instance, int], Awaitable[bool | None]], limits: ReductionLimits) -> Reduction[Numbers]:
    return asyncio.run(reduce(NumberQuestion(*range(10, 30)), asks, limits))


def test_reduce_two_causes_keeps_only_them() -> None:
    reduction = reduced(errs_on(13, 27), ReductionLimits(calls=500, needed=1, votes=1))
    assert (reduction.subject, reduction.end) == ((13, 27), "smallest")
    assert reduction.smallest.question.reference == 40
    assert list(reduction.sizes) == sorted(reduction.sizes, reverse=True)
    assert reduction.sizes[0] == 20


def test_reduce_calls_used_up_returns_best_so_far() -> None:
    calls: list[str] = []
    reduction = reduced(errs_on(13, 27, calls=calls), ReductionLimits(calls=20, needed=1, votes=1))
    assert reduction.end == "calls"
    assert reduction.calls == len(calls) == 20
    assert {13, 27} <= set(reduction.subject)
    assert 2 <= len(reduction.subject) < 20


def test_reduce_right_answer_to_start_ends_not_confirmed() -> None:
    calls: list[str] = []
    reduction = reduced(errs_on(99, calls=calls), ReductionLimits(calls=50, needed=2, votes=3))
    assert (reduction.end, len(reduction.sizes), reduction.errors) == ("not-confirmed", 1, 0)
    assert len(calls) == reduction.calls == reduction.answers <= 7


def test_reduce_verdict_certain_asks_no_further_vote() -> None:
    calls: list[str] = []
    reduced(errs_on(13, calls=calls), ReductionLimits(calls=400, needed=2, votes=4, in_flight=1))
    questions = [call.rpartition("-")[0] for call in calls]
    counts = {questions.count(question) for question in set(questions)}
    assert counts <= {2, 3}  # two that err, or three that do not: the fourth could change nothing
    assert len(calls) == len(set(calls))  # every vote is a repetition of its own


def test_reduce_replies_in_any_order_accepts_the_same() -> None:
    def shuffled(seed: int) -> Callable[[Instance, int], Awaitable[bool | None]]:
        rng, errs = Random(seed), errs_on(13, 27)

        async def asks(instance: Instance, repetition: int) -> bool | None:
            for _ in range(rng.randrange(20)):
                await asyncio.sleep(0)
            noise = Random(f"{instance.question.id}|{repetition}").random()
            return await errs(instance, repetition) if noise > 0.1 else not await errs(instance, repetition)

        return asks

    limits = ReductionLimits(calls=200, needed=2, votes=3)
    runs = [reduced(shuffled(seed), limits) for seed in range(6)]
    assert all(run == runs[0] for run in runs)
    assert len(runs[0].sizes) > 1


def test_reduce_in_flight_calls_never_exceeds_limit() -> None:
    flying: list[int] = [0, 0]
    errs = errs_on(13, 27)

    async def asks(instance: Instance, repetition: int) -> bool | None:
        flying[0] += 1
        flying[1] = max(flying)
        await asyncio.sleep(0)
        flying[0] -= 1
        return await errs(instance, repetition)

    reduction = reduced(asks, ReductionLimits(calls=300, needed=1, votes=1, in_flight=5))
    assert flying[1] == 5
    assert reduction.rounds < reduction.calls


def test_reduce_model_not_asked_returns_best_and_reason() -> None:
    calls: list[str] = []
    errs = errs_on(13, 27, calls=calls)

    async def asks(instance: Instance, repetition: int) -> bool | None:
        if len(calls) >= 30:
            raise NotAskedError("the budget of calls is spent")
        return await errs(instance, repetition)

    reduction = reduced(asks, ReductionLimits(calls=500, needed=1, votes=1))
    assert (reduction.end, reduction.reason, reduction.calls) == ("not-asked", "the budget of calls is spent", 30)
    assert {13, 27} <= set(reduction.subject)


def test_reduce_no_answer_counts_as_no_error() -> None:
    async def asks(instance: Instance, repetition: int) -> bool | None:
        return True if len(instance.question.text) > 70 else None

    reduction = reduced(asks, ReductionLimits(calls=300, needed=1, votes=1))
    assert len(reduction.sizes) > 1
    assert len(reduction.smallest.question.text) > 70


def test_reduce_other_exception_propagates() -> None:
    async def asks(instance: Instance, repetition: int) -> bool | None:
        raise ZeroDivisionError("a mistake in the caller")

    with pytest.raises(ZeroDivisionError, match="a mistake in the caller"):
        reduced(asks, ReductionLimits())


def test_reduce_interrupted_leaves_watched_result() -> None:
    watched: list[Reduction[Numbers]] = []
    errs = errs_on(13, 27)

    async def asks(instance: Instance, repetition: int) -> bool | None:
        if watched:
            raise KeyboardInterrupt
        return await errs(instance, repetition)

    with pytest.raises(KeyboardInterrupt):
        asyncio.run(reduce(NumberQuestion(*range(10, 30)), asks, ReductionLimits(needed=1, votes=1), watched.append))
    assert len(watched[0].subject) < 20


def test_reduce_start_without_question_raises() -> None:
    with pytest.raises(UsageError, match="cannot be rebuilt"):
        asyncio.run(reduce(NumberQuestion(), errs_on(1)))


@pytest.mark.parametrize("limits", [(0, 1, 1, 1), (9, 3, 2, 1), (9, 0, 2, 1), (9, 1, 1, 0)])
def test_reduction_limits_contradictory_raise(limits: tuple[int, int, int, int]) -> None:
    with pytest.raises(UsageError, match="expected"):
        ReductionLimits(*limits)
