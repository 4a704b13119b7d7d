"""What the parts of a record must be, as docs/reference/record.schema.json says, for what is read of them to be usable.

Records are read back from files that anyone may have changed. The hints of the dataclasses say most of what is
expected; here stands what is written in another way than it is declared, and how large a value may be. This imports
pydantic, so it is imported where a record is read, and not before.
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

DEEPEST: Final = 100  # levels of lists and objects in a value of any kind
MOST: Final = 1e100  # of a number that has no range of its own: sums and squares of such are finite
MOST_WHOLE: Final = 10**18
LONGEST: Final = 40  # characters of what was found, and of a name in a path

# Where pydantic does not speak of JSON as people do, or says it at length; else its own words stand.
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


def _shallow(value: Any, *, room: int = DEEPEST) -> Any:  # noqa: ANN401
    """The value, in which no more lists and objects stand in one another than what walks through them can bear."""
    if type(value) in (list, dict):
        if not room:
            raise ValueError(f"at most {DEEPEST} levels of lists and objects")
        for one in value if type(value) is list else value.values():
            _shallow(one, room=room - 1)
    return value


def _part(pair: list[float]) -> list[float]:
    if not is_part(pair):
        raise ValueError("a numerator and a denominator of at least 0")
    return pair


_Value = Annotated[Any, AfterValidator(_shallow)]
_Number = Annotated[float, Field(ge=-MOST, le=MOST)]
_Whole = Annotated[int, Field(ge=-MOST_WHOLE, le=MOST_WHOLE)]
_Share = Annotated[float, Field(ge=0, le=1)]
_Count = Annotated[int, Field(ge=0, le=MOST_WHOLE)]
_Ordinal = Annotated[int, Field(ge=1, le=MOST_WHOLE)]
# What these names stand for in the hints of the dataclasses.
_MEANT: Final = {"Any": _Value, "Json": _Value, "float": _Number, "int": _Whole}


def _as(kind: type, spare: AbstractSet[str] = frozenset()) -> Callable[[type], Any]:
    """What makes a class the model of the JSON of a dataclass: fields are as declared there but for those of the class.

    Fields with a default may be left out, and those that are `spare`. Members besides are those of a later version: not
    looked at.
    """
    default = {one.name for one in fields(kind) if one.default is not MISSING or one.default_factory is not MISSING}

    def model(differing: type) -> Any:  # noqa: ANN401
        own = get_type_hints(differing, include_extras=True)
        hints = get_type_hints(kind, localns=_MEANT, include_extras=True) | own
        members: Any = {name: (hint, None if name in default | spare else ...) for name, hint in hints.items()}
        return create_model(differing.__name__, __config__=ConfigDict(strict=True), **members)

    return model


@_as(DiagramNode)
class _Node: ...


@_as(DiagramEdge)
class _Edge: ...


@_as(DiagramGroup)
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


@_as(RunCase)
class _Verdict: ...


@_as(Usage)
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


@_as(Column)
class _Column:
    reports: list[str]


@_as(TableLayout)
class _Layout: ...


@_as(ReferenceValue)
class _ReferenceValue: ...


@_as(TableSpec)
class _TableSpec:
    columns: list[_Column]
    groups: list[str]
    references: list[_ReferenceValue]
    layouts: list[_Layout]


@_as(Aggregate)
class _Aggregate:
    of: list[str]


@_as(FamilyDescription)
class _Family:
    presented_by: list[str]
    groups: list[str]
    sections: list[str]
    question_set: _Count | None
    aggregates: list[_Aggregate]
    tables: list[_TableSpec]


@_as(About, spare={"diagrams", "graded", "tables", "totals"})
class _Run:
    """All but the trials, of which no more is looked at than that they are a list."""

    models: list[str]
    prompts: list[str]
    lost: list[str]
    parsing: Parsing
    fail_on: list[Literal["answers", "gates", "regression", "inconclusive", "missing"]]
    questions: _Count | None
    gates: list[_Verdict]
    usage: _Usage | None
    trials: list[Any]
    texts: dict[str, str]
    # What was made of a diagram is dropped before the next is looked at.
    diagrams: dict[str, Annotated[_Diagram, AfterValidator(lambda _: None)]]
    families: list[_Family]
    totals: list[dict[str, _Value]]
    graded: list[dict[str, _Value]]
    tables: list[dict[str, _Value]]


@_as(Question)
class _Question:
    prompt: list[str]
    chance: _Share | None
    repetition: _Ordinal


@_as(Reply)
class _Reply:
    tokens_in: _Count | None
    tokens_out: _Count | None
    retries: _Count


@_as(Score)
class _Score:
    value: _Share
    parts: dict[str, Annotated[list[_Number], AfterValidator(_part)]]


@_as(Failure)
class _Failure: ...


class _Message(BaseModel, strict=True):
    role: str
    digest: Annotated[str, Field(pattern="^[0-9a-f]{64}$")]


class _Exchange(BaseModel, strict=True):
    """What reports and new scores look at; records of earlier versions have no messages."""

    role: str = ""
    messages: list[_Message] = []
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
    cost: _Number | None = None
    latency: _Number | None = None
    stored: bool = False
    source: str = ""
    finish_reason: str = ""


@_as(Trial)
class _Trial:
    question: _Question
    reply: _Reply | None
    score: _Score | None
    failure: _Failure | None
    exchanges: list[_Exchange]
    diagram: None  # it stands in `diagrams`
    diagram_pair: _DiagramPair | None
    texts: None  # they stand in `texts` of the record
    requests: _Count
    retries: _Count
    attempts: _Ordinal


_RUN: Final = TypeAdapter[Any](_Run)
_TRIAL: Final = TypeAdapter[Any](_Trial)


def find_faults(record: dict[str, Any]) -> Iterator[tuple[str, str]]:
    """What is not as it must be: where ("what the run was", or "trial 3"), and the first fault there, in words."""
    if told := _fault(_RUN, record):
        yield "what the run was", told
        return
    for at, one in enumerate(record["trials"], 1):
        if told := _fault(_TRIAL, one):
            yield f"trial {at}", told


def _fault(kind: TypeAdapter[Any], value: object) -> str:
    try:
        kind.validate_python(value)  # what it makes of the value is dropped
    except ValidationError as error:
        return _told(error.errors(include_url=False), value)
    return ""


def _told(found: Sequence[Mapping[str, Any]], value: object) -> str:
    """The first of the faults of a value, in words."""
    first = found[0]
    path = _path(first, value)
    if first["type"] == "missing":
        return f"{path!r} is missing"
    # A value that is of none of several kinds has a fault for each.
    expected = dict.fromkeys(_expected(one) for one in found if _path(one, value) == path)
    return f"{path}: found {_shown(first['input'])}, expected {' or '.join(expected)}".removeprefix(": ")


def _expected(fault: Mapping[str, Any]) -> str:
    words = _EXPECTED.get(fault["type"], "")
    return words.format(**fault.get("ctx", {})) or fault["msg"].removeprefix("Input should be ")


def _path(fault: Mapping[str, Any], value: Any) -> str:  # noqa: ANN401
    """Where the fault is, as in `score.parts.f1[0]`; the names that pydantic gives to the kinds of a union left out."""
    path = ""
    for name in fault["loc"]:
        if value is fault["input"] and fault["type"] != "missing":
            break
        value = value.get(name) if isinstance(value, dict) else value[name] if isinstance(value, list) else None
        step = f"[{name}]" if isinstance(name, int) else _quoted(name)
        path += step if not path or step.startswith("[") else f".{step}"
    return path


def _quoted(name: str) -> str:
    return name if name.isidentifier() and len(name) <= LONGEST else f'["{_cut(json.dumps(name)[1:-1])}"]'


def _shown(value: object) -> str:
    """What was found: a short value as JSON, of lists and objects only what they are."""
    if isinstance(value, (list, dict)):
        return "a list" if isinstance(value, list) else "an object"
    return _cut(json.dumps(value))


def _cut(text: str) -> str:
    return text if len(text) <= LONGEST else f"{text[: LONGEST - 1]}…"
