"""JSON: the lossless notation, every field of the model under its own name, empty ones left out.

    {"format": "taskgraph-workflow", "version": 1, "name": "Soup",
     "tasks": [{"name": "Cook"}], "links": [{"source": "START", "target": "Cook"}, ...]}

`dumps` keeps all, the planted flaw included, for stores and digests; what the notation shows leaves the flaw out.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Mapping
from dataclasses import MISSING, fields, is_dataclass, replace
from functools import cache
from typing import Any, NamedTuple, TypeVar

from ..errors import WorkflowError
from ..positioned_json import Node, documents
from ..source import Source
from ..workflow.features import FEATURES
from ..workflow.model import (
    Configuration,
    Data,
    DataLink,
    Domain,
    Effect,
    Flaw,
    Gateway,
    Link,
    Parameter,
    QualifiedName,
    Task,
    Workflow,
)
from .notation import Notation

FORMAT, VERSION, WIDTH = "taskgraph-workflow", 1, 110
_plain = json.JSONEncoder(ensure_ascii=False, allow_nan=False).encode
_Decode = Callable[[Source, Node], Any]
_T = TypeVar("_T")


def dumps(workflow: Workflow) -> str:
    """The whole workflow as JSON text: `loads` gives an equal one. Raises WorkflowError for infinity and NaN."""
    try:
        return _layout(_nested("{}", [*_HEAD, *_members(workflow)])) + "\n"
    except ValueError as error:
        raise WorkflowError(f"the workflow {workflow.name!r} cannot be written as JSON: {error}") from error


def loads(text: str, where: str = "") -> Workflow:
    """The workflow of the text's only document. Raises ReadError with line and column."""
    source = Source(text, where)
    found = [_document(source, node) for node in documents(source)]
    if len(found) != 1:
        source.fail(len(text), f"{len(found)} documents", "one")
    return found[0]


def digest(workflow: Workflow) -> str:
    """The SHA-256 of `dumps(workflow)`, in hexadecimal: equal workflows, equal digests, in any process."""
    return workflow.kept_digest(_digest)


def _digest(workflow: Workflow) -> str:
    return hashlib.sha256(dumps(workflow).encode("utf-8", "surrogatepass")).hexdigest()


def render(workflow: Workflow) -> str:
    """The JSON text that is shown: all but the planted flaws, at any depth."""
    return dumps(_without_flaw(workflow))


def parse(text: str, where: str = "") -> tuple[Workflow, ...]:
    """The workflows of all documents of the text, each followed by the `others` of its document.

    Documents may stand one after another with lines `// path` between them. Raises ReadError with line and column.
    """
    source = Source(text, where)
    found = [_document(source, node) for node in documents(source)]
    if not found:
        source.fail(len(text), "no document", "a JSON object")
    return tuple(one for whole in found for one in (replace(whole, others=()), *whole.others))


def _without_flaw(workflow: Workflow) -> Workflow:
    tasks = tuple(
        replace(task, subworkflow=_without_flaw(task.subworkflow)) if task.subworkflow else task
        for task in workflow.tasks
    )
    return replace(workflow, flaw=None, tasks=tasks, others=tuple(map(_without_flaw, workflow.others)))


class _Nested(NamedTuple):
    """An object or a list as JSON text in one line, and its parts: their keys, empty in a list, and their texts."""

    line: str
    brackets: str
    parts: list[tuple[str, str | _Nested]]


def _text_of(thing: Any) -> str | _Nested:  # noqa: ANN401
    """The text of an object of the model, of a tuple or of a plain JSON value."""
    if isinstance(thing, str):
        return _plain(thing)
    if isinstance(thing, tuple):
        return _nested("[]", [("", _text_of(item)) for item in thing])
    return _nested("{}", _members(thing)) if is_dataclass(thing) else _plain(thing)


def _nested(brackets: str, parts: list[tuple[str, str | _Nested]]) -> _Nested:
    lines = [key + (text if isinstance(text, str) else text.line) for key, text in parts]
    return _Nested(f"{brackets[0]}{', '.join(lines)}{brackets[1]}", brackets, parts)


def _members(thing: Any) -> list[tuple[str, str | _Nested]]:  # noqa: ANN401
    """The fields of an object of the model, each under its key; those that equal their defaults are left out."""
    found = []
    for name, key, default in _keys(thing.__class__):
        value = getattr(thing, name)
        if default is MISSING or value != default:
            found.append((key, _text_of(value)))
    return found


@cache
def _keys(kind: type) -> tuple[tuple[str, str, Any], ...]:
    """The fields of a class of the model: name, key as it is written, and default."""
    return tuple((field.name, f"{_plain(field.name)}: ", field.default) for field in fields(kind))


def _layout(text: str | _Nested, indent: int = 0) -> str:
    """JSON text in which whatever fits into a line stands in one."""
    if isinstance(text, str):
        return text
    if indent and len(text.line) + indent <= WIDTH:
        return text.line
    break_ = "\n" + " " * (indent + 2)
    parts = f",{break_}".join([key + _layout(part, indent + 2) for key, part in text.parts])
    return f"{text.brackets[0]}{break_}{parts}\n{' ' * indent}{text.brackets[1]}"


def _text(source: Source, node: Node) -> str:
    if not isinstance(node.value, str):
        source.fail(node.start, node.plain, "a text")
    return node.value


def _word(*known: str) -> _Decode:
    def decode(source: Source, node: Node) -> str:
        if node.value not in known:
            source.fail(node.start, node.plain, "one of " + ", ".join(f'"{word}"' for word in known))
        return str(node.value)

    return decode


def _number(source: Source, node: Node) -> float:
    if isinstance(node.value, bool) or not isinstance(node.value, (int, float)):
        source.fail(node.start, node.plain, "a number")
    return node.value


def value(source: Source, node: Node) -> Any:  # noqa: ANN401
    """The value of a parameter. Raises ReadError for null and for an object."""
    if node.value is None or isinstance(node.value, dict):
        source.fail(node.start, node.plain, "a number, a text, true, false or a list of these")
    return tuple(value(source, item) for item in node.value) if isinstance(node.value, list) else node.value


def _several(decode: _Decode) -> _Decode:
    def items(source: Source, node: Node) -> tuple[Any, ...]:
        if not isinstance(node.value, list):
            source.fail(node.start, node.plain, "a list")
        return tuple(decode(source, item) for item in node.value)

    return items


def _pair(source: Source, node: Node) -> tuple[str, ...]:
    if not isinstance(node.value, list) or len(node.value) != 2:
        source.fail(node.start, node.plain, "a list of two names")
    return tuple(_text(source, item) for item in node.value)


def _one(kind: type[_T]) -> Callable[[Source, Node], _T]:
    def decode(source: Source, node: Node) -> _T:
        if not isinstance(node.value, dict):
            source.fail(node.start, node.plain, f"an object ({kind.__name__})")
        return _object(kind, source, node, node.value)

    return decode


def _object(kind: type[_T], source: Source, node: Node, members: Mapping[str, Node]) -> _T:
    """The object of a dataclass of the model. Raises ReadError for unknown and for missing keys."""
    known = _FIELDS[kind]
    for key in members:
        if key not in known:
            source.fail(node.keys[key], f"the unknown key {key!r}", "one of " + ", ".join(known))
    for field in fields(kind):  # type: ignore[arg-type]
        if field.default is MISSING and field.name not in members:
            source.fail(node.start, f"an object without {field.name!r}", f"{kind.__name__} with {field.name!r}")
    return kind(**{key: known[key](source, item) for key, item in members.items()})


def _document(source: Source, node: Node) -> Workflow:
    if not isinstance(node.value, dict):
        source.fail(node.start, node.plain, "an object that holds a workflow")
    members = dict(node.value)
    for key, expected in (("format", FORMAT), ("version", VERSION)):
        given = members.pop(key, None)
        if given is None or isinstance(given.value, bool) or given.value != expected:
            found = f"no {key!r}" if given is None else given.plain
            source.fail((given or node).start, found, f'"{key}": {json.dumps(expected)}')
    return _object(Workflow, source, node, members)


_NAMED: dict[str, _Decode] = {"name": _text, "description": _text}
_FIELDS: dict[type, dict[str, _Decode]] = {
    QualifiedName: {"name": _text, "package": _text},
    Domain: {"kind": _word("integer", "real", "words"), "low": _number, "high": _number, "words": _several(_text)},
    Parameter: {"name": _text, "value": value, "domain": _one(Domain)},
    Effect: {"parameter": _text, "expression": _text},
    Data: {**_NAMED, "schema": _text},
    Gateway: {"name": _text, "kind": _word("parallel", "exclusive", "inclusive"), "role": _word("split", "join")},
    Link: {"source": _text, "target": _text, "guard": _text},
    DataLink: {"source": _text, "target": _text},
    Flaw: {"kind": _text, "details": _several(_text)},
}
_WORK: dict[str, _Decode] = {
    "kind": _text,
    "implementation": _text,
    "parameters": _several(_one(Parameter)),
    "effects": _several(_one(Effect)),
    "reference": _one(QualifiedName),
    "bindings": _several(_pair),
}
_FIELDS[Task] = {**_NAMED, **_WORK, "subworkflow": _one(Workflow)}
_FIELDS[Configuration] = {
    "target": _text,
    "of": _word("task", "data"),
    "description": _text,
    "schema": _text,
    **_WORK,
    "configurations": _several(_one(Configuration)),
}
_FIELDS[Workflow] = {
    **_NAMED,
    "package": _text,
    "tasks": _several(_one(Task)),
    "data": _several(_one(Data)),
    "gateways": _several(_one(Gateway)),
    "links": _several(_one(Link)),
    "data_links": _several(_one(DataLink)),
    "parameters": _several(_one(Parameter)),
    "base": _one(QualifiedName),
    "configurations": _several(_one(Configuration)),
    "others": _several(_one(Workflow)),
    "flaw": _one(Flaw),
}

_HEAD = [('"format": ', _text_of(FORMAT)), ('"version": ', _text_of(VERSION))]

JSON = Notation(
    name="json",
    title="JSON",
    phrase="as JSON",
    suffixes=(".json",),
    says=FEATURES,
    guide=(
        'The workflow is a JSON object. "links" is the control flow: each leads from "source" to "target", only under '
        'its "guard" where it has one ("otherwise" means that no other guard at that source holds). START and END are '
        'no tasks; "gateways" are none either: a split of kind "parallel" starts all branches, "exclusive" exactly '
        'one, "inclusive" one or more, and a join brings them together again. "data_links" is the data flow: from '
        'data to a task that reads it, from a task to data that it writes. A task with a "subworkflow" or a '
        '"reference" (to one of the "others", by name) is composite.'
    ),
    render=render,
    parse=parse,
    heading=lambda path: f"// {path}",
)
