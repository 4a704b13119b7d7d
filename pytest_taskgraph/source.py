"""A text that is being parsed, with its name, so that every error can state the place."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NoReturn

from .errors import ReadError


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
