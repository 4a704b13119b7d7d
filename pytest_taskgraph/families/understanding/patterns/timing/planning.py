"""The pattern about whole schedules: when each task starts (docs/reference/patterns.md)."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from .....scoring.schedules import Schedule
from .....workflow.model import Workflow
from .....workflow.semantics.run_times import Timing, short_schedule_with_workers
from ..pattern import OWN_LEVEL, Cases, case, pattern
from ..timed_levels import SITUATION, TimedLevel, timed_levels
from .whole_time import MOST_WORK, NEEDS, WORKERS

MOST_EXECUTIONS: Final = 200
LEAST_SHARED: Final = 8  # tasks; of fewer, a schedule without workers is asked for, too
RUN: Final = "{% if situation %} that runs{% endif %}"


@pattern(
    SITUATION
    + "Make a schedule for {{ place }}: state for each of its tasks"
    + RUN
    + " how many {{ unit }} after the start of {{ place }} it starts. No task starts before all that it waits for has "
    "ended, and {{ place }} ends {{ limit }} after its start at the latest.{% if workers %} Suppose that {{ workers }} "
    "workers do the tasks: each task takes one of them for its whole duration, without a break, and nobody does two "
    "tasks at once.{% endif %}" + OWN_LEVEL,
    SITUATION
    + "When can each task of {{ place }}"
    + RUN
    + " start, in {{ unit }} after the start of the whole, if each waits for all that it has to wait for"
    "{% if workers %}, at most {{ workers }} of them run at any time, none is interrupted,{% endif %} and the whole is "
    "finished {{ limit }} after its start or earlier? Any such schedule is right." + OWN_LEVEL,
    form="schedule",
    needs=NEEDS,
    varies={"exclusive", "effects", "hierarchy"},
    least=5,
    exceptional=True,
)
def valid_schedule(workflow: Workflow) -> Cases:
    """Check that the model plans what is done at the same time, with few workers or without such a limit.

    The whole must end as early as it can; where the search for that takes too many steps, as early as in the shortest
    schedule found. Cases come first in which the workers have to plan: to start whatever can start, in the order of
    declaration, is too slow. Left out are situations in which a task runs several times, numbers of workers that make
    no difference, and workers on levels with composite tasks; only such levels and small ones are asked about without
    workers.
    """
    for timed in timed_levels(workflow):
        lengths = timed.timing.lengths
        if len(timed.single) != len(lengths) or len(lengths) > MOST_EXECUTIONS:
            continue
        for workers, starts in _schedules(workflow, timed):
            limit = max(start + length for start, length in zip(starts, lengths, strict=True))
            if limit < sum(lengths) and any(starts):
                easy = workers is None or _greedy_end(workflow, timed.timing, workers) <= limit
                yield case(
                    _constraints(timed, workers, starts, limit).to_json(),
                    rank=int(easy),
                    limit=timed.phrase(limit),
                    workers=workers,
                    labels=timed.labels | {"workers": workers or "any"},
                    **timed.fields,
                )


def _schedules(workflow: Workflow, timed: TimedLevel) -> Iterator[tuple[int | None, tuple[int, ...]]]:
    """Yield numbers of workers, None for any number, with a schedule in which all ends early."""
    size, composite = len(timed.timing.lengths), any(task.composite for task in workflow.tasks)
    if composite or size < LEAST_SHARED:
        yield None, timed.timing.starts
    if composite:
        return
    for workers in WORKERS:
        starts = short_schedule_with_workers(timed.timing, workers, max(2 * size, MOST_WORK // size**2))
        if starts and max(map(sum, zip(starts, timed.timing.lengths, strict=True))) > timed.timing.makespan:
            yield workers, starts


def _constraints(timed: TimedLevel, workers: int | None, starts: tuple[int, ...], limit: int) -> Schedule:
    run, times = timed.timing.run, tuple(map(timed.amount, starts))
    lengths = tuple(map(timed.amount, timed.timing.lengths))
    return Schedule(run.tasks, lengths, run.pairs, workers, timed.amount(limit), timed.unit, times)


def _greedy_end(workflow: Workflow, timed: Timing, workers: int) -> int:
    """Return when all ends if a worker who is free takes the first task, as declared, that waits for nothing."""
    ends: dict[int, int] = {}
    left, now = sorted(range(len(timed.lengths)), key=lambda i: workflow.task_names.index(timed.run.tasks[i])), 0
    while left:
        free = workers - sum(end > now for end in ends.values())
        done = sum(1 << i for i, end in ends.items() if end <= now)
        ready = [i for i in left if not timed.run.before[i] & ~done][:free]
        ends |= {i: now + timed.lengths[i] for i in ready}
        left = [i for i in left if i not in ends]
        now = min((end for end in ends.values() if end > now), default=now)
    return max(ends.values())
