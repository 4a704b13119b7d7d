"""Problems of data that strangers wrote, as lines for the user; and such texts made fit to be shown."""

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
        self._shown: dict[str, list[str]] = {}
        self._counts: dict[str, int] = {}

    def add(self, kind: str, line: str) -> None:
        """Add a problem.

        Args:
            kind: What problems of its kind are called, in the plural.
            line: The line for the user.
        """
        self._counts[kind] = self._counts.get(kind, 0) + 1
        shown = self._shown.setdefault(kind, [])
        if len(shown) < PROBLEMS_SHOWN:
            shown.append(line)

    @property
    def lines(self) -> list[str]:
        """The lines for the user, those of one kind together."""
        return list(self._lines())

    def _lines(self) -> Iterator[str]:
        for kind, shown in self._shown.items():
            yield from shown
            if more := self._counts[kind] - len(shown):
                yield f"and {more} more: {kind}"


def excerpt(text: str, longest: int = 80) -> str:
    """Return a text of strangers for a message: on one line, and not too long."""
    clean = clean_text(text[: 4 * longest])
    return clean if len(clean) <= longest else f"{clean[: longest - 3]}..."


def clean_text(text: str) -> str:
    """Return a text with single spaces and without control characters."""
    if not text.isprintable():  # Cc: control characters; Cs: halves of surrogate pairs, which no file can hold
        text = "".join(" " if unicodedata.category(letter) in ("Cc", "Cs") else letter for letter in text)
    return " ".join(text.split())


def step_key(step: str) -> str:
    """Return what decides whether two texts name the same step: not case, not spaces, not the full stop at the end."""
    return " ".join(step.casefold().split()).rstrip(" .")


def kind_of_value(value: object) -> str:
    """Return the words for what a JSON value is."""
    names: tuple[tuple[type, str], ...] = (
        (bool, "true or false"),
        (str, "a text"),
        (list, "a list"),
        (dict, "an object"),
        (int, "a number"),
        (float, "a number"),
    )
    return next((name for kind, name in names if isinstance(value, kind)), "null")
