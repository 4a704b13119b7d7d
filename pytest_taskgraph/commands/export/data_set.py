"""A data set in the layout of the Hugging Face Hub: a Parquet file for each split, one split a family, and a card.

The card is what the Hub reads of the data set as YAML, and what people read.

The formats of an export: how each writes rows that share columns.

Lists and JSON values are lists and values in JSON lines; in CSV they are JSON texts. Parquet has lists of texts, and
JSON values as texts, because a column has one type.
"""

from __future__ import annotations

import json
import os
import re
import shlex
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from csv import writer
from io import StringIO
from pathlib import Path
from typing import Any, Final

from ...errors import UsageError
from ...reports.csv import guarded_cell
from ...reports.markdown.elements import cell, fenced_block, pipe_table
from ...reports.trial_columns import DataColumn
from ...results.record.atomic_files import replace_file, writable_target
from ...version import __version__
from .data_columns import ExportedRun, ExportedTrials, Row, complete_row

NOUN: Final = "export"
_TYPES: Final = {
    "text": "string",
    "whole": "int64",
    "number": "float64",
    "boolean": "bool",
    "texts": "list of string",
    "json": "string (JSON)",
}
_UNNAMED = "rows"
_RESERVED = frozenset({"all"})  # names every split together


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


def write_data_set(folder: Path, trials: ExportedTrials, command: Sequence[str]) -> None:
    """Write the card, and a Parquet file for each family.

    Args:
        folder: The folder, which is made if it does not exist.
        trials: The rows.
        command: The words of the command that writes it, for the card.

    Raises:
        UsageError: if pyarrow is not installed, the folder holds other data, or a file cannot be written.
    """
    families = Counter(row.get("family", "") for row in trials.rows)
    splits = split_names(sorted(families))
    files = {family: folder / "data" / f"{split}-00000-of-00001.parquet" for family, split in splits.items()}
    _check_folder(folder, [*files.values()])
    for family, file in files.items():
        write_parquet(file, trials.columns, [row for row in trials.rows if row.get("family", "") == family])
    counts = {split: families[family] for family, split in splits.items()}
    replace_file(folder / "README.md", _card_text(trials, counts, command), NOUN)


def split_names(families: Sequence[str]) -> dict[str, str]:
    """Return the name of the split of each family: letters, digits and underscores, each name once."""
    names: dict[str, str] = {}
    taken: Counter[str] = Counter()
    for family in families:
        name = re.sub(r"\W+", "_", family, flags=re.ASCII).strip("_") or _UNNAMED
        name = f"{name}_" if name in _RESERVED else name
        while taken[name]:
            name += "_"
        taken[name] += 1
        names[family] = name
    return names


def _check_folder(folder: Path, files: Sequence[Path]) -> None:
    """Check that the folder holds no data but that which is replaced.

    Raises:
        UsageError: if it is no folder, or holds other data.
    """
    if folder.exists() and not folder.is_dir():
        raise UsageError(f"--out {folder}: found a file, expected a folder; name another path")
    others = sorted({*(folder / "data").glob("*")} - {*files})
    if others:
        raise UsageError(f"--out {folder}: found other data, such as {others[0]}; name an empty folder")


def _card_text(trials: ExportedTrials, rows_by_split: Mapping[str, int], command: Sequence[str]) -> str:
    lines = [*_front_matter(rows_by_split), "", *_body(trials, rows_by_split, command)]
    return "\n".join([*lines, ""])


def _front_matter(rows_by_split: Mapping[str, int]) -> Iterator[str]:
    yield from ("---", 'pretty_name: "Trials of pytest-taskgraph-bench"', "tags:", "- evaluation", "- pytest-taskgraph")
    if rows_by_split:
        yield from ("configs:", "- config_name: default", "  data_files:")
        for split in rows_by_split:
            yield f"  - split: {json.dumps(split)}"
            yield f"    path: {json.dumps(f'data/{split}-00000-of-00001.parquet')}"
    yield "---"


def _body(trials: ExportedTrials, rows_by_split: Mapping[str, int], command: Sequence[str]) -> Iterator[str]:
    yield from ("# Trials of pytest-taskgraph-bench", "")
    yield "Each row is one trial: a question, the reply of a model, the parsed answer and its score."
    yield from ("", f"pytest-taskgraph-bench {__version__} wrote this data set with")
    yield from ("", *fenced_block([shlex.join(command)]))
    yield from ("", "## Runs")
    titles = ["run", "started", "models", "seed", "version", "python", "rows"]
    yield from pipe_table(titles, map(_run_cells, trials.runs), len(titles) - 1)
    yield from ("", "## Splits", "", "There is a split for each benchmark family. All splits have the same columns.")
    yield from pipe_table(["split", "rows"], ([cell(split), f"{rows:,}"] for split, rows in rows_by_split.items()))
    yield from ("", "## Columns", "", "Unknown, undefined and empty values are null.")
    rows = ([cell(column.name), _TYPES[column.kind], column.meaning] for column in trials.columns)
    yield from pipe_table(["column", "type", "meaning"], rows, 3)
    yield from ("", "## Before you publish it", "")
    yield "- State the licence: add `license:` to the YAML at the top. Terms of providers may bind the replies."
    yield "- Prompts and right answers become training data of future models; publish those of a set of questions that"
    yield "  you no longer compare models by."
    yield "- Prompts hold the project's own files where the questions are about them."


def _run_cells(run: ExportedRun) -> list[str]:
    about, provenance = run.about, run.about.provenance
    return [
        cell(run.name),
        cell(provenance.started if provenance else ""),
        cell(", ".join(about.models)),
        str(about.seed),
        cell(about.version),
        cell(provenance.versions.get("python", "") if provenance else ""),
        f"{run.rows:,}",
    ]
