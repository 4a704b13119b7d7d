"""The constraints of a schedule, and the faults of an answer, which metric, sentences and drawing read.

A reference is JSON: `{"tasks": [name, ...], "durations": [n, ...], "before": [[i, j], ...], "workers": n or null,
"limit": n, "unit": "minutes", "starts": [n, ...]}`. `before` holds pairs of indices of tasks, the first of which ends
before the second starts; `starts` is one schedule that keeps all constraints. All times are whole numbers of the unit.

An answer is `{"tasks": [name, ...], "starts": [n, ...]}`, in the order of the reply; a name may stand several times.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Final, Literal

from ..errors import UsageError
from ..trial import Json

MOST_STARTS: Final = 2_000  # of an answer; further ones are left out

FaultKind = Literal["missing", "unknown", "repeated", "early", "late", "order", "workers"]


@dataclass(frozen=True, slots=True)
class Fault:
    """A constraint that an answer breaks.

    Attributes:
        kind: `missing`: a task without a start, `unknown`: a start of something else, `repeated`: a task with several
            starts, `early`: a start below 0, `late`: an end after the limit, `order`: a start before another task ends,
            `workers`: a start at which more tasks run than there are workers.
        tasks: The task; of `order` the task that starts too soon and the one that it waits for; of `workers` the task
            that starts, and the others that run then.
        times: The start, or all starts of `repeated`; of `late` the end; of `order` also the end of the other task.
            Nothing of a constraint that cannot hold because a task has no start.
    """

    kind: FaultKind
    tasks: tuple[str, ...]
    times: tuple[int, ...] = ()


@dataclass(frozen=True)
class Schedule:
    """The constraints of a schedule, with one schedule that keeps them."""

    tasks: tuple[str, ...]
    durations: tuple[int, ...]
    before: tuple[tuple[int, int], ...]
    workers: int | None
    limit: int
    unit: str
    starts: tuple[int, ...]

    def to_json(self) -> dict[str, Json]:
        """Return the reference of a question; `schedule` reads it."""
        return {
            "tasks": [*self.tasks],
            "durations": [*self.durations],
            "before": [[*pair] for pair in self.before],
            "workers": self.workers,
            "limit": self.limit,
            "unit": self.unit,
            "starts": [*self.starts],
        }

    @cached_property
    def answer(self) -> dict[str, Json]:
        """Return the schedule that keeps all constraints, as an answer."""
        return {"tasks": [*self.tasks], "starts": [*self.starts]}

    def faults(self, given: Json) -> tuple[Fault, ...]:
        """Return the constraints that an answer breaks, one fault for each."""
        return tuple(self._faults(starts_by_task(given)))

    def count(self, given: Json) -> int:
        """Return the number of constraints, and of names in the answer that are no task.

        Each task has one start, not below 0, and ends within the limit; each pair is in order; with workers, at the
        start of each task no more tasks run than there are workers.
        """
        unknown = len(starts_by_task(given).keys() - {*self.tasks})
        return len(self.tasks) * (2 if self.workers else 1) + len(self.before) + unknown

    def _faults(self, stated: Mapping[str, tuple[int, ...]]) -> Iterator[Fault]:
        placed = {i: stated[task][0] for i, task in enumerate(self.tasks) if len(stated.get(task, ())) == 1}
        for i, task in enumerate(self.tasks):
            starts = stated.get(task, ())
            if len(starts) != 1:
                yield Fault("repeated" if starts else "missing", (task,), starts)
            elif starts[0] < 0:
                yield Fault("early", (task,), starts)
            elif starts[0] + self.durations[i] > self.limit:
                yield Fault("late", (task,), (starts[0] + self.durations[i],))
        for first, second in self.before:
            names = (self.tasks[second], self.tasks[first])
            if first not in placed or second not in placed:
                yield Fault("order", names)
            elif placed[second] < placed[first] + self.durations[first]:
                yield Fault("order", names, (placed[second], placed[first] + self.durations[first]))
        if self.workers:
            yield from self._crowded(placed, self.workers)
        for name in stated:
            if name not in self.tasks:
                yield Fault("unknown", (name,), stated[name])

    def _crowded(self, placed: Mapping[int, int], workers: int) -> Iterator[Fault]:
        for i, task in enumerate(self.tasks):
            if i not in placed:
                yield Fault("workers", (task,))
                continue
            now = placed[i]
            running = [
                self.tasks[j] for j, start in placed.items() if start <= now < start + self.durations[j] and j != i
            ]
            if len(running) >= workers:
                yield Fault("workers", (task, *running), (now,))


def schedule(reference: Json) -> Schedule:
    """Return the constraints that a reference states.

    Raises:
        UsageError: if the reference has another shape.
    """
    match reference:
        case {
            "tasks": list(tasks),
            "durations": list(durations),
            "before": list(before),
            "workers": int() | None as workers,
            "limit": int(limit),
            "unit": str(unit),
            "starts": list(starts),
        } if all(isinstance(task, str) for task in tasks):
            pairs = tuple((pair[0], pair[1]) for pair in map(_integers, before) if len(pair) == len({*pair}) == 2)
            whole = len(pairs) == len(before) and all(0 <= i < len(tasks) for pair in pairs for i in pair)
            lengths, times = _integers(durations), _integers(starts)
            if whole and len(lengths) == len(times) == len(tasks):
                return Schedule(tuple(map(str, tasks)), lengths, pairs, workers, limit, unit, times)
    raise UsageError(f"expected a schedule with tasks, durations and starts, found {str(reference)[:80]}")


def _integers(value: Json) -> tuple[int, ...]:
    return tuple(n for n in value if isinstance(n, int)) if isinstance(value, list) else ()


def starts_by_task(given: Json) -> dict[str, tuple[int, ...]]:
    """Return the starts that an answer states, each once; none for an answer of another shape."""
    starts: dict[str, tuple[int, ...]] = {}
    match given:
        case {"tasks": list(tasks), "starts": list(times)}:
            for task, time in zip(tasks[:MOST_STARTS], times[:MOST_STARTS], strict=False):
                known = starts.setdefault(str(task), ())
                if isinstance(time, int) and time not in known:
                    starts[str(task)] = (*known, time)
    return starts


def constraints(given: Json, reference: Json) -> float:
    """Return the share of the constraints of a schedule that hold, 0.0 to 1.0.

    Raises:
        UsageError: if the reference states no constraints.
    """
    expected = schedule(reference)
    return 1 - len(expected.faults(given)) / max(expected.count(given), 1)
