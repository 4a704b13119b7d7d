"""Plants a cycle of sub-workflow references of length 1 to 4, or the same cycle cut again (patterns.md, S24)."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from random import Random

from ..errors import NoCaseError
from ..workflow.model import Flaw, QualifiedName, Task, Workflow
from ..workflow.references import find, recursion

LONGEST = 4

Change = Callable[[Task], Task]


def close_cycle(workflow: Workflow, rng: Random) -> Workflow:
    """The workflow with one more reference, which closes a cycle: in an atomic task, to a workflow that leads there.

    Every possible length up to 4 is equally likely. Raises NoCaseError where there are no references, they are
    infinite already, or a workflow of the project is derived from another.
    """
    cycle = _drawn(workflow, rng)
    return replace(_closed(workflow, cycle), flaw=Flaw("close-cycle", cycle.names))


def cut_cycle(workflow: Workflow, rng: Random) -> Workflow:
    """What `close_cycle` gives, with one reference of the cycle taken away again: any of them. Raises as it does."""
    cycle = _drawn(workflow, rng)
    closed = _closed(workflow, cycle)
    cut = rng.randrange(len(cycle.path))
    after = cycle.path[(cut + 1) % len(cycle.path)]
    opened = _without(closed, cycle.path[cut], after)
    if recursion(opened):  # a second way round: the reference that closed the cycle is the one to go
        opened = workflow
    return replace(opened, flaw=Flaw("cut-cycle", cycle.names))


@dataclass(frozen=True, slots=True)
class _Cycle:
    path: tuple[Workflow, ...]  # each refers to the next; the last one gets a reference to the first
    task: str  # in the last one, at any depth

    @property
    def names(self) -> tuple[str, ...]:
        return tuple(str(one.qualified) for one in self.path)


def _drawn(workflow: Workflow, rng: Random) -> _Cycle:
    project = (workflow, *workflow.others)
    derived = any(one.base is not None or one.configurations for one in project)
    if derived or recursion(workflow) or not _references(workflow):
        raise NoCaseError(
            f"close-cycle, cut-cycle: workflow {workflow.name!r} has no references, infinite ones, or is derived; "
            "demand references and avoid derivation"
        )
    by_length: dict[int, list[_Cycle]] = {}
    for path in _paths(workflow):
        free = [task.name for task in _tasks(path[-1]) if not task.composite]
        by_length.setdefault(len(path), []).extend(_Cycle(path, name) for name in free)
    lengths = [length for length in sorted(by_length) if by_length[length]]
    if not lengths:
        raise NoCaseError(f"close-cycle, cut-cycle: workflow {workflow.name!r} has no atomic task for a reference")
    return rng.choice(by_length[rng.choice(lengths)])


def _paths(workflow: Workflow) -> list[tuple[Workflow, ...]]:
    """Every chain of references of at most LONGEST workflows, from any that the workflow reaches, itself too."""
    reached = [workflow]
    for one in reached:
        reached.extend(other for other in _called(workflow, one) if other not in reached)
    paths: list[tuple[Workflow, ...]] = [(one,) for one in reached]
    for path in paths:
        if len(path) < LONGEST:
            paths.extend((*path, following) for following in _called(workflow, path[-1]))
    return paths


def _called(workflow: Workflow, one: Workflow) -> list[Workflow]:
    found = [find(workflow, name, one.package) for name in _references(one)]
    return [other for other in found if other is not None]


def _tasks(workflow: Workflow) -> list[Task]:
    """Its tasks and those of inline sub-workflows."""
    found = list(workflow.tasks)
    for task in found:
        found.extend(task.subworkflow.tasks if task.subworkflow is not None else ())
    return found


def _references(workflow: Workflow) -> list[QualifiedName]:
    return list(dict.fromkeys(task.reference for task in _tasks(workflow) if task.reference is not None))


def _closed(workflow: Workflow, cycle: _Cycle) -> Workflow:
    first, last = cycle.path[0], cycle.path[-1]
    reference = replace(first.qualified, package="" if first.package == last.package else first.package)

    def close(task: Task) -> Task:
        return replace(task, reference=reference, implementation="") if task.name == cycle.task else task

    return _changed(workflow, last, close)


def _without(workflow: Workflow, one: Workflow, target: Workflow) -> Workflow:
    """The project without the references of `one` to the target."""

    def cut(task: Task) -> Task:
        meant = None if task.reference is None else find(workflow, task.reference, one.package)
        refers = meant is not None and meant.qualified == target.qualified
        return replace(task, reference=None, bindings=()) if refers else task

    return _changed(workflow, one, cut)


def _changed(workflow: Workflow, one: Workflow, change: Change) -> Workflow:
    """The project with the change made to all tasks of one of its workflows."""
    others = tuple(
        _with_tasks(other, change) if other.qualified == one.qualified else other for other in workflow.others
    )
    root = _with_tasks(workflow, change) if workflow.qualified == one.qualified else workflow
    return replace(root, others=others)


def _with_tasks(level: Workflow, change: Change) -> Workflow:
    tasks = []
    for task in level.tasks:
        inner = task.subworkflow
        tasks.append(change(task if inner is None else replace(task, subworkflow=_with_tasks(inner, change))))
    return replace(level, tasks=tuple(tasks))
