"""Reduction of a question that a model answers wrongly to a smaller one, within a number of calls.

Candidates come from a `Reducible`, those nearest half the size first (delta debugging, after Zeller and Hildebrandt
2002). Each is asked several times because models answer nondeterministically; it replaces the question if enough of its
answers err. Calls are made in rounds, and a round is evaluated when all of its replies have arrived, so that the result
depends on the replies and never on the order of their arrival.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from itertools import islice
from typing import Any, Final, Generic, Literal, TypeVar

from ..benchmarks.instances import Instance, Reducible
from ..errors import NotAskedError, UsageError
from ..reports.wording import count
from ..scoring.forms import show_answer
from .finding_lines import indented_block

S = TypeVar("S")
End = Literal["smallest", "calls", "not-asked", "not-confirmed"]
MOST_CANDIDATES: Final = 2000
"""Candidates of one subject that are tried, at most: many of them may allow no question."""
_ENDS: Final = {
    "smallest": "",
    "calls": "; the calls are used up, so something smaller may fail too",
    "not-asked": "; it ended early: {reason}",
}


AskModel = Callable[[Instance, int], Awaitable[bool | None]]
"""Asks the model about an instance, and returns True if its answer errs; None, which counts as no error, without an
answer to score. The number counts repetitions from 1: several answers about one instance may differ as those to
repeated questions do. NotAskedError means that no further request is possible; the reduction ends there."""


@dataclass(frozen=True, slots=True)
class ReductionLimits:
    """The limits of a reduction.

    Three errors of four answers keep the cause of a failure, for a model that errs in 80 % of its answers if the cause
    is present and in 5 % if not; two of two cost fewer calls, and lose the cause in one reduction of fourteen.

    Args:
        calls: Calls in all, at least 1.
        needed: Answers that must err for a candidate to be accepted.
        votes: Answers of a candidate, at most; asking ends as soon as the verdict is certain.
        in_flight: Calls of one round, at most.

    Raises:
        UsageError: if the limits contradict each other.
    """

    calls: int = 100
    needed: int = 3
    votes: int = 4
    in_flight: int = 8

    def __post_init__(self) -> None:
        if not 1 <= self.needed <= self.votes:
            raise UsageError(f"{self.needed} of {self.votes} answers; expected K of N with 1 <= K <= N")
        if self.calls < 1 or self.in_flight < 1:
            raise UsageError(f"{self.calls} calls, {self.in_flight} in flight; expected at least 1 of each")


@dataclass(slots=True)
class Votes:
    """The answers about one candidate so far."""

    errors: int = 0
    requested: int = 0

    def verdict(self, limits: ReductionLimits) -> bool | None:
        """Return True if enough answers err, False if no more can, None while that is open."""
        if self.errors >= limits.needed:
            return True
        return False if self.errors + limits.votes - self.requested < limits.needed else None


@dataclass(frozen=True, slots=True)
class Reduction(Generic[S]):
    """The result of a reduction.

    Args:
        start: The question as it was asked.
        smallest: The smallest question found on which the model still errs; the start if none is smaller.
        subject: The subject of the smallest question.
        sizes: The sizes of the accepted questions, that of the start first.
        errors: The number of wrong answers about the smallest question.
        answers: The number of answers about it.
        calls: Calls in all.
        rounds: The number of rounds of simultaneous calls.
        end: Why it ended: "smallest" if nothing smaller fails, "calls" if those were used up, "not-asked" if the model
            could not be asked further, "not-confirmed" if the answers about the start did not err often enough.
        reason: The reason of the NotAskedError, if it ended "not-asked".
    """

    start: Instance
    smallest: Instance
    subject: S
    sizes: tuple[int, ...]
    errors: int
    answers: int
    calls: int
    rounds: int
    end: End
    reason: str = ""


@dataclass(slots=True)
class _Candidate(Generic[S]):
    subject: S
    instance: Instance
    votes: Votes


@dataclass(slots=True)
class _Search(Generic[S]):
    """The state of one reduction."""

    reducible: Reducible[S]
    ask_model: AskModel
    limits: ReductionLimits
    best: _Candidate[S]
    sizes: list[int]
    votes: dict[str, Votes] = field(default_factory=dict)
    calls: int = 0
    rounds: int = 0
    reason: str = ""

    async def confirm(self) -> bool:
        """Ask about the start, with simultaneous calls, and return True if it fails.

        It was answered wrongly before, so it is asked more often than a candidate before it is abandoned.
        """
        limits = replace(self.limits, votes=2 * self.limits.votes + 1)
        while (verdict := self.best.votes.verdict(limits)) is None:
            count = min(self.limits.needed - self.best.votes.errors, self.limits.calls - self.calls)
            if count < 1 or not await self.ask([self.best] * count):
                return False
        return verdict

    async def step(self) -> End | None:
        """Accept one smaller candidate; if there is none, return why the search ends."""
        candidates = self.candidates()
        waiting: list[_Candidate[S]] = []
        while True:
            room = min(self.limits.in_flight, self.limits.calls - self.calls)
            if not any(candidate.votes.errors for candidate in waiting):  # else their verdicts come first
                waiting += islice(candidates, max(0, max(1, room) - len(waiting)))
            if not waiting:
                return "smallest"
            if room < 1:
                return "calls"
            leading = [candidate for candidate in waiting if candidate.votes.errors]
            answered = await self.ask((leading or waiting)[:room])
            verdicts = [(candidate, candidate.votes.verdict(self.limits)) for candidate in waiting]
            if accepted := [candidate for candidate, verdict in verdicts if verdict]:
                self.best = min(accepted, key=lambda candidate: candidate.instance.size)
                self.sizes.append(self.best.instance.size)
                return None if answered else "not-asked"
            if not answered:
                return "not-asked"
            waiting = [candidate for candidate, verdict in verdicts if verdict is None]

    async def ask(self, candidates: list[_Candidate[S]]) -> bool:
        """Ask one answer about each; return False if the model could not be asked."""
        self.rounds += 1
        self.calls += len(candidates)
        asking = []
        for candidate in candidates:
            candidate.votes.requested += 1
            asking.append(self.ask_model(candidate.instance, candidate.votes.requested))
        answers = await asyncio.gather(*asking, return_exceptions=True)
        for candidate, answer in zip(candidates, answers, strict=True):
            if isinstance(answer, NotAskedError):
                self.calls -= 1
                candidate.votes.requested -= 1
                self.reason = self.reason or str(answer)
            elif isinstance(answer, BaseException):
                raise answer
            else:
                candidate.votes.errors += answer is True
        return not self.reason

    def candidates(self) -> Iterator[_Candidate[S]]:
        """Yield the candidates whose verdict is open, with a question that can be asked."""
        for number, subject in enumerate(self.reducible.smaller(self.best.subject)):
            if number == MOST_CANDIDATES:
                return
            key = self.reducible.key(subject)
            votes = self.votes.setdefault(key, Votes())
            if votes.verdict(self.limits) is None and (instance := self.reducible.instance(subject)) is not None:
                yield _Candidate(subject, instance, votes)

    def result(self, start: Instance, end: End) -> Reduction[S]:
        """Return the state of the search as a reduction."""
        best, votes = self.best, self.best.votes
        counts = (votes.errors, votes.requested, self.calls, self.rounds, end, self.reason)
        return Reduction(start, best.instance, best.subject, tuple(self.sizes), *counts)


async def reduce(
    reducible: Reducible[S],
    ask_model: AskModel,
    limits: ReductionLimits = ReductionLimits(),
    watch: Callable[[Reduction[S]], None] = lambda reduction: None,
) -> Reduction[S]:
    """Return the smallest question found on which the model still errs.

    Args:
        reducible: The question to reduce.
        ask_model: Asks the model about an instance.
        limits: The limits of the reduction.
        watch: Called with the intermediate result after each accepted candidate, so that the result is known if the
            reduction is interrupted.

    Raises:
        UsageError: if no question can be asked about the start.
    """
    start = reducible.instance(reducible.start)
    if start is None:
        raise UsageError("the question to shrink cannot be rebuilt from its own subject; report this as a defect")
    first = _Candidate(reducible.start, start, Votes())
    search = _Search(reducible, ask_model, limits, first, [start.size], {reducible.key(reducible.start): first.votes})
    if not await search.confirm():
        spent = search.calls >= limits.calls
        return search.result(start, "not-asked" if search.reason else "calls" if spent else "not-confirmed")
    while (end := await search.step()) is None:
        watch(search.result(start, "calls"))
    return search.result(start, end)


def outcome_line(reduction: Reduction[Any], limits: ReductionLimits, missing: int) -> str:
    """Return the result of a reduction in one line.

    Args:
        reduction: The reduction.
        limits: The limits of the reduction.
        missing: The number of calls without an answer to score.
    """
    spent = f"{count(reduction.calls, 'call')} in {count(reduction.rounds, 'round')}"
    spent += f", {missing} without an answer" if missing else ""
    if reduction.end == "not-confirmed":
        answers = f"{reduction.errors} of {reduction.answers} answers"
        return f"not shrunk: asked again, the model errs in {answers}; expected {limits.needed} ({spent})"
    if reduction.errors < limits.needed:
        return f"not shrunk: {reduction.reason or 'the calls are used up'} ({spent})"
    sizes = " > ".join(map(str, reduction.sizes))
    end = _ENDS[reduction.end].format(reason=reduction.reason)
    return f"size {sizes}: errs in {reduction.errors} of {reduction.answers} answers; {spent}{end}"


def reduction_lines(reduction: Reduction[Any], answered: str, test: Mapping[str, str]) -> list[str]:
    """Return the smallest question, with its drawing, its answers and its regression test.

    Args:
        reduction: The reduction.
        answered: A reply of the model that errs; empty if none is known.
        test: The regression test and its files, by name.
    """
    question = reduction.smallest.question
    expected = show_answer(question.form, question.reference)
    return [
        *indented_block("about", reduction.smallest.drawing),
        *indented_block("question", question.text.split("\n")),
        *indented_block("expected", [expected]),
        *(indented_block("answered", answered.strip().split("\n")) if answered.strip() else ()),
        *(line for name, text in test.items() for line in indented_block(name, text.rstrip("\n").split("\n"))),
    ]
