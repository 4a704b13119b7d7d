"""Give two tasks at different levels of a workflow the same name, so that only a path tells which one is meant."""

from __future__ import annotations

from dataclasses import replace
from random import Random

from ..errors import NoCaseError
from ..workflow.model import Flaw, Task, Workflow
from ..workflow.project import levels

REPEATED = 0.5  # of the workflows get a name twice


def repeat_name(workflow: Workflow, rng: Random) -> Workflow:
    """Rename a task inside a composite task as one of another level is named; half of the workflows stay as they are.

    Raises:
        NoCaseError: if no task has a sub-workflow that is written inline.
    """
    below = [(path, level) for path, level in levels(workflow) if path]
    if not below:
        raise NoCaseError(f"repeat-name: workflow {workflow.name!r} has no inline sub-workflow; demand hierarchy")
    if rng.random() >= REPEATED:
        return replace(workflow, flaw=Flaw("repeat-name"))
    path, level = rng.choice(below)
    own = {one.name for some in (level.tasks, level.data, level.gateways) for one in some}
    others = [name for _, other in levels(workflow) for name in other.task_names if name not in own]
    old, new = rng.choice(level.task_names), rng.choice(others)
    return replace(_renamed(workflow, path, old, new), flaw=Flaw("repeat-name", (".".join((*path, old)), new)))


def _renamed(level: Workflow, path: tuple[str, ...], old: str, new: str) -> Workflow:
    """Return the level with the task renamed that stands at the end of the path."""
    if path:

        def enter(task: Task) -> Task:
            inner = task.subworkflow
            inside = inner is not None and task.name == path[0]
            return replace(task, subworkflow=_renamed(inner, path[1:], old, new)) if inside and inner else task

        return replace(level, tasks=tuple(map(enter, level.tasks)))

    def named(name: str) -> str:
        return new if name == old else name

    return replace(
        level,
        tasks=tuple(replace(task, name=named(task.name)) for task in level.tasks),
        links=tuple(replace(link, source=named(link.source), target=named(link.target)) for link in level.links),
        data_links=tuple(
            replace(link, source=named(link.source), target=named(link.target)) for link in level.data_links
        ),
    )
