"""A project as the files that two variants of the workflow DSL need: no inline sub-workflows; abstract bases."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

from ...workflow.model import Configuration, Data, QualifiedName, Task, Workflow
from ...workflow.references import configurations, find, levels


def lifted(project: Sequence[Workflow]) -> tuple[Workflow, ...]:
    """The project with every inline sub-workflow as a workflow of its own, behind the others.

    It keeps its name (that of its task if it has none) where no other workflow has it, and else gets a number; it
    keeps its package, or has that of the workflow around it. One that refers back to the workflow around it stays
    where it is: a name of its own would make it another step of that recursion.
    """
    names = {workflow.name for workflow in project}
    files = list(project)
    for position, workflow in enumerate(files):  # grows on the way: what is lifted may have more inside
        tasks = []
        for task in workflow.tasks:
            inner = task.subworkflow
            if inner is not None and not _comes_back(inner, workflow, project):
                name = _unused(inner.name or task.name, names)
                inner = replace(inner, name=name, package=inner.package or workflow.package)
                files.append(inner)
                task = replace(task, subworkflow=None, reference=inner.qualified)
            tasks.append(task)
        files[position] = replace(workflow, tasks=tuple(tasks), others=())
    return tuple(files)


def _comes_back(inner: Workflow, around: Workflow, project: Sequence[Workflow]) -> bool:
    """Whether references lead from the inline sub-workflow to the workflow that it stands in."""
    whole = replace(project[0], others=tuple(project[1:]))
    seen: dict[QualifiedName, None] = {}
    waiting = [replace(inner, package=inner.package or around.package)]
    while waiting:
        one = waiting.pop()
        for name in mentioned(one):
            found = find(whole, name, one.package)
            if found and found.qualified not in seen:
                seen[found.qualified] = None
                waiting.append(found)
    return around.qualified in seen


def mentioned(workflow: Workflow) -> Iterator[QualifiedName]:
    """The workflows that it names, at any depth."""
    for _, level in levels(replace(workflow, others=())):
        owners: list[Task | Configuration] = [*level.tasks, *configurations(level)]
        yield from (owner.reference for owner in owners if owner.reference)
        if level.base:
            yield level.base


def split(project: Sequence[Workflow]) -> tuple[Workflow, ...]:
    """The project with derivation made visible, the abstract workflows at the end.

    A workflow that has something to configure becomes two: an abstract one in a package of its own (`base`), with the
    flow and bare tasks and data, and one derived from it under the old name that only configures. A project in which
    any workflow is derived or configures already is left as its author divided it.
    """
    if any(workflow.base or workflow.configurations for workflow in project):
        return tuple(project)
    names = {workflow.name for workflow in project}
    package = _unused("base", {workflow.package for workflow in project})
    whole: list[Workflow] = []
    abstract: list[Workflow] = []
    for workflow in project:
        if configured := configurable(workflow):
            base = _abstract(workflow, _unused(f"Abstract{workflow.name}", names), package)
            abstract.append(base)
            workflow = _derived(workflow, base.qualified, configured)
        whole.append(workflow)
    return (*whole, *abstract)


def configurable(workflow: Workflow) -> tuple[Configuration, ...]:
    """What its tasks and data say about themselves, as configurations; not tasks with an inline sub-workflow."""
    return (
        *(_of_task(task) for task in workflow.tasks if not task.subworkflow and task != Task(task.name)),
        *(_of_data(data) for data in workflow.data if data != Data(data.name)),
    )


def _of_task(task: Task) -> Configuration:
    return Configuration(
        task.name,
        description=task.description,
        kind=task.kind,
        implementation=task.implementation,
        parameters=task.parameters,
        effects=task.effects,
        reference=task.reference,
        bindings=task.bindings,
    )


def _of_data(data: Data) -> Configuration:
    return Configuration(data.name, "data", description=data.description, schema=data.schema)


def _abstract(workflow: Workflow, name: str, package: str) -> Workflow:
    """Its bare tasks and data and its flow; the guards of the flow need the parameters, so they stay here too."""
    tasks = tuple(task if task.subworkflow else Task(task.name) for task in workflow.tasks)
    data = tuple(Data(data.name) for data in workflow.data)
    return replace(workflow, name=name, package=package, description="", tasks=tasks, data=data)


def _derived(workflow: Workflow, base: QualifiedName, configured: tuple[Configuration, ...]) -> Workflow:
    return Workflow(workflow.name, workflow.package, workflow.description, base=base, configurations=configured)


def _unused(name: str, names: set[str]) -> str:
    """The name, or the name with the least number from 2 that nothing has; it is entered among the names."""
    number, free = 1, name
    while free in names:
        number += 1
        free = f"{name}{number}"
    names.add(free)
    return free
