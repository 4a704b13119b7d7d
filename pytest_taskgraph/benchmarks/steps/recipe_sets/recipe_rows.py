"""The rows of a large CSV file, read as a stream: broken ones are skipped and noted, and reading goes on after them.

A quotation mark that is never closed makes a CSV reader swallow what follows. Quotation marks are therefore read
strictly, a row has a largest size, and after a broken row of several lines reading goes on at its second line.
"""

from __future__ import annotations

import csv
from collections import deque
from collections.abc import Iterator
from typing import IO, Final

from ...data_sets.data_problems import DataProblems, excerpt

LARGEST_ROW: Final = 500_000  # bytes; also of a line
MOST_RESUMED: Final = 1_000  # broken rows whose further lines are read again, so that hostile files take no more time


class _RowTooLargeError(csv.Error):
    """A row is larger than rows may be."""


class _RowLines:
    """The lines of a file for a CSV reader, with the number of each, and those of the current row kept.

    A byte-order mark is passed over. A byte that is not UTF-8 becomes a replacement character, so that its row stays
    whole; such lines are counted.
    """

    def __init__(self, file: IO[bytes]) -> None:
        self._file = file
        self._waiting: deque[tuple[int, str]] = deque()
        self._row: list[tuple[int, str]] = []
        self._size = 0
        self._number = 0
        self._resumed = 0
        self.read = 0  # bytes
        self.too_long: list[int] = []
        self.undecodable = 0

    def __iter__(self) -> _RowLines:
        return self

    def __next__(self) -> str:
        number, line = self._waiting.popleft() if self._waiting else self._next_line()
        self._row.append((number, line))
        self._size += len(line)
        if self._size > LARGEST_ROW:
            raise _RowTooLargeError(f"the row has more than {LARGEST_ROW} characters; is a quotation mark unclosed?")
        return line

    def _next_line(self) -> tuple[int, str]:
        line = self._file.readline(LARGEST_ROW + 1)
        self._number += 1
        self.read += len(line)
        if not line:
            raise StopIteration
        if len(line) > LARGEST_ROW:
            self.too_long.append(self._number)
            while line and not line.endswith(b"\n"):
                line = self._file.readline(LARGEST_ROW)
                self.read += len(line)
            return self._number, "\n"
        try:
            return self._number, line.decode("utf-8-sig" if self._number == 1 else "utf-8")
        except UnicodeDecodeError:
            self.undecodable += 1
            return self._number, line.decode("utf-8", "replace")

    def begin_row(self) -> None:
        """Begin a new row."""
        self._row.clear()
        self._size = 0

    @property
    def row_number(self) -> int:
        """The number of the first line of the current row."""
        return self._row[0][0] if self._row else self._number

    def resume(self) -> None:
        """Read the lines of the current row again but the first."""
        if len(self._row) > 1 and self._resumed < MOST_RESUMED:
            self._resumed += 1
            self._waiting.extendleft(reversed(self._row[1:]))


def read_rows(
    file: IO[bytes], name: str, columns: tuple[str, ...], largest: int, problems: DataProblems
) -> Iterator[tuple[int, dict[str, str]]]:
    """Yield the rows of a CSV file with the number of their first line, from 1, and their fields by column.

    Args:
        file: The file; its first row names the columns.
        name: Its name in problems.
        columns: The columns that it must have.
        largest: The bytes that are read of it at most.
        problems: Rows that cannot be used are added here.
    """
    lines = _RowLines(file)
    reader = csv.reader(lines, strict=True)
    header: list[str] | None = None
    while True:
        lines.begin_row()
        fault = ""
        try:
            row = next(reader)
        except StopIteration:
            break
        except csv.Error as error:
            row, fault = [], excerpt(str(error))
        if header is None:
            header = [] if fault else [column.strip() for column in row]
            if missing := [column for column in columns if column not in header]:
                problems.add("files of other columns", f"{name}: the first row lacks {', '.join(missing)}; left out")
                break
        elif not fault and len(row) == len(header):
            yield lines.row_number, dict(zip(header, row, strict=True))
        elif fault or row:
            reason = fault or f"{len(row)} fields, expected {len(header)}"
            problems.add("broken rows", f"{name}, line {lines.row_number}: {reason}; the row is left out")
            lines.resume()
        if lines.read > largest:
            problems.add("files that are too large", f"{name}: only its first {largest} bytes are read")
            break
    for number in lines.too_long[:5]:
        problems.add("lines that are too long", f"{name}, line {number}: more than {LARGEST_ROW} bytes; left out")
    if lines.undecodable:
        problems.add("bytes", f"{name}: {lines.undecodable} lines are not UTF-8; such bytes are read as \ufffd")
