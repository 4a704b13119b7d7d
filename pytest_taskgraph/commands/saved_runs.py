"""Command `runs`: the saved runs of a store in a list, or one of them with its facts and tables."""

from __future__ import annotations

import argparse
import shutil
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from ..errors import UsageError
from ..reports import terminal
from ..reports.escape import json_text, one_line, wrap
from ..reports.headline import run_facts, verdict
from ..reports.provenance_facts import date_text, provenance_facts
from ..reports.table import table
from ..results import record
from ..results.record.saved import load, records_folder, saved_names
from .compare import NARROWEST, STORE

SUMMARY = "list the saved runs, or show one with its facts and tables"
_TITLES = ("name", "date", "models", "result", "commit")
_LONGEST = 40  # columns of a cell
_COMMIT = 10  # digits of a commit in the list


@dataclass(frozen=True, slots=True)
class SavedRun:
    """A saved run: its record, or why it cannot be read."""

    name: str
    path: Path
    record: dict[str, Any] | None
    error: str = ""

    @property
    def started(self) -> str:
        """Return the date of the run; empty if it is unknown."""
        return str(((self.record or {}).get("provenance") or {}).get("started", ""))

    @property
    def headline(self) -> str:
        """Return the verdict on the run in a headline, or why the record cannot be read."""
        if self.record is None:
            return self.error
        return verdict(self.record, record.tally_of(self.record), record.about_of(self.record)).headline


def arguments(parser: argparse.ArgumentParser) -> None:
    """Add the command's arguments to the parser."""
    actions = parser.add_subparsers(dest="action", required=True, metavar="ACTION")
    listing = actions.add_parser("list", help="list the saved runs, the latest first")
    show = actions.add_parser("show", help="show the facts and tables of one run")
    show.add_argument("name", metavar="NAME", help="the name of a saved run, or the path of a record")
    for action in (listing, show):
        action.add_argument(
            "--store", metavar="PATH", type=Path, default=STORE, help="folder of the saved runs (default: %(default)s)"
        )
        action.add_argument("--json", action="store_true", help="print JSON")


def run(options: argparse.Namespace) -> int:
    """Print the list, or the run.

    Returns:
        0.

    Raises:
        UsageError: if there is no store, or the run does not exist or cannot be read.
    """
    width = max(NARROWEST, shutil.get_terminal_size().columns)
    if options.action == "show":
        saved_run = SavedRun(options.name, Path(options.name), load(options.store, options.name))
        print(json_text(_as_json(saved_run)) if options.json else "\n".join(_shown_lines(saved_run, width)))
        return 0
    runs = saved_runs(options.store)
    print(json_text([_as_json(run) for run in runs]) if options.json else "\n".join(_listed_lines(runs, options.store)))
    return 0


def saved_runs(store: Path) -> list[SavedRun]:
    """Return the saved runs of a store, the latest first, runs without a date last.

    Raises:
        UsageError: if there is no store.
    """
    if not store.is_dir():
        raise UsageError(f"there is no store at {store}; name its folder with --store, or save a run first")
    runs = [_read_run(store, name) for name in saved_names(store)]
    return sorted(runs, key=lambda run: run.started, reverse=True)


def _read_run(store: Path, name: str) -> SavedRun:
    path = records_folder(store) / f"{name}.json"
    try:
        return SavedRun(name, path, record.load_whole(path))
    except UsageError as error:
        return SavedRun(name, path, None, str(error))


def _listed_lines(runs: list[SavedRun], store: Path) -> Iterator[str]:
    readable = [run for run in runs if run.record is not None]
    if not runs:
        yield f"no run is saved in {store}; save one with --taskgraph-save=NAME"
    if readable:
        yield from table(list(_TITLES), [_cells(run) for run in readable], "l" * len(_TITLES))
    for run in runs:
        if run.record is None:
            yield one_line(f"{run.name}: {run.error}", None)


def _cells(run: SavedRun) -> list[str]:
    about = record.about_of(run.record or {})
    commit = about.provenance.commit if about.provenance else ""
    dirty = "+" if about.provenance and about.provenance.dirty else ""
    cells = [run.name, date_text(run.started), ", ".join(about.models), run.headline, commit[:_COMMIT] + dirty]
    return [one_line(cell, _LONGEST) or "-" for cell in cells]


def _shown_lines(run: SavedRun, width: int) -> Iterator[str]:
    tally, about = record.tally_of(run.record or {}), record.about_of(run.record or {})
    yield one_line(f"{run.name}: {run.headline}", width)
    for name, value in [*provenance_facts(about), *run_facts(tally, about)]:
        yield from wrap(f"{name}: {value}", width, 20)
    yield from (line for line, _ in terminal.lines(tally, about, 0, width))


def _as_json(run: SavedRun) -> dict[str, Any]:
    if run.record is None:
        return {"name": run.name, "path": str(run.path), "error": run.error}
    about = record.about_of(run.record)
    return {
        "name": run.name,
        "path": str(run.path),
        "headline": run.headline,
        "provenance": about.provenance and asdict(about.provenance),
        "version": about.version,
        "models": list(about.models),
        "prompts": list(about.prompts),
        "seed": about.seed,
        "questions": about.questions,
        "question_sets": about.question_sets,
        "totals": run.record["totals"],
    }
