"""What is wrong in a workflow of a domain, by the vocabulary files alone: an oracle for planted flaws.

A checker for each kind of flaw looks at the whole project, at any depth; it does not know what was planted. Order:
`domain_oracle.py`.
"""

from __future__ import annotations

import tomllib
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from functools import cache
from importlib.resources import files
from typing import Any

import domain_oracle

from pytest_taskgraph.families.understanding.patterns.pattern import Case
from pytest_taskgraph.generation import vocabularies
from pytest_taskgraph.generation.vocabularies import domain_names
from pytest_taskgraph.workflow.graph import inputs, outputs
from pytest_taskgraph.workflow.model import Task, Workflow
from pytest_taskgraph.workflow.references import levels


@dataclass(frozen=True)
class Findings:
    """What a checker of each kind finds wrong; `order` is None where conditions leave the order open."""

    order: list[tuple[str, str]] | None = field(default_factory=list)
    descriptions: list[str] = field(default_factory=list)  # tasks not described as what their name says
    data: list[str] = field(default_factory=list)  # tasks that read or write what tasks of their name do not
    foreign: list[str] = field(default_factory=list)  # tasks of another domain
    goal: list[str] = field(default_factory=list)  # tasks done in a way that contradicts the goal
    purpose: bool = False  # the workflow is not described as what its name says

    @property
    def contradictions(self) -> list[str]:
        """The tasks that cannot serve what the workflow is for."""
        return sorted([*self.foreign, *self.goal])


@cache
def vocabulary(name: str) -> dict[str, Any]:
    """Return the file itself, read without the loader."""
    return tomllib.loads(files(vocabularies).joinpath(f"{name}.toml").read_text(encoding="utf-8"))


@cache
def known_tasks() -> dict[str, tuple[str, dict[str, Any]]]:
    """Return every task of every domain, with its domain."""
    return {task["name"]: (name, task) for name in domain_names() for task in vocabulary(name)["tasks"]}


@cache
def wholes() -> dict[str, dict[str, Any]]:
    """Return the workflows of all domains by name, those with a definite goal included."""
    return {
        whole["name"]: whole
        for name in domain_names()
        for whole in (*vocabulary(name)["workflows"], *vocabulary(name)["goals"])
    }


def atomic(project: Workflow) -> list[Task]:
    """Return the tasks of all levels that are not composite."""
    return [task for _, level in levels(project) for task in level.tasks if not task.composite]


def findings(project: Workflow) -> Findings:
    """Return what is wrong in a project, whatever was planted."""
    goal = wholes()[project.name] if "methods" in wholes()[project.name] else None
    foreign = sorted(t.name for t in atomic(project) if known_tasks()[t.name][0] != project.package)
    against = sorted(t.name for t in atomic(project) if goal and list(_contradictions(goal, t)))
    described = [t for t in atomic(project) if t.description and t.name not in against]
    return Findings(
        order=None if foreign else domain_oracle.out_of_order(project),
        descriptions=sorted(t.name for t in described if t.description not in _descriptions(goal, t.name)),
        data=sorted(_strange_data(project)),
        foreign=foreign,
        goal=against,
        purpose=bool(project.description) and project.description != wholes()[project.name]["description"],
    )


def _contradictions(goal: dict[str, Any], task: Task) -> Iterator[dict[str, Any]]:
    """Yield the ways of the goal in which the task contradicts it."""
    for way in (*goal["methods"], *goal["parameters"]):
        held = {(p.name, p.value) for p in task.parameters} if "parameter" in way else {("", task.description)}
        if way["task"] == task.name and (way.get("parameter", ""), way["contradicts"]) in held:
            yield way


def _descriptions(goal: dict[str, Any] | None, name: str) -> set[str]:
    """Return the descriptions that a task may have: its own or, for a goal, that which serves it."""
    serving = {way["fits"] for way in goal["methods"] if way["task"] == name} if goal else set()
    return serving or {known_tasks()[name][1]["description"]}


def _strange_data(project: Workflow) -> Iterator[str]:
    for _, level in levels(project):
        for task in level.tasks:
            if not task.composite:
                fields = known_tasks()[task.name][1]
                if not {*inputs(level, task.name), *outputs(level, task.name)} <= {*fields["reads"], *fields["writes"]}:
                    yield task.name


def problems_of(case: Case, pattern: str, project: Workflow) -> list[str]:
    """Return a line for each checker that does not find just what the pattern's answer says; none if all agree."""
    actual = findings(project)
    planted: Any = case.answer  # each form has its own
    tasks = planted["tasks"] if isinstance(planted, dict) and "tasks" in planted else []
    expected = Findings(
        order=actual.order,
        descriptions=tasks if pattern == "inconsistent_task_description" else [],
        data=tasks if pattern == "inconsistent_task_data" else [],
        foreign=[name for name in tasks if name in actual.foreign],
        goal=[name for name in tasks if name in actual.goal],
        purpose=pattern == "inconsistent_workflow_description" and planted["answer"] == "no",
    )
    if pattern in ("inconsistent_task_description", "inconsistent_task_data", "wrong_task_order"):
        expected = replace(expected, foreign=[], goal=[])
    if pattern == "inconsistent_task_name":
        expected = replace(expected, foreign=tasks, goal=[])
    if pattern == "contradicting_task_descriptions" and sorted(tasks) != actual.contradictions:
        return [f"contradictions: planted {tasks}, found {actual.contradictions}"]
    problems = [
        f"{name}: planted {getattr(expected, name)}, found {getattr(actual, name)}"
        for name in ("descriptions", "data", "foreign", "goal", "purpose")
        if getattr(expected, name) != getattr(actual, name)
    ]
    # A wrong name puts a task where others of that name would stand; data and descriptions tell what it really is.
    if pattern == "wrong_task_order" and [sorted(pair) for pair in actual.order or []] != [tasks]:
        problems.append(f"order: planted {tasks}, found {actual.order}")
    elif pattern not in ("wrong_task_order", "inconsistent_task_data") and actual.order:
        problems.append(f"order: planted nothing, found {actual.order}")
    return problems
