"""A format that is only read: YAML-like lines `task: before, before`, for tests of what serves all such formats."""

from __future__ import annotations

from pytest_taskgraph.notations.notation import Interpretation, Notation, only_read
from pytest_taskgraph.workflow.features import FEATURES
from pytest_taskgraph.workflow.model import END, START, Link, Task, Workflow

GUIDE = "Each line behind 'toy:' names a task and, behind the colon, the tasks that come before it."


def _interpret(text: str, where: str = "") -> Interpretation:
    from pytest_taskgraph.source import Source

    workflows, second, left_out = [], [], []
    for part in text.split("toy: ")[1:]:
        name, *lines = [line for line in part.splitlines() if line.strip() and not line.startswith("#")]
        befores: dict[str, list[str]] = {}
        for line in lines:
            task, colon, before = line.strip().partition(":")
            if not colon:
                Source(text, where).fail(text.index(line), repr(line), "a task with a colon")
            befores[task] = before.replace(",", " ").split()
        left_out += [f"skip ({where}): it is no part of the workflow" for task in befores if task == "skip"]
        befores.pop("skip", None)
        workflows.append(_workflow(name, befores))
        second.append(_workflow(name, {task: [] if "maybe" in before else before for task, before in befores.items()}))
    if not workflows:
        Source(text, where).fail(0, "no toy", "a line such as: toy: Name")
    doubtful = tuple(second) if second != workflows else ()
    return Interpretation(tuple(workflows), (GUIDE,), text, left_out=tuple(left_out), doubtful=doubtful)


def _workflow(name: str, befores: dict[str, list[str]]) -> Workflow:
    links = [Link(before, task) for task, found in befores.items() for before in found or [START]]
    targets = {link.source for link in links}
    links += [Link(task, END) for task in befores if task not in targets]
    return Workflow(name, tasks=tuple(map(Task, befores)), links=tuple(links))


def _parse(text: str, where: str = "") -> tuple[Workflow, ...]:
    return _interpret(text, where).workflows


TOY = Notation(
    name="toy",
    title="Toy file",
    phrase="as a toy file",
    suffixes=(".yml",),
    says=frozenset({"parallel"}) & FEATURES,
    guide=GUIDE,
    render=only_read("toy"),
    parse=_parse,
    heading=lambda path: f"# file: {path}",
    interpreter=_interpret,
    recognises=lambda text: "toy: " in text,
    recognised_by="a line `toy: Name`",
    references=lambda text: tuple(line.split()[1] for line in text.splitlines() if line.startswith("#uses ")),
)
