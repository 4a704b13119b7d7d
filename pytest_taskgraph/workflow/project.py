"""A project: a workflow with its `others`. Its workflows by name, its levels, and the bounds on its size.

A name without a package means the workflow in the package of the file that mentions it, otherwise the only workflow of
that simple name. WorkflowError is raised if something is nested more than DEEPEST levels deep or has more than LARGEST
tasks.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import replace

from ..errors import WorkflowError
from .model import Configuration, Parameter, QualifiedName, Task, Workflow

DEEPEST = 64  # levels inside one another; far below where Python's own stack ends
LARGEST = 100_000  # tasks when expanded: a few small files can mean billions

Path = tuple[str, ...]


def find(workflow: Workflow, name: QualifiedName, package: str) -> Workflow | None:
    """Return the workflow of that name in the project, as it is declared there; None if there is none, or several.

    A name without a package means the workflow in `package`, that of the file that mentions it; otherwise the only
    workflow of that simple name in the project.
    """
    return Index(workflow).find(name, package)


def levels(workflow: Workflow) -> tuple[tuple[Path, Workflow], ...]:
    """Return the workflow at (), then every inline sub-workflow with its path of task names, outer before inner.

    Each level can be used by itself: it has the package and the others of the project (the whole workflow among them),
    and its parameters include those of its composite task, which override its own.
    """
    others: tuple[Workflow, ...] = ()
    level_paths: list[tuple[Path, Workflow]] = []
    waiting: list[tuple[Path, Workflow]] = [((), workflow)]
    while waiting:
        path, level = waiting.pop()
        level_paths.append((path, level))
        check_bounds(workflow, len(path), len(level_paths))
        for task in reversed(level.tasks):
            if (subworkflow := task.subworkflow) is not None:
                others = others or (replace(workflow, others=()), *workflow.others)
                parameters = override_parameters(subworkflow.parameters, task.parameters)
                subworkflow = replace(
                    subworkflow, package=subworkflow.package or level.package, parameters=parameters, others=others
                )
                waiting.append(((*path, task.name), subworkflow))
    return tuple(level_paths)


def every_level(project: Workflow) -> Iterator[Workflow]:
    """Yield the workflows of a project, then all that is inline in them, each as it is declared."""
    waiting = [project, *project.others]
    for level in waiting:
        yield level
        waiting += [task.subworkflow for task in level.tasks if task.subworkflow]


def override_parameters(defaults: Iterable[Parameter], values: Iterable[Parameter]) -> tuple[Parameter, ...]:
    """Merge parameters: those of `defaults` as `values` override them, then the further ones of `values`.

    A value or domain that `values` leaves out keeps its default.
    """
    merged = {parameter.name: parameter for parameter in defaults}
    for parameter in values:
        old = merged.get(parameter.name, parameter)
        value = old.value if parameter.value is None else parameter.value
        merged[parameter.name] = Parameter(parameter.name, value, parameter.domain or old.domain)
    return tuple(merged.values())


def configurations(workflow: Workflow) -> Iterator[Configuration]:
    """Yield the configurations of a workflow, each before those inside it."""
    waiting = [(1, configuration) for configuration in reversed(workflow.configurations)]
    while waiting:
        depth, configuration = waiting.pop()
        check_bounds(workflow, depth, 0)
        yield configuration
        waiting.extend((depth + 1, inner) for inner in reversed(configuration.configurations))


def references(workflow: Workflow) -> Iterator[QualifiedName]:
    """Yield the references of the workflow and of all that is inline in it."""
    for _, level in levels(workflow):
        yield from (task.reference for task in level.tasks if task.reference is not None)


def with_tasks(level: Workflow, package: str, change: Callable[[Task, str], Task]) -> Workflow:
    """Return the level with every task, inner ones first, replaced by what `change` returns for it and its package."""
    tasks = []
    for task in level.tasks:
        subworkflow = task.subworkflow
        if (
            subworkflow is not None
            and (inside := with_tasks(subworkflow, subworkflow.package or package, change)) is not subworkflow
        ):
            task = replace(task, subworkflow=inside)
        tasks.append(change(task, package))
    unchanged = all(new is old for new, old in zip(tasks, level.tasks, strict=True))
    return level if unchanged else replace(level, tasks=tuple(tasks))


def size(level: Workflow, sizes: Mapping[QualifiedName, tuple[int, int]]) -> tuple[int, int]:
    """Return the height and the number of tasks of the level with the workflows of known size inline."""
    height = tasks = 0
    for path, inner in levels(level):
        used = [sizes[to] for to in (task.reference for task in inner.tasks) if to and to in sizes]
        height = max([height, len(path), *(len(path) + 1 + high for high, _ in used)])
        tasks += len(inner.tasks) + sum(inside for _, inside in used)
    return height, tasks


def check_bounds(workflow: Workflow, depth: int, tasks: int) -> None:
    """Check that a workflow is within the bounds of depth and size.

    Raises:
        WorkflowError: for more than DEEPEST levels or LARGEST tasks; the message names the workflow.
    """
    if depth > DEEPEST:
        problem = f"something is nested {depth} levels deep; at most {DEEPEST} are possible"
    elif tasks > LARGEST:
        problem = f"it comes to more than {LARGEST} tasks with its sub-workflows; use a smaller one"
    else:
        return
    raise WorkflowError(f"workflow {str(workflow.qualified)!r}: {problem}")


class Index:
    """The workflows of a project by name; of two with the same qualified name, the first."""

    def __init__(self, project: Workflow) -> None:
        self.exact: dict[QualifiedName, Workflow] = {}
        self.simple: dict[str, list[Workflow]] = {}
        for workflow in (project, *project.others):
            if workflow.qualified not in self.exact:
                self.exact[workflow.qualified] = workflow
                self.simple.setdefault(workflow.name, []).append(workflow)

    def find(self, name: QualifiedName, package: str) -> Workflow | None:
        """Return the workflow that a name in a file of the package means; None if there is none, or several."""
        own = self.exact.get(QualifiedName(name.name, name.package or package))
        same = [] if name.package else self.simple.get(name.name, [])
        return own or (same[0] if len(same) == 1 else None)

    def qualified(self, name: QualifiedName, package: str) -> QualifiedName:
        """Return the full name of the workflow that the name means; the name itself if it means none."""
        workflow = self.find(name, package)
        return name if workflow is None else workflow.qualified
