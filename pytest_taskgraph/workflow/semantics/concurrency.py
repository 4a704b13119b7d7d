"""What can run in parallel, and which tasks lie in which fork, choice or loop. Exact, or None where it is undecided.

Two tasks can run in parallel if some run holds both and neither must come before the other (specs/patterns.md,
"Words"); how that is found: `runs.py`, and which guards can hold in one run: `joint_choices.py`. Where forks, choices
and loops begin and end: `regions.py`.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import lru_cache
from itertools import combinations

from ...errors import UnknownNameError
from ..graph import shortest_cycle
from ..model import Workflow
from .regions import regions_of
from .runs import Runs

OPERATORS = ("parallel block", "exclusive choice", "inclusive choice", "loop")
_UNDECIDED = ("choice", "mixed", "unclear")


def can_run_in_parallel(level: Workflow, a: str, b: str) -> bool | None:
    """Whether some run of the level holds both tasks with neither having to come before the other; None if undecided.

    No task is parallel to itself. Undecided too where a task does not lie behind START. Raises UnknownNameError.
    """
    for name in (a, b):
        _known(level, name)
    return _runs(level).parallel(a, b)


def parallel_pairs(level: Workflow, tasks: Sequence[str] | None = None) -> dict[tuple[str, str], bool | None]:
    """Return `can_run_in_parallel` for all pairs of some tasks, or of all tasks, each pair once, in their order."""
    found = _runs(level)
    return {(a, b): found.parallel(a, b) for a, b in combinations(level.task_names if tasks is None else tasks, 2)}


def parallel_to(level: Workflow, task: str) -> tuple[str, ...] | None:
    """The tasks that can run in parallel with a task; None if that is undecided of one. Raises UnknownNameError."""
    _known(level, task)
    found = _runs(level)
    answers = {other: found.parallel(task, other) for other in level.task_names}
    return None if None in answers.values() else tuple(name for name, answer in answers.items() if answer)


def parallel_blocks(level: Workflow) -> tuple[tuple[str, ...], ...] | None:
    """The tasks of every outermost fork, at any nesting inside it; () where nothing forks.

    A block ends where all its branches meet again, at the latest at END. None where one has no clear end, where links
    merely pass over tasks that run anyway, or where guarded and unguarded links leave one task.
    """
    regions = regions_of(level)
    splits = {node: regions.flow.split(node) for node in regions.flow.nodes}
    forks = {node: regions.fork(node) for node, kind in splits.items() if kind == "parallel"}
    inside = {name for found in forks.values() for name in found or ()}
    outermost = [found for node, found in forks.items() if node not in inside]
    loose = any(kind in ("mixed", "unclear") and node not in inside for node, kind in splits.items())
    if loose or None in outermost:
        return None
    blocks = [_declared(level, found or ()) for found in outermost]
    return tuple(sorted(blocks, key=lambda block: level.task_names.index(block[0])))


def block_after(level: Workflow, task: str, operator: str) -> tuple[str, ...] | None:
    """The tasks of the fork, choice or loop that starts right after a task, at any nesting; None if none clearly does.

    `operator` is one of OPERATORS. The tasks are those strictly between the task and where the branches meet again;
    those of a loop, which the task alone must lead to, are all that can be repeated with its first. A decision to
    repeat or leave a loop is no choice here. Raises UnknownNameError.
    """
    _known(level, task)
    if operator not in OPERATORS:
        raise UnknownNameError("operator", operator, OPERATORS)
    regions = regions_of(level)
    if operator == "loop":
        return _declared(level, regions.loop_after(task) or ()) or None
    head = regions.head(task)
    if regions.flow.split(head) != operator.split()[0]:
        return None
    found = regions.fork(head) if operator == "parallel block" else regions.inside(head)
    return _declared(level, found or ()) or None


def operators(level: Workflow) -> dict[str, bool | None]:
    """For each of OPERATORS, whether the level contains it; None where that can be read two ways.

    So it is for an exclusive choice if the only one repeats or leaves a loop, and for both choices if guards leave the
    kind open, if a guarded link leaves a task alone, or beside an unguarded one.
    """
    regions = regions_of(level)
    found: dict[str, set[bool | None]] = {operator: {False} for operator in OPERATORS}
    for node in regions.flow.nodes:
        kind = regions.flow.split(node)
        plain = len(set(regions.after[node])) > 1 and not regions.repeats(node)
        single = not kind and any(link.guard is not None for link in regions.flow.out[node])
        for choice in ("exclusive", "inclusive"):
            if kind == choice or kind in _UNDECIDED or single:
                found[f"{choice} choice"].add(True if plain and kind == choice else None)
        if kind in ("parallel", "mixed", "unclear"):
            found["parallel block"].add(True if kind == "parallel" and regions.fork(node) else None)
    found["loop"].add(bool(shortest_cycle(level)))
    return {name: True if True in answers else None if None in answers else False for name, answers in found.items()}


def _known(level: Workflow, task: str) -> None:
    if task not in level.task_names:
        raise UnknownNameError(f"task of {level.name!r}", task, level.task_names)


def _declared(level: Workflow, names: Iterable[str]) -> tuple[str, ...]:
    among = set(names)
    return tuple(task for task in level.task_names if task in among)


@lru_cache(maxsize=128)
def _runs(level: Workflow) -> Runs:
    return Runs(level)
