"""Validation of the parts of a record against docs/reference/record.schema.json.

Records are read from files that anyone may have changed. The type annotations of the dataclasses state most of what is
expected; this module states what is written in another form than declared, and limits the size of values. It imports
pydantic, so it is imported only where a record is read.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import MISSING, fields
from typing import Annotated, Any, Final, Literal, get_type_hints

from pydantic import (
    AfterValidator,
    BaseModel,
    ConfigDict,
    Field,
    TypeAdapter,
    ValidationError,
    create_model,
)

from ...diagram import DiagramEdge, DiagramGroup, DiagramNode
from ...family_description import Aggregate, Column, FamilyDescription, ReferenceValue, TableLayout, TableSpec
from ...trial import Failure, Parsing, Question, Reply, Score, Trial, is_part
from ..case import RunCase
from .facts import About, Usage
from .provenance import Provenance

DEEPEST: Final = 100  # most levels of lists and objects in a value
MOST: Final = 1e100  # greatest number without a range of its own; sums and squares stay finite
MOST_WHOLE: Final = 10**18
LONGEST: Final = 40  # characters of a value or of a name in a path, in a message

# Descriptions of expected values that replace those of pydantic.
_EXPECTED: Final = {
    "bool_type": "true or false",
    "dict_type": "an object",
    "greater_than_equal": "a number of at least {ge:g}",
    "int_type": "a whole number",
    "less_than_equal": "a number of at most {le:g}",
    "list_type": "a list",
    "model_type": "an object",
    "none_required": "null",
    "string_pattern_mismatch": "a SHA-256 in hexadecimal",
    "string_type": "a text",
    "string_unicode": "a text without half surrogate pairs",
    "value_error": "{error}",
}


def _check_depth(value: Any, *, room: int = DEEPEST) -> Any:  # noqa: ANN401
    """Return the value.

    Raises:
        ValueError: if its lists and objects are nested deeper than DEEPEST.
    """
    if type(value) in (list, dict):
        if not room:
            raise ValueError(f"at most {DEEPEST} levels of lists and objects")
        for member in value if type(value) is list else value.values():
            _check_depth(member, room=room - 1)
    return value


def _check_part(pair: list[float]) -> list[float]:
    if not is_part(pair):
        raise ValueError("a numerator and a denominator of at least 0")
    return pair


_Value = Annotated[Any, AfterValidator(_check_depth)]
_Number = Annotated[float, Field(ge=-MOST, le=MOST)]
_Whole = Annotated[int, Field(ge=-MOST_WHOLE, le=MOST_WHOLE)]
_Share = Annotated[float, Field(ge=0, le=1)]
_Count = Annotated[int, Field(ge=0, le=MOST_WHOLE)]
_Ordinal = Annotated[int, Field(ge=1, le=MOST_WHOLE)]
# Checked types for these names in the annotations of the dataclasses.
_HINTS: Final = {"Any": _Value, "Json": _Value, "float": _Number, "int": _Whole}


def _json_model_of(kind: type, optional: AbstractSet[str] | None = None) -> Callable[[type], Any]:
    """Return a decorator that makes a class the pydantic model of a dataclass's JSON.

    Fields have the types of the dataclass unless the class declares others. Those in `optional` may be absent, by
    default those with a default. Unknown members are those of a later version and are ignored.
    """
    if optional is None:
        optional = {
            field_.name
            for field_ in fields(kind)
            if field_.default is not MISSING or field_.default_factory is not MISSING
        }

    def model(differing: type) -> Any:  # noqa: ANN401
        own = get_type_hints(differing, include_extras=True)
        hints = get_type_hints(kind, localns=_HINTS, include_extras=True) | own
        members: Any = {name: (hint, None if name in optional else ...) for name, hint in hints.items()}
        return create_model(differing.__name__, __config__=ConfigDict(strict=True), **members)

    return model


@_json_model_of(DiagramNode)
class _Node: ...


@_json_model_of(DiagramEdge)
class _Edge: ...


@_json_model_of(DiagramGroup)
class _Group: ...


class _Diagram(BaseModel, strict=True):
    title: str
    nodes: list[_Node]
    edges: list[_Edge]
    groups: list[_Group]
    omitted: _Count = 0


class _DiagramPair(BaseModel, strict=True):
    expected: _Diagram
    given: _Diagram


@_json_model_of(RunCase)
class _Verdict: ...


@_json_model_of(Usage, optional=frozenset())
class _Usage:
    sent: _Count
    answered: _Count
    retries: _Count
    tokens_in: _Count
    tokens_out: _Count
    untold: _Count
    unpriced: _Count
    stored: _Count
    stored_tokens_in: _Count
    stored_tokens_out: _Count
    stored_unpriced: _Count
    tokens_reasoning: _Count
    stored_tokens_reasoning: _Count


@_json_model_of(Provenance)
class _Provenance:
    seconds: Annotated[float, Field(ge=0, le=MOST)] | None
    command: list[str]


@_json_model_of(Column)
class _Column:
    reports: list[str]


@_json_model_of(TableLayout)
class _Layout: ...


@_json_model_of(ReferenceValue)
class _ReferenceValue: ...


@_json_model_of(TableSpec)
class _TableSpec:
    columns: list[_Column]
    groups: list[str]
    references: list[_ReferenceValue]
    layouts: list[_Layout]


@_json_model_of(Aggregate)
class _Aggregate:
    of: list[str]


@_json_model_of(FamilyDescription)
class _Family:
    presented_by: list[str]
    groups: list[str]
    sections: list[str]
    question_set: _Count | None
    aggregates: list[_Aggregate]
    tables: list[_TableSpec]


@_json_model_of(About, optional=frozenset())
class _Run:
    """A record without the contents of its trials."""

    models: list[str]
    prompts: list[str]
    lost: list[str]
    parsing: Parsing
    fail_on: list[Literal["answers", "gates", "regression", "inconclusive", "missing"]]
    questions: _Count | None
    gates: list[_Verdict]
    usage: _Usage | None
    provenance: _Provenance | None
    trials: list[Any]
    texts: dict[str, str]
    # The validator drops each diagram before the next is read, to save memory.
    diagrams: dict[str, Annotated[_Diagram, AfterValidator(lambda _: None)]]
    families: list[_Family]
    totals: list[dict[str, _Value]]
    graded: list[dict[str, _Value]]
    tables: list[dict[str, _Value]]


@_json_model_of(Question)
class _Question:
    prompt: list[str]
    chance: _Share | None
    repetition: _Ordinal


@_json_model_of(Reply)
class _Reply:
    tokens_in: _Count | None
    tokens_out: _Count | None
    tokens_reasoning: _Count | None
    retries: _Count


@_json_model_of(Score)
class _Score:
    value: _Share
    parts: dict[str, Annotated[list[_Number], AfterValidator(_check_part)]]


@_json_model_of(Failure)
class _Failure: ...


class _Message(BaseModel, strict=True):
    role: str
    digest: Annotated[str, Field(pattern="^[0-9a-f]{64}$")]


class _Exchange(BaseModel, strict=True):
    """The fields of an exchange that reports and new scores read."""

    role: str
    messages: list[_Message]
    kind: Literal["chat", "score", "embed"] = "chat"
    final: bool = False
    failure: str = ""
    text: str = ""
    calls: list[dict[str, _Value]] = []
    logprobs: list[list[_Value]] = []
    metric: str = ""
    value: _Number | None = None
    tokens_in: _Count | None = None
    tokens_out: _Count | None = None
    tokens_reasoning: _Count | None = None
    reasoning: str = ""
    cost: _Number | None = None
    latency: _Number | None = None
    stored: bool = False
    source: str = ""
    finish_reason: str = ""


@_json_model_of(Trial, optional={"diagram", "diagram_pair", "texts"})
class _Trial:
    question: _Question
    reply: _Reply | None
    score: _Score | None
    failure: _Failure | None
    exchanges: list[_Exchange]
    diagram: None  # stored in `diagrams` of the record
    diagram_pair: _DiagramPair | None
    texts: None  # stored in `texts` of the record
    requests: _Count
    retries: _Count
    attempts: _Ordinal


_RUN: Final = TypeAdapter[Any](_Run)
_TRIAL: Final = TypeAdapter[Any](_Trial)


def find_faults(record: dict[str, Any]) -> Iterator[tuple[str, str]]:
    """Yield the invalid parts of a record: the place ("facts of the run", or "trial 3") and its first fault."""
    if fault := _find_fault(_RUN, record):
        yield "facts of the run", fault
        return
    for at, trial in enumerate(record["trials"], 1):
        if fault := _find_fault(_TRIAL, trial):
            yield f"trial {at}", fault


def _find_fault(kind: TypeAdapter[Any], value: object) -> str:
    try:
        kind.validate_python(value)  # only the validation matters
    except ValidationError as error:
        return _describe_fault(error.errors(include_url=False), value)
    return ""


def _describe_fault(errors: Sequence[Mapping[str, Any]], value: object) -> str:
    """Return the first fault of a value in words."""
    first = errors[0]
    path = _fault_path(first, value)
    if first["type"] == "missing":
        return f"{path!r} is missing"
    # A value that matches no member of a union has an error for each member.
    expected = dict.fromkeys(_describe_expected(error) for error in errors if _fault_path(error, value) == path)
    return f"{path}: found {_describe_value(first['input'])}, expected {' or '.join(expected)}".removeprefix(": ")


def _describe_expected(fault: Mapping[str, Any]) -> str:
    words = _EXPECTED.get(fault["type"], "")
    return words.format(**fault.get("ctx", {})) or fault["msg"].removeprefix("Input should be ")


def _fault_path(fault: Mapping[str, Any], value: Any) -> str:  # noqa: ANN401
    """Return the path to the fault, such as `score.parts.f1[0]`, without the names of members of a union."""
    path = ""
    for name in fault["loc"]:
        if value is fault["input"] and fault["type"] != "missing":
            break
        value = value.get(name) if isinstance(value, dict) else value[name] if isinstance(value, list) else None
        step = f"[{name}]" if isinstance(name, int) else _quote_name(name)
        path += step if not path or step.startswith("[") else f".{step}"
    return path


def _quote_name(name: str) -> str:
    return name if name.isidentifier() and len(name) <= LONGEST else f'["{_shorten(json.dumps(name)[1:-1])}"]'


def _describe_value(value: object) -> str:
    """Return a short value as JSON; of lists and objects only their type."""
    if isinstance(value, (list, dict)):
        return "a list" if isinstance(value, list) else "an object"
    return _shorten(json.dumps(value))


def _shorten(text: str) -> str:
    return text if len(text) <= LONGEST else f"{text[: LONGEST - 1]}…"
