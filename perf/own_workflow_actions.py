"""What a GitHub Actions workflow holds, counted without the reader, and what the reader found of it."""

from __future__ import annotations

import re
from collections import Counter

import yaml

from pytest_taskgraph.workflow.model import START, Workflow

Parts = Counter[tuple[str, ...]]  # (kind, names …)

_STATUS_ONLY = re.compile(
    r"(?:[!()&|\s]|\$\{\{|\}\}|always\(\)|success\(\)|failure\(\)|cancelled\(\)|true)+|success\(\) \|\| .*"
)


def _normal(condition: str) -> str:
    text = condition.strip()
    inner = re.fullmatch(r"\$\{\{(.*)\}\}", text, re.DOTALL)
    return " ".join((inner[1] if inner else text).split())


def actions_parts(text: str) -> Parts:
    """Return the jobs, needs, steps and conditions of a GitHub Actions workflow."""
    parts: Parts = Counter()
    jobs = yaml.load(text, Loader=yaml.BaseLoader)["jobs"]
    for key, job in jobs.items():
        parts["job", key] += 1
        needs = job.get("needs") or []
        for need in {needs} if isinstance(needs, str) else set(needs):
            parts["need", need, key] += 1
        if job.get("if") and not _STATUS_ONLY.fullmatch(job["if"]):
            parts["if", key, _normal(job["if"])] += 1
        for i, step in enumerate(job.get("steps") or []):
            parts["step", key, str(i)] += 1
            if step.get("if") and not _STATUS_ONLY.fullmatch(step["if"]):
                parts["step if", key, str(i), _normal(step["if"])] += 1
    return parts


def actions_found(workflow: Workflow, expected: Parts) -> Parts:
    """Return the same of what was read; a condition counts if all links into its job or step state it."""
    found: Parts = Counter()
    conditions = {(kind, *names[:-1]): names[-1] for kind, *names in expected if kind in ("if", "step if")}

    def count_condition(kind: str, names: tuple[str, ...], level: Workflow, task: str) -> None:
        text = conditions.get((kind, *names))
        guards = [link.guard or "" for link in level.links if link.target == task]
        if text is not None and all(text in guard for guard in guards):
            found[(kind, *names, text)] += 1

    for job in workflow.tasks:
        found["job", job.name] += 1
        count_condition("if", (job.name,), workflow, job.name)
        steps = job.subworkflow.task_names if job.subworkflow else ()
        for i, step in enumerate(steps):
            assert job.subworkflow is not None
            found["step", job.name, str(i)] += 1
            count_condition("step if", (job.name, str(i)), job.subworkflow, step)
    tasks = {START, *workflow.task_names}
    ends = {(link.source, link.target) for link in workflow.links if {link.source, link.target} <= tasks}
    found.update(("need", source, target) for source, target in ends if source != START)
    return found
