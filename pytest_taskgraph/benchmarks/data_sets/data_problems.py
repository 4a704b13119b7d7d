"""Problems in data of unknown origin, as lines for the user, and texts of such data made safe for messages."""

from __future__ import annotations

import unicodedata
from collections.abc import Callable, Iterator
from typing import Final

PROBLEMS_SHOWN: Final = 5  # of one kind

Note = Callable[[str, str], None]
"""Takes a kind of problems, in the plural, and the problem itself."""


class DataProblems:
    """Problems of the data: the first of each kind in full, and the number of the others."""

    def __init__(self) -> None:
        self._first_lines: dict[str, list[str]] = {}
        self._counts: dict[str, int] = {}

    def add(self, kind: str, line: str) -> None:
        """Add a problem.

        Args:
            kind: The name of its kind, in the plural.
            line: The line for the user.
        """
        self._counts[kind] = self._counts.get(kind, 0) + 1
        lines = self._first_lines.setdefault(kind, [])
        if len(lines) < PROBLEMS_SHOWN:
            lines.append(line)

    @property
    def lines(self) -> list[str]:
        """Return the lines for the user, those of one kind together."""
        return list(self._lines())

    def _lines(self) -> Iterator[str]:
        for kind, lines in self._first_lines.items():
            yield from lines
            if more := self._counts[kind] - len(lines):
                yield f"and {more} more: {kind}"


def excerpt(text: str, longest: int = 80) -> str:
    """Return a text for a message: on one line, and cut to `longest` characters."""
    clean = clean_text(text[: 4 * longest])
    return clean if len(clean) <= longest else f"{clean[: longest - 3]}..."


def clean_text(text: str) -> str:
    """Return a text with single spaces and without control characters."""
    if not text.isprintable():  # Cc: control characters; Cs: halves of surrogate pairs, which no file can hold
        text = "".join(" " if unicodedata.category(letter) in ("Cc", "Cs") else letter for letter in text)
    return " ".join(text.split())


def step_key(step: str) -> str:
    """Return a key that texts of the same step share: without case, extra spaces and the full stop at the end."""
    return " ".join(step.casefold().split()).rstrip(" .")


def kind_of_value(value: object) -> str:
    """Return a description of the type of a JSON value."""
    names: tuple[tuple[type, str], ...] = (
        (bool, "true or false"),
        (str, "a text"),
        (list, "a list"),
        (dict, "an object"),
        (int, "a number"),
        (float, "a number"),
    )
    return next((name for kind, name in names if isinstance(value, kind)), "null")
