"""Which orders of tasks the run of a situation allows, and what comes next in it."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from ...errors import UnknownNameError
from ..guards.cells import Situation
from ..model import Workflow
from .execution import Run, run


def next_task(level: Workflow, task: str, situation: Situation) -> str | None:
    """The task directly after a task in the run of the situation, through gateways.

    None where there is no run, the task does not run, or what comes after it is not always one and the same task.
    Raises UnknownNameError.
    """
    check_known(level, [task])
    found = run(level, situation)
    if found is None:
        return None
    after = [[found.tasks[j] for one, j in found.links if one == i] for i in executions(found, task)]
    return after[0][0] if after and len(after[0]) == 1 and all(one == after[0] for one in after) else None


def can_occur(level: Workflow, situation: Situation, trace: Sequence[str]) -> bool | None:
    """Whether the complete trace can occur: exactly the executions of the run, in one of its orders.

    None where the situation has no run. Raises UnknownNameError.
    """
    check_known(level, trace)
    found = run(level, situation)
    return None if found is None else allows(found, trace)


def allows(found: Run, trace: Sequence[str]) -> bool:
    """Whether the trace is one of the orders of the whole run."""
    waiting = {task: iter(executions(found, task)) for task in trace}
    done = 0
    for task in trace:
        place = next(waiting[task], None)
        if place is None or found.before[place] & ~done:
            return False
        done |= 1 << place
    return len(trace) == len(found.tasks)


def allows_among_others(found: Run, tasks: Sequence[str]) -> bool:
    """Whether the tasks can run in this order in the run, other executions between them.

    Executions of one task are ordered, so the first that is possible is the best one to take.
    """
    taken: list[int] = []
    for task in tasks:
        behind = 0
        for place in taken:
            behind |= found.before[place] | 1 << place
        place = next((one for one in executions(found, task) if not behind >> one & 1), -1)
        if place < 0:
            return False
        taken.append(place)
    return True


def all_before(found: Run, a: str, b: str) -> bool | None:
    """Whether a runs before b in the run that holds both; None where that hangs on which of their executions is meant.

    True if every execution of a is before every one of b; False if neither the first of a is before the first of b,
    nor the last before the last.
    """
    one, other = executions(found, a), executions(found, b)
    if all(found.before[j] >> i & 1 for i in one for j in other):
        return True
    ends = ((one[0], other[0]), (one[-1], other[-1]))
    return None if any(found.before[j] >> i & 1 for i, j in ends) else False


def executions(found: Run, task: str) -> list[int]:
    """The executions of a task, in their order."""
    return found.places.get(task, [])


def check_known(level: Workflow, tasks: Iterable[str]) -> None:
    """Nothing. Raises UnknownNameError for what is no task of the level."""
    names = frozenset(level.task_names)
    for task in tasks:
        if task not in names:
            raise UnknownNameError(f"task of {level.name!r}", task, level.task_names)
