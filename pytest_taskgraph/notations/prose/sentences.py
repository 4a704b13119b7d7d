"""The sentences of prose: for each its pattern, an example, and what it tells of a level.

Each of the latter is for sentences of one kind and reads the groups of their pattern (`prose_sentences.py`). It raises
Misread for what cannot be so: a name that was not told of before, or something told a second time.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Any, TypeVar

from ...workflow.model import (
    END,
    OTHERWISE,
    START,
    Data,
    DataLink,
    Effect,
    Gateway,
    GatewayKind,
    Link,
    Parameter,
    QualifiedName,
    Task,
    Workflow,
)
from ..phrases import quoted_in, read_binding, read_effect, read_parameter
from .write_prose import GATEWAYS, Role

_T = TypeVar("_T")


class Misread(Exception):
    """A sentence that is understood, but cannot be so; whoever knows its place makes a ReadError of it."""

    def __init__(self, found: str, expected: str, group: str = "") -> None:
        super().__init__(f"found {found}, expected {expected}")
        self.found, self.expected, self.group = found, expected, group


@dataclass(slots=True)
class ProseLevel:
    """A workflow on the way: what the sentences have told of it so far."""

    name: str
    tasks: dict[str, Task] = field(default_factory=dict)
    data: dict[str, Data] = field(default_factory=dict)
    gateways: dict[str, Gateway] = field(default_factory=dict)
    links: list[Link] = field(default_factory=list)
    data_links: list[DataLink] = field(default_factory=list)
    parameters: list[Parameter] = field(default_factory=list)
    said: dict[str, Any] = field(default_factory=dict)
    inner: dict[str, ProseLevel] = field(default_factory=dict)

    def workflow(self) -> Workflow:
        """The workflow, with those of its composite tasks in it."""
        return Workflow(
            **{"name": self.name} | self.said,
            tasks=tuple(
                replace(task, subworkflow=self.inner[name].workflow()) if name in self.inner else task
                for name, task in self.tasks.items()
            ),
            data=tuple(self.data.values()),
            gateways=tuple(self.gateways.values()),
            links=tuple(self.links),
            data_links=tuple(self.data_links),
            parameters=tuple(self.parameters),
        )


Found = re.Match[str]
Teller = Callable[[ProseLevel, Found], None]


def _name(found: Found, group: str) -> str:
    return quoted_in(found[group])[0]


def _known(level: ProseLevel, found: Found, group: str) -> list[str]:
    """The nodes of the control flow that a group names. Raises Misread for one that was not told of."""
    names = quoted_in(found[group])
    for name in names:
        if name not in level.tasks and name not in level.gateways:
            raise Misread(f"the unknown name {name[:60]!r}", "a task or a gateway told of before", group)
    return list(names)


def _new(level: ProseLevel, name: str) -> str:
    """The name. Raises Misread if something else has it."""
    if name in (START, END) or any(name in some for some in (level.tasks, level.data, level.gateways)):
        raise Misread(f"the name {name[:60]!r} a second time", "a name of its own", "names")
    return name


def declare(level: ProseLevel, found: Found) -> None:
    """Nothing; the level then has the tasks or data that the sentence names."""
    for name in quoted_in(found["names"]):
        _new(level, name)
        if found["what"] == "data":
            level.data[name] = Data(name)
        else:
            level.tasks[name] = Task(name)


def declare_gateway(kind: GatewayKind, role: Role) -> Teller:
    """What takes in a new gateway of that kind and role."""

    def tell(level: ProseLevel, found: Found) -> None:
        name = _new(level, _name(found, "names"))
        level.gateways[name] = Gateway(name, kind, role)

    return tell


def _task(level: ProseLevel, found: Found) -> Task:
    name = _name(found, "task")
    if name not in level.tasks:
        raise Misread(f"the unknown task {name[:60]!r}", "a task told of before", "task")
    return level.tasks[name]


def _phrase(found: Found, reader: Callable[[str], _T | None], expected: str) -> _T:
    one = reader(found["phrase"])
    if one is None:
        raise Misread(repr(found["phrase"][:60]), expected, "phrase")
    return one


def parameter(found: Found) -> Parameter:
    """The parameter that a sentence tells of."""
    return _phrase(found, read_parameter, "'name', set to 1, a whole number from 0 to 9")


def effect(found: Found) -> Effect:
    """The effect that a sentence tells of."""
    return _phrase(found, read_effect, "'name' to 'expression'")


def binding(found: Found) -> tuple[str, str]:
    """The binding that a sentence tells of: data of the sub-workflow, data of the level."""
    return _phrase(found, read_binding, "'Inner' stands for 'Outer'")


def _once(held: str, what: str) -> None:
    if held:
        raise Misread(f"the {what} a second time", "it once")


def tell_task(attribute: str) -> Teller:
    """What takes in a text about a task, told once."""

    def tell(level: ProseLevel, found: Found) -> None:
        task = _task(level, found)
        _once(getattr(task, attribute), attribute)
        told: dict[str, Any] = {attribute: _name(found, "text")}
        level.tasks[task.name] = replace(task, **told)

    return tell


def tell_data(attribute: str) -> Teller:
    """What takes in a text about data, told once."""

    def tell(level: ProseLevel, found: Found) -> None:
        name = _name(found, "data")
        if name not in level.data:
            raise Misread(f"the unknown data {name[:60]!r}", "data told of before", "data")
        _once(getattr(level.data[name], attribute), attribute)
        level.data[name] = replace(level.data[name], **{attribute: _name(found, "text")})

    return tell


def tell_level(attribute: str) -> Teller:
    """What takes in a text about the level, told once."""

    def tell(level: ProseLevel, found: Found) -> None:
        _once(level.said.get(attribute, ""), attribute)
        level.said[attribute] = _name(found, "text")

    return tell


def add_to_task(attribute: str, read: Callable[[Found], Any]) -> Teller:
    """What takes in one more of the parameters, effects or bindings of a task."""

    def tell(level: ProseLevel, found: Found) -> None:
        task = _task(level, found)
        told: dict[str, Any] = {attribute: (*getattr(task, attribute), read(found))}
        level.tasks[task.name] = replace(task, **told)

    return tell


def contain(level: ProseLevel, found: Found) -> None:
    """Nothing; the task then has an inline sub-workflow, of which nothing is told yet."""
    task = _task(level, found)
    _only_once_composite(level, task)
    level.inner[task.name] = ProseLevel(task.name)


def refer(level: ProseLevel, found: Found) -> None:
    """Nothing; the task then has a sub-workflow by name."""
    task = _task(level, found)
    _only_once_composite(level, task)
    package = _name(found, "package") if found["package"] else ""
    level.tasks[task.name] = replace(task, reference=QualifiedName(_name(found, "text"), package))


def _only_once_composite(level: ProseLevel, task: Task) -> None:
    if task.composite or task.name in level.inner:
        raise Misread(f"a second sub-workflow of the task {task.name[:60]!r}", "at most one", "task")


def link(level: ProseLevel, found: Found) -> None:
    """Nothing; the level then has the links of its control flow; ends that the sentence does not name: START, END."""
    given = found.groupdict()
    guard = OTHERWISE if given["otherwise"] else _name(found, "guard") if given["guard"] else None
    sources = _known(level, found, "source") if given.get("source") else [START]
    targets = _known(level, found, "targets") if given.get("targets") else [END]
    level.links += [Link(sources[0], target, guard) for target in targets]


def link_data(level: ProseLevel, found: Found) -> None:
    """Nothing; the level then has the links between the task and the data that it reads or writes."""
    task = _task(level, found).name
    for name in quoted_in(found["names"]):
        if name not in level.data:
            raise Misread(f"the unknown data {name[:60]!r}", "data told of before", "names")
        level.data_links.append(DataLink(name, task) if found["verb"] == "reads" else DataLink(task, name))


NAME = r"'(?:[^'\\\n]|\\.)*'"
_NODE = rf"(?:the (?:task|fork|join|(?:exclusive|inclusive) (?:choice|merge)) )?{NAME}"
_NAMES = rf"{NAME}(?:, {NAME})*(?: and {NAME})?"
_NODES = rf"{_NODE}(?:, {_NODE})*(?: and {_NODE})?"
_IF = rf"(?: if (?P<guard>{NAME})|(?P<otherwise> otherwise))?"
_IT = r"The (?:sub-)?workflow"
_TASK = rf"The task (?P<task>{NAME})"


@dataclass(frozen=True, slots=True)
class Sentence:
    """A kind of sentence: its pattern, what it tells, and how one looks."""

    pattern: re.Pattern[str]
    tell: Teller
    example: str


def _sentence(pattern: str, tell: Teller, example: str) -> Sentence:
    return Sentence(re.compile(pattern + r"\."), tell, example)


SENTENCES: tuple[Sentence, ...] = (
    _sentence(rf"{_IT} is called (?P<text>{NAME})", tell_level("name"), "The sub-workflow is called 'W'."),
    _sentence(
        rf"{_IT} belongs to the package (?P<text>{NAME})",
        tell_level("package"),
        "The workflow belongs to the package 'p'.",
    ),
    _sentence(
        rf"{_IT} is described as (?P<text>{NAME})", tell_level("description"), "The workflow is described as 'text'."
    ),
    _sentence(
        rf"{_IT} has the parameter (?P<phrase>.+)",
        lambda level, found: level.parameters.append(parameter(found)),
        "The workflow has the parameter 'n', set to 1, a whole number from 0 to 9.",
    ),
    _sentence(
        rf"{_IT} has the (?P<what>tasks?|data) (?P<names>{_NAMES})", declare, "The workflow has the tasks 'A' and 'B'."
    ),
    _sentence(
        rf"{_TASK} is described as (?P<text>{NAME})", tell_task("description"), "The task 'A' is described as 'text'."
    ),
    _sentence(rf"{_TASK} is of the kind (?P<text>{NAME})", tell_task("kind"), "The task 'A' is of the kind 'k'."),
    _sentence(
        rf"{_TASK} is implemented by (?P<text>{NAME})",
        tell_task("implementation"),
        "The task 'A' is implemented by 'a.py'.",
    ),
    _sentence(
        rf"{_TASK} has the parameter (?P<phrase>.+)",
        add_to_task("parameters", parameter),
        "The task 'A' has the parameter 'n', set to 1, a whole number from 0 to 9.",
    ),
    _sentence(
        rf"{_TASK} sets (?P<phrase>.+)",
        add_to_task("effects", effect),
        "The task 'A' sets 'n' to 'n + 1'.",
    ),
    _sentence(
        rf"{_TASK} is composite and consists of a sub-workflow told below",
        contain,
        "The task 'A' is composite and consists of a sub-workflow told below.",
    ),
    _sentence(
        rf"{_TASK} is composite and uses the workflow (?P<text>{NAME})(?: of the package (?P<package>{NAME}))?",
        refer,
        "The task 'A' is composite and uses the workflow 'W'.",
    ),
    _sentence(
        rf"Inside the task (?P<task>{NAME}), the data (?P<phrase>.+)",
        add_to_task("bindings", binding),
        "Inside the task 'A', the data 'Inner' stands for 'Outer'.",
    ),
    _sentence(
        rf"The data (?P<data>{NAME}) is described as (?P<text>{NAME})",
        tell_data("description"),
        "The data 'D' is described as 'text'.",
    ),
    _sentence(
        rf"The data (?P<data>{NAME}) has the schema (?P<text>{NAME})",
        tell_data("schema"),
        "The data 'D' has the schema 'd.json'.",
    ),
    *(
        _sentence(rf"The {noun} (?P<names>{NAME}) {doing}", declare_gateway(kind, role), f"The {noun} 'G' {doing}.")
        for (kind, role), (noun, doing) in GATEWAYS.items()
    ),
    _sentence(rf"{_IT} ends right after its start{_IF}", link, "The workflow ends right after its start."),
    _sentence(
        rf"{_IT} starts with (?P<targets>{_NODES}){_IF}(?:, side by side)?", link, "The workflow starts with 'A'."
    ),
    _sentence(rf"After (?P<source>{_NODE}), the (?:sub-)?workflow ends{_IF}", link, "After 'A', the workflow ends."),
    _sentence(
        rf"After (?P<source>{_NODE}) comes? (?P<targets>{_NODES}){_IF}(?:, side by side)?",
        link,
        "After 'A' comes 'B' if 'n < 3'.",
    ),
    _sentence(rf"{_TASK} (?P<verb>reads|writes) (?P<names>{_NAMES})", link_data, "The task 'A' reads 'D'."),
)
