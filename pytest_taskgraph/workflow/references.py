"""Functions on several workflows as one: what is inside them at any depth, by name or inline.

Chains of references that come back to where they began end there. Names and levels are resolved in `project.py`,
derivation in `derivation.py`; what other rooms use of these is exported here too.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from graphlib import TopologicalSorter

from .derivation import assemble, lineage
from .graph import cyclic_components, digraph, reachable, shortest_cycle_in
from .model import QualifiedName, Task, Workflow
from .project import (
    Index,
    Path,
    check_bounds,
    configurations,
    find,
    levels,
    override_parameters,
    references,
    size,
    with_tasks,
)

__all__ = [
    "assemble",
    "configurations",
    "expand",
    "find",
    "levels",
    "nested_task_paths",
    "override_parameters",
    "recursion",
]


def nested_task_paths(workflow: Workflow) -> tuple[Path, ...]:
    """Return the paths of all tasks below composite tasks, such as ("Outer", "Inner"), outer before inner.

    References are followed after derivation is resolved. A workflow that contains itself is entered once on each path;
    its composite task has no tasks below it where it would be entered again.
    """
    if not (workflow.base or workflow.configurations or any(task.composite for task in workflow.tasks)):
        return ()
    assembled = assemble(workflow)
    index = Index(assembled)
    paths: list[Path] = []
    waiting: list[tuple[Path, Workflow, frozenset[QualifiedName]]] = [((), assembled, frozenset())]
    while waiting:
        path, level, entered = waiting.pop()
        if path:
            paths.extend((*path, task.name) for task in level.tasks)
            check_bounds(workflow, len(path), len(paths))
        for task in reversed(level.tasks):
            subworkflow = task.subworkflow
            entered_below = entered
            if task.reference is not None and task.reference not in entered:
                subworkflow, entered_below = index.exact.get(task.reference), entered | {task.reference}
            if subworkflow is not None:
                waiting.append(((*path, task.name), subworkflow, entered_below))
    return tuple(paths)


def recursion(workflow: Workflow) -> tuple[str, ...]:
    """Return the qualified names along a shortest cycle of references that the workflow leads to; () if there is none.

    Sub-workflow references are resolved after derivation; a cyclic chain of bases is a cycle too.
    """
    assembled = assemble(workflow)
    index = Index(workflow)
    needed = [
        index.exact[workflow_in_chain.qualified]
        for workflow_in_chain in (assembled, *assembled.others)
        if workflow_in_chain.qualified in index.exact
    ]
    lines = [workflow_in_chain for derived in needed for workflow_in_chain in reversed(lineage(index, derived))]
    bases = {
        workflow_in_chain.qualified: [index.qualified(workflow_in_chain.base, workflow_in_chain.package)]
        if workflow_in_chain.base
        else []
        for workflow_in_chain in lines
    }
    cycles = (shortest_cycle_in(_calls(assembled)), shortest_cycle_in(bases))
    return tuple(str(name) for name in min(filter(None, cycles), key=len, default=()))


def expand(workflow: Workflow) -> Workflow:
    """Return the assembled project with every reference replaced by an inline sub-workflow wherever that ends.

    A reference to a workflow that leads back to itself is kept, and so is a reference that cannot be resolved. A
    parameter of the composite task with the name of one of its sub-workflow's overrides its value there; the task keeps
    it too.
    """
    assembled = assemble(workflow)
    if not assembled.others and next(references(assembled), None) is None:
        return assembled
    by_name = {other.qualified: other for other in (assembled, *assembled.others)}
    calls = _calls(assembled)
    circular = frozenset().union(*cyclic_components(digraph(calls)))
    inlined = {name: tuple(to for to in calls[name] if to not in circular) for name in calls}
    expanded: dict[QualifiedName, Workflow] = {}
    inlinable: dict[QualifiedName, Workflow] = {}
    sizes: dict[QualifiedName, tuple[int, int]] = {}
    for name in TopologicalSorter(inlined).static_order():
        sizes[name] = size(by_name[name], {to: sizes[to] for to in inlined[name]})
        check_bounds(workflow, *sizes[name])
        expanded[name] = _inline(by_name[name], inlinable)
        if name not in circular:
            inlinable[name] = expanded[name]
    return _without_unneeded(expanded[assembled.qualified], [expanded[other.qualified] for other in assembled.others])


def _inline(level: Workflow, inlinable: Mapping[QualifiedName, Workflow]) -> Workflow:
    """Return the level with every reference to an inlinable workflow replaced by that workflow, at any depth."""

    def inline(task: Task, _: str) -> Task:
        if task.reference is None or task.reference not in inlinable:
            return task
        subworkflow = inlinable[task.reference]
        names = {parameter.name for parameter in subworkflow.parameters}
        parameters = override_parameters(
            subworkflow.parameters, (parameter for parameter in task.parameters if parameter.name in names)
        )
        return replace(task, reference=None, subworkflow=replace(subworkflow, parameters=parameters))

    return replace(with_tasks(level, "", inline), others=())


def _without_unneeded(root: Workflow, others: Iterable[Workflow]) -> Workflow:
    """Return the root with those of the others to which references still lead."""
    whole = replace(root, others=tuple(others))
    needed_names = reachable(_calls(whole), root.qualified)
    return replace(root, others=tuple(other for other in whole.others if other.qualified in needed_names))


def _calls(assembled: Workflow) -> dict[QualifiedName, tuple[QualifiedName, ...]]:
    """Return every workflow of an assembled project with those it refers to."""
    by_name = {workflow.qualified: workflow for workflow in (assembled, *assembled.others)}
    return {
        name: tuple(to for to in dict.fromkeys(references(workflow)) if to in by_name)
        for name, workflow in by_name.items()
    }
