"""Patterns about a number of workers that do the tasks (docs/reference/patterns.md)."""

from __future__ import annotations

from typing import Final

from .....workflow.bounds import record_bound
from .....workflow.model import Workflow
from .....workflow.semantics.timing import shortest_with_workers
from ..pattern import Cases, case, pattern
from ..timed_levels import SITUATION, TimedLevel, timed_levels
from .whole_time import NEEDS

WORKERS: Final = (2, 3)
MOST_WORK: Final = 150_000  # steps of the search for the shortest schedule, times the square of the number of tasks


@pattern(
    SITUATION
    + "Suppose that {{ workers }} workers do the tasks of {{ place }}. Each task takes one of them for its whole "
    "duration, without a break, and nobody does two tasks at once. How many {{ unit }} does it take at least from the "
    "start to the end?",
    SITUATION
    + "At most {{ workers }} tasks of {{ place }} can run at the same time, and a task that has started is not "
    "interrupted. After how many {{ unit }} can all of it be finished at the earliest?",
    form="number",
    needs=NEEDS,
    varies={"exclusive"},
    least=8,
    exceptional=True,
)
def makespan_with_workers(workflow: Workflow) -> Cases:
    """Check that the model plans with fewer workers than tasks that could run at the same time.

    Left out are numbers of workers that make no difference, levels with composite tasks, and levels in which the search
    for the shortest schedule takes too many steps.
    """
    for timed in timed_levels(workflow):
        if any(task.composite for task in workflow.tasks):
            return
        for workers in WORKERS:
            shortest = shortest_with_workers(timed.timing, workers, MOST_WORK // len(timed.timing.lengths) ** 2)
            if shortest is None:
                record_bound("steps")
            elif shortest > timed.timing.makespan:
                yield case(
                    timed.amount(shortest),
                    rank=_rank(timed, workers, shortest),
                    workers=workers,
                    labels=timed.labels | {"workers": workers},
                    **timed.fields,
                )


def _rank(timed: TimedLevel, workers: int, shortest: int) -> int:
    """Return 0 where no sum of durations is the answer."""
    even = -(-sum(timed.timing.lengths) // workers)
    return int(shortest in (even, sum(timed.timing.lengths)))
