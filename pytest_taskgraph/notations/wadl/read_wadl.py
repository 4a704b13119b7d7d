"""Read the workflow DSL: all three variants and our extensions, with one grammar."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from itertools import pairwise
from typing import Any, TypeVar

from ...workflow.derivation import configure_data, configure_task
from ...workflow.model import (
    END,
    START,
    Configuration,
    Data,
    DataLink,
    Effect,
    Gateway,
    Link,
    Parameter,
    Task,
    Workflow,
)
from .grammar import (
    ConfigureItem,
    ControlItem,
    DataFlowItem,
    DataItem,
    EffectItem,
    File,
    InnerItem,
    MisreadError,
    ParameterItem,
    ReferenceItem,
    TaskItem,
    TextItem,
    WadlBlock,
    Word,
    files,
)
from .words import marker, reserved


def declared(name: Word) -> str:
    """The name that a declaration gives to a task or to data. Raises MisreadError for START, END and bare markers."""
    if name.text in (START, END):
        raise MisreadError(name, f"the reserved name {name.text}", "another name")
    if not name.quoted and reserved(name.text):
        raise MisreadError(name, f"the marker {name.text}", "another name, or this one in quotation marks")
    return name.text


class DeclaredNames:
    """What the links of a block may name. A derived workflow inherits tasks and data that its text does not tell."""

    def __init__(self, tasks: Mapping[str, Task], data: Mapping[str, Data], derived: bool) -> None:
        self.tasks, self.data, self.derived = tasks, data, derived

    def node(self, word: Word) -> Gateway | None:
        """The gateway that a node of the control flow is. Raises MisreadError for a node that nothing declares."""
        name = word.text
        gateway = None if word.quoted else marker(name)
        if gateway and (name in self.tasks or name in self.data):
            raise MisreadError(word, f"the marker {name}, and a task or data of that name", "another number")
        at_the_end = name in (START, END) and not word.quoted
        inherited = self.derived and name not in (START, END, *self.data)
        if not (gateway or at_the_end or inherited or name in self.tasks):
            raise MisreadError(word, repr(name), any_of("task of this block, START, END or a marker", self.tasks))
        return gateway

    def end(self, word: Word) -> str:
        """The task or data that a line of the data flow names. Raises MisreadError for what nothing declares."""
        inherited = self.derived and word.text not in (START, END) and (word.quoted or not reserved(word.text))
        if not (inherited or word.text in self.tasks or word.text in self.data):
            raise MisreadError(word, repr(word.text), any_of("task or data of this block", (*self.tasks, *self.data)))
        return word.text


def control_links(lines: Iterable[ControlItem], names: DeclaredNames) -> tuple[tuple[Link, ...], tuple[Gateway, ...]]:
    """The links in the order of the text, and the gateways that they name. Raises MisreadError."""
    links: list[Link] = []
    gateways: dict[str, Gateway] = {}
    for line in lines:
        gateways |= {gateway.name: gateway for word in line.nodes if (gateway := names.node(word))}
        links += [Link(source.text, target.text, line.guard) for source, target in pairwise(line.nodes)]
    return tuple(links), tuple(gateways.values())


def data_links(lines: Iterable[DataFlowItem], names: DeclaredNames) -> tuple[DataLink, ...]:
    """The data links in the order of the text. Raises MisreadError."""
    return tuple(DataLink(a, b) for line in lines for a, b in pairwise([names.end(word) for word in line.nodes]))


def any_of(kind: str, names: Iterable[str]) -> str:
    """What was expected: one of these names, the first eight of them told."""
    known = [repr(name) for name in names]
    shown = ", ".join(known[:8]) + (f" and {len(known) - 8} more" if len(known) > 8 else "")
    return f"a {kind} ({shown or 'it declares none'})"


_T = TypeVar("_T")


def parse(text: str, where: str = "") -> tuple[Workflow, ...]:
    """The workflows of the text, in its order, each without `others`.

    Raises ReadError with line and column for what the grammar does not allow, for a name that nothing declares, and
    for what is declared twice. Flaws of the workflow itself (no END, no way to a task, an endless cycle) are read.
    """
    read: dict[str, Workflow] = {}
    try:
        for file in files(text, where):
            workflow = _workflow(file)
            _once(read, str(workflow.qualified), workflow, file.name, "workflow")
    except MisreadError as error:
        raise error.of(where) from None
    return tuple(read.values())


def _workflow(file: File) -> Workflow:
    level = _level(file.block, derived=file.base is not None)
    return replace(_told(level, file.name.text, file.block), package=file.package, base=file.base)


def _told(level: Workflow, name: str, block: WadlBlock) -> Workflow:
    """The workflow with its name, and with what the block tells about it as a whole."""
    return replace(level, name=name, description=_said(block).get("description", ""), parameters=_parameters(block))


def _once(kept: dict[str, _T], key: str, one: _T, at: Word, kind: str) -> None:
    """Enters the object under its name. Raises MisreadError if there is one of that name."""
    if key in kept:
        raise MisreadError(at, f"a second {kind} {key!r}", "one at most")
    kept[key] = one


def _said(block: WadlBlock) -> dict[str, str]:
    """The texts of a block, by the word before them."""
    said: dict[str, str] = {}
    for item in block.all(TextItem):
        _once(said, item.word.text, item.text, item.word, "text for the word")
    return said


def _parameters(block: WadlBlock) -> tuple[Parameter, ...]:
    parameters: dict[str, Parameter] = {}
    for item in block.all(ParameterItem):
        one = Parameter(item.name.text, item.value, item.domain)
        _once(parameters, one.name, one, item.name, "parameter")
    return tuple(parameters.values())


def _single(block: WadlBlock, kind: type[_T], word: Callable[[_T], Word]) -> _T | None:
    """The only item of that class, None if there is none. Raises MisreadError for a second one."""
    items = block.all(kind)
    if len(items) > 1:
        raise MisreadError(word(items[1]), f"a second `{word(items[1]).text}`", "one at most")
    return items[0] if items else None


def _own(block: WadlBlock) -> dict[str, Any]:
    """The fields that a task and a configuration have in common."""
    reference = _single(block, ReferenceItem, lambda item: item.word)
    return {
        "parameters": _parameters(block),
        "effects": tuple(Effect(item.name.text, item.expression) for item in block.all(EffectItem)),
        "reference": reference and reference.name,
        "bindings": tuple((item.name.text, item.outside.text) for item in block.all(DataItem) if item.outside),
        **_said(block),
    }


def _level(block: WadlBlock, derived: bool) -> Workflow:
    """The tasks, data and links of a block; what tells about the workflow as a whole is left to the caller."""
    tasks, nested = _tasks(block.all(TaskItem))
    data = _data(block.all(DataItem), tasks)
    left = [one for item in block.all(ConfigureItem) for one in _configure(item, tasks, data, derived)]
    names = DeclaredNames(tasks, data, derived)
    links, gateways = control_links(block.all(ControlItem), names)
    return Workflow(
        name="",
        tasks=tuple(tasks.values()),
        data=tuple(data.values()),
        gateways=gateways,
        links=links,
        data_links=data_links(block.all(DataFlowItem), names),
        configurations=(*nested, *left),
    )


def _tasks(items: Sequence[TaskItem]) -> tuple[dict[str, Task], list[Configuration]]:
    """The tasks by name, and what their blocks configure inside the workflows that they refer to."""
    tasks: dict[str, Task] = {}
    nested: list[Configuration] = []
    described: dict[str, Task] = {}
    for item in items:
        name = declared(item.name)
        tasks.setdefault(name, Task(name))
        if item.block:
            tasks[name], inside = _task(name, item.block)
            _once(described, name, tasks[name], item.name, "block of the task")
            nested += inside
    return tasks, nested


def _task(name: str, block: WadlBlock) -> tuple[Task, list[Configuration]]:
    own = _own(block)
    about = _single(block, InnerItem, lambda item: item.word)
    if about is None and not any(map(_inside, block.items)):
        nested = tuple(map(_configuration, block.all(ConfigureItem)))
        return Task(name, **own), [Configuration(name, configurations=nested)] if nested else []
    for second in block.all(ReferenceItem):
        raise MisreadError(second.word, f"a reference from {name!r}, which has a sub-workflow in its block", "only one")
    level = _told(_level(block, derived=False), name, about.block if about else WadlBlock())
    return Task(name, subworkflow=level, **own), []


def _inside(item: object) -> bool:
    """Whether the item makes its task a composite one with the sub-workflow in its block."""
    if isinstance(item, DataItem):
        return item.define or item.outside is None
    return isinstance(item, TaskItem | ControlItem | DataFlowItem)


def _data(items: Iterable[DataItem], tasks: Mapping[str, Task]) -> dict[str, Data]:
    data: dict[str, Data] = {}
    described: dict[str, Data] = {}
    for item in items:
        name = declared(item.name)
        if name in tasks:
            raise MisreadError(item.name, f"data named {name!r}, as a task is", "another name")
        data.setdefault(name, Data(name))
        if item.block:
            data[name] = Data(name, **_said(item.block))
            _once(described, name, data[name], item.name, "block of the data")
    return data


def _configure(
    item: ConfigureItem, tasks: dict[str, Task], data: dict[str, Data], derived: bool
) -> list[Configuration]:
    """What is left of a configuration after what it tells about a task or data of this block was put there."""
    one = _configuration(item)
    known = tuple(tasks if one.of == "task" else data)
    if one.target not in known:
        if derived:
            return [one]
        raise MisreadError(item.name, repr(one.target), any_of(f"{one.of} of this block", known))
    if one.of == "data":
        data[one.target] = configure_data(data[one.target], one)
        return []
    tasks[one.target] = configure_task(tasks[one.target], one)
    return [Configuration(one.target, configurations=one.configurations)] if one.configurations else []


def _configuration(item: ConfigureItem) -> Configuration:
    for second in item.block.all(InnerItem):
        raise MisreadError(second.word, "a sub-workflow in the block of a configuration", "its name")
    for one in item.block.all(DataItem):
        if one.define or one.block or not one.outside:
            raise MisreadError(one.name, "a declaration of data", "a renaming such as `data A = B;`")
    inside = tuple(map(_configuration, item.block.all(ConfigureItem)))
    return Configuration(item.name.text, item.of, configurations=inside, **_own(item.block))
