"""A project, that is a workflow with its `others`: its workflows by name, its levels, and how large it may be.

A name without a package means the package of the file that says it, then the only workflow of that simple name.
What is nested more than DEEPEST levels deep, or comes to more than LARGEST tasks, is refused with WorkflowError.
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
    """The workflow of that name in the project, as it stands there; None if there is none.

    A name without a package means `package`, that of the file that says it; where that has no such workflow, the only
    one of that simple name in the project. None also if there are several.
    """
    return Index(workflow).find(name, package)


def levels(workflow: Workflow) -> tuple[tuple[Path, Workflow], ...]:
    """The workflow itself at (), then every inline sub-workflow with its path of task names, outer before inner.

    Each level is one to ask about by itself: it has the package and the others of the project (the whole workflow
    among them), and for parameters what its composite task gives beside, and in place of, its own.
    """
    others: tuple[Workflow, ...] = ()
    found: list[tuple[Path, Workflow]] = []
    waiting: list[tuple[Path, Workflow]] = [((), workflow)]
    while waiting:
        path, level = waiting.pop()
        found.append((path, level))
        check_bounds(workflow, len(path), len(found))
        for task in reversed(level.tasks):
            if (sub := task.subworkflow) is not None:
                others = others or (replace(workflow, others=()), *workflow.others)
                parameters = override_parameters(sub.parameters, task.parameters)
                sub = replace(sub, package=sub.package or level.package, parameters=parameters, others=others)
                waiting.append(((*path, task.name), sub))
    return tuple(found)


def every_level(project: Workflow) -> Iterator[Workflow]:
    """The workflows of a project and, after them, all that is inline in them, each as it stands there."""
    waiting = [project, *project.others]
    for level in waiting:
        yield level
        waiting += [task.subworkflow for task in level.tasks if task.subworkflow]


def override_parameters(defaults: Iterable[Parameter], values: Iterable[Parameter]) -> tuple[Parameter, ...]:
    """The parameters of `defaults` with the values and domains that `values` gives, then the further ones of `values`.

    What `values` leaves open (no value, no domain) stays as the default has it.
    """
    merged = {one.name: one for one in defaults}
    for one in values:
        old = merged.get(one.name, one)
        value = old.value if one.value is None else one.value
        merged[one.name] = Parameter(one.name, value, one.domain or old.domain)
    return tuple(merged.values())


def configurations(workflow: Workflow) -> Iterator[Configuration]:
    """The configurations of a workflow, each before those inside it."""
    waiting = [(1, one) for one in reversed(workflow.configurations)]
    while waiting:
        depth, one = waiting.pop()
        check_bounds(workflow, depth, 0)
        yield one
        waiting.extend((depth + 1, inner) for inner in reversed(one.configurations))


def references(workflow: Workflow) -> Iterator[QualifiedName]:
    """The references of the workflow and of all that is inline in it."""
    for _, level in levels(workflow):
        yield from (task.reference for task in level.tasks if task.reference is not None)


def with_tasks(level: Workflow, package: str, change: Callable[[Task, str], Task]) -> Workflow:
    """The level with every task, the inner ones first, changed by a function of it and of its package."""
    tasks = []
    for task in level.tasks:
        below = task.subworkflow
        if below is not None and (inside := with_tasks(below, below.package or package, change)) is not below:
            task = replace(task, subworkflow=inside)
        tasks.append(change(task, package))
    same = all(new is old for new, old in zip(tasks, level.tasks, strict=True))
    return level if same else replace(level, tasks=tuple(tasks))


def size(level: Workflow, sizes: Mapping[QualifiedName, tuple[int, int]]) -> tuple[int, int]:
    """The height and the number of tasks of the level when the workflows of known size are inline."""
    height = tasks = 0
    for path, one in levels(level):
        used = [sizes[to] for to in (task.reference for task in one.tasks) if to and to in sizes]
        height = max([height, len(path), *(len(path) + 1 + high for high, _ in used)])
        tasks += len(one.tasks) + sum(inside for _, inside in used)
    return height, tasks


def check_bounds(workflow: Workflow, depth: int, tasks: int) -> None:
    """Nothing. Raises WorkflowError, that names the workflow, for more than DEEPEST levels or LARGEST tasks."""
    where = f"workflow {str(workflow.qualified)!r}"
    if depth > DEEPEST:
        raise WorkflowError(f"{where}: something is nested {depth} levels deep; at most {DEEPEST} are possible")
    if tasks > LARGEST:
        raise WorkflowError(f"{where}: it comes to more than {LARGEST} tasks with its sub-workflows; use a smaller one")


class Index:
    """The workflows of a project by name; of two with the same qualified name, the first."""

    def __init__(self, project: Workflow) -> None:
        self.exact: dict[QualifiedName, Workflow] = {}
        self.simple: dict[str, list[Workflow]] = {}
        for one in (project, *project.others):
            if one.qualified not in self.exact:
                self.exact[one.qualified] = one
                self.simple.setdefault(one.name, []).append(one)

    def find(self, name: QualifiedName, package: str) -> Workflow | None:
        """The workflow of that name as said in a file of the package; None if there is none, or several."""
        own = self.exact.get(QualifiedName(name.name, name.package or package))
        same = [] if name.package else self.simple.get(name.name, [])
        return own or (same[0] if len(same) == 1 else None)

    def qualified(self, name: QualifiedName, package: str) -> QualifiedName:
        """The full name of what the name means; the name as it is where it means nothing."""
        meant = self.find(name, package)
        return name if meant is None else meant.qualified
