"""Command `runs`: the saved runs of a store in a list, or one of them with its facts and tables."""

from __future__ import annotations

import argparse
import shutil
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from ..errors import UsageError
from ..reports import terminal
from ..reports.escape import json_text, one_line, wrap
from ..reports.headline import date_text, moment_of, provenance_facts, run_facts, verdict
from ..reports.table import table
from ..results import record
from ..results.record.facts import About
from ..results.record.saved import find, load, records_folder, saved_names
from .compare import NARROWEST, STORE

SUMMARY = "list the saved runs, or show one with its facts and tables"
_TITLES = ("name", "date", "models", "result", "commit")
_LONGEST = 40  # columns of a cell
_COMMIT = 10  # digits of a commit in the list
_UNDATED = datetime.min.replace(tzinfo=UTC)


@dataclass(frozen=True, slots=True)
class SavedRun:
    """A saved run without its trials, which may be many; or why its record cannot be read."""

    name: str
    path: Path
    about: About | None
    headline: str = ""  # the verdict on the run
    totals: Sequence[Mapping[str, Any]] = ()
    error: str = ""

    @property
    def started(self) -> str:
        """Return the date of the run; empty if it is unknown."""
        return self.about.provenance.started if self.about and self.about.provenance else ""


def arguments(parser: argparse.ArgumentParser) -> None:
    """Add the command's arguments to the parser."""
    actions = parser.add_subparsers(dest="action", metavar="ACTION", help="list without an action")
    parser.set_defaults(action="list", store=STORE, json=False)
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
        whole = load(options.store, options.name)
        shown_run = _summary(options.name, find(options.store, options.name) or Path(options.name), whole)
        lines = [json_text(_as_json(shown_run))] if options.json else _shown_lines(shown_run, whole, width)
        print("\n".join(lines))
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
    return sorted(runs, key=lambda run: moment_of(run.started) or _UNDATED, reverse=True)


def _read_run(store: Path, name: str) -> SavedRun:
    path = records_folder(store) / f"{name}.json"
    try:
        return _summary(name, path, record.load_whole(path))
    except UsageError as error:
        return SavedRun(name, path, None, error=str(error))


def _summary(name: str, path: Path, whole: dict[str, Any]) -> SavedRun:
    about = record.about_of(whole)
    return SavedRun(name, path, about, verdict(whole, record.tally_of(whole), about).headline, whole["totals"])


def _listed_lines(runs: list[SavedRun], store: Path) -> Iterator[str]:
    cells = [_cells(run, run.about) for run in runs if run.about is not None]
    if not runs:
        yield f"no run is saved in {store}; save one with --taskgraph-save=NAME"
    if cells:
        yield from table(list(_TITLES), cells, "l" * len(_TITLES))
    for run in runs:
        if run.about is None:
            yield one_line(f"{run.name}: {run.error}", None)


def _cells(run: SavedRun, about: About) -> list[str]:
    commit = about.provenance.commit if about.provenance else ""
    dirty = "+" if about.provenance and about.provenance.dirty else ""
    cells = [run.name, date_text(run.started), ", ".join(about.models), run.headline, commit[:_COMMIT] + dirty]
    return [one_line(cell, _LONGEST) or "-" for cell in cells]


def _shown_lines(run: SavedRun, whole: dict[str, Any], width: int) -> Iterator[str]:
    tally, about = record.tally_of(whole), record.about_of(whole)
    yield one_line(f"{run.name}: {run.headline}", width)
    for name, value in [*provenance_facts(about), *run_facts(tally, about)]:
        yield from wrap(f"{name}: {value}", width, 20)
    yield from (line for line, _ in terminal.lines(tally, about, 1, width))


def _as_json(run: SavedRun) -> dict[str, Any]:
    about = run.about
    if about is None:
        return {"name": run.name, "path": str(run.path), "error": run.error}
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
        "totals": list(run.totals),
    }
