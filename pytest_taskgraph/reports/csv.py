"""CSV reports for spreadsheets and data frames: a row for each trial, or a row for each number of the tables.

RFC 4180 with a header and CRLF line ends. A text that a spreadsheet takes for a formula is preceded by an apostrophe.
Prompts and replies are in the record.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from csv import writer
from io import StringIO
from itertools import chain
from typing import Any

from ..results.record import tally_of
from ..results.tables import Table, tables_of
from ..scoring.forms.form import show_value
from ..trial import Trial
from .escape import printable
from .trial_columns import TRIAL_COLUMNS, TrialRow

Cell = str | int | float | None
_FORMULA = ("=", "+", "-", "@", "\t", "\r", "\n", "＝", "＋", "－", "＠")

_COLUMNS = tuple(column for column in TRIAL_COLUMNS if column.csv)


def csv(record: Mapping[str, Any]) -> str:
    """Return a header and a line for each trial, by question id, then model.

    Write it as UTF-8 without changing its line ends. The columns that every record has come first, then `label.NAME`
    and `metric.NAME` by name; what is unknown is empty, never 0. Tokens, cost and latency are sums over all replies of
    a trial for which they are known.

    Raises:
        UsageError: if the record is damaged.
    """
    trials = list(tally_of(record))
    labels = sorted({name for trial in trials for name in trial.question.labels})
    metrics = sorted({name for trial in trials if trial.score for name in trial.score.metrics})
    text = StringIO()
    rows = writer(text, lineterminator="\r\n")
    own = (f"label.{name}" for name in labels), (f"metric.{name}" for name in metrics)
    header = [*(column.name for column in _COLUMNS), *chain(*own)]
    rows.writerow(map(guarded_cell, header))
    rows.writerows(map(guarded_cell, _row(trial, labels, metrics)) for trial in trials)
    return text.getvalue()


TABLE_COLUMNS = (
    *("family", "table", "model", "section", "row", "kind", "column", "value", "low", "high", "n"),
    *("reference", "source"),
)


def tables_csv(record: Mapping[str, Any]) -> str:
    """Return every number of every table in long form, a line each.

    Write it as UTF-8 without changing its line ends. A number with several published values has a line for each of
    them. What is unknown is empty, never 0.

    Raises:
        UsageError: if the record is damaged.
    """
    text = StringIO()
    rows = writer(text, lineterminator="\r\n")
    rows.writerow(TABLE_COLUMNS)
    rows.writerows(map(guarded_cell, row) for table in tables_of(tally_of(record)) for row in _table_rows(table))
    return text.getvalue()


def _table_rows(table: Table) -> Iterator[list[Cell]]:
    for line in table.lines:
        for entry in (entry for entry in line.entries if entry is not None):
            for value in table.values:
                cell = entry.cells[value]
                place = [table.family, table.spec.name, entry.model, line.section, line.name, line.kind, value]
                numbers = [cell.value, cell.low, cell.high, cell.n if line.kind != "published" else None]
                for reference in cell.references or (None,):
                    yield [*place, *numbers, *((reference.value, reference.source) if reference else (None, None))]


def _row(trial: Trial, labels: Sequence[str], metrics: Sequence[str]) -> list[Cell]:
    row, scores = TrialRow(trial), trial.score.metrics if trial.score else {}
    return [
        *(_cell(row[column.name]) for column in _COLUMNS),
        *(trial.question.labels.get(name) for name in labels),
        *(scores.get(name) for name in metrics),
    ]


def _cell(value: Any) -> Cell:  # noqa: ANN401 - of the column's kind
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, list):
        return show_value(value) if value else ""
    cell: Cell = value
    return cell


def guarded_cell(value: Cell) -> Cell:
    """Return numbers as they are, texts printable and such that no spreadsheet computes them."""
    if not isinstance(value, str):
        return value
    return printable(f"'{value}" if value.lstrip(" ").startswith(_FORMULA) else value)
