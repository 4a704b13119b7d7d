"""Patterns about which tasks a workflow has, and their properties (docs/reference/patterns.md)."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Final, NamedTuple

from .....workflow.graph import tasks_by_data
from .....workflow.model import Task, Workflow
from ..pattern import Case, Cases, case, pattern

FEW: Final = 3  # tasks; levels with fewer are too easy, and come last
LIST_OWN = "{% if nested %} Do not list tasks nested inside other tasks.{% endif %}"
NAME_OWN = "{% if nested %} Name only tasks that stand directly in it, none that lies inside another task.{% endif %}"


@pattern(
    "List all tasks in {{ place }}." + LIST_OWN,
    "Which tasks does {{ place }} consist of?" + NAME_OWN,
    form="task-set",
    varies={"hierarchy"},
    exceptional=True,
)
def task_list(workflow: Workflow) -> Cases:
    """Check that the model lists all tasks, and only those of the level asked about.

    Some workflows have composite tasks, so that listing every name in the text is wrong. Levels of fewer than three
    tasks come last.
    """
    yield case(workflow.task_names, rank=int(len(workflow.tasks) < FEW))


class Property(NamedTuple):
    """A property of a task, worded for several tasks ("have ...") and for one ("comes with ...")."""

    name: str
    plural: str
    singular: str
    applies: Callable[[Task], bool]


PROPERTIES: Final = (
    Property(
        "parameter",
        "have a parameter of their own (those of the workflow, and of tasks nested inside, do not count)",
        "is itself given at least one parameter, not counting those of the workflow or of tasks inside it",
        lambda task: bool(task.parameters),
    ),
    Property(
        "implementation",
        "have an implementation",
        "comes with an implementation",
        lambda task: bool(task.implementation),
    ),
    Property(
        "sub-workflow",
        "have a sub-workflow",
        "is composite, that is, is carried out by a workflow of its own, written inside it or referred to",
        lambda task: task.composite,
    ),
    Property(
        "description",
        "have a description",
        "is described by a text of its own",
        lambda task: bool(task.description),
    ),
)


@pattern(
    "Which tasks in {{ place }} {{ plural }}?" + LIST_OWN,
    "Look at the tasks of {{ place }} one by one: name each task that {{ singular }}." + NAME_OWN,
    form="task-set",
    needs={"parameters", "implementations", "data", "hierarchy", "descriptions", "kinds"},
    exceptional=True,
)
def task_list_with_property(workflow: Workflow) -> Cases:
    """Check that the model selects tasks by their stated properties.

    Each property has one case of rank 0 in a level, so that all are equally likely to be drawn: of kinds the first, of
    data the first for reading and the last for writing. These are taken whatever the answer, so data that no task reads
    or writes is asked about as often as it occurs ("none"). Of the other properties an empty answer has rank 1, and so
    has every case about a level of fewer than three tasks.
    """
    few = len(workflow.tasks) < FEW
    for task_property in PROPERTIES:
        tasks = [task.name for task in workflow.tasks if task_property.applies(task)]
        yield _case(task_property.name, task_property.plural, task_property.singular, tasks, easy=few or not tasks)
    kinds: dict[str, list[str]] = {}
    for task in workflow.tasks:
        if task.kind:
            kinds.setdefault(task.kind, []).append(task.name)
    for number, (kind, tasks) in enumerate(kinds.items()):
        plural, singular = f"are of kind '{kind}'", f"is said to be of the kind '{kind}'"
        yield _case("kind", plural, singular, tasks, easy=few or number > 0)
    yield from _data_cases(workflow, few)


def _data_cases(workflow: Workflow, few: bool) -> Iterator[Case]:
    reads, writes = tasks_by_data(workflow)
    names = workflow.task_names
    for data in reads:
        readers = [name for name in names if name in reads[data]]
        writers = [name for name in names if name in writes[data]]
        first, last = data == workflow.data[0].name, data == workflow.data[-1].name
        yield _case("reads", f"read data '{data}'", f"takes data '{data}' as an input", readers, easy=few or not first)
        yield _case(
            "writes", f"write data '{data}'", f"gives data '{data}' as an output", writers, easy=few or not last
        )


def _case(name: str, plural: str, singular: str, tasks: list[str], easy: bool) -> Case:
    return case(tuple(tasks), rank=int(easy), plural=plural, singular=singular, labels={"property": name})
