"""When the tasks of a level start and end, and how long the whole takes, from the durations that they state.

A task starts when all that it waits for has ended: the executions before it in the run of a situation (`execution.py`).
A composite task lasts as long as the run of its inside. All times are in seconds after the start of the level.

A level has no timing in a situation that does not decide its run, or where a task that runs states no duration: an
atomic task without one, a composite task whose inside has no timing or that states a duration beside its inside.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, lru_cache
from itertools import accumulate
from operator import le
from typing import Final

from ..guards.cells import Situation
from ..model import SECONDS, Task, TimeUnit, Workflow
from .execution import Run, run

UNITS: Final = tuple(SECONDS)  # the smallest first


@dataclass(frozen=True)
class Timing:
    """The executions of a run, with the time that each takes, in seconds."""

    run: Run
    lengths: tuple[int, ...]

    @cached_property
    def starts(self) -> tuple[int, ...]:
        """Return when each execution starts at the earliest: when all before it have ended."""
        starts: list[int] = []
        for before in self.run.before:
            starts.append(max((starts[i] + self.lengths[i] for i in _bits(before)), default=0))
        return tuple(starts)

    @cached_property
    def ends(self) -> tuple[int, ...]:
        """Return when each execution ends at the earliest."""
        return tuple(start + length for start, length in zip(self.starts, self.lengths, strict=True))

    @cached_property
    def makespan(self) -> int:
        """Return how long the whole takes."""
        return max(self.ends)

    @cached_property
    def latest_starts(self) -> tuple[int, ...]:
        """Return when each execution starts at the latest if the whole is not to take longer."""
        latest = [self.makespan - length for length in self.lengths]
        for i in reversed(range(len(latest))):
            for j in _bits(self.run.before[i]):
                latest[j] = min(latest[j], latest[i] - self.lengths[j])
        return tuple(latest)

    @cached_property
    def slacks(self) -> tuple[int, ...]:
        """Return by how much each execution alone can be late without making the whole later."""
        return tuple(late - early for late, early in zip(self.latest_starts, self.starts, strict=True))

    def with_longer(self, place: int, seconds: int) -> Timing:
        """Return the timing in which one execution takes longer."""
        return replace(self, lengths=tuple(n + seconds * (i == place) for i, n in enumerate(self.lengths)))

    def last_before(self, place: int) -> list[int]:
        """Return those of the executions directly before an execution that end last."""
        direct = [i for i, j in self.run.pairs if j == place]
        last = max((self.ends[i] for i in direct), default=0)
        return [i for i in direct if self.ends[i] == last]

    def running_at(self, seconds: int) -> list[int]:
        """Return the executions that run at a time; one that starts or ends just then counts as running."""
        return [i for i, start in enumerate(self.starts) if start <= seconds <= self.ends[i]]

    def critical_path(self) -> tuple[int, ...] | None:
        """Return the executions of the only path that takes as long as the whole; None if there are several."""
        following: dict[int, list[int]] = {}
        for i, j in self.run.pairs:
            if self.slacks[i] == self.slacks[j] == 0 and self.ends[i] == self.starts[j]:
                following.setdefault(i, []).append(j)
        first = [i for i, start in enumerate(self.starts) if start == 0 and not self.slacks[i]]
        path: list[int] = []
        while first:
            if len(first) > 1:
                return None
            path += first
            first = following.get(first[0], [])
        return tuple(path)


def _bits(mask: int) -> Iterator[int]:
    while mask:
        lowest = mask & -mask
        yield lowest.bit_length() - 1
        mask ^= lowest


def timing(level: Workflow, situation: Situation) -> Timing | None:
    """Return the timing of a level in a situation; None where it is not decided or a duration is not stated.

    Args:
        level: The level, with references inline (`references.expand`).
        situation: A value for each parameter that decides a way on the level. Inside composite tasks, no condition may
            decide anything.
    """
    execution = run(without_durations(level), situation)
    lengths = _lengths(level)
    if execution is None or any(lengths[task] is None for task in execution.tasks):
        return None
    return Timing(execution, tuple(lengths[task] or 0 for task in execution.tasks))


@lru_cache(maxsize=256)
def without_durations(level: Workflow) -> Workflow:
    """Return the level without the durations of its tasks, on which its runs do not depend."""
    tasks = tuple(
        replace(task, duration=None, subworkflow=task.subworkflow and without_durations(task.subworkflow))
        for task in level.tasks
    )
    return replace(level, tasks=tasks)


@lru_cache(maxsize=256)
def _lengths(level: Workflow) -> Mapping[str, int | None]:
    """Return for each task how long it takes, in seconds; None if that is not stated."""
    return {task.name: _length(task) for task in level.tasks}


def _length(task: Task) -> int | None:
    if task.composite:
        inside = timing(task.subworkflow, {}) if task.subworkflow and task.duration is None else None
        return inside.makespan if inside else None
    return task.duration.seconds if task.duration else None


@lru_cache(maxsize=256)
def units_in(level: Workflow) -> tuple[TimeUnit, ...]:
    """Return the units of the durations of a level and of what is inside its tasks, the smallest first."""
    found = {task.duration.unit for task in level.tasks if task.duration}
    found.update(unit for task in level.tasks if task.subworkflow for unit in units_in(task.subworkflow))
    return tuple(unit for unit in UNITS if unit in found)


def shortest_with_workers(timed: Timing, workers: int, most_steps: int) -> int | None:
    """Return the least time in which a number of workers can do all executions, each by one worker without a break.

    Exact, by depth-first search over the schedules in which each execution starts as early as those started before it
    allow (Kolisch, 1996), with the longest rest of a path and the work left per worker as bounds.

    Returns:
        None if the search takes more steps than `most_steps`.
    """
    search = _WorkerSearch(timed, workers, most_steps)
    return search.best if search.place(0, (0,) * workers) else None


def shortest_schedule_with_workers(timed: Timing, workers: int, most_steps: int) -> tuple[int, ...] | None:
    """Return when each execution starts in a shortest schedule of a number of workers (`shortest_with_workers`).

    Returns:
        None if the search takes more steps than `most_steps`, or if no schedule is shorter than all executions one
        after the other.
    """
    search = _WorkerSearch(timed, workers, most_steps)
    if not search.place(0, (0,) * workers) or not search.best_ends:
        return None
    return tuple(end - length for end, length in zip(search.best_ends, timed.lengths, strict=True))


def ruled_schedule_with_workers(timed: Timing, workers: int) -> tuple[int, ...]:
    """Return when each execution starts in the shortest of the list schedules that three rules of priority lead to.

    The rules are the longest rest of a path, the longest execution, and the most work behind (Kolisch, 1996). How long
    the schedule takes does not depend on the order of equal executions, so that it is the same in every notation.
    """
    alike = _classes(timed)
    behind = [0] * len(alike)
    for i, before in enumerate(timed.run.before):
        for j in _bits(before):
            behind[j] += timed.lengths[i]
    rules = ([-late for late in timed.latest_starts], timed.lengths, behind)
    schedules = [list_schedule(timed, workers, [*zip(rule, alike, strict=True)]) for rule in rules]
    return min(schedules, key=lambda starts: end_of_schedule(timed, starts))


def end_of_schedule(timed: Timing, starts: Sequence[int]) -> int:
    """Return when the last execution ends in a schedule, given by when each execution starts."""
    return max(map(sum, zip(starts, timed.lengths, strict=True)))


def list_schedule(timed: Timing, workers: int, priorities: Sequence[tuple[int, int]]) -> tuple[int, ...]:
    """Return when each execution starts if a free worker takes the one of the highest priority that waits for nothing.

    Of equal priorities, the first one is taken.
    """
    starts: dict[int, int] = {}
    ends: dict[int, int] = {}
    left, now = sorted(range(len(priorities)), key=lambda i: priorities[i], reverse=True), 0
    while left:
        free = workers - sum(end > now for end in ends.values())
        done = sum(1 << i for i, end in ends.items() if end <= now)
        chosen = [i for i in left if not timed.run.before[i] & ~done][:free]
        starts |= dict.fromkeys(chosen, now)
        ends |= {i: now + timed.lengths[i] for i in chosen}
        left = [i for i in left if i not in ends]
        now = min((end for end in ends.values() if end > now), default=now)
    return tuple(starts[i] for i in range(len(priorities)))


def _classes(timed: Timing) -> list[int]:
    """Return a number for each execution, equal for those that differ in nothing but their place: colour refinement."""
    size, pairs = len(timed.lengths), timed.run.pairs
    before = [[i for i, j in pairs if j == place] for place in range(size)]
    after = [[j for i, j in pairs if i == place] for place in range(size)]
    classes, number = [*timed.lengths], 0
    while len({*classes}) > number:
        number = len({*classes})
        seen = [
            (classes[i], sorted(classes[j] for j in before[i]), sorted(classes[j] for j in after[i]))
            for i in range(size)
        ]
        ranks = sorted(seen)
        classes = [ranks.index(each) for each in seen]
    return classes


class _WorkerSearch:
    """Depth-first search for the shortest schedule: executions are placed, each as early as those before it allow."""

    def __init__(self, timed: Timing, workers: int, most_steps: int) -> None:
        self.lengths, self.before = timed.lengths, timed.run.before
        count = len(self.lengths)
        self.direct: list[list[int]] = [[] for _ in range(count)]
        self.following = [0] * count  # those directly after each, as bits
        for i, j in timed.run.pairs:
            self.direct[j].append(i)
            self.following[i] |= 1 << j
        self.workers, self.steps = workers, most_steps
        self.tails = [timed.makespan - late for late in timed.latest_starts]  # from the start of each to the end
        self.rests = [tail - length for tail, length in zip(self.tails, self.lengths, strict=True)]
        self.by_rest = sorted(range(count), key=lambda i: -self.rests[i])
        self.least = max(timed.makespan, -(-sum(self.lengths) // workers))
        self.best = sum(self.lengths)
        self.best_ends: tuple[int, ...] = ()  # of a schedule that takes less time than all one after the other
        self.ends = [0] * count  # of the executions that are placed
        self.seen: dict[int, list[list[int]]] = {}  # by what is placed: what the rest depends on

    def place(self, done: int, free: tuple[int, ...]) -> bool:
        """Try all ways to place what is left; return False if there are too many.

        Args:
            done: The executions that are placed, as bits.
            free: When each worker is free, in ascending order.
        """
        self.steps -= 1
        if self.steps < 0:
            return False
        left = [i for i in self.by_rest if not done >> i & 1]
        if not left:
            if free[-1] < self.best:
                self.best, self.best_ends = free[-1], tuple(self.ends)
            return True
        if self._bound(left, free) >= self.best or self._is_dominated(done, free):
            return True
        ends, first = self.ends, free[0]
        ready = sorted(
            [
                (max([first, *[ends[j] for j in self.direct[i]]]), -self.tails[i], i)
                for i in left
                if not self.before[i] & ~done
            ]
        )
        earliest_end = min([start + self.lengths[i] for start, _, i in ready])
        for start, tail, i in ready:
            # Placing what starts after another could have ended leaves a gap that the other fits into.
            if self.best > self.least and start < earliest_end and start - tail < self.best:
                ends[i] = start + self.lengths[i]
                if not self.place(done | 1 << i, tuple(sorted((*free[1:], ends[i])))):
                    return False
        return True

    def _bound(self, left: list[int], free: tuple[int, ...]) -> int:
        """Return a time before which the rest cannot be done, whatever the order.

        Executions with the longest rests after them share the workers, as many of them as are free soon enough to
        help; then the shortest of these rests follows.
        """
        before = list(enumerate(accumulate(free), 1))  # for each number of workers, the sum of when they are free
        work = bound = 0
        for i in left:
            work += self.lengths[i]
            bound = max(bound, min([-(-(start + work) // count) for count, start in before]) + self.rests[i])
        return max(bound, free[-1])

    def _is_dominated(self, done: int, free: tuple[int, ...]) -> bool:
        """Return True if the same executions were placed before so that the rest could start as early or earlier."""
        pending = [max(free[0], end) for i, end in enumerate(self.ends) if done >> i & 1 and self.following[i] & ~done]
        state = [*free, *pending]
        states = self.seen.setdefault(done, [])
        if any(all(map(le, other, state)) for other in states):
            return True
        states.append(state)
        return False
