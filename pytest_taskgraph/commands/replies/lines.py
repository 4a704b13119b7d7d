"""Entries of the store as lines of JSON, and back: the same entry always gives the same line.

    {"at": "2026-03-01T10:00:00Z", "key": "5e1f…", "model": "…", "reply": {…}, "request": {…}}

A line is checked as far as possible: the types of all fields, and the key, which is computed again from the request.
Lines are untrusted; reading one gives an entry that the store could have written, or a ReadError.
"""

from __future__ import annotations

import json
import math
import re
from dataclasses import dataclass
from typing import Any, cast

from ...errors import ReadError
from ...models.request_key import canonical, digest, public_settings
from ...positioned_json import Node, read_value
from ...redaction import public_name
from ...reports.escape import one_line
from ...source import Source
from ...validation_faults import ValuePath, describe_value

# Characters that no editor or terminal shows: C1 and DEL, separators and marks of direction, lone surrogates.
_HIDDEN = re.compile("[\x7f-\x9f\u00ad\u061c\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff\ud800-\udfff]")


@dataclass(frozen=True, slots=True)
class StoredEntry:
    """A reply as the store has it; `request` and `reply` are JSON texts."""

    key: str
    model: str
    request: str
    reply: str
    at: str


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
    from .line_schema import find_line_fault  # brings pydantic

    text = _decode(line, where, number)
    try:
        whole = _parse(text, where, number)
        fault = find_line_fault(whole) or _find_conflict(whole)
    except (ValueError, RecursionError) as error:  # numbers out of range or of thousands of digits, deep nesting
        problem = f"no usable JSON ({one_line(str(error), 80)})"
        raise ReadError(where, number, 1, problem, "one JSON object a line") from None
    if fault:
        path, found, expected = fault
        raise ReadError(where, number, _column(text, path), found, expected)
    return StoredEntry(
        whole["key"], whole["model"], canonical(whole["request"]), canonical(whole["reply"]), whole["at"]
    )


def _decode(line: bytes, where: str, number: int) -> str:
    try:
        return line.decode()
    except UnicodeDecodeError as error:
        before = line[: error.start].decode()
        raise ReadError(where, number, len(before) + 1, f"the byte 0x{line[error.start]:02x}", "UTF-8") from None


def _parse(text: str, where: str, number: int) -> Any:  # noqa: ANN401 - any JSON
    try:
        return json.loads(
            text, object_pairs_hook=_reject_duplicate_keys, parse_float=_parse_finite, parse_constant=_parse_finite
        )
    except json.JSONDecodeError as error:
        raise ReadError(where, number, error.colno, f"no JSON ({error.msg})", "one JSON object a line") from None


def _reject_duplicate_keys(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    members = dict(pairs)
    if len(members) != len(pairs):
        raise ValueError("a key stands twice in one object")
    return members


def _parse_finite(text: str) -> float:
    number = float(text)
    if not math.isfinite(number):
        raise ValueError(f"the number {text[:20]} is not finite")
    return number


def _column(text: str, path: ValuePath) -> int:
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


def _find_conflict(whole: dict[str, Any]) -> tuple[ValuePath, str, str] | None:
    """Return what does not fit the rest of a line, as `find_line_fault` does, None if all fits."""
    model, request = whole["model"], whole["request"]
    if request["model"] != model:
        expected = f"the model of the entry, {one_line(model, 60)!r}"
        return ("request", "model"), describe_value(request["model"]), expected
    if public_name(model) != model:
        return ("model",), "an address with a password or key", "one without"
    if public_settings(request["settings"]) != request["settings"]:
        problem = "settings that hold a key, a password or a time limit"
        return ("request", "settings"), problem, "only settings that the store keeps"
    if (own := digest(request)) != whole["key"]:
        return ("key",), one_line(whole["key"], 16), f"the key of this request, {own}"
    return None
