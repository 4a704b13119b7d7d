"""Reader of the workflow DSL: all three variants and the extensions of this package, with one grammar."""

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
    DurationItem,
    EffectItem,
    InnerItem,
    MisreadItemError,
    ParameterItem,
    ReferenceItem,
    SourceWord,
    TaskItem,
    TextItem,
    WadlBlock,
    WadlFile,
    parse_files,
)
from .words import is_reserved, parse_marker


def declared_name(name: SourceWord) -> str:
    """Return the name that a declaration gives to a task or to data.

    Raises:
        MisreadItemError: for START, END and markers without quotation marks.
    """
    if name.text in (START, END):
        raise MisreadItemError(name, f"the reserved name {name.text}", "another name")
    if not name.quoted and is_reserved(name.text):
        raise MisreadItemError(name, f"the marker {name.text}", "another name, or the same name in quotation marks")
    return name.text


class DeclaredNames:
    """The names that the links of a block may use; a derived workflow also inherits tasks and data."""

    def __init__(self, tasks: Mapping[str, Task], data: Mapping[str, Data], derived: bool) -> None:
        self.tasks, self.data, self.derived = tasks, data, derived

    def node(self, word: SourceWord) -> Gateway | None:
        """Return the gateway that a node of the control flow is, None for another node.

        Raises:
            MisreadItemError: for a node that is not declared.
        """
        name = word.text
        gateway = None if word.quoted else parse_marker(name)
        if gateway and (name in self.tasks or name in self.data):
            raise MisreadItemError(word, f"the marker {name}, and a task or data of that name", "another number")
        is_end = name in (START, END) and not word.quoted
        inherited = self.derived and name not in (START, END, *self.data)
        if not (gateway or is_end or inherited or name in self.tasks):
            raise MisreadItemError(word, repr(name), one_of("task of this block, START, END or a marker", self.tasks))
        return gateway

    def end(self, word: SourceWord) -> str:
        """Return the task or data that a line of the data flow names.

        Raises:
            MisreadItemError: for a name that is not declared.
        """
        inherited = self.derived and word.text not in (START, END) and (word.quoted or not is_reserved(word.text))
        if not (inherited or word.text in self.tasks or word.text in self.data):
            raise MisreadItemError(
                word, repr(word.text), one_of("task or data of this block", (*self.tasks, *self.data))
            )
        return word.text


def control_links(
    lines: Iterable[ControlItem], names: DeclaredNames
) -> tuple[tuple[Link, ...], tuple[Link, ...], tuple[Gateway, ...]]:
    """Return the links in the order of the text, the exceptional ones apart, and the gateways that they name.

    Raises:
        MisreadItemError: for a node that is not declared.
    """
    links: list[Link] = []
    exceptional: list[Link] = []
    gateways: dict[str, Gateway] = {}
    for line in lines:
        gateways |= {gateway.name: gateway for word in line.nodes if (gateway := names.node(word))}
        if line.exceptional and (line.nodes[0].text in (START, *gateways) and not line.nodes[0].quoted):
            raise MisreadItemError(line.nodes[0], f"`!->` behind {line.nodes[0].text}", "a task before it")
        into = exceptional if line.exceptional else links
        into += [Link(source.text, target.text, line.guard) for source, target in pairwise(line.nodes)]
    return tuple(links), tuple(exceptional), tuple(gateways.values())


def data_links(lines: Iterable[DataFlowItem], names: DeclaredNames) -> tuple[DataLink, ...]:
    """Return the data links in the order of the text.

    Raises:
        MisreadItemError: for a name that is not declared.
    """
    return tuple(DataLink(a, b) for line in lines for a, b in pairwise([names.end(word) for word in line.nodes]))


def one_of(kind: str, names: Iterable[str]) -> str:
    """Return the expectation of one of these names, of which the first eight are listed."""
    quoted = [repr(name) for name in names]
    listing = ", ".join(quoted[:8]) + (f" and {len(quoted) - 8} more" if len(quoted) > 8 else "")
    return f"a {kind} ({listing or 'it declares none'})"


_T = TypeVar("_T")


def parse(text: str, where: str = "") -> tuple[Workflow, ...]:
    """Return the workflows of the text, in its order, each without `others`.

    Flaws of a workflow (no END, an unreachable task, an endless cycle) are read, not rejected.

    Raises:
        ReadError: with line and column, for text that the grammar does not accept, for a name that is not declared, and
            for a second declaration.
    """
    workflows: dict[str, Workflow] = {}
    try:
        for file in parse_files(text, where):
            workflow = _workflow(file)
            _add_once(workflows, str(workflow.qualified), workflow, file.name, "workflow")
    except MisreadItemError as error:
        raise error.of(where) from None
    return tuple(workflows.values())


def _workflow(file: WadlFile) -> Workflow:
    level = _level(file.block, derived=file.base is not None)
    return replace(_named_level(level, file.name.text, file.block), package=file.package, base=file.base)


def _named_level(level: Workflow, name: str, block: WadlBlock) -> Workflow:
    """Return the workflow with its name, and with the description and parameters that the block states."""
    return replace(
        level, name=name, description=_text_fields(block).get("description", ""), parameters=_parameters(block)
    )


def _add_once(values: dict[str, _T], key: str, value: _T, at: SourceWord, kind: str) -> None:
    """Add the value under its key.

    Raises:
        MisreadItemError: if there is a value under that key.
    """
    if key in values:
        raise MisreadItemError(at, f"a second {kind} {key!r}", "one at most")
    values[key] = value


def _text_fields(block: WadlBlock) -> dict[str, str]:
    """Return the texts of a block, by the word before them."""
    texts: dict[str, str] = {}
    for item in block.items_of(TextItem):
        _add_once(texts, item.word.text, item.text, item.word, "text for the word")
    return texts


def _parameters(block: WadlBlock) -> tuple[Parameter, ...]:
    parameters: dict[str, Parameter] = {}
    for item in block.items_of(ParameterItem):
        parameter = Parameter(item.name.text, item.value, item.domain)
        _add_once(parameters, parameter.name, parameter, item.name, "parameter")
    return tuple(parameters.values())


def _single_item(block: WadlBlock, kind: type[_T], word: Callable[[_T], SourceWord]) -> _T | None:
    """Return the only item of that class, None if there is none.

    Raises:
        MisreadItemError: for a second item of the class.
    """
    items = block.items_of(kind)
    if len(items) > 1:
        raise MisreadItemError(word(items[1]), f"a second `{word(items[1]).text}`", "one at most")
    return items[0] if items else None


def _shared_fields(block: WadlBlock) -> dict[str, Any]:
    """Return the fields that a task and a configuration have in common."""
    reference = _single_item(block, ReferenceItem, lambda item: item.word)
    duration = _single_item(block, DurationItem, lambda item: item.word)
    return {
        "parameters": _parameters(block),
        "effects": tuple(Effect(item.name.text, item.expression) for item in block.items_of(EffectItem)),
        "reference": reference and reference.name,
        "duration": duration and duration.duration,
        "bindings": tuple((item.name.text, item.outside.text) for item in block.items_of(DataItem) if item.outside),
        **_text_fields(block),
    }


def _level(block: WadlBlock, derived: bool) -> Workflow:
    """Return the tasks, data and links of a block, without name, description and parameters of the workflow."""
    tasks, inner_configurations = _tasks(block.items_of(TaskItem))
    data = _data(block.items_of(DataItem), tasks)
    unmerged = [
        configuration
        for item in block.items_of(ConfigureItem)
        for configuration in _merge_configuration(item, tasks, data, derived)
    ]
    names = DeclaredNames(tasks, data, derived)
    links, exceptional_links, gateways = control_links(block.items_of(ControlItem), names)
    return Workflow(
        name="",
        tasks=tuple(tasks.values()),
        data=tuple(data.values()),
        gateways=gateways,
        links=links,
        exceptional_links=exceptional_links,
        data_links=data_links(block.items_of(DataFlowItem), names),
        configurations=(*inner_configurations, *unmerged),
    )


def _tasks(items: Sequence[TaskItem]) -> tuple[dict[str, Task], list[Configuration]]:
    """Return the tasks by name, and the configurations in their blocks for the workflows that they refer to."""
    tasks: dict[str, Task] = {}
    configurations: list[Configuration] = []
    described: dict[str, Task] = {}
    for item in items:
        name = declared_name(item.name)
        tasks.setdefault(name, Task(name))
        if item.block:
            tasks[name], task_configurations = _task(name, item.block)
            _add_once(described, name, tasks[name], item.name, "block of the task")
            configurations += task_configurations
    return tasks, configurations


def _task(name: str, block: WadlBlock) -> tuple[Task, list[Configuration]]:
    fields = _shared_fields(block)
    inner = _single_item(block, InnerItem, lambda item: item.word)
    if inner is None and not any(map(_makes_composite, block.items)):
        nested = tuple(map(_configuration, block.items_of(ConfigureItem)))
        return Task(name, **fields), [Configuration(name, configurations=nested)] if nested else []
    for second in block.items_of(ReferenceItem):
        raise MisreadItemError(
            second.word, f"a reference from {name!r}, which has a sub-workflow in its block", "only one"
        )
    level = _named_level(_level(block, derived=False), name, inner.block if inner else WadlBlock())
    return Task(name, subworkflow=level, **fields), []


def _makes_composite(item: object) -> bool:
    """Return True if the item makes its task composite, with the sub-workflow in its block."""
    if isinstance(item, DataItem):
        return item.define or item.outside is None
    return isinstance(item, TaskItem | ControlItem | DataFlowItem)


def _data(items: Iterable[DataItem], tasks: Mapping[str, Task]) -> dict[str, Data]:
    data: dict[str, Data] = {}
    described: dict[str, Data] = {}
    for item in items:
        name = declared_name(item.name)
        if name in tasks:
            raise MisreadItemError(item.name, f"data named {name!r}, as a task is", "another name")
        data.setdefault(name, Data(name))
        if item.block:
            data[name] = Data(name, **_text_fields(item.block))
            _add_once(described, name, data[name], item.name, "block of the data")
    return data


def _merge_configuration(
    item: ConfigureItem, tasks: dict[str, Task], data: dict[str, Data], derived: bool
) -> list[Configuration]:
    """Merge a configuration into the task or data of this block, and return the configurations left over."""
    configuration = _configuration(item)
    names = tuple(tasks if configuration.of == "task" else data)
    if configuration.target not in names:
        if derived:
            return [configuration]
        raise MisreadItemError(
            item.name, repr(configuration.target), one_of(f"{configuration.of} of this block", names)
        )
    if configuration.of == "data":
        data[configuration.target] = configure_data(data[configuration.target], configuration)
        return []
    tasks[configuration.target] = configure_task(tasks[configuration.target], configuration)
    return (
        [Configuration(configuration.target, configurations=configuration.configurations)]
        if configuration.configurations
        else []
    )


def _configuration(item: ConfigureItem) -> Configuration:
    for second in item.block.items_of(InnerItem):
        raise MisreadItemError(second.word, "a sub-workflow in the block of a configuration", "its name")
    for data_item in item.block.items_of(DataItem):
        if data_item.define or data_item.block or not data_item.outside:
            raise MisreadItemError(data_item.name, "a declaration of data", "a renaming such as `data A = B;`")
    inner = tuple(map(_configuration, item.block.items_of(ConfigureItem)))
    return Configuration(item.name.text, item.of, configurations=inner, **_shared_fields(item.block))
