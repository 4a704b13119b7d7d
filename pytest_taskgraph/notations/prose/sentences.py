"""The sentences of prose: for each kind its pattern, an example, and the handler that adds its content to a level.

A handler reads the groups of the pattern. It raises MisreadSentenceError for content that contradicts the sentences
before: a name that was not declared, or something stated a second time.
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
from ..phrases import quoted_names, read_binding, read_duration, read_effect, read_parameter
from .write_prose import GATEWAYS, Role

_T = TypeVar("_T")


class MisreadSentenceError(Exception):
    """A sentence that matches a pattern but contradicts others; the caller makes a ReadError of it."""

    def __init__(self, found: str, expected: str, group: str = "") -> None:
        super().__init__(f"found {found}, expected {expected}")
        self.found, self.expected, self.group = found, expected, group


@dataclass(slots=True)
class ProseLevel:
    """A workflow under construction: the content of the sentences read so far."""

    name: str
    tasks: dict[str, Task] = field(default_factory=dict)
    data: dict[str, Data] = field(default_factory=dict)
    gateways: dict[str, Gateway] = field(default_factory=dict)
    links: list[Link] = field(default_factory=list)
    exceptional_links: list[Link] = field(default_factory=list)
    data_links: list[DataLink] = field(default_factory=list)
    parameters: list[Parameter] = field(default_factory=list)
    texts: dict[str, Any] = field(default_factory=dict)
    inner: dict[str, ProseLevel] = field(default_factory=dict)

    def workflow(self) -> Workflow:
        """Return the workflow, with those of its composite tasks in it."""
        return Workflow(
            **{"name": self.name} | self.texts,
            tasks=tuple(
                replace(task, subworkflow=self.inner[name].workflow()) if name in self.inner else task
                for name, task in self.tasks.items()
            ),
            data=tuple(self.data.values()),
            gateways=tuple(self.gateways.values()),
            links=tuple(self.links),
            exceptional_links=tuple(self.exceptional_links),
            data_links=tuple(self.data_links),
            parameters=tuple(self.parameters),
        )


SentenceMatch = re.Match[str]
Handler = Callable[[ProseLevel, SentenceMatch], None]


def _name_in_group(match: SentenceMatch, group: str) -> str:
    return quoted_names(match[group])[0]


def _known_nodes(level: ProseLevel, match: SentenceMatch, group: str) -> list[str]:
    """Return the nodes of the control flow that a group names.

    Raises:
        MisreadSentenceError: for a node that was not declared.
    """
    names = quoted_names(match[group])
    for name in names:
        if name not in level.tasks and name not in level.gateways:
            raise MisreadSentenceError(f"the unknown name {name[:60]!r}", "a task or a gateway declared before", group)
    return list(names)


def _check_new_name(level: ProseLevel, name: str) -> str:
    """Return the name.

    Raises:
        MisreadSentenceError: if something else has it.
    """
    if name in (START, END) or any(name in names for names in (level.tasks, level.data, level.gateways)):
        raise MisreadSentenceError(f"the name {name[:60]!r} a second time", "a name of its own", "names")
    return name


def declare_nodes(level: ProseLevel, match: SentenceMatch) -> None:
    """Add the tasks or data that the sentence names to the level."""
    for name in quoted_names(match["names"]):
        _check_new_name(level, name)
        if match["what"] == "data":
            level.data[name] = Data(name)
        else:
            level.tasks[name] = Task(name)


def declare_gateway(kind: GatewayKind, role: Role) -> Handler:
    """Return the handler that adds a gateway of that kind and role."""

    def handle(level: ProseLevel, match: SentenceMatch) -> None:
        name = _check_new_name(level, _name_in_group(match, "names"))
        level.gateways[name] = Gateway(name, kind, role)

    return handle


def _task_in(level: ProseLevel, match: SentenceMatch) -> Task:
    name = _name_in_group(match, "task")
    if name not in level.tasks:
        raise MisreadSentenceError(f"the unknown task {name[:60]!r}", "a task declared before", "task")
    return level.tasks[name]


def _parse_phrase(match: SentenceMatch, reader: Callable[[str], _T | None], expected: str) -> _T:
    value = reader(match["phrase"])
    if value is None:
        raise MisreadSentenceError(repr(match["phrase"][:60]), expected, "phrase")
    return value


def parameter_in(match: SentenceMatch) -> Parameter:
    """Return the parameter that a sentence states."""
    return _parse_phrase(match, read_parameter, "'name', set to 1, a whole number from 0 to 9")


def effect_in(match: SentenceMatch) -> Effect:
    """Return the effect that a sentence states."""
    return _parse_phrase(match, read_effect, "'name' to 'expression'")


def binding_in(match: SentenceMatch) -> tuple[str, str]:
    """Return the binding that a sentence states: data of the sub-workflow, data of the level."""
    return _parse_phrase(match, read_binding, "'Inner' stands for 'Outer'")


def _check_unset(value: object, label: str) -> None:
    if value:
        raise MisreadSentenceError(f"the {label} a second time", "it once")


def set_task_text(attribute: str) -> Handler:
    """Return the handler that sets a text of a task, once."""

    def handle(level: ProseLevel, match: SentenceMatch) -> None:
        task = _task_in(level, match)
        _check_unset(getattr(task, attribute), attribute)
        changes: dict[str, Any] = {attribute: _name_in_group(match, "text")}
        level.tasks[task.name] = replace(task, **changes)

    return handle


def set_duration(level: ProseLevel, match: SentenceMatch) -> None:
    """Set the time that a task takes, once."""
    task = _task_in(level, match)
    _check_unset(task.duration, "duration")
    duration = _parse_phrase(match, read_duration, "such as 30 minutes: at least 1 seconds, minutes, hours or days")
    level.tasks[task.name] = replace(task, duration=duration)


def set_data_text(attribute: str) -> Handler:
    """Return the handler that sets a text of data, once."""

    def handle(level: ProseLevel, match: SentenceMatch) -> None:
        name = _name_in_group(match, "data")
        if name not in level.data:
            raise MisreadSentenceError(f"the unknown data {name[:60]!r}", "data declared before", "data")
        _check_unset(getattr(level.data[name], attribute), attribute)
        level.data[name] = replace(level.data[name], **{attribute: _name_in_group(match, "text")})

    return handle


def set_level_text(attribute: str) -> Handler:
    """Return the handler that sets a text of the level, once."""

    def handle(level: ProseLevel, match: SentenceMatch) -> None:
        _check_unset(level.texts.get(attribute, ""), attribute)
        level.texts[attribute] = _name_in_group(match, "text")

    return handle


def add_to_task(attribute: str, read: Callable[[SentenceMatch], Any]) -> Handler:
    """Return the handler that adds a parameter, an effect or a binding to a task."""

    def handle(level: ProseLevel, match: SentenceMatch) -> None:
        task = _task_in(level, match)
        changes: dict[str, Any] = {attribute: (*getattr(task, attribute), read(match))}
        level.tasks[task.name] = replace(task, **changes)

    return handle


def add_subworkflow(level: ProseLevel, match: SentenceMatch) -> None:
    """Give the task an inline sub-workflow, empty for now."""
    task = _task_in(level, match)
    _check_not_composite(level, task)
    level.inner[task.name] = ProseLevel(task.name)


def add_reference(level: ProseLevel, match: SentenceMatch) -> None:
    """Give the task a sub-workflow by name."""
    task = _task_in(level, match)
    _check_not_composite(level, task)
    package = _name_in_group(match, "package") if match["package"] else ""
    level.tasks[task.name] = replace(task, reference=QualifiedName(_name_in_group(match, "text"), package))


def _check_not_composite(level: ProseLevel, task: Task) -> None:
    if task.composite or task.name in level.inner:
        raise MisreadSentenceError(f"a second sub-workflow of the task {task.name[:60]!r}", "at most one", "task")


def add_links(level: ProseLevel, match: SentenceMatch) -> None:
    """Add the links of the sentence to the control flow; ends that it does not name are START and END."""
    groups = match.groupdict()
    guard = OTHERWISE if groups["otherwise"] else _name_in_group(match, "guard") if groups["guard"] else None
    sources = _known_nodes(level, match, "source") if groups.get("source") else [START]
    targets = _known_nodes(level, match, "targets") if groups.get("targets") else [END]
    level.links += [Link(sources[0], target, guard) for target in targets]


def add_exceptional_link(level: ProseLevel, match: SentenceMatch) -> None:
    """Add the link that is taken if a task fails; without a target that the sentence names, it leads to END."""
    task = _task_in(level, match).name
    target = _known_nodes(level, match, "targets")[0] if match["targets"] else END
    level.exceptional_links.append(Link(task, target))


def add_data_links(level: ProseLevel, match: SentenceMatch) -> None:
    """Add the links between the task and the data that it reads or writes."""
    task = _task_in(level, match).name
    for name in quoted_names(match["names"]):
        if name not in level.data:
            raise MisreadSentenceError(f"the unknown data {name[:60]!r}", "data declared before", "names")
        level.data_links.append(DataLink(name, task) if match["verb"] == "reads" else DataLink(task, name))


NAME = r"'(?:[^'\\\n]|\\.)*'"
_NODE = rf"(?:the (?:task|fork|join|(?:exclusive|inclusive) (?:choice|merge)) )?{NAME}"
_NAMES = rf"{NAME}(?:, {NAME})*(?: and {NAME})?"
_NODES = rf"{_NODE}(?:, {_NODE})*(?: and {_NODE})?"
_IF = rf"(?: if (?P<guard>{NAME})|(?P<otherwise> otherwise))?"
_IT = r"The (?:sub-)?workflow"
_TASK = rf"The task (?P<task>{NAME})"


@dataclass(frozen=True, slots=True)
class Sentence:
    """A kind of sentence: its pattern, its handler and an example."""

    pattern: re.Pattern[str]
    handle: Handler
    example: str


def _sentence(pattern: str, handle: Handler, example: str) -> Sentence:
    return Sentence(re.compile(pattern + r"\."), handle, example)


SENTENCES: tuple[Sentence, ...] = (
    _sentence(rf"{_IT} is called (?P<text>{NAME})", set_level_text("name"), "The sub-workflow is called 'W'."),
    _sentence(
        rf"{_IT} belongs to the package (?P<text>{NAME})",
        set_level_text("package"),
        "The workflow belongs to the package 'p'.",
    ),
    _sentence(
        rf"{_IT} is described as (?P<text>{NAME})",
        set_level_text("description"),
        "The workflow is described as 'text'.",
    ),
    _sentence(
        rf"{_IT} has the parameter (?P<phrase>.+)",
        lambda level, match: level.parameters.append(parameter_in(match)),
        "The workflow has the parameter 'n', set to 1, a whole number from 0 to 9.",
    ),
    _sentence(
        rf"{_IT} has the (?P<what>tasks?|data) (?P<names>{_NAMES})",
        declare_nodes,
        "The workflow has the tasks 'A' and 'B'.",
    ),
    _sentence(
        rf"{_TASK} is described as (?P<text>{NAME})",
        set_task_text("description"),
        "The task 'A' is described as 'text'.",
    ),
    _sentence(rf"{_TASK} is of the kind (?P<text>{NAME})", set_task_text("kind"), "The task 'A' is of the kind 'k'."),
    _sentence(
        rf"{_TASK} is implemented by (?P<text>{NAME})",
        set_task_text("implementation"),
        "The task 'A' is implemented by 'a.py'.",
    ),
    _sentence(rf"{_TASK} takes (?P<phrase>[^']+)", set_duration, "The task 'A' takes 30 minutes."),
    _sentence(
        rf"{_TASK} has the parameter (?P<phrase>.+)",
        add_to_task("parameters", parameter_in),
        "The task 'A' has the parameter 'n', set to 1, a whole number from 0 to 9.",
    ),
    _sentence(
        rf"{_TASK} sets (?P<phrase>.+)",
        add_to_task("effects", effect_in),
        "The task 'A' sets 'n' to 'n + 1'.",
    ),
    _sentence(
        rf"{_TASK} is composite and consists of a sub-workflow told below",
        add_subworkflow,
        "The task 'A' is composite and consists of a sub-workflow told below.",
    ),
    _sentence(
        rf"{_TASK} is composite and uses the workflow (?P<text>{NAME})(?: of the package (?P<package>{NAME}))?",
        add_reference,
        "The task 'A' is composite and uses the workflow 'W'.",
    ),
    _sentence(
        rf"Inside the task (?P<task>{NAME}), the data (?P<phrase>.+)",
        add_to_task("bindings", binding_in),
        "Inside the task 'A', the data 'Inner' stands for 'Outer'.",
    ),
    _sentence(
        rf"The data (?P<data>{NAME}) is described as (?P<text>{NAME})",
        set_data_text("description"),
        "The data 'D' is described as 'text'.",
    ),
    _sentence(
        rf"The data (?P<data>{NAME}) has the schema (?P<text>{NAME})",
        set_data_text("schema"),
        "The data 'D' has the schema 'd.json'.",
    ),
    *(
        _sentence(rf"The {noun} (?P<names>{NAME}) {doing}", declare_gateway(kind, role), f"The {noun} 'G' {doing}.")
        for (kind, role), (noun, doing) in GATEWAYS.items()
    ),
    _sentence(rf"{_IT} ends right after its start{_IF}", add_links, "The workflow ends right after its start."),
    _sentence(
        rf"{_IT} starts with (?P<targets>{_NODES}){_IF}(?:, side by side)?", add_links, "The workflow starts with 'A'."
    ),
    _sentence(
        rf"After (?P<source>{_NODE}), the (?:sub-)?workflow ends{_IF}", add_links, "After 'A', the workflow ends."
    ),
    _sentence(
        rf"After (?P<source>{_NODE}) comes? (?P<targets>{_NODES}){_IF}(?:, side by side)?",
        add_links,
        "After 'A' comes 'B' if 'n < 3'.",
    ),
    _sentence(
        rf"If the task (?P<task>{NAME}) fails, (?:(?P<targets>{_NODE}) comes next|the (?:sub-)?workflow ends)",
        add_exceptional_link,
        "If the task 'A' fails, 'B' comes next.",
    ),
    _sentence(rf"{_TASK} (?P<verb>reads|writes) (?P<names>{_NAMES})", add_data_links, "The task 'A' reads 'D'."),
)
