"""A text that is being read, with its name, so that every error can tell the place."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NoReturn

from .errors import ReadError


@dataclass(frozen=True, slots=True)
class Source:
    """A text and what it is called in errors: a path, or nothing."""

    text: str
    where: str = ""

    def fail(self, offset: int, found: str, expected: str) -> NoReturn:
        """Raise the ReadError of that place; line and column are counted from 1."""
        line = self.text.count("\n", 0, offset) + 1
        column = offset - self.text.rfind("\n", 0, offset)
        raise ReadError(self.where, line, column, found, expected)

    def seen(self, offset: int) -> str:
        """What stands there, in a few words: the beginning of the rest of the line, or the end of the text."""
        rest = self.text[offset : offset + 40].split("\n")[0].rstrip()
        if rest:
            return repr(rest if len(rest) <= 24 else rest[:21] + "...")
        return "the end of the line" if offset < len(self.text) else "the end of the text"
