"""The trials of a run as rows for data frames: a value for each column, of one kind throughout the column.

The columns of every export come first. The labels, metrics and parts that some trial has follow by name; which these
are is known after the last row, so rows are sparse: a value that is unknown, undefined or empty is left out. Half of a
surrogate pair, which no file of text can hold, becomes a question mark.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from ...errors import UsageError
from ...reports.trial_columns import TRIAL_COLUMNS, DataColumn, Kind, TrialRow
from ...results.record import about_of, tally_of
from ...results.record.facts import About
from ...results.record.saved import find, load
from ...trial import PROMPT, Trial

_RunValue = Callable[[str, About, Trial], Any]
_RUN: Final[dict[DataColumn, _RunValue]] = {
    DataColumn("run", "text", "name of the saved run, or its file"): lambda run, about, trial: run,
    DataColumn("started", "text", "date and time of the run with the offset of its zone"): (
        lambda run, about, trial: about.provenance and about.provenance.started
    ),
    DataColumn("commit", "text", "git commit of the run"): (
        lambda run, about, trial: about.provenance and about.provenance.commit
    ),
    DataColumn("plugin_version", "text", "version of pytest-taskgraph-bench"): lambda run, about, trial: about.version,
    DataColumn("seed", "whole", "seed of the questions"): lambda run, about, trial: about.seed,
    DataColumn("question_set", "whole", "version of the questions of the family"): (
        lambda run, about, trial: about.question_sets.get(trial.question.family)
    ),
}
Row = dict[str, Any]


class SeenColumns:
    """The columns of the rows seen so far: those of every export, then labels, metrics and parts by name."""

    def __init__(self) -> None:
        self._labels: dict[str, Kind] = {}
        self._metrics: set[str] = set()
        self._parts: set[str] = set()

    def add(self, trial: Trial) -> None:
        """Add what a trial has beyond the columns of every export."""
        for name, value in trial.question.labels.items():
            kind: Kind = "whole" if isinstance(value, int) else "text"
            if name != PROMPT and self._labels.setdefault(name, kind) != kind:
                self._labels[name] = "text"  # a label that is a number in some trials only
        if trial.score is not None:
            self._metrics.update(trial.score.metrics)
            self._parts.update(trial.score.parts)

    def columns(self) -> list[DataColumn]:
        """Return the columns in their order."""
        return [
            *_RUN,
            *TRIAL_COLUMNS,
            *(
                DataColumn(_encodable(f"label_{name}"), kind, "label of the question")
                for name, kind in sorted(self._labels.items())
            ),
            *(DataColumn(_encodable(f"metric_{name}"), "number", "further metric") for name in sorted(self._metrics)),
            *(
                DataColumn(
                    _encodable(f"part_{name}_{of}"),
                    "number",
                    f"{of} of a part, to be summed over trials before it is divided",
                )
                for name in sorted(self._parts)
                for of in ("numerator", "denominator")
            ),
        ]


def data_rows(run: str, record: Mapping[str, Any], seen: SeenColumns) -> Iterator[Row]:
    """Yield the row of each trial of a record, by question id, then model, and add its columns to those seen.

    Raises:
        UsageError: if the record is damaged.
    """
    about = about_of(record)
    for trial in tally_of(record):
        seen.add(trial)
        row = TrialRow(trial)
        of_run = ((column.name, get(run, about, trial)) for column, get in _RUN.items())
        of_trial = ((column.name, get(row)) for column, get in TRIAL_COLUMNS.items())
        values = (*of_run, *of_trial, *_own_values(trial))
        sparse = {name: value for name, value in values if value is not None and value != ""}
        yield json.loads(_encodable(json.dumps(sparse, ensure_ascii=False)))


def complete_row(row: Row, columns: Iterable[DataColumn]) -> Row:
    """Return a row with a value for each column, None where it has none."""
    return {
        column.name: _text(row.get(column.name)) if column.kind == "text" else row.get(column.name)
        for column in columns
    }


def _own_values(trial: Trial) -> Iterator[tuple[str, Any]]:
    """Yield the labels, metrics and parts of a trial."""
    yield from ((f"label_{name}", value) for name, value in trial.question.labels.items() if name != PROMPT)
    if trial.score is not None:
        yield from ((f"metric_{name}", value) for name, value in trial.score.metrics.items())
        for name, (numerator, denominator) in trial.score.parts.items():
            yield f"part_{name}_numerator", numerator
            yield f"part_{name}_denominator", denominator


def _encodable(text: str) -> str:
    """Return the text with a question mark for each half of a surrogate pair."""
    return text.encode("utf-8", "replace").decode("utf-8")


def _text(value: object) -> str | None:
    return None if value is None else str(value)


@dataclass(frozen=True, slots=True)
class ExportedRun:
    """A run of an export: its name in the rows, its facts, and the number of its rows."""

    name: str
    about: About
    rows: int


@dataclass(frozen=True, slots=True)
class ExportedTrials:
    """The rows of an export, each a mapping without what is unknown, undefined or empty."""

    runs: list[ExportedRun]
    columns: list[DataColumn]
    rows: list[Row]


def read_trials(store: Path, names: list[str]) -> ExportedTrials:
    """Return the rows of records, each named by a saved run or a path; one record is in memory at a time.

    Raises:
        UsageError: if a record is missing, damaged, or named twice.
    """
    paths = {name: find(store, name) for name in names}
    files = [path.resolve() for name in names if (path := paths[name])]
    if len(files) != len({*files}) or len(names) != len({*names}):
        raise UsageError(f"{' '.join(names)}: a record is named twice; name each run once")
    stems = Counter(Path(name).stem for name in names)
    seen, runs, rows = SeenColumns(), list[ExportedRun](), list[Row]()
    for name in names:
        record = load(store, name)
        stem = Path(name).stem if paths[name] == Path(name) else name
        run = stem if stems[Path(name).stem] == 1 else name
        own = list(data_rows(run, record, seen))
        runs.append(ExportedRun(run, about_of(record), len(own)))
        rows += own
    return ExportedTrials(runs, seen.columns(), rows)
