"""What an Argo manifest holds, counted without the reader, and what the reader found of it."""

from __future__ import annotations

import re
from collections import Counter
from typing import Any

import yaml

from pytest_taskgraph.workflow.graph import task_graph
from pytest_taskgraph.workflow.model import Workflow
from pytest_taskgraph.workflow.project import every_level

Parts = Counter[tuple[str, ...]]  # (kind, level, names …)


def argo_parts(text: str) -> Parts:
    """Return the entries of dag and steps, or else the one thing that is run, their links and conditions."""
    parts: Parts = Counter()
    for document in yaml.load_all(text, Loader=yaml.BaseLoader):
        if not isinstance(document, dict) or "Workflow" not in str(document.get("kind")):
            continue
        spec = document["spec"].get("workflowSpec") or document["spec"]
        before = parts.total()
        for template in spec.get("templates") or ():
            _count_template(parts, template["name"], template)
        if parts.total() == before:
            metadata = document.get("metadata") or {}
            library = (spec.get("workflowTemplateRef") or {}).get("name")
            if task := library or spec.get("entrypoint"):
                parts["task", metadata.get("name") or metadata.get("generateName") or task, task] += 1
    return parts


def _count_template(parts: Parts, name: str, template: dict[str, Any]) -> None:
    tasks: list[dict[str, Any]] = (template.get("dag") or {}).get("tasks") or []
    for task in tasks:
        before = {*(task.get("dependencies") or ())}
        before |= {word.split(".")[0] for word in re.findall(r"[\w.-]+", task.get("depends") or "")}
        parts.update(("link", name, other, task["name"]) for other in before)
    previous: list[str] = []
    for group in template.get("steps") or ():
        parts.update(("link", name, a, step["name"]) for a in previous for step in group)
        tasks = [*tasks, *group]
        previous = [step["name"] for step in group] or previous
    for task in tasks:
        parts["task", name, task["name"]] += 1
        parts.update([("condition", name, task["name"])] if task.get("when") else [])
        _count_template(parts, task["name"], task.get("inline") or {})


def argo_found(whole: Workflow, expected: Parts) -> Parts:
    """Return the same of what was read."""
    parts: Parts = Counter()
    for level in every_level(whole):
        parts.update(("task", level.name, task) for task in level.task_names)
        parts.update(("link", level.name, a, b) for a, after in task_graph(level).items() for b in after)
        parts.update(("link", level.name, link.source, link.target) for link in level.exceptional_links)
        guarded = {link.target for link in level.links if link.guard is not None}
        parts.update(("condition", level.name, task) for task in level.task_names if task in guarded)
    return parts
