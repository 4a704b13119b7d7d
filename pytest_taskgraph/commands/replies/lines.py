"""Entries of the store as lines of JSON, and back: the same entry always gives the same line.

    {"at": "2026-03-01T10:00:00Z", "key": "5e1f…", "model": "…", "reply": {…}, "request": {…}}

A line is checked as far as possible: the types of all fields, and the key, which is computed again from the request.
Lines are untrusted; reading one gives an entry that the store could have written, or a ReadError.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Callable
from dataclasses import dataclass, fields
from datetime import datetime
from typing import Any, Final, cast

from ...errors import ReadError
from ...models.request_key import canonical, digest, public_settings
from ...positioned_json import Node, read_value
from ...redaction import public_name
from ...reports.escape import one_line
from ...source import Source
from ...trial import Reply

FIELDS: Final = ("at", "key", "model", "reply", "request")
KINDS: Final = ("chat", "score", "embed")

_KEY = re.compile(r"[0-9a-f]{64}")
_AT = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d{1,6})?(?:Z|\+00:00)", re.ASCII)
# Characters that no editor or terminal shows: C1 and DEL, separators and marks of direction, lone surrogates.
_HIDDEN = re.compile("[\x7f-\x9f\u00ad\u061c\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff\ud800-\udfff]")

Value = Any  # a JSON value
Path = tuple[str | int, ...]


@dataclass(frozen=True, slots=True)
class StoredEntry:
    """A reply as the store has it; `request` and `reply` are JSON texts."""

    key: str
    model: str
    request: str
    reply: str
    at: str


class _FieldError(Exception):
    """A wrong value at a path inside a line: what was found, and what was expected."""

    def __init__(self, path: Path, found: str, expected: str) -> None:
        super().__init__(found)
        self.path, self.found, self.expected = path, found, expected


def format_line(entry: StoredEntry) -> str:
    """Return the line of the entry, without its end; characters that do not show are escapes.

    Raises:
        ValueError, RecursionError: if the request or the reply of the entry is no valid JSON.
    """
    whole = {
        "at": entry.at,
        "key": entry.key,
        "model": entry.model,
        "reply": json.loads(entry.reply),
        "request": json.loads(entry.request),
    }
    text = json.dumps(whole, ensure_ascii=False, sort_keys=True, allow_nan=False)
    return _HIDDEN.sub(lambda match: f"\\u{ord(match[0]):04x}", text)


def read_line(line: bytes, where: str, number: int) -> StoredEntry:
    """Return the entry of a line.

    Raises:
        ReadError: with the column, if the store does not write such a line.
    """
    text = _decode(line, where, number)
    try:
        whole = _parse(text, where, number)
        return _parse_entry(whole)
    except _FieldError as error:
        raise ReadError(where, number, _column(text, error.path), error.found, error.expected) from None
    except (ValueError, RecursionError) as error:  # numbers out of range or of thousands of digits, deep nesting
        problem = f"no usable JSON ({one_line(str(error), 80)})"
        raise ReadError(where, number, 1, problem, "one JSON object a line") from None


def _decode(line: bytes, where: str, number: int) -> str:
    try:
        return line.decode()
    except UnicodeDecodeError as error:
        before = line[: error.start].decode()
        raise ReadError(where, number, len(before) + 1, f"the byte 0x{line[error.start]:02x}", "UTF-8") from None


def _parse(text: str, where: str, number: int) -> Value:
    try:
        return json.loads(
            text, object_pairs_hook=_reject_duplicate_keys, parse_float=_parse_finite, parse_constant=_parse_finite
        )
    except json.JSONDecodeError as error:
        raise ReadError(where, number, error.colno, f"no JSON ({error.msg})", "one JSON object a line") from None


def _reject_duplicate_keys(pairs: list[tuple[str, Value]]) -> dict[str, Value]:
    members = dict(pairs)
    if len(members) != len(pairs):
        raise ValueError("a key stands twice in one object")
    return members


def _parse_finite(text: str) -> float:
    number = float(text)
    if not math.isfinite(number):
        raise ValueError(f"the number {text[:20]} is not finite")
    return number


def _column(text: str, path: Path) -> int:
    """Return the column, from 1, of the value at the path, or of the nearest object around it."""
    try:
        node, _ = read_value(Source(text), len(text) - len(text.lstrip()))
    except ReadError as error:  # stricter than the library: half a surrogate pair, more than 200 levels
        return error.column
    for step in path:
        inner = cast("dict[str | int, Node] | list[Node]", node.value)
        try:
            node = inner[step]  # type: ignore[index]
        except (KeyError, IndexError):
            break
    return node.start + 1


def _parse_entry(whole: Value) -> StoredEntry:
    _check_object((), whole)
    if set(whole) != set(FIELDS):
        strange = next((name for name in whole if name not in FIELDS), None)
        raise _FieldError(
            () if strange is None else (strange,), _describe_fields(whole), f"the fields {', '.join(FIELDS)}"
        )
    for name in ("at", "key", "model"):
        _check_value((name,), whole[name], _is_text, "a text")
    _check_value(("at",), whole["at"], _is_time, "a time in UTC such as 2026-03-01T10:00:00Z")
    _check_value(("key",), whole["key"], lambda key: bool(_KEY.fullmatch(key)), "64 hexadecimal digits")
    _check_reply(whole["reply"])
    _check_request(whole["request"], whole["model"], whole["key"])
    return StoredEntry(
        whole["key"], whole["model"], canonical(whole["request"]), canonical(whole["reply"]), whole["at"]
    )


def _describe_fields(value: dict[str, Value]) -> str:
    return "an object of " + (", ".join(one_line(name, 40) for name in list(value)[:8]) or "no fields")


def _check_value(path: Path, value: Value, fits: Callable[[Value], bool], expected: str) -> None:
    if not fits(value):
        raise _FieldError(path, one_line(json.dumps(value, ensure_ascii=False), 60), expected)


def _check_object(path: Path, value: Value) -> None:
    _check_value(path, value, lambda member: isinstance(member, dict), "an object")


def _is_text(value: Value) -> bool:
    return isinstance(value, str)


def _is_count(value: Value) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and value >= 0


def _is_number(value: Value) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def _is_amount(value: Value) -> bool:
    return _is_number(value) and value >= 0


def _is_time(value: str) -> bool:
    try:
        return bool(_AT.fullmatch(value) and datetime.fromisoformat(value))
    except ValueError:  # the 31st of February
        return False


def _is_list_of(fits: Callable[[Value], bool]) -> Callable[[Value], bool]:
    return lambda value: isinstance(value, list) and all(map(fits, value))


def _is_logprob(value: Value) -> bool:
    return (
        isinstance(value, list)
        and len(value) == 3
        and (value[0] is None or (_is_number(value[0]) and value[0] <= 0))
        and _is_count(value[1])
        and (value[2] is None or isinstance(value[2], bool))
    )


_OBJECTS = _is_list_of(lambda value: isinstance(value, dict))
_REPLY: Final[dict[str, tuple[Callable[[Value], bool], str]]] = {
    "text": (_is_text, "a text"),
    "tokens_in": (_is_count, "a whole number from 0"),
    "tokens_out": (_is_count, "a whole number from 0"),
    "cost": (_is_amount, "a number from 0"),
    "latency": (_is_amount, "a number from 0"),
    "finish_reason": (_is_text, "a text"),
    "tool_calls": (_OBJECTS, "a list of objects"),
    "source": (_is_text, "a text"),
    "logprobs": (_is_list_of(_is_logprob), "a list of [log-probability, tokens, greedy]"),
    "embeddings": (_is_list_of(_is_list_of(_is_number)), "a list of lists of numbers"),
    "retries": (_is_count, "a whole number from 0"),
    "reasoning": (_is_text, "a text"),
    "tokens_reasoning": (_is_count, "a whole number from 0"),
    "message_fields": (lambda value: isinstance(value, dict), "an object"),
}
_UNKNOWN_ALLOWED: Final = frozenset(field.name for field in fields(Reply) if field.default is None)


def _check_reply(reply: Value) -> None:
    _check_object(("reply",), reply)
    if "text" not in reply:
        raise _FieldError(("reply",), "no 'text'", "a reply with its text")
    for name, value in reply.items():
        if name not in _REPLY:
            raise _FieldError(("reply", name), f"the field {one_line(name, 40)!r}", f"only {', '.join(_REPLY)}")
        fits, expected = _REPLY[name]
        if not (value is None and name in _UNKNOWN_ALLOWED):
            _check_value(("reply", name), value, fits, expected)


_REQUEST: Final[dict[str, tuple[Callable[[Value], bool], str]]] = {
    "model": (_is_text, "a text"),
    "kind": (lambda value: value in KINDS, f"one of {', '.join(KINDS)}"),
    "messages": (_OBJECTS, "a list of objects"),
    "texts": (_is_list_of(_is_text), "a list of texts"),
    "context": (_is_text, "a text"),
    "tools": (_OBJECTS, "a list of objects"),
    "settings": (lambda value: isinstance(value, dict), "an object"),
    "repetition": (lambda value: _is_count(value) and value > 0, "a whole number from 1"),
}
_CONTENT: Final = {"chat": ("messages",), "embed": ("texts",), "score": ("context", "messages", "texts")}
_OTHERS: Final = ("tools", "settings", "repetition")


def _check_request(request: Value, model: str, key: str) -> None:
    _check_object(("request",), request)
    kind = request.get("kind")
    expected = {"model", "kind", *_CONTENT.get(kind if isinstance(kind, str) else "", ("texts",)), *_OTHERS}
    if set(request) != expected:
        raise _FieldError(("request",), _describe_fields(request), f"the fields {', '.join(sorted(expected))}")
    for name, value in request.items():
        _check_value(("request", name), value, *_REQUEST[name])
    if request["model"] != model:
        problem = one_line(json.dumps(request["model"]), 60)
        raise _FieldError(("request", "model"), problem, f"the model of the entry, {one_line(model, 60)!r}")
    if public_name(model) != model:
        raise _FieldError(("model",), "an address with a password or key", "one without")
    if public_settings(request["settings"]) != request["settings"]:
        problem = "settings that hold a key, a password or a time limit"
        raise _FieldError(("request", "settings"), problem, "only settings that the store keeps")
    if (own := digest(request)) != key:
        raise _FieldError(("key",), one_line(key, 16), f"the key of this request, {own}")
