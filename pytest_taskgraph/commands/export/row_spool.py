"""Rows of several runs in a temporary file, so that no more than one record is in memory.

The columns are known when the last record was read; then the rows are read back, as often as needed.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator
from contextlib import AbstractContextManager
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryFile
from types import TracebackType
from typing import Any

from ...errors import UsageError
from ...results.record import about_of
from ...results.record.facts import About
from ...results.record.saved import find, load
from .data_columns import DataColumn, Row, SeenColumns, data_rows


@dataclass(frozen=True, slots=True)
class ExportedRun:
    """A run of an export: its name in the rows, its facts, and the number of its rows."""

    name: str
    about: About
    rows: int


class RowSpool(AbstractContextManager["RowSpool"]):
    """The rows of the runs that were added, in a temporary file of this process.

    Half of a surrogate pair, which no file of text can hold, becomes a question mark.
    """

    def __init__(self) -> None:
        self.runs: list[ExportedRun] = []
        self.rows_by_family: Counter[str] = Counter()
        self._seen = SeenColumns()
        self._file = TemporaryFile("w+", encoding="utf-8", errors="replace", newline="")  # noqa: SIM115 - closed by __exit__

    def add(self, name: str, record: dict[str, Any]) -> None:
        """Add the rows of a record under the name of its run.

        Raises:
            UsageError: if the record is damaged, or the temporary file cannot be written.
        """
        count = 0
        try:
            for row in data_rows(name, record, self._seen):
                self._file.write(json.dumps(row, ensure_ascii=False) + "\n")
                self.rows_by_family[row.get("family", "")] += 1
                count += 1
        except OSError as error:
            raise _spool_error(error) from error
        self.runs.append(ExportedRun(name, about_of(record), count))

    @property
    def columns(self) -> list[DataColumn]:
        """Return the columns of all rows."""
        return self._seen.columns()

    def rows(self) -> Iterator[Row]:
        """Yield the rows in the order in which they were added.

        Raises:
            UsageError: if the temporary file cannot be written or read.
        """
        try:
            self._file.seek(0)  # writes what is left to write
        except OSError as error:
            raise _spool_error(error) from error
        yield from map(json.loads, self._file)

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Delete the temporary file."""
        self._file.close()


def _spool_error(error: OSError) -> UsageError:
    return UsageError(f"the temporary file of the export: {error.strerror}; free space, or set TMPDIR")


def spool_records(spool: RowSpool, store: Path, names: list[str]) -> None:
    """Add the rows of records, each named by a saved run or a path.

    Raises:
        UsageError: if a record is missing, damaged, or named twice.
    """
    paths = {name: find(store, name) for name in names}
    files = [path.resolve() for name in names if (path := paths[name])]
    if len(files) != len({*files}) or len(names) != len({*names}):
        raise UsageError(f"{' '.join(names)}: a record is named twice; name each run once")
    stems = Counter(Path(name).stem for name in names)
    for name in names:
        record = load(store, name)
        stem = Path(name).stem if paths[name] == Path(name) else name
        spool.add(stem if stems[Path(name).stem] == 1 else name, record)
