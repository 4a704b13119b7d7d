"""The pattern about whole schedules: when each task starts (docs/reference/patterns.md)."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from .....scoring.schedules import Schedule
from .....workflow.model import Workflow
from .....workflow.semantics.run_times import (
    Timing,
    end_of_schedule,
    list_schedule,
    ruled_schedule_with_workers,
    shortest_schedule_with_workers,
)
from ..pattern import OWN_LEVEL, Cases, case, pattern
from ..timed_levels import SITUATION, TimedLevel, timed_levels
from .whole_time import NEEDS, WORKERS

MOST_EXECUTIONS: Final = 200
MOST_EXACT: Final = 8  # tasks of which the shortest schedule is searched for
MOST_STEPS: Final = 100_000  # of that search, more than it takes
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
    avoids={"hierarchy", "loop"},
    varies={"exclusive"},
    least=5,
    exceptional=True,
)
def valid_schedule(workflow: Workflow) -> Cases:
    """Check that the model plans what is done at the same time, with few workers or without such a limit.

    The whole must end as early as it can; on levels of more than MOST_EXACT tasks with workers, as early as in the
    shortest schedule that rules of priority lead to. Cases come first in which to start what can start, as it comes, is
    too slow. Left out are situations in which a task runs several times, numbers of workers that make no difference,
    and workers on levels with composite tasks; only such levels and small ones are asked about without workers.
    """
    for timed in timed_levels(workflow):
        lengths = timed.timing.lengths
        if len(timed.single) != len(lengths) or len(lengths) > MOST_EXECUTIONS:
            continue
        for workers, starts in _schedules(workflow, timed):
            limit = end_of_schedule(timed.timing, starts)
            if limit < sum(lengths) and any(starts):
                yield case(
                    _constraints(timed, workers, starts, limit).to_json(),
                    rank=_rank(timed.timing, workers, limit),
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
        if size > MOST_EXACT:
            starts: tuple[int, ...] | None = ruled_schedule_with_workers(timed.timing, workers)
        else:
            starts = shortest_schedule_with_workers(timed.timing, workers, MOST_STEPS)
        if starts and end_of_schedule(timed.timing, starts) > timed.timing.makespan:
            yield workers, starts


def _rank(timed: Timing, workers: int | None, limit: int) -> int:
    """Return 0 where whoever starts what comes first is too slow, 2 where nothing is shared out."""
    if workers is None:
        return 2
    in_order = list_schedule(timed, workers, [(-place, 0) for place in range(len(timed.lengths))])
    return int(end_of_schedule(timed, in_order) <= limit)


def _constraints(timed: TimedLevel, workers: int | None, starts: tuple[int, ...], limit: int) -> Schedule:
    run, times = timed.timing.run, tuple(map(timed.amount, starts))
    lengths = tuple(map(timed.amount, timed.timing.lengths))
    return Schedule(run.tasks, lengths, run.pairs, workers, timed.amount(limit), timed.unit, times)
