"""CSV reports for spreadsheets and data frames: a row for each trial, or a row for each number of the tables.

RFC 4180 with a header and CRLF line ends. A text that a spreadsheet takes for a formula is preceded by an apostrophe.
Prompts and replies are in the record.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from csv import writer
from io import StringIO
from typing import Any

from ..results.record import tally_of
from ..results.record.exchanges import sum_trials
from ..results.tables import Table, tables_of
from ..scoring.forms.form import show_value
from ..trial import Reply, Score, Trial
from ..usage import Usage
from .escape import printable
from .failure import expected_answer, given_answer

Cell = str | int | float | None
_FORMULA = ("=", "+", "-", "@", "\t", "\r", "\n", "＝", "＋", "－", "＠")

_TRIAL: dict[str, Callable[[Trial], Cell]] = {
    "id": lambda trial: trial.question.id,
    "once": lambda trial: trial.question.once,
    "repetition": lambda trial: trial.question.repetition,
    "relation": lambda trial: trial.question.relation,
    "family": lambda trial: trial.question.family,
    "group": lambda trial: trial.question.group,
    "section": lambda trial: trial.question.section,
    "form": lambda trial: trial.question.form,
    "cluster": lambda trial: trial.question.cluster,
    "model": lambda trial: trial.model,
    "outcome": lambda trial: trial.outcome,
    "metric": lambda trial: trial.question.metric,
    "pass_threshold": lambda trial: trial.question.pass_threshold,
    "chance": lambda trial: trial.question.chance,
    "requests": lambda trial: trial.requests,
    "retries": lambda trial: trial.retries,
    "failure_kind": lambda trial: trial.failure.kind if trial.failure else None,
    "failure_message": lambda trial: trial.failure.message if trial.failure else None,
    "question": lambda trial: trial.question.text,
    "expected": expected_answer,
}
_SUMS: dict[str, Callable[[Usage], Cell]] = {
    "tokens_in": lambda sums: sums.tokens_in,
    "tokens_out": lambda sums: sums.tokens_out,
    "tokens_reasoning": lambda sums: sums.tokens_reasoning,
    "cost_usd": lambda sums: sums.cost,
    "latency": lambda sums: sums.latency,
    "stored": lambda sums: None if sums.from_store is None else str(sums.from_store).lower(),
}
_REPLY: dict[str, Callable[[Reply], Cell]] = {
    "finish_reason": lambda reply: reply.finish_reason,
    "source": lambda reply: reply.source,
}
_SCORE: dict[str, Callable[[Score, Trial], Cell]] = {
    "score": lambda score, _: score.value,
    "given": lambda score, trial: given_answer(trial) if score.status == "read" else None,
    "missing": lambda score, _: _names(score.missing),
    "extra": lambda score, _: _names(score.extra),
    "remark": lambda score, _: score.remark,
}


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
    header = [
        *_TRIAL,
        *_SUMS,
        *_REPLY,
        *_SCORE,
        *(f"label.{name}" for name in labels),
        *(f"metric.{name}" for name in metrics),
    ]
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
    scores, sums = trial.score.metrics if trial.score else {}, sum_trials([trial])
    return [
        *(of(trial) for of in _TRIAL.values()),
        *(of(sums) for of in _SUMS.values()),
        *(of(trial.reply) if trial.reply else None for of in _REPLY.values()),
        *(of(trial.score, trial) if trial.score else None for of in _SCORE.values()),
        *(trial.question.labels.get(name) for name in labels),
        *(scores.get(name) for name in metrics),
    ]


def _names(names: Sequence[str]) -> str:
    return show_value(list(names)) if names else ""


def guarded_cell(value: Cell) -> Cell:
    """Return numbers as they are, texts printable and such that no spreadsheet computes them."""
    if not isinstance(value, str):
        return value
    return printable(f"'{value}" if value.lstrip(" ").startswith(_FORMULA) else value)
