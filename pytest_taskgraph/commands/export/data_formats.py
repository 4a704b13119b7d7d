"""The formats of an export: how each writes rows that share columns.

Lists and JSON values are lists and values in JSON lines; in CSV they are JSON texts. Parquet has lists of texts, and
JSON values as texts, because a column has one type.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from csv import writer
from io import StringIO
from pathlib import Path
from types import TracebackType
from typing import Any, Final

from ...errors import UsageError
from ...reports.csv import guarded_cell
from ...results.record.atomic_files import replace_file, writable_target
from .data_columns import DataColumn, Row, complete_row

NOUN: Final = "export"
_BATCH: Final = 1_000  # rows of a row group of Parquet


def write_csv(path: Path, columns: Sequence[DataColumn], rows: Iterable[Row]) -> None:
    """Write a header and a line for each row, as the report csv does.

    Raises:
        UsageError: if the file cannot be written.
    """
    replace_file(path, _csv_lines(columns, rows), NOUN)


def write_json_lines(path: Path, columns: Sequence[DataColumn], rows: Iterable[Row]) -> None:
    """Write a JSON object a line, with all columns.

    Raises:
        UsageError: if the file cannot be written.
    """
    replace_file(path, (f"{json.dumps(complete_row(row, columns), ensure_ascii=False)}\n" for row in rows), NOUN)


def write_parquet(path: Path, columns: Sequence[DataColumn], rows: Iterable[Row]) -> None:
    """Write a Parquet file.

    Raises:
        UsageError: if pyarrow is not installed, or the file cannot be written.
    """
    with ParquetFile(path, columns) as file:
        for row in rows:
            file.add(row)


def require_pyarrow() -> None:
    """Check that pyarrow can be imported.

    Raises:
        UsageError: if it is not installed; the message states how to install it.
    """
    try:
        import pyarrow.parquet  # noqa: F401
    except ImportError as error:
        raise UsageError(
            "Parquet needs the package pyarrow, which is not installed; expected the extra: "
            "pip install pytest-taskgraph-bench[export]"
        ) from error


class ParquetFile(AbstractContextManager["ParquetFile"]):
    """A Parquet file that is written batch by batch, and replaces the file at its path when it is complete."""

    def __init__(self, path: Path, columns: Sequence[DataColumn]) -> None:
        require_pyarrow()
        import pyarrow
        import pyarrow.parquet

        types = {
            "text": pyarrow.string(),
            "json": pyarrow.string(),
            "whole": pyarrow.int64(),
            "number": pyarrow.float64(),
            "boolean": pyarrow.bool_(),
            "texts": pyarrow.list_(pyarrow.string()),
        }
        self._columns, self._path, self._rows = columns, path, list[Row]()
        self._schema = pyarrow.schema([(column.name, types[column.kind]) for column in columns])
        with writable_target(path, NOUN) as target:
            self._target = target
            self._partial = target.with_name(f".{target.name}.{os.getpid()}.part")
            self._writer: Any = pyarrow.parquet.ParquetWriter(self._partial, self._schema)

    def add(self, row: Row) -> None:
        """Add a row.

        Raises:
            UsageError: if the file cannot be written.
        """
        values = complete_row(row, self._columns)
        self._rows.append(values | {name: _json_text(values[name]) for name in _json_names(self._columns)})
        if len(self._rows) == _BATCH:
            self._flush()

    def _flush(self) -> None:
        import pyarrow

        with writable_target(self._path, NOUN):
            self._writer.write_table(pyarrow.Table.from_pylist(self._rows, schema=self._schema))
        self._rows.clear()

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Replace the file, unless an error stopped its writing."""
        try:
            if error is None and self._rows:
                self._flush()
            with writable_target(self._path, NOUN):
                self._writer.close()
                if error is None:
                    self._partial.replace(self._target)
        finally:
            self._partial.unlink(missing_ok=True)


def _csv_lines(columns: Sequence[DataColumn], rows: Iterable[Row]) -> Iterator[str]:
    yield _csv_line([column.name for column in columns])
    for row in rows:
        values = complete_row(row, columns)
        yield _csv_line([_csv_value(values[column.name], column) for column in columns])


def _csv_line(values: Sequence[Any]) -> str:
    text = StringIO()
    writer(text, lineterminator="\r\n").writerow(map(guarded_cell, values))
    return text.getvalue()


def _csv_value(value: Any, column: DataColumn) -> str | int | float | None:  # noqa: ANN401
    if column.kind in ("json", "texts"):
        return _json_text(value)
    if column.kind == "boolean" and value is not None:
        return "true" if value else "false"
    return value  # type: ignore[no-any-return]


def _json_text(value: Any) -> str | None:  # noqa: ANN401
    return None if value is None else json.dumps(value, ensure_ascii=False)


def _json_names(columns: Sequence[DataColumn]) -> list[str]:
    return [column.name for column in columns if column.kind == "json"]


FILE_FORMATS: Final[Mapping[str, Any]] = {"csv": write_csv, "jsonl": write_json_lines, "parquet": write_parquet}
