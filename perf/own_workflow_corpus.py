"""Workflow files of other people: how many are read, what is left out, and whether all that they hold is found.

    python perf/own_workflow_corpus.py FOLDER --format argo [--verbose]

Every file of the format below the folder is read, and its tasks, links and conditions are compared with an independent
count that shares no code with the reader (`COUNTS`). The exit code is 1 if less than --least of the files is read, or
if anything is missing or too much in those read.
"""

from __future__ import annotations

import argparse
import re
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import yaml

from pytest_taskgraph.errors import TaskgraphError
from pytest_taskgraph.notations import FILE_FORMATS
from pytest_taskgraph.notations.notation import Interpretation, Notation, combine_workflows
from pytest_taskgraph.workflow.check import problems
from pytest_taskgraph.workflow.graph import task_graph
from pytest_taskgraph.workflow.project import every_level

Fact = tuple[str, ...]
KINDS = ("tasks", "links", "conditions")


@dataclass
class Facts:
    """What a file holds, each with the name of its level: tasks, links between two, and tasks with a condition."""

    tasks: Counter[Fact] = field(default_factory=Counter)
    links: Counter[Fact] = field(default_factory=Counter)
    conditions: Counter[Fact] = field(default_factory=Counter)


def read_facts(interpretation: Interpretation) -> Facts:
    """Return what the reader found."""
    facts = Facts()
    for level in every_level(combine_workflows(interpretation.workflows)):
        facts.tasks.update((level.name, task) for task in level.task_names)
        facts.links.update((level.name, a, b) for a, after in task_graph(level).items() for b in after)
        facts.links.update((level.name, link.source, link.target) for link in level.exceptional_links)
        guarded = {link.target for link in level.links if link.guard is not None}
        facts.conditions.update((level.name, task) for task in level.task_names if task in guarded)
    return facts


def count_argo(text: str) -> Facts:
    """Count the tasks of an Argo manifest: entries of dag and steps, or else the one thing that it runs."""
    facts = Facts()
    for document in yaml.load_all(text, Loader=yaml.BaseLoader):
        if not isinstance(document, dict) or "Workflow" not in str(document.get("kind")):
            continue
        spec = document["spec"].get("workflowSpec") or document["spec"]
        before = facts.tasks.total()
        for template in spec.get("templates") or ():
            _count_template(facts, template["name"], template)
        if facts.tasks.total() == before:
            metadata = document.get("metadata") or {}
            library = (spec.get("workflowTemplateRef") or {}).get("name")
            if task := library or spec.get("entrypoint"):
                facts.tasks[metadata.get("name") or metadata.get("generateName") or task, task] += 1
    return facts


def _count_template(facts: Facts, name: str, template: dict[str, Any]) -> None:
    tasks: list[dict[str, Any]] = (template.get("dag") or {}).get("tasks") or []
    for task in tasks:
        before = {*(task.get("dependencies") or ())}
        before |= {word.split(".")[0] for word in re.findall(r"[\w.-]+", task.get("depends") or "")}
        facts.links.update((name, other, task["name"]) for other in before)
    previous: list[str] = []
    for group in template.get("steps") or ():
        facts.links.update((name, a, step["name"]) for a in previous for step in group)
        tasks = [*tasks, *group]
        previous = [step["name"] for step in group] or previous
    for task in tasks:
        facts.tasks[name, task["name"]] += 1
        facts.conditions.update([(name, task["name"])] if task.get("when") else [])
        _count_template(facts, task["name"], task.get("inline") or {})


COUNTS: dict[str, Callable[[str], Facts]] = {"argo": count_argo}


@dataclass
class FileResult:
    """The result of one file: why it was refused, or what was found, missing and too much by kind."""

    name: str
    refused: str = ""
    found: Counter[str] = field(default_factory=Counter)
    missing: list[str] = field(default_factory=list)
    extra: list[str] = field(default_factory=list)
    left_out: tuple[str, ...] = ()
    seconds: float = 0.0


def examine(notation: Notation, path: Path, name: str, text: str) -> FileResult:
    """Return the result of a file; an error that is no refusal is raised."""
    began, result = time.process_time(), FileResult(name)
    try:
        interpretation = notation.interpret(text, name)
        for workflows in filter(None, (interpretation.workflows, interpretation.doubtful)):
            if faults := problems(combine_workflows(workflows)):
                result.refused = faults[0]
    except TaskgraphError as error:
        result.refused = str(error)
    result.seconds = time.process_time() - began
    if not result.refused:
        result.left_out = interpretation.left_out
        counted, found = COUNTS[notation.name](text), read_facts(interpretation)
        for kind in KINDS:
            expected, read = getattr(counted, kind), getattr(found, kind)
            result.found[kind] = expected.total()
            result.missing += [f"{kind}: {' '.join(fact)}" for fact in expected - read]
            result.extra += [f"{kind}: {' '.join(fact)}" for fact in read - expected]
    return result


def files_of(notation: Notation, folder: Path) -> Iterator[tuple[Path, str]]:
    """Yield the files of the format below a folder, with their texts."""
    for path in sorted(folder.rglob("*")):
        if path.suffix.lower() in notation.suffixes and path.is_file():
            text = path.read_bytes().decode("utf-8-sig", errors="replace")
            if notation.recognises(text):
                yield path, text


def main() -> int:
    """Print a line for each file with a finding, and the totals."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folder", type=Path)
    parser.add_argument("--format", choices=sorted(COUNTS), required=True)
    parser.add_argument("--least", type=float, default=0.95, help="share of the files that has to be read")
    parser.add_argument("--verbose", action="store_true", help="list what is left out of each file")
    options = parser.parse_args()
    notation = FILE_FORMATS[options.format]
    results = [
        examine(notation, path, path.relative_to(options.folder).as_posix(), text)
        for path, text in files_of(notation, options.folder)
    ]
    for result in results:
        findings = [f"refused: {result.refused}"] if result.refused else []
        findings += [f"missing {fact}" for fact in result.missing] + [f"too much {fact}" for fact in result.extra]
        findings += [f"left out {line}" for line in result.left_out] if options.verbose else []
        for finding in findings:
            print(f"{result.name}: {finding}")
    read = [result for result in results if not result.refused]
    totals = sum((result.found for result in read), Counter[str]())
    lost = sum(len(result.missing) + len(result.extra) for result in read)
    constructs = Counter(line.partition(" (")[0] for result in read for line in result.left_out)
    print(
        f"{len(results)} files, {len(read)} read, {len(results) - len(read)} refused, {lost} facts missing or too much"
    )
    print(
        ", ".join(f"{totals[kind]} {kind}" for kind in KINDS),
        f"in at most {max((r.seconds for r in results), default=0):.2f} s a file",
    )
    print("left out, by files:", ", ".join(f"{name} {count}" for name, count in constructs.most_common()) or "nothing")
    return int(len(read) < options.least * len(results) or lost > 0)


if __name__ == "__main__":
    sys.exit(main())
