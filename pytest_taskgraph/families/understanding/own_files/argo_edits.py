"""Ways to edit Argo manifests: a dependency is removed or added, a condition changed, a step moved to another group.

Each candidate is a change of the manifest's own text, at the place where the YAML parser finds the value.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from random import Random
from typing import Final

from ....notations import Notation
from ....positioned_json import Node
from ....source import Source
from ....workflow.model import Workflow

Candidate = tuple[int, int, str]  # as in `text_edits`
MOST_TASKS: Final = 20  # of a dag between which dependencies are added; more are sampled
_COMPARED: Final = {"==": "!=", "!=": "==", "=~": "!~", "!~": "=~"}
_COMPARISON = re.compile(r"==|!=|=~|!~")
_BEFORE_KEY = re.compile(r" +(?=[\w-]+:)")
_NAME_KEY = re.compile(r"( *(?:- )?)name:")
_STEP = re.compile(r" *(- - |  - )(?=name:)")
_COMMA = re.compile(r"\s*,\s*")
_SPACES = re.compile(r" *")
_CONJUNCTION = re.compile(r"[\w-]+(?:\s*&&\s*[\w-]+)*")


def remove_dependency(notation: Notation, text: str, project: Workflow) -> Iterator[Candidate]:
    """Yield candidates without one dependency; without the whole line if it states only one."""
    for tasks in _dags(text):
        for task in tasks:
            for key in ("dependencies", "depends"):
                if key in task:
                    yield from _without_line(text, task[key])
                    yield from _without_part(text, task[key])


def _without_line(text: str, value: Node) -> Iterator[Candidate]:
    """Yield the removal of the line that holds nothing but a key and its value."""
    start = text.rfind("\n", 0, value.start) + 1
    end = text.find("\n", value.start) + 1 or len(text)
    key, following = _BEFORE_KEY.match(text, start), _SPACES.match(text, end)
    if key and following and len(following[0]) <= len(key[0]):  # else the value goes on in the next line
        yield start, end, ""


def _without_part(text: str, value: Node) -> Iterator[Candidate]:
    """Yield the removal of each entry of a list, and of each name of a conjunction."""
    if isinstance(value.value, str):
        for pattern in (r"[\w.-]+\s*&&\s*", r"\s*&&\s*[\w.-]+"):
            for part in re.finditer(pattern, _written(text, value)):
                yield value.start + part.start(), value.start + part.end(), ""
    elif isinstance(value.value, list):
        for entry in value.value:
            end = entry.start + len(_written(text, entry))
            start, line_end = text.rfind("\n", 0, entry.start) + 1, text.find("\n", end)
            if text[start : entry.start].strip() == "-":
                yield start, line_end + 1 or len(text), ""
            elif comma := _COMMA.match(text, end):
                yield entry.start, comma.end(), ""
            else:
                yield len(text[: entry.start].rstrip(" ,\n")), end, ""


def add_dependency(notation: Notation, text: str, project: Workflow) -> Iterator[Candidate]:
    """Yield candidates with a dependency on a task above: in the list or conjunction, or in a line behind the name."""
    for tasks in _dags(text):
        names = [name for task in tasks if isinstance(name := task["name"].value, str)]
        key = "depends" if any("depends" in task for task in tasks) else "dependencies"
        chosen = names if len(names) <= MOST_TASKS else Random(len(names)).sample(names, MOST_TASKS)
        for at, task in enumerate(tasks):
            stated = _stated(task.get(key))
            for other in names[:at]:
                if other in chosen and other not in stated:
                    yield from _with_dependency(text, task, key, other)


def _stated(value: Node | None) -> set[str]:
    """Return the names in a list or an expression."""
    if value is None or not isinstance(value.value, list):
        return set(re.findall(r"[\w-]+", str(value.value))) if value else set()
    return {entry.value for entry in value.value if isinstance(entry.value, str)}


def _with_dependency(text: str, task: Mapping[str, Node], key: str, other: str) -> Iterator[Candidate]:
    value = task.get(key)
    if value is None:
        name = task["name"]
        start, end = text.rfind("\n", 0, name.start) + 1, text.find("\n", name.start)
        if match := _NAME_KEY.match(text, start):
            indent = " " * len(match[1])
            yield end, end, f"\n{indent}{key}: {other if key == 'depends' else f'[{other}]'}"
    elif isinstance(value.value, str) and _CONJUNCTION.fullmatch(value.value):
        end = value.start + len(_written(text, value).rstrip("\"'"))
        yield end, end, f" && {other}"
    elif isinstance(value.value, list) and value.value:
        last = value.value[-1]
        end = last.start + len(_written(text, last))
        line = text[text.rfind("\n", 0, last.start) + 1 : last.start]
        yield end, end, f"\n{line}{other}" if line.strip() == "-" else f", {other}"


def change_condition(notation: Notation, text: str, project: Workflow) -> Iterator[Candidate]:
    """Yield candidates with another comparison in a `when`, or without it."""
    for task in _tasks(text):
        if "when" in task and isinstance(task["when"].value, str):
            written = _written(text, task["when"])
            yield from _without_line(text, task["when"])
            for compared in _COMPARISON.finditer(written):
                start = task["when"].start + compared.start()
                yield start, start + 2, _COMPARED[compared[0]]


def move_step(notation: Notation, text: str, project: Workflow) -> Iterator[Candidate]:
    """Yield candidates in which a step begins a group of its own, or joins the group before."""
    for step in _steps(text):
        start = text.rfind("\n", 0, step.start) + 1
        if dash := _STEP.match(text, start):
            yield dash.start(1), dash.end(1), "  - " if dash[1] == "- - " else "- - "


def _written(text: str, node: Node) -> str:
    """Return a value as it is written, if it is on one line and has no escapes; else an empty text."""
    value = node.value if isinstance(node.value, str) else ""
    for written in (value, f'"{value}"', f"'{value}'"):
        if value and text.startswith(written, node.start):
            return written
    return ""


def _dags(text: str) -> Iterator[list[dict[str, Node]]]:
    """Yield the tasks of each dag, as mappings."""
    for mapping in _mappings(text):
        tasks = mapping["tasks"].value if "tasks" in mapping else None
        if isinstance(tasks, list):
            named = [task.value for task in tasks if isinstance(task.value, dict) and "name" in task.value]
            yield named


def _steps(text: str) -> Iterator[Node]:
    """Yield the steps of all templates."""
    for mapping in _mappings(text):
        groups = mapping["steps"].value if "steps" in mapping else None
        for group in groups if isinstance(groups, list) else ():
            yield from group.value if isinstance(group.value, list) else ()


def _tasks(text: str) -> Iterator[dict[str, Node]]:
    """Yield the mappings that have a name and a condition."""
    yield from (mapping for mapping in _mappings(text) if "name" in mapping and "when" in mapping)


def _mappings(text: str) -> Iterator[dict[str, Node]]:
    """Yield all mappings of the text, the first ones first; one that aliases repeat is yielded once."""
    from ....positioned_yaml import documents  # imported here because it imports PyYAML

    waiting, seen = [*documents(Source(text))][::-1], set[int]()
    while waiting:
        node = waiting.pop()
        if isinstance(node.value, dict) and id(node.value) not in seen:
            seen.add(id(node.value))
            yield node.value
            waiting += reversed(node.value.values())
        elif isinstance(node.value, list) and id(node.value) not in seen:
            seen.add(id(node.value))
            waiting += reversed(node.value)


ARGO_WAYS: Final = (remove_dependency, add_dependency, change_condition, move_step)
"""The ways to edit an Argo manifest."""
