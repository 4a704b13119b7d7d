"""Files of JSON objects, one per line, of unknown origin: lines that cannot be read are noted, the others are used."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any, Final

from .data_problems import DataProblems, Note, excerpt, kind_of_value

LONGEST_LINE: Final = 1_000_000  # bytes
MOST_LINES: Final = 100_000  # of a file


def read_objects(content: bytes, file: str, item: str, problems: DataProblems) -> Iterator[tuple[str, dict[str, Any]]]:
    """Yield the objects of a file, each with its place for problems, such as "test.jsonl, line 3".

    A byte-order mark and Windows line ends are allowed.

    Args:
        content: The bytes of the file.
        file: Its name in problems.
        item: What a line holds, with an article, such as "a task".
        problems: Receives the lines that cannot be used.
    """
    for place, line in numbered_lines(content, file, problems):

        def note(kind: str, problem: str, place: str = place) -> None:
            problems.add(kind, f"{place}: {problem}")

        record = _object(line.strip(), item, note)
        if record is not None:
            yield place, record


def numbered_lines(content: bytes, file: str, problems: DataProblems) -> Iterator[tuple[str, bytes]]:
    """Yield the lines of a file, without a byte-order mark, each with its place; an excess of lines is a problem."""
    lines = content.removeprefix(b"\xef\xbb\xbf").split(b"\n", MOST_LINES)
    if len(lines) > MOST_LINES and lines.pop():
        problems.add("files with too many lines", f"{excerpt(file)}: only its first {MOST_LINES} lines are read")
    for number, line in enumerate(lines, 1):
        yield f"{excerpt(file)}, line {number}", line


def decode_line(line: bytes, note: Note) -> str | None:
    """Return the text of a line; None if it is empty, too long or not UTF-8, of which the latter two are noted."""
    if len(line) > LONGEST_LINE:
        note("lines that are too long", f"the line has {len(line)} bytes, more than {LONGEST_LINE}; it is left out")
        return None
    try:
        return line.decode("utf-8") or None
    except UnicodeDecodeError as error:
        note("lines that are not UTF-8", f"byte {error.start + 1} of the line is not UTF-8; the line is left out")
        return None


def _object(line: bytes, item: str, note: Note) -> dict[str, Any] | None:
    """Return the object that a line holds; None if it is empty or cannot be used, which is noted."""
    text = decode_line(line, note)
    if text is None:
        return None
    try:
        value = json.loads(text)
    except (ValueError, RecursionError) as error:
        note("broken lines", f"broken JSON ({excerpt(str(error))}); the line is left out")
        return None
    if not isinstance(value, dict):
        note("broken lines", f"the line holds {kind_of_value(value)}; expected an object with {item}; it is left out")
        return None
    return value
