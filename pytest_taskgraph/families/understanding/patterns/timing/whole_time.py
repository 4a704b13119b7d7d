"""Patterns about the time that the whole takes, and that few workers take (docs/reference/patterns.md)."""

from __future__ import annotations

from typing import Any, Final

from .....trial import Json
from .....workflow.bounds import record_bound
from .....workflow.model import Workflow
from .....workflow.semantics.run_times import shortest_with_workers
from ..pattern import OWN_LEVEL, Cases, case, pattern
from ..shortcuts import longest_first, standing
from ..timed_levels import SITUATION, TimedLevel, timed_levels

NEEDS: Final = frozenset({"durations", "parallel"})
VARIES: Final = frozenset({"exclusive", "loop", "effects", "hierarchy"})
WORKERS: Final = (2, 3)
MOST_STEPS: Final = 1_000  # of the search for the shortest schedule


@pattern(
    SITUATION + "How many {{ unit }} does {{ place }} take from its start to its end?",
    SITUATION + "If every task of {{ place }} starts as early as it can, after how many {{ unit }} is all of it "
    "finished?",
    form="number",
    needs=NEEDS,
    varies=VARIES,
    exceptional=True,
)
def makespan(workflow: Workflow) -> Cases:
    """Check that the model adds up what is done one after the other, and not what is done at the same time.

    Levels come first of which no rule tells how long they take that does not look at all waiting (`shortcuts.py`).
    """
    for timed in timed_levels(workflow):
        yield case(
            timed.amount(timed.timing.makespan),
            **_standing(timed),
            labels=timed.labels,
            **timed.fields,
        )


@pattern(
    SITUATION + "In {{ place }}, which tasks form the critical path, that is, the chain of tasks, each of which waits "
    "for the one before it, whose durations add up to the time that the whole takes?" + OWN_LEVEL,
    SITUATION + "Which chain of tasks of {{ place }} runs without a pause from the start to the end, each task waiting "
    "for the one before it? List its tasks in the order in which they run." + OWN_LEVEL,
    form="task-order",
    needs=NEEDS,
    varies=VARIES,
    exceptional=True,
)
def critical_path(workflow: Workflow) -> Cases:
    """Check that the model finds the tasks that decide how long the whole takes.

    Left out are levels with several critical paths, or with one of a single task.
    """
    for timed in timed_levels(workflow):
        path = timed.timing.critical_path()
        if path is not None and len(path) > 1:
            tasks: list[Json] = [timed.timing.run.tasks[place] for place in path]
            before: list[Json] = [[i, i + 1] for i in range(len(tasks) - 1)]
            labels = timed.labels | {"path": len(tasks)}
            yield case(
                {"tasks": tasks, "before": before},
                **_standing(timed),
                labels=labels,
                situation=timed.situation,
            )


@pattern(
    SITUATION + "Is {{ place }} finished no later than {{ deadline }} after its start?",
    SITUATION + "From its start to its end, does {{ place }} take {{ deadline }} or less?",
    form="yes-no",
    needs=NEEDS | {"exclusive"},
    varies=VARIES - {"exclusive"},
    exceptional=True,
)
def deadline_met(workflow: Workflow) -> Cases:
    """Check that the model decides whether a time is enough, in a situation.

    The deadlines are the time that the whole takes and times just above and below it, so that neither their size nor
    that of the workflow tells the answer. Levels come first of which no rule tells how long they take.
    """
    for timed in timed_levels(workflow):
        span, step = timed.timing.makespan, timed.grain
        for deadline in (span - 2 * step, span - step, span, span + step):
            if deadline > 0:
                yield case(
                    deadline >= span,
                    **_standing(timed),
                    deadline=timed.phrase(deadline),
                    labels=timed.labels,
                    situation=timed.situation,
                )


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
            shortest = shortest_with_workers(timed.timing, workers, MOST_STEPS)
            if shortest is None:
                record_bound("steps")
            elif shortest > timed.timing.makespan:
                yield case(
                    timed.amount(shortest),
                    rank=_rank_shared(timed, workers, shortest),
                    workers=workers,
                    labels=timed.labels | {"workers": workers},
                    **timed.fields,
                )


def _standing(timed: TimedLevel) -> dict[str, Any]:
    """Return the standing of a case about the whole, which comes last where all tasks follow one another."""
    serial = sum(timed.timing.lengths) == timed.timing.makespan
    return standing(timed.rules_of_span(timed.timing.makespan), later=int(serial))


def _rank_shared(timed: TimedLevel, workers: int, shortest: int) -> int:
    """Return 0 where neither a sum of durations nor the longest task first leads to the shortest time."""
    even = -(-sum(timed.timing.lengths) // workers)
    return int(shortest in (even, sum(timed.timing.lengths), longest_first(timed.timing, workers)))
