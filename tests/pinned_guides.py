"""The pinned statements of tests/wording/notations.toml: what each sentence of a guide says of a text."""

from __future__ import annotations

import tomllib
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any, Final

from situation_families import read_situation
from workflow_simulation import linear_extensions

from pytest_taskgraph.notations import Notation
from pytest_taskgraph.notations.phrases import duration_phrase
from pytest_taskgraph.workflow.features import FEATURES
from pytest_taskgraph.workflow.model import Link, Workflow
from pytest_taskgraph.workflow.references import assemble, expand
from pytest_taskgraph.workflow.semantics.execution import Run, outcome

FILE = Path(__file__).parent / "wording" / "notations.toml"
BRANCHES: Final = {"parallel": "all", "exclusive": "exactly one", "inclusive": "one or more"}


@dataclass(frozen=True, eq=False)
class Statement:
    """A sentence of the guides of some notations, with a text in them and what it means."""

    notations: tuple[str, ...]
    says: str
    text: str
    means: dict[str, Any]


@cache
def statements() -> tuple[Statement, ...]:
    """Return all pinned statements, in the order of the file."""
    read = tomllib.loads(FILE.read_text(encoding="utf-8"))["statements"]
    return tuple(Statement(tuple(row["notations"]), row["says"], row["text"], row["means"]) for row in read)


def problems_of_guide(notation: Notation) -> list[str]:
    """Return what is wrong with the guide of a notation: other words than the pinned ones, or another meaning."""
    pinned = [statement for statement in statements() if notation.name in statement.notations]
    whole = " ".join(statement.says for statement in pinned)
    found = notation.guide_to(FEATURES)
    differences = [] if whole == found else [f"{notation.name}: pinned {whole!r}, found {found!r}"]
    for statement in pinned:
        workflow = notation.read(statement.text)
        read = {**facts(workflow), "runs": {text: _runs(workflow, text) for text in statement.means.get("runs", ())}}
        differences += [
            f"{notation.name}: {statement.says}\n  {name}: pinned {pinned_fact}, read {read[name]}"
            for name, pinned_fact in statement.means.items()
            if read[name] != pinned_fact
        ]
    return differences


def facts(workflow: Workflow) -> dict[str, Any]:
    """Return what a workflow says, in the terms of the file."""
    level, whole = assemble(workflow), expand(workflow)
    data, tasks = {node.name for node in level.data}, set(level.task_names)
    inner = {task.name: task.subworkflow for task in whole.tasks if task.subworkflow is not None}
    return {
        "tasks": list(level.task_names),
        "data": [node.name for node in level.data],
        "follows": _by_first((link.source, _target(link)) for link in level.links),
        "fails": _by_first((link.source, link.target) for link in level.exceptional_links),
        "reads": _by_first((link.target, link.source) for link in level.data_links if link.source in data),
        "writes": _by_first((link.source, link.target) for link in level.data_links if link.source in tasks),
        "starts": {node.name: BRANCHES[node.kind] for node in level.gateways if node.role == "split"},
        "joins": [node.name for node in level.gateways if node.role == "join"],
        "lasts": {task.name: duration_phrase(task.duration) for task in level.tasks if task.duration},
        "described": {task.name: task.description for task in level.tasks if task.description},
        "uses": {task.name: task.reference.name for task in level.tasks if task.reference is not None},
        "inside": {name: list(workflow.task_names) for name, workflow in inner.items()},
        "described_inside": {name: {t.name: t.description for t in workflow.tasks} for name, workflow in inner.items()},
    }


def _runs(workflow: Workflow, situation: str) -> list[str]:
    """Return the orders in which the tasks can be executed in a situation, in alphabetical order."""
    run = outcome(workflow, read_situation(situation))
    assert isinstance(run, Run), run
    return sorted(" ".join(order) for order in linear_extensions(run))


def _target(link: Link) -> str:
    if link.guard is None:
        return link.target
    return f"{link.target} otherwise" if link.guard == "otherwise" else f"{link.target} if {link.guard}"


def _by_first(pairs: Iterable[tuple[str, str]]) -> dict[str, list[str]]:
    groups: dict[str, list[str]] = {}
    for first, second in pairs:
        groups.setdefault(first, []).append(second)
    return groups
