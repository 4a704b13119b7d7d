"""JSON, the lossless notation: every field of the model under its own name, empty fields left out.

    {"format": "taskgraph-workflow", "version": 1, "name": "Soup",
     "tasks": [{"name": "Cook"}], "links": [{"source": "START", "target": "Cook"}, ...]}

`dumps` keeps everything, the planted flaw included, for stores and digests; the notation's text omits the flaw.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Mapping
from dataclasses import MISSING, fields, replace
from json.encoder import encode_basestring as _encode_text
from operator import attrgetter
from typing import Any, TypeVar

from ..errors import WorkflowError
from ..positioned_json import Node, documents
from ..source import Source
from ..workflow.features import FEATURES
from ..workflow.model import (
    SECONDS,
    Configuration,
    Data,
    DataLink,
    Domain,
    Duration,
    Effect,
    Flaw,
    Gateway,
    Link,
    Parameter,
    QualifiedName,
    Task,
    Workflow,
)
from .notation import WAYS_OUT, Notation

FORMAT, VERSION, WIDTH = "taskgraph-workflow", 1, 110
_encode_value = json.JSONEncoder(ensure_ascii=False, allow_nan=False).encode
_Decode = Callable[[Source, Node], Any]
# Of a class of the model: the function that returns the values of its fields, the keys as written, and the defaults.
_Encoder = tuple[Callable[[Any], tuple[Any, ...]], list[str], list[Any]]
_T = TypeVar("_T")


def dumps(workflow: Workflow) -> str:
    """Return the whole workflow as JSON text, which the notation reads back as an equal workflow.

    Raises:
        WorkflowError: if a value is infinite or NaN.
    """
    try:
        return _lay_out("{", [*_HEADER, *_field_texts(workflow, _ENCODERS[Workflow], 0)], "}", 0) + "\n"
    except ValueError as error:
        raise WorkflowError(f"the workflow {workflow.name!r} cannot be written as JSON: {error}") from error


def digest(workflow: Workflow) -> str:
    """Return the SHA-256 of `dumps(workflow)` in hexadecimal, equal for equal workflows in any process."""
    return workflow.cached_digest(_digest)


def _digest(workflow: Workflow) -> str:
    return hashlib.sha256(dumps(workflow).encode("utf-8", "surrogatepass")).hexdigest()


def render(workflow: Workflow) -> str:
    """Return the JSON text that a model is shown: without the planted flaws, at any depth."""
    return dumps(_without_flaw(workflow))


def parse(text: str, where: str = "") -> tuple[Workflow, ...]:
    """Return the workflows of all documents of the text, each followed by the `others` of its document.

    Documents may follow one another, with lines `// path` between them.

    Raises:
        ReadError: with line and column, if a document is malformed or there is none.
    """
    source = Source(text, where)
    workflows = [_read_document(source, node) for node in documents(source)]
    if not workflows:
        source.fail(len(text), "no document", "a JSON object")
    return tuple(workflow for document in workflows for workflow in (replace(document, others=()), *document.others))


def _without_flaw(workflow: Workflow) -> Workflow:
    tasks = tuple(
        replace(task, subworkflow=_without_flaw(task.subworkflow)) if task.subworkflow else task
        for task in workflow.tasks
    )
    return replace(workflow, flaw=None, tasks=tasks, others=tuple(map(_without_flaw, workflow.others)))


def _json_text(value: Any, indent: int) -> str:  # noqa: ANN401
    """Return the JSON text of an object of the model, of a tuple or of a plain JSON value.

    Args:
        value: The value.
        indent: Number of spaces before the line on which it begins.
    """
    brief = _BRIEF_TEXTS.get(value.__class__)
    if brief is not None and (line := brief(value)) and len(line) + indent <= WIDTH:
        return line
    encoder = _ENCODERS.get(value.__class__)
    if encoder is not None:
        return _lay_out("{", _field_texts(value, encoder, indent), "}", indent)
    if isinstance(value, tuple):
        return _lay_out("[", [_json_text(part, indent + 2) for part in value], "]", indent)
    return _encode_value(value)


def _lay_out(opening: str, parts: list[str], closing: str, indent: int) -> str:
    """Return an object or a list as JSON text: on one line if it fits, else each part on a line of its own.

    A part that does not fit on a line is longer than one, so what contains it does not fit either.
    """
    line = opening + ", ".join(parts) + closing
    if indent and len(line) + indent <= WIDTH:
        return line
    line_break = "\n" + " " * (indent + 2)
    return f"{opening}{line_break}{f',{line_break}'.join(parts)}\n{' ' * indent}{closing}"


def _field_texts(instance: Any, encoder: _Encoder, indent: int) -> list[str]:  # noqa: ANN401
    """Return the fields of an object of the model, each after its key, without those that equal their defaults."""
    values_of, keys, defaults = encoder
    texts = []
    for value, key, default in zip(values_of(instance), keys, defaults):  # noqa: B905 - a digest runs it hundreds of times
        # Most fields hold the very object that is their default, and most of the others a text.
        if value is not default and value != default:
            texts.append(key + (_encode_text(value) if value.__class__ is str else _json_text(value, indent + 2)))
    return texts


def _task_text(task: Task) -> str:
    """Return a task with only a name on one line; empty for any other."""
    return f'{{"name": {_encode_text(task.name)}}}' if task.is_bare else ""


def _data_text(data: Data) -> str:
    """Return data with only a name on one line; empty for any other."""
    return f'{{"name": {_encode_text(data.name)}}}' if data.description == data.schema == "" else ""


def _data_link_text(link: DataLink) -> str:
    return f'{{"source": {_encode_text(link.source)}, "target": {_encode_text(link.target)}}}'


def _link_text(link: Link) -> str:
    guard = "" if link.guard is None else f', "guard": {_encode_text(link.guard)}'
    return f'{{"source": {_encode_text(link.source)}, "target": {_encode_text(link.target)}{guard}}}'


def _read_text(source: Source, node: Node) -> str:
    if not isinstance(node.value, str):
        source.fail(node.start, node.plain, "a text")
    return node.value


def _one_of(*words: str) -> _Decode:
    def decode(source: Source, node: Node) -> str:
        if node.value not in words:
            source.fail(node.start, node.plain, "one of " + ", ".join(f'"{word}"' for word in words))
        return str(node.value)

    return decode


def _read_number(source: Source, node: Node) -> float:
    if isinstance(node.value, bool) or not isinstance(node.value, (int, float)):
        source.fail(node.start, node.plain, "a number")
    return node.value


def _read_amount(source: Source, node: Node) -> int:
    if isinstance(node.value, bool) or not isinstance(node.value, int) or node.value < 1:
        source.fail(node.start, node.plain, "a whole number of at least 1")
    return node.value


def parameter_value(source: Source, node: Node) -> Any:  # noqa: ANN401
    """Return the value of a parameter.

    Raises:
        ReadError: for null and for an object.
    """
    if node.value is None or isinstance(node.value, dict):
        source.fail(node.start, node.plain, "a number, a text, true, false or a list of these")
    return tuple(parameter_value(source, inner) for inner in node.value) if isinstance(node.value, list) else node.value


def _list_of(decode: _Decode) -> _Decode:
    def decode_list(source: Source, node: Node) -> tuple[Any, ...]:
        if not isinstance(node.value, list):
            source.fail(node.start, node.plain, "a list")
        return tuple(decode(source, inner) for inner in node.value)

    return decode_list


def _name_pair(source: Source, node: Node) -> tuple[str, ...]:
    if not isinstance(node.value, list) or len(node.value) != 2:
        source.fail(node.start, node.plain, "a list of two names")
    return tuple(_read_text(source, inner) for inner in node.value)


def _object_of(kind: type[_T]) -> Callable[[Source, Node], _T]:
    def decode(source: Source, node: Node) -> _T:
        if not isinstance(node.value, dict):
            source.fail(node.start, node.plain, f"an object ({kind.__name__})")
        return _build_object(kind, source, node, node.value)

    return decode


def _build_object(kind: type[_T], source: Source, node: Node, members: Mapping[str, Node]) -> _T:
    """Return the object of a dataclass of the model.

    Raises:
        ReadError: for unknown and for missing keys.
    """
    decoders = _FIELDS[kind]
    for key in members:
        if key not in decoders:
            source.fail(node.keys[key], f"the unknown key {key!r}", "one of " + ", ".join(decoders))
    for field in fields(kind):  # type: ignore[arg-type]
        if field.default is MISSING and field.name not in members:
            source.fail(node.start, f"an object without {field.name!r}", f"{kind.__name__} with {field.name!r}")
    return kind(**{key: decoders[key](source, value_node) for key, value_node in members.items()})


def _read_document(source: Source, node: Node) -> Workflow:
    if not isinstance(node.value, dict):
        source.fail(node.start, node.plain, "an object that holds a workflow")
    members = dict(node.value)
    for key, expected in (("format", FORMAT), ("version", VERSION)):
        value_node = members.pop(key, None)
        if value_node is None or isinstance(value_node.value, bool) or value_node.value != expected:
            description = f"no {key!r}" if value_node is None else value_node.plain
            source.fail((value_node or node).start, description, f'"{key}": {json.dumps(expected)}')
    return _build_object(Workflow, source, node, members)


_NAME_FIELDS: dict[str, _Decode] = {"name": _read_text, "description": _read_text}
_FIELDS: dict[type, dict[str, _Decode]] = {
    QualifiedName: {"name": _read_text, "package": _read_text},
    Domain: {
        "kind": _one_of("integer", "real", "words"),
        "low": _read_number,
        "high": _read_number,
        "words": _list_of(_read_text),
    },
    Parameter: {"name": _read_text, "value": parameter_value, "domain": _object_of(Domain)},
    Duration: {"amount": _read_amount, "unit": _one_of(*SECONDS)},
    Effect: {"parameter": _read_text, "expression": _read_text},
    Data: {**_NAME_FIELDS, "schema": _read_text},
    Gateway: {
        "name": _read_text,
        "kind": _one_of("parallel", "exclusive", "inclusive"),
        "role": _one_of("split", "join"),
    },
    Link: {"source": _read_text, "target": _read_text, "guard": _read_text},
    DataLink: {"source": _read_text, "target": _read_text},
    Flaw: {"kind": _read_text, "details": _list_of(_read_text)},
}
_TASK_FIELDS: dict[str, _Decode] = {
    "kind": _read_text,
    "implementation": _read_text,
    "parameters": _list_of(_object_of(Parameter)),
    "effects": _list_of(_object_of(Effect)),
    "reference": _object_of(QualifiedName),
    "bindings": _list_of(_name_pair),
    "duration": _object_of(Duration),
}
_FIELDS[Task] = {**_NAME_FIELDS, **_TASK_FIELDS, "subworkflow": _object_of(Workflow)}
_FIELDS[Configuration] = {
    "target": _read_text,
    "of": _one_of("task", "data"),
    "description": _read_text,
    "schema": _read_text,
    **_TASK_FIELDS,
    "configurations": _list_of(_object_of(Configuration)),
}
_FIELDS[Workflow] = {
    **_NAME_FIELDS,
    "package": _read_text,
    "tasks": _list_of(_object_of(Task)),
    "data": _list_of(_object_of(Data)),
    "gateways": _list_of(_object_of(Gateway)),
    "links": _list_of(_object_of(Link)),
    "exceptional_links": _list_of(_object_of(Link)),
    "data_links": _list_of(_object_of(DataLink)),
    "parameters": _list_of(_object_of(Parameter)),
    "base": _object_of(QualifiedName),
    "configurations": _list_of(_object_of(Configuration)),
    "others": _list_of(_object_of(Workflow)),
    "flaw": _object_of(Flaw),
}


def _encoder_of(kind: type) -> _Encoder:
    names = [field.name for field in fields(kind)]
    keys = [f"{_encode_text(name)}: " for name in names]
    return attrgetter(*names), keys, [field.default for field in fields(kind)]


_ENCODERS = {kind: _encoder_of(kind) for kind in _FIELDS}
# Nine of ten objects of a workflow are these; a digest writes them in a quarter of the time of `_field_texts`.
_BRIEF_TEXTS: dict[type, Callable[[Any], str]] = {
    Task: _task_text,
    Data: _data_text,
    Link: _link_text,
    DataLink: _data_link_text,
}
_HEADER = [f'"format": {_encode_value(FORMAT)}', f'"version": {_encode_value(VERSION)}']

JSON = Notation(
    name="json",
    title="JSON",
    phrase="as JSON",
    suffixes=(".json",),
    says=FEATURES,
    guide=(
        'The workflow is a JSON object. "links" is the control flow: each leads from "source" to "target", only under '
        'its "guard" where it has one ("otherwise" means that no other guard at that source holds). '
        f"{WAYS_OUT} START and END are "
        'no tasks; "gateways" are none either: a split of kind "parallel" starts all branches, "exclusive" exactly '
        'one, "inclusive" one or more, and a join brings them together again. "data_links" is the data flow: from '
        'data to a task that reads it, from a task to data that it writes. A task with a "subworkflow" or a '
        '"reference" (to one of the "others", by name) is composite.'
    ),
    exceptional_guide='Each of "exceptional_links" is an exceptional link of the control flow.',
    duration_guide='The "duration" of a task is the time that it takes.',
    render=render,
    parse=parse,
    heading=lambda path: f"// {path}",
    recognises=lambda text: f'"{FORMAT}"' in text,
    recognised_by=f'"format": "{FORMAT}"',
    is_joined=True,
)
