"""The formats of an export: how each writes rows that share columns.

Lists and JSON values are lists and values in JSON lines; in CSV they are JSON texts. Parquet has lists of texts, and
JSON values as texts, because a column has one type.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from csv import writer
from io import StringIO
from pathlib import Path
from typing import Any, Final

from ...errors import UsageError
from ...reports.csv import guarded_cell
from ...reports.trial_columns import DataColumn
from ...results.record.atomic_files import replace_file, writable_target
from .data_columns import Row, complete_row

NOUN: Final = "export"


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


def write_parquet(path: Path, columns: Sequence[DataColumn], rows: Sequence[Row]) -> None:
    """Write a Parquet file, completely or not at all.

    Raises:
        UsageError: if pyarrow is not installed, or the file cannot be written.
    """
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
    values = [[_parquet_value(row.get(column.name), column) for row in rows] for column in columns]
    arrays = [pyarrow.array(each, types[column.kind]) for each, column in zip(values, columns, strict=True)]
    table = pyarrow.Table.from_arrays(arrays, [column.name for column in columns])
    with writable_target(path, NOUN) as target:
        partial_file = target.with_name(f".{target.name}.{os.getpid()}.part")
        try:
            pyarrow.parquet.write_table(table, partial_file)
            partial_file.replace(target)
        finally:
            partial_file.unlink(missing_ok=True)


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


def _parquet_value(value: Any, column: DataColumn) -> Any:  # noqa: ANN401
    if column.kind == "json":
        return _json_text(value)
    return str(value) if column.kind == "text" and value is not None else value


FILE_FORMATS: Final[Mapping[str, Any]] = {"csv": write_csv, "jsonl": write_json_lines, "parquet": write_parquet}
