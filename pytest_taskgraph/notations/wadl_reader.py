"""Reads the workflow DSL: all three variants and our extensions, with one grammar. What it means: wadl.py."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any, TypeVar

from ..workflow.derivation import filled_data, filled_task
from ..workflow.model import Configuration, Data, Effect, Parameter, Task, Workflow
from .wadl_items import (
    Block,
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
    Word,
)
from .wadl_links import Names, any_of, control_links, data_links, declared
from .wadl_syntax import files

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


def _told(level: Workflow, name: str, block: Block) -> Workflow:
    """The workflow with its name, and with what the block tells about it as a whole."""
    return replace(level, name=name, description=_said(block).get("description", ""), parameters=_parameters(block))


def _once(kept: dict[str, _T], key: str, one: _T, at: Word, kind: str) -> None:
    """Enters the object under its name. Raises MisreadError if there is one of that name."""
    if key in kept:
        raise MisreadError(at, f"a second {kind} {key!r}", "one at most")
    kept[key] = one


def _said(block: Block) -> dict[str, str]:
    """The texts of a block, by the word before them."""
    said: dict[str, str] = {}
    for item in block.all(TextItem):
        _once(said, item.word.text, item.text, item.word, "text for the word")
    return said


def _parameters(block: Block) -> tuple[Parameter, ...]:
    parameters: dict[str, Parameter] = {}
    for item in block.all(ParameterItem):
        one = Parameter(item.name.text, item.value, item.domain)
        _once(parameters, one.name, one, item.name, "parameter")
    return tuple(parameters.values())


def _single(block: Block, kind: type[_T], word: Callable[[_T], Word]) -> _T | None:
    """The only item of that class, None if there is none. Raises MisreadError for a second one."""
    items = block.all(kind)
    if len(items) > 1:
        raise MisreadError(word(items[1]), f"a second `{word(items[1]).text}`", "one at most")
    return items[0] if items else None


def _own(block: Block) -> dict[str, Any]:
    """The fields that a task and a configuration have in common."""
    reference = _single(block, ReferenceItem, lambda item: item.word)
    return {
        "parameters": _parameters(block),
        "effects": tuple(Effect(item.name.text, item.expression) for item in block.all(EffectItem)),
        "reference": reference and reference.name,
        "bindings": tuple((item.name.text, item.outside.text) for item in block.all(DataItem) if item.outside),
        **_said(block),
    }


def _level(block: Block, derived: bool) -> Workflow:
    """The tasks, data and links of a block; what tells about the workflow as a whole is left to the caller."""
    tasks, nested = _tasks(block.all(TaskItem))
    data = _data(block.all(DataItem), tasks)
    left = [one for item in block.all(ConfigureItem) for one in _configure(item, tasks, data, derived)]
    names = Names(tasks, data, derived)
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


def _task(name: str, block: Block) -> tuple[Task, list[Configuration]]:
    own = _own(block)
    about = _single(block, InnerItem, lambda item: item.word)
    if about is None and not any(map(_inside, block.items)):
        nested = tuple(map(_configuration, block.all(ConfigureItem)))
        return Task(name, **own), [Configuration(name, configurations=nested)] if nested else []
    for second in block.all(ReferenceItem):
        raise MisreadError(second.word, f"a reference from {name!r}, which has a sub-workflow in its block", "only one")
    level = _told(_level(block, derived=False), name, about.block if about else Block())
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
        data[one.target] = filled_data(data[one.target], one)
        return []
    tasks[one.target] = filled_task(tasks[one.target], one)
    return [Configuration(one.target, configurations=one.configurations)] if one.configurations else []


def _configuration(item: ConfigureItem) -> Configuration:
    for second in item.block.all(InnerItem):
        raise MisreadError(second.word, "a sub-workflow in the block of a configuration", "its name")
    for one in item.block.all(DataItem):
        if one.define or one.block or not one.outside:
            raise MisreadError(one.name, "a declaration of data", "a renaming such as `data A = B;`")
    inside = tuple(map(_configuration, item.block.all(ConfigureItem)))
    return Configuration(item.name.text, item.of, configurations=inside, **_own(item.block))
