"""What a line of an export is, for pydantic, which is imported only where a line is read."""

from __future__ import annotations

import re
from collections.abc import Mapping
from datetime import datetime
from typing import Annotated, Any, Literal

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, ValidationError

from ...validation_faults import ValuePath, describe_expected, describe_value, shorten_text

_AT = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d{1,6})?(?:Z|\+00:00)", re.ASCII)


def _check_time(at: str) -> str:
    try:
        valid = _AT.fullmatch(at) and datetime.fromisoformat(at)
    except ValueError:  # the 31st of February
        valid = None
    if not valid:
        raise ValueError("a time in UTC such as 2026-03-01T10:00:00Z")
    return at


Objects = list[dict[str, Any]]
Count = Annotated[int, Field(ge=0)]
Amount = Annotated[float, Field(ge=0)]
Logprob = Annotated[float, Field(le=0)]
TextScore = Annotated[tuple[Logprob | None, Count, bool | None], Field(strict=False)]  # strict ones are no lists


class _LinePart(BaseModel):
    model_config = ConfigDict(strict=True, extra="forbid", allow_inf_nan=False)


class _ReplyPart(_LinePart):
    text: str
    tokens_in: Count | None = None
    tokens_out: Count | None = None
    tokens_reasoning: Count | None = None
    cost: Amount | None = None
    latency: Amount | None = None
    finish_reason: str = "stop"
    tool_calls: Objects = []
    source: str = ""
    logprobs: list[TextScore] = []
    embeddings: list[list[float]] = []
    retries: Count = 0
    reasoning: str = ""
    message_fields: dict[str, Any] = {}


class _RequestPart(_LinePart):
    model: str
    tools: Objects
    settings: dict[str, Any]
    repetition: Annotated[int, Field(ge=1)]


class _ChatPart(_RequestPart):
    kind: Literal["chat"]
    messages: Objects


class _EmbedPart(_RequestPart):
    kind: Literal["embed"]
    texts: list[str]


class _ScorePart(_RequestPart):
    kind: Literal["score"]
    context: str
    messages: Objects
    texts: list[str]


class _Line(_LinePart):
    at: Annotated[str, AfterValidator(_check_time)]
    key: Annotated[str, Field(pattern="^[0-9a-f]{64}$")]
    model: str
    reply: _ReplyPart
    request: Annotated[_ChatPart | _EmbedPart | _ScorePart, Field(discriminator="kind")]


def find_line_fault(value: object) -> tuple[ValuePath, str, str] | None:
    """Return the first fault of a line, None if it has none.

    Returns:
        The path to the fault, what was found there, and what was expected, both in words.
    """
    try:
        _Line.model_validate(value)
    except ValidationError as error:
        return _describe_fault(error.errors(include_url=False)[0])
    return None


def _describe_fault(fault: Mapping[str, Any]) -> tuple[ValuePath, str, str]:
    kind, path = fault["type"], fault["loc"]
    if path[0:1] == ("request",):
        path = (*path[:1], *path[2:])  # without the kind, by which pydantic chooses the model
    if kind == "missing":
        return path[:-1], f"no field {path[-1]!r}", "one"
    if kind == "extra_forbidden":
        return path, f"the field {shorten_text(repr(path[-1]))}", "no such field"
    return path, describe_value(fault["input"]), describe_expected(fault)
