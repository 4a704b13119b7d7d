"""Patterns about the times at which single tasks run (docs/reference/patterns.md)."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise

from .....workflow.model import SECONDS, Workflow
from ..pattern import OWN_LEVEL, Cases, case, pattern
from ..scope import limit_candidates
from ..shortcuts import standing
from ..timed_levels import SITUATION, TimedLevel, timed_levels
from .whole_time import NEEDS, VARIES


@pattern(
    SITUATION + "How many {{ unit }} after the start of {{ place }} can task '{{ task }}' start at the earliest?",
    SITUATION + "In {{ place }}, task '{{ task }}' starts as soon as nothing holds it up any more. How many {{ unit }} "
    "have passed since the start by then?",
    form="number",
    needs=NEEDS,
    varies=VARIES,
    least=5,
    exceptional=True,
)
def earliest_start(workflow: Workflow) -> Cases:
    """Check that the model knows when all that a task waits for has ended.

    Left out are tasks before which nothing runs at the same time, and tasks that run several times. Tasks come first
    whose start no rule tells that does not look at all waiting (`shortcuts.py`).
    """
    for timed in timed_levels(workflow):
        for task, place in limit_candidates(list(timed.single.items()), len(workflow.tasks)):
            start = timed.timing.starts[place]
            if start != timed.work_before(place):
                told = timed.rules_of_start(place)
                yield case(
                    timed.amount(start),
                    **standing(told),
                    task=task,
                    labels=timed.labels,
                    **timed.fields,
                )


@pattern(
    SITUATION + "How many {{ unit }} after the start of {{ place }} must task '{{ task }}' start at the latest so that "
    "{{ place }} does not end later than necessary?",
    SITUATION + "In {{ place }}, task '{{ task }}' is put off for as long as that does not make the end of the whole "
    "later. How many {{ unit }} after the start does it then start?",
    form="number",
    needs=NEEDS,
    varies=VARIES,
    exceptional=True,
)
def latest_start(workflow: Workflow) -> Cases:
    """Check that the model counts back from the end.

    Left out are tasks that must start at once and tasks that run several times. Tasks come first
    that can be late, and whose latest start no rule tells that does not look at all waiting.
    """
    for timed in timed_levels(workflow):
        for task, place in limit_candidates(list(timed.single.items()), len(workflow.tasks)):
            latest = timed.timing.latest_starts[place]
            if latest:
                told = timed.rules_of_latest_start(place)
                yield case(
                    timed.amount(latest),
                    **standing(told, later=int(timed.timing.slacks[place] == 0)),
                    task=task,
                    labels=timed.labels,
                    **timed.fields,
                )


@pattern(
    SITUATION + "In {{ place }}, task '{{ task }}' waits for several tasks. For which of those that come directly "
    "before it does it wait longest?",
    SITUATION
    + "Of the tasks that come directly before task '{{ task }}' in {{ place }}, which one is the last to end?",
    form="task",
    needs=NEEDS,
    varies=VARIES,
    least=5,
    exceptional=True,
)
def waits_for(workflow: Workflow) -> Cases:
    """Check that the model knows which of several tasks holds another one up.

    That the task waits for the one that takes longest by itself, or that has most tasks before it, is as likely as not.
    Left out are tasks that run several times, and tasks that two tasks hold up equally long.
    """
    for timed in timed_levels(workflow):
        single = set(timed.single.values())
        for task, place in limit_candidates(list(timed.single.items()), len(workflow.tasks)):
            direct = [i for i, j in timed.timing.run.pairs if j == place]
            last = timed.timing.last_before(place)
            if len(direct) > 1 and len(last) == 1 and single.issuperset(direct):
                told = timed.rules_of_waiting(place, last[0])
                yield case(
                    timed.timing.run.tasks[last[0]],
                    rank=1,  # all alike: the case is drawn from several workflows
                    stratum=" ".join([rule for rule in told if rule in ("most", "longest")]),
                    task=task,
                    labels=timed.labels | {"preceding": len(direct)},
                    situation=timed.situation,
                )


@pattern(
    SITUATION + "Which tasks of {{ place }} are running {{ moment }} after its start, if each of them starts as early "
    "as it can?" + OWN_LEVEL,
    SITUATION + "It is {{ moment }} after the start of {{ place }}, and every task has started as soon as nothing held "
    "it up. Which tasks have started and not ended yet?" + OWN_LEVEL,
    form="task-set",
    needs=NEEDS,
    varies=VARIES,
    exceptional=True,
)
def running_at(workflow: Workflow) -> Cases:
    """Check that the model knows what happens at the same time.

    At the times asked about no task starts or ends. Times come first at which several tasks run, and of which no rule
    tells them that does not look at all waiting.
    """
    for timed in timed_levels(workflow):
        for moment in limit_candidates(list(_quiet_times(timed)), len(workflow.tasks)):
            running = {timed.timing.run.tasks[place] for place in timed.timing.running_at(moment)}
            yield case(
                running,
                **standing(timed.rules_of_running(moment), later=int(len(running) < 2)),
                moment=timed.phrase(moment),
                labels=timed.labels | {"answers": len(running)},
                situation=timed.situation,
            )


def _quiet_times(timed: TimedLevel) -> Iterator[int]:
    """Yield times of whole units at which no task starts or ends, one between two such events."""
    events = sorted({*timed.timing.starts, *timed.timing.ends})
    size = SECONDS[timed.unit]
    for first, second in pairwise(events):
        middle = (first // size + second // size) // 2 * size
        if first < middle < second:
            yield middle
