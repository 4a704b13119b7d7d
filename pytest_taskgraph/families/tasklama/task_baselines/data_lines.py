"""Files of users that are read line by line: a line that cannot be used is reported, the others are used."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Final

from ....errors import UsageError
from ....scoring.name_lists import quote_start

LONGEST_LINE: Final = 100_000  # bytes
_MOST_REPORTED = 5  # lines that have a message each


class LineProblems:
    """The lines of a file that cannot be used: the first few with what is wrong, the others counted."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._messages: list[str] = []
        self._more = 0

    def add(self, line: int, found: str, expected: str) -> None:
        """Add a line.

        Args:
            line: Its number, from 1.
            found: What it holds, in words.
            expected: What it should hold.
        """
        if len(self._messages) < _MOST_REPORTED:
            self._messages.append(f"{self._path}:{line}: found {found}, expected {expected}")
        else:
            self._more += 1

    def messages(self) -> tuple[str, ...]:
        """Return a message for each of the first lines, and one for the number of the others."""
        further = f"{self._path}: {self._more} further problem{'s' if self._more != 1 else ''} of this kind"
        return (*self._messages, *([further] if self._more else []))


def printable(text: str) -> str:
    """Return the text with a blank for each letter that cannot be printed, such as controls and lone surrogates."""
    return text if text.isprintable() else "".join(letter if letter.isprintable() else " " for letter in text)


def read_lines(path: Path, problems: LineProblems) -> Iterator[tuple[int, str]]:
    """Yield the lines of a UTF-8 file that are not empty, each with its number from 1 and without its end.

    Args:
        path: The file.
        problems: Gets the lines that are too long or no UTF-8.

    Raises:
        UsageError: if the file cannot be read.
    """
    try:
        with path.open("rb") as file:
            number = 0
            while line := file.readline(LONGEST_LINE + 1):
                number += 1
                if len(line) > LONGEST_LINE and not line.endswith(b"\n"):
                    problems.add(number, "a longer line", f"at most {LONGEST_LINE:,} bytes")
                    while line and not line.endswith(b"\n"):
                        line = file.readline(LONGEST_LINE)
                    continue
                try:
                    text = line.decode("utf-8-sig" if number == 1 else "utf-8").rstrip("\r\n")
                except UnicodeDecodeError as error:
                    problems.add(number, f"the byte {line[error.start]:#04x}", "text in UTF-8")
                    continue
                if text.strip():
                    yield number, text
    except OSError as error:
        raise UsageError(
            f"--taskgraph-data: {path} cannot be read: {error.strerror or quote_start(str(error))}"
        ) from error
