"""Projects as two variants of the workflow DSL need them: without inline sub-workflows, with abstract bases."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

from ...workflow.model import Configuration, Data, QualifiedName, Task, Workflow
from ...workflow.references import configurations, find, levels


def lift_subworkflows(project: Sequence[Workflow]) -> tuple[Workflow, ...]:
    """Return the project with every inline sub-workflow as a workflow of its own, after the others.

    A sub-workflow keeps its name (that of its task if it has none) unless another workflow has it, in which case it
    gets a number. It keeps its package, or gets that of the workflow around it. A sub-workflow that refers back to the
    workflow around it stays where it is: a name of its own would add another step to that recursion.
    """
    names = {workflow.name for workflow in project}
    files = list(project)
    for position, workflow in enumerate(files):  # grows while it is iterated: a lifted workflow may contain others
        tasks, count = [], len(files)
        for task in workflow.tasks:
            inner = task.subworkflow
            if inner is not None and not _refers_back(inner, workflow, project):
                name = _claim_name(inner.name or task.name, names)
                inner = replace(inner, name=name, package=inner.package or workflow.package)
                files.append(inner)
                task = replace(task, subworkflow=None, reference=inner.qualified)
            tasks.append(task)
        if len(files) > count or workflow.others:
            files[position] = replace(workflow, tasks=tuple(tasks), others=())
    return tuple(files)


def _refers_back(inner: Workflow, around: Workflow, project: Sequence[Workflow]) -> bool:
    """Return True if references lead from the inline sub-workflow to the workflow that contains it."""
    combined = replace(project[0], others=tuple(project[1:]))
    seen: dict[QualifiedName, None] = {}
    pending = [replace(inner, package=inner.package or around.package)]
    while pending:
        workflow = pending.pop()
        for name in referenced_names(workflow):
            referenced = find(combined, name, workflow.package)
            if referenced and referenced.qualified not in seen:
                seen[referenced.qualified] = None
                pending.append(referenced)
    return around.qualified in seen


def referenced_names(workflow: Workflow) -> Iterator[QualifiedName]:
    """Yield the names of the workflows that a workflow refers to, at any depth."""
    for _, level in levels(replace(workflow, others=())):
        owners: list[Task | Configuration] = [*level.tasks, *configurations(level)]
        yield from (owner.reference for owner in owners if owner.reference)
        if level.base:
            yield level.base


def split_derivation(project: Sequence[Workflow]) -> tuple[Workflow, ...]:
    """Return the project with derivation made explicit, the abstract workflows at the end.

    A workflow that has something to configure becomes two: an abstract workflow in a package of its own (`base`), with
    the flow and bare tasks and data, and a workflow derived from it under the old name that only configures. A project
    in which a workflow is derived or configures already keeps its author's division.
    """
    if any(workflow.base or workflow.configurations for workflow in project):
        return tuple(project)
    names = {workflow.name for workflow in project}
    package = _claim_name("base", {workflow.package for workflow in project})
    concrete: list[Workflow] = []
    abstract: list[Workflow] = []
    for workflow in project:
        if configured := own_configurations(workflow):
            base = _abstract_workflow(workflow, _claim_name(f"Abstract{workflow.name}", names), package)
            abstract.append(base)
            workflow = _derived_workflow(workflow, base.qualified, configured)
        concrete.append(workflow)
    return (*concrete, *abstract)


def own_configurations(workflow: Workflow) -> tuple[Configuration, ...]:
    """Return the attributes of the tasks and data as configurations, without tasks with an inline sub-workflow."""
    return (
        *(_task_configuration(task) for task in workflow.tasks if not (task.subworkflow or task.is_bare)),
        *(_data_configuration(data) for data in workflow.data if data != Data(data.name)),
    )


def _task_configuration(task: Task) -> Configuration:
    return Configuration(
        task.name,
        description=task.description,
        kind=task.kind,
        implementation=task.implementation,
        parameters=task.parameters,
        effects=task.effects,
        reference=task.reference,
        bindings=task.bindings,
        duration=task.duration,
    )


def _data_configuration(data: Data) -> Configuration:
    return Configuration(data.name, "data", description=data.description, schema=data.schema)


def _abstract_workflow(workflow: Workflow, name: str, package: str) -> Workflow:
    """Return the bare tasks and data and the flow; its guards need the parameters, so these stay here too."""
    tasks = tuple(task if task.subworkflow else Task(task.name) for task in workflow.tasks)
    data = tuple(Data(data.name) for data in workflow.data)
    return replace(workflow, name=name, package=package, description="", tasks=tasks, data=data)


def _derived_workflow(workflow: Workflow, base: QualifiedName, configured: tuple[Configuration, ...]) -> Workflow:
    return Workflow(workflow.name, workflow.package, workflow.description, base=base, configurations=configured)


def _claim_name(name: str, names: set[str]) -> str:
    """Return the name, with the least free number from 2 if it is taken, and add it to the names."""
    number, candidate = 1, name
    while candidate in names:
        number += 1
        candidate = f"{name}{number}"
    names.add(candidate)
    return candidate
