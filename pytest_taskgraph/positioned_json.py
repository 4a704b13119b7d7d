"""JSON parser that keeps the position of every value, so that semantic errors can state line and column."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass

from .source import Source

MAX_DEPTH = 200  # of nested lists and objects; an inline sub-workflow takes three levels
_DECODER = json.JSONDecoder()
_SPACE = re.compile(r"[ \t\r\n\ufeff]*")
_BETWEEN = re.compile(r"(?:[ \t\r\n\ufeff]+|//[^\n]*)*")  # white space and heading lines
_SCALAR = re.compile(r'["\-0-9]|true|false|null')


@dataclass(frozen=True, slots=True)
class Node:
    """A JSON value, the offset at which it starts, and those of the keys if it is an object."""

    value: bool | int | float | str | list[Node] | dict[str, Node] | None
    start: int
    keys: dict[str, int]

    @property
    def plain(self) -> str:
        """Return the value in a few words, for errors."""
        if isinstance(self.value, (list, dict)):
            return "a list" if isinstance(self.value, list) else "an object"
        text = json.dumps(self.value, ensure_ascii=False)
        return text if len(text) <= 40 else text[:37] + "..."


def documents(source: Source) -> Iterator[Node]:
    """Yield the JSON values of the text in their order; lines between them that start with // are skipped.

    Raises:
        ReadError: for invalid JSON, a duplicate key, a number that is not finite or has thousands of digits, half a
            surrogate pair, and nesting deeper than MAX_DEPTH.
    """
    offset = _skip(source, _BETWEEN, 0)
    while offset < len(source.text):
        value, offset = read_value(source, offset)
        yield value
        offset = _skip(source, _BETWEEN, offset)


def read_value(source: Source, offset: int, depth: int = 0) -> tuple[Node, int]:
    """Return the value that starts at the offset, and the offset behind it. Raises ReadError."""
    if depth > MAX_DEPTH:
        source.fail(offset, "a value nested too deeply", f"at most {MAX_DEPTH} lists and objects inside one another")
    opening = source.text[offset : offset + 1]
    if opening == "{":
        return _object(source, offset, depth)
    if opening == "[":
        return _list(source, offset, depth)
    return _scalar(source, offset)


def _skip(source: Source, pattern: re.Pattern[str], offset: int) -> int:
    match = pattern.match(source.text, offset)
    return match.end() if match else offset


def _scalar(source: Source, offset: int) -> tuple[Node, int]:
    if not _SCALAR.match(source.text, offset):
        source.fail(offset, source.seen(offset), "a JSON value")
    try:
        value, end = _DECODER.raw_decode(source.text, offset)
    except json.JSONDecodeError as error:
        source.fail(error.pos, source.seen(error.pos), f"JSON ({error.msg})")
    except ValueError:
        source.fail(offset, "a number of thousands of digits", "a shorter number")
    if isinstance(value, float) and not abs(value) < float("inf"):
        source.fail(offset, "a number that is not finite", "a finite number")
    if isinstance(value, str) and any("\ud800" <= sign <= "\udfff" for sign in value):
        source.fail(offset, "half a surrogate pair", "Unicode text")
    return Node(value, offset, {}), end


def _list(source: Source, start: int, depth: int) -> tuple[Node, int]:
    values: list[Node] = []
    offset = _skip(source, _SPACE, start + 1)
    while not source.text.startswith("]", offset):
        value, offset = read_value(source, offset, depth + 1)
        values.append(value)
        offset = _next(source, offset, "]")
    return Node(values, start, {}), offset + 1


def _object(source: Source, start: int, depth: int) -> tuple[Node, int]:
    members: dict[str, Node] = {}
    keys: dict[str, int] = {}
    offset = _skip(source, _SPACE, start + 1)
    while not source.text.startswith("}", offset):
        key, key_offset = _key(source, offset), offset
        if key in keys:
            source.fail(key_offset, f"the key {key!r} a second time", "each key once")
        keys[key] = key_offset
        offset = _skip(source, _SPACE, _scalar(source, key_offset)[1])
        if not source.text.startswith(":", offset):
            source.fail(offset, source.seen(offset), "':' after a key")
        members[key], offset = read_value(source, _skip(source, _SPACE, offset + 1), depth + 1)
        offset = _next(source, offset, "}")
    return Node(members, start, keys), offset + 1


def _key(source: Source, offset: int) -> str:
    if not source.text.startswith('"', offset):
        source.fail(offset, source.seen(offset), "a key in double quotes")
    return str(_scalar(source, offset)[0].value)


def _next(source: Source, offset: int, closing: str) -> int:
    """Return the offset of the next value or key, or of the closing bracket."""
    offset = _skip(source, _SPACE, offset)
    if source.text.startswith(closing, offset):
        return offset
    if not source.text.startswith(",", offset):
        source.fail(offset, source.seen(offset), f"',' or {closing!r}")
    after = _skip(source, _SPACE, offset + 1)
    if source.text.startswith(closing, after):
        source.fail(after, repr(closing), "a value after ','")
    return after
