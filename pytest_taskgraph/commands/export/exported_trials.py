"""The rows of all trials of an export, with the runs that they are from and the columns that they share."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from pathlib import Path

from ...errors import UsageError
from ...reports.trial_columns import DataColumn
from ...results.record import about_of
from ...results.record.facts import About
from ...results.record.saved import find, load
from .data_columns import Row, SeenColumns, data_rows


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
