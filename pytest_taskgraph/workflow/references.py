"""Several workflows as one: what is inside them at any depth, by name or inline (wadl-grammar.md, "Meaning").

Chains of references that come back to where they began end there. How names and levels are read: `project.py`. How
derivation is resolved: `derivation.py`. What of these is asked of a project stands here too.
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
    """The paths of all tasks below composite tasks, such as ("Outer", "Inner"), outer before inner, at any depth.

    References are followed after derivation is resolved. A workflow that comes back inside itself is entered once on
    each path, and its composite task has no tasks below it where it would be entered again.
    """
    if not (workflow.base or workflow.configurations or any(task.composite for task in workflow.tasks)):
        return ()
    whole = assemble(workflow)
    index = Index(whole)
    found: list[Path] = []
    waiting: list[tuple[Path, Workflow, frozenset[QualifiedName]]] = [((), whole, frozenset())]
    while waiting:
        path, level, entered = waiting.pop()
        if path:
            found.extend((*path, task.name) for task in level.tasks)
            check_bounds(workflow, len(path), len(found))
        for task in reversed(level.tasks):
            below = task.subworkflow
            now = entered
            if task.reference is not None and task.reference not in entered:
                below, now = index.exact.get(task.reference), entered | {task.reference}
            if below is not None:
                waiting.append(((*path, task.name), below, now))
    return tuple(found)


def recursion(workflow: Workflow) -> tuple[str, ...]:
    """The qualified names along a shortest cycle of references that the workflow comes to; () if there is none.

    Sub-workflow references are read after derivation is resolved; a chain of bases that comes back is a cycle too.
    """
    whole = assemble(workflow)
    index = Index(workflow)
    needed = [index.exact[one.qualified] for one in (whole, *whole.others) if one.qualified in index.exact]
    lines = [one for derived in needed for one in reversed(lineage(index, derived))]
    bases = {one.qualified: [index.qualified(one.base, one.package)] if one.base else [] for one in lines}
    cycles = (shortest_cycle_in(_calls(whole)), shortest_cycle_in(bases))
    return tuple(str(name) for name in min(filter(None, cycles), key=len, default=()))


def expand(workflow: Workflow) -> Workflow:
    """The project assembled, and every reference turned into an inline sub-workflow wherever that ends.

    A reference to a workflow that comes back to itself stays, and so does one that is not found. A parameter of the
    composite task that names one of its sub-workflow's overrides its value there; the task keeps it as its own too.
    """
    whole = assemble(workflow)
    known = {one.qualified: one for one in (whole, *whole.others)}
    calls = _calls(whole)
    circular = frozenset().union(*cyclic_components(digraph(calls)))
    inlined = {name: tuple(to for to in calls[name] if to not in circular) for name in calls}
    done: dict[QualifiedName, Workflow] = {}
    plain: dict[QualifiedName, Workflow] = {}
    sizes: dict[QualifiedName, tuple[int, int]] = {}
    for name in TopologicalSorter(inlined).static_order():
        sizes[name] = size(known[name], {to: sizes[to] for to in inlined[name]})
        check_bounds(workflow, *sizes[name])
        done[name] = _inline(known[name], plain)
        if name not in circular:
            plain[name] = done[name]
    return _needed(done[whole.qualified], [done[one.qualified] for one in whole.others])


def _inline(level: Workflow, known: Mapping[QualifiedName, Workflow]) -> Workflow:
    """The level with every reference to a known workflow turned into that workflow, at any depth."""

    def inline(task: Task, _: str) -> Task:
        if task.reference is None or task.reference not in known:
            return task
        below = known[task.reference]
        names = {one.name for one in below.parameters}
        parameters = override_parameters(below.parameters, (one for one in task.parameters if one.name in names))
        return replace(task, reference=None, subworkflow=replace(below, parameters=parameters))

    return replace(with_tasks(level, "", inline), others=())


def _needed(root: Workflow, others: Iterable[Workflow]) -> Workflow:
    """The root with those of the others to which references still lead."""
    whole = replace(root, others=tuple(others))
    kept = reachable(_calls(whole), root.qualified)
    return replace(root, others=tuple(one for one in whole.others if one.qualified in kept))


def _calls(whole: Workflow) -> dict[QualifiedName, tuple[QualifiedName, ...]]:
    """Every workflow of an assembled project with those it refers to."""
    known = {one.qualified: one for one in (whole, *whole.others)}
    return {name: tuple(to for to in dict.fromkeys(references(one)) if to in known) for name, one in known.items()}
