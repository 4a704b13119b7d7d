"""The answers about times once more, by letting a clock run beside the tokens of a level (`brute_force_game.py`).

A task starts when it is ready and ends after its duration; only then its tokens move on. Slack is found by holding a
task back and looking whether the end comes later, the shortest time of some workers by trying all they can begin.
"""

from __future__ import annotations

from collections.abc import Mapping
from itertools import combinations, pairwise
from typing import Any

from brute_force_behaviour import LONGEST, prefixes
from brute_force_game import MOST, Game, State, TooMuchError
from brute_force_guards import Values, read_situation
from brute_force_structure import Answer, Fields, yes
from brute_force_walks import next_tasks

from pytest_taskgraph.workflow.model import Workflow
from pytest_taskgraph.workflow.references import expand

SECONDS = {"second": 1, "minute": 60, "hour": 60 * 60, "day": 24 * 60 * 60}
MUCH = 10**9  # seconds, longer than any level takes
EXACT = 8  # tasks up to which a limit is the shortest time
Log = list[tuple[str, int, int]]  # a task, its start and its end
Held = Mapping[tuple[str, int], int]  # a task and how often it has run before, and until when it is held back


def seconds(phrase: str) -> int:
    """The length of a duration as a question states it, such as 3 hours."""
    amount, unit = phrase.split(" ")
    return int(amount) * SECONDS[unit.removesuffix("s")]


class Clock:
    """The runs of a level in one situation."""

    def __init__(self, level: Workflow, situation: str) -> None:
        self.level = expand(level)
        self.game = Game(self.level)
        self.values: Values = read_situation(situation) if situation else {}
        self.lengths: dict[str, int] = {}

    def length(self, name: str) -> int:
        """How long a task takes."""
        task = self.level.task(name)
        if name not in self.lengths and task.subworkflow is not None:
            assert task.duration is None
            self.lengths[name] = Clock(task.subworkflow, "").end()
        elif name not in self.lengths:
            assert task.duration is not None
            self.lengths[name] = seconds(f"{task.duration.amount} {task.duration.unit}")
        return self.lengths[name]

    def log(self, longer: Mapping[str, int] | None = None, held: Held | None = None) -> Log:
        """What runs when, if some tasks take longer and others are held back until some time."""
        longer, held = longer or {}, held or {}
        state, now, running, log = self.game.start(self.values), 0, dict[str, int](), Log()
        while True:
            later = list[int]()
            for name in self.game.ready(state.tokens):
                until = held.get((name, sum(name == other for other, _, _ in log)), 0)
                if name not in running and until > now:
                    later.append(until)
                elif name not in running:
                    running[name] = now + self.length(name) + longer.get(name, 0)
                    log.append((name, now, running[name]))
            if not running and not later:
                return log
            now = min([*running.values(), *later])
            for name in sorted(name for name, end in running.items() if end == now):
                state = self.game.run(name, state)
                del running[name]
            assert len(log) < LONGEST

    def end(self, longer: Mapping[str, int] | None = None, held: Held | None = None) -> int:
        """When all has ended."""
        return max(end for _, _, end in self.log(longer, held))

    def start_of(self, name: str) -> int:
        """When a task starts that runs once."""
        (start,) = [start for task, start, _ in self.log() if task == name]
        return start

    def latest(self, name: str) -> int:
        """The last second at which a task can start without a later end, by halving the interval."""
        end = self.end()
        low, high = self.start_of(name), end + 1
        while high - low > 1:
            middle = (low + high) // 2
            low, high = (middle, high) if self.end(held={(name, 0): middle}) == end else (low, middle)
        return low

    def undelayable(self) -> Log:
        """What makes the end later if it starts a second later, in the order of the starts."""
        log, end = self.log(), self.end()
        before = [sum(name == other for other, _, _ in log[:i]) for i, (name, _, _) in enumerate(log)]
        rows = zip(log, before, strict=True)
        return [row for row, times in rows if self.end(held={(row[0], times): row[1] + 1}) > end]

    def with_workers(self, workers: int) -> int:
        """The shortest time in which so many workers can do all tasks."""
        return _Workers(self, workers).shortest(self.game.start(self.values), ())


class _Workers:
    def __init__(self, clock: Clock, workers: int) -> None:
        self.clock, self.workers = clock, workers
        self.known: dict[tuple[State, tuple[tuple[int, str], ...]], int] = {}

    def shortest(self, state: State, running: tuple[tuple[int, str], ...]) -> int:
        """The shortest time to the end from a state, with what runs and for how much longer."""
        if (state, running) not in self.known:
            if len(self.known) > MOST:
                raise TooMuchError(self.clock.level.name)
            self.known[state, running] = self._shortest(state, running)
        return self.known[state, running]

    def _shortest(self, state: State, running: tuple[tuple[int, str], ...]) -> int:
        busy = {name for _, name in running}
        ready = [name for name in self.clock.game.ready(state.tokens) if name not in busy]
        best: list[int] = []
        for count in range(min(len(ready), self.workers - len(running)) + 1):
            for chosen in combinations(ready, count):
                now = sorted([*running, *((self.clock.length(name), name) for name in chosen)])
                if now:
                    step, after = now[0][0], state
                    for left, name in now:
                        after = self.clock.game.run(name, after) if left == step else after
                    best.append(step + self.shortest(after, tuple((n - step, name) for n, name in now if n > step)))
        return min(best, default=0)


def _clock(level: Workflow, fields: Fields) -> Clock:
    return Clock(level, fields["situation"])


def _in_unit(length: int, fields: Fields) -> int:
    size = SECONDS[fields["unit"].removesuffix("s")]
    assert length % size == 0
    return length // size


def makespan(level: Workflow, fields: Fields) -> object:
    """When all has ended."""
    return _in_unit(_clock(level, fields).end(), fields)


def critical_path(level: Workflow, fields: Fields) -> object:
    """What can have run at some time, of the tasks of the path."""
    path = _clock(level, fields).undelayable()
    assert all(end == start for (_, _, end), (_, start, _) in pairwise(path)), "several paths"
    return prefixes({"tasks": [name for name, _, _ in path], "before": [[i, i + 1] for i in range(len(path) - 1)]})


def deadline_met(level: Workflow, fields: Fields) -> object:
    """Whether all has ended by then."""
    return yes(_clock(level, fields).end() <= seconds(fields["deadline"]))


def earliest_start(level: Workflow, fields: Fields) -> object:
    """When the task starts."""
    return _in_unit(_clock(level, fields).start_of(fields["task"]), fields)


def latest_start(level: Workflow, fields: Fields) -> object:
    """Until when the task can be held back."""
    return _in_unit(_clock(level, fields).latest(fields["task"]), fields)


def waits_for(level: Workflow, fields: Fields) -> object:
    """The last to end of the tasks with a way of gateways to the task."""
    clock = _clock(level, fields)
    start = clock.start_of(fields["task"])
    before = [(end, name) for name, _, end in clock.log()
              if end <= start and fields["task"] in next_tasks(clock.level, name)]  # fmt: skip
    return max(before)[1]


def running_at(level: Workflow, fields: Fields) -> object:
    """The tasks that have started and not ended."""
    moment = seconds(fields["moment"])
    return sorted({name for name, start, end in _clock(level, fields).log() if start <= moment < end})


def slack(level: Workflow, fields: Fields) -> object:
    """How long the task can be held back."""
    clock = _clock(level, fields)
    return _in_unit(clock.latest(fields["task"]) - clock.start_of(fields["task"]), fields)


def zero_slack_tasks(level: Workflow, fields: Fields) -> object:
    """The tasks that cannot be held back."""
    return sorted(name for name, _, _ in _clock(level, fields).undelayable())


def delay_effect(level: Workflow, fields: Fields) -> object:
    """When all has ended if the task takes longer."""
    return _in_unit(_clock(level, fields).end(longer={fields["task"]: seconds(fields["extra"])}), fields)


def delay_harmless(level: Workflow, fields: Fields) -> object:
    """Whether that is as early as without."""
    clock = _clock(level, fields)
    return yes(clock.end(longer={fields["task"]: seconds(fields["extra"])}) == clock.end())


def makespan_with_workers(level: Workflow, fields: Fields) -> object:
    """The shortest time of all that the workers can do."""
    return _in_unit(_clock(level, fields).with_workers(fields["workers"]), fields)


def constraints_of(reference: Mapping[str, Any]) -> object:
    """The constraints that a reference states, with the pairs that follow from its pairs, and whether its plan fits."""
    names, lengths = reference["tasks"], dict(zip(reference["tasks"], reference["durations"], strict=True))
    pairs = {(names[i], names[j]) for i, j in reference["before"]}
    while more := {(a, d) for a, b in pairs for c, d in pairs if b == c} - pairs:
        pairs |= more
    starts = dict(zip(names, reference["starts"], strict=True))
    ends = {name: starts[name] + lengths[name] for name in names}
    fits = all(ends[a] <= starts[b] for a, b in pairs) and max(ends.values()) <= reference["limit"]
    for now in range(max(ends.values())):
        running = [name for name in names if starts[name] <= now < ends[name]]
        fits = fits and len(running) <= (reference["workers"] or len(names))
    return lengths, pairs, reference["workers"], reference["limit"], fits


def valid_schedule(level: Workflow, fields: Fields) -> object:
    """How long the tasks take, which wait for which, and the limit: the shortest time, of many tasks one near it.

    No schedule in which a worker is idle only if nothing can start is longer than the second bound (Graham, 1966).
    """
    clock = _clock(level, fields)
    log = clock.log()
    names = [name for name, _, _ in log]
    assert len(names) == len({*names})
    pairs = set()
    for name in names:
        held = clock.log(held={(name, 0): MUCH})
        pairs |= {(name, other) for other, start, _ in held if start >= MUCH and other != name}
    lengths = {name: _in_unit(clock.length(name), fields) for name in names}
    limit, workers, end = seconds(fields["limit"]), fields["workers"], clock.end()
    shortest = end if workers is None else clock.with_workers(workers)
    assert shortest <= limit <= (end if workers is None else end + (sum(map(clock.length, names)) - end) / workers)
    assert limit == shortest or len(names) > EXACT
    return lengths, pairs, workers, _in_unit(limit, fields), True


_FUNCTIONS: tuple[Answer, ...] = (
    makespan, critical_path, deadline_met, earliest_start, latest_start, waits_for, running_at, slack,
    zero_slack_tasks, delay_effect, delay_harmless, makespan_with_workers, valid_schedule,
)  # fmt: skip
ANSWERS = {function.__name__: function for function in _FUNCTIONS}
