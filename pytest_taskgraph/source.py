"""A text that is being parsed, with its name, so that every error can state the place; the lines of a file."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import IO, Final, NoReturn

from .errors import ReadError

LONGEST_LINE: Final = 2**28  # bytes of a line of a file; /dev/zero is a line without end


@dataclass(frozen=True, slots=True)
class Source:
    """A text and its name in errors: a path, or the empty text."""

    text: str
    where: str = ""

    def fail(self, offset: int, found: str, expected: str) -> NoReturn:
        """Raise a ReadError about the text at an offset.

        Args:
            offset: The offset in the text.
            found: What stands there, in words.
            expected: What the notation expects there, in words.
        """
        line = self.text.count("\n", 0, offset) + 1
        column = offset - self.text.rfind("\n", 0, offset)
        raise ReadError(self.where, line, column, found, expected)

    def seen(self, offset: int) -> str:
        """Return what stands at an offset, for errors: the start of the rest of the line, or the end of the text."""
        rest = self.text[offset : offset + 40].split("\n")[0].rstrip()
        if rest:
            return repr(rest if len(rest) <= 24 else rest[:21] + "...")
        return "the end of the line" if offset < len(self.text) else "the end of the text"


def bounded_lines(file: IO[bytes], where: str) -> Iterator[tuple[int, bytes]]:
    """Yield the lines of a file of JSON lines that are not blank, each with its number.

    Raises:
        ReadError: if a line is longer than LONGEST_LINE.
    """
    number = 0
    while line := file.readline(LONGEST_LINE + 1):
        number += 1
        if len(line) > LONGEST_LINE:
            raise ReadError(where, number, 1, f"a line of more than {LONGEST_LINE} bytes", "one JSON object a line")
        if line.strip():
            yield number, line
