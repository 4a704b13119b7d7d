"""`tasklama fit`: the coefficients by which the methods `filter` rank sequences, from the record of a run."""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Final

from ...errors import UsageError
from ...reports.escape import one_line
from ...reports.table import table
from ...results.record import trials
from ...results.record.atomic_files import replace_file
from ...results.record.saved import load
from ...scoring.task_graphs.sentence_models import add_sentence_model
from .sequences.filter_fit import FilterFit, SampledTask, distinct_tasks, fit_filter, sampled_tasks

SUMMARY = "fit the coefficients by which the methods filter of TaskLAMA rank sequences of steps"
FAMILY: Final = "tasklama"
FEW_TASKS: Final = 10
"""With fewer tasks, the fit is reported as unreliable."""
_STORE: Final = Path(".taskgraph")
_OUT: Final = Path("filter.json")
_RUN: Final = (
    "pytest suites/tasklama --taskgraph-split=train --taskgraph-tasklama-method=multseq "
    "--taskgraph-tasklama-sequences=16"
)


def arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of the command to the parser."""
    actions = parser.add_subparsers(dest="action", required=True, metavar="fit")
    fit = actions.add_parser("fit", help=SUMMARY, description=f"{SUMMARY}. The record is that of a run such as: {_RUN}")
    fit.add_argument("record", metavar="RECORD", help="a record, or the name of a saved run")
    fit.add_argument(
        "--out",
        metavar="FILE",
        type=Path,
        default=_OUT,
        help="where the coefficients are written (default: %(default)s)",
    )
    fit.add_argument(
        "--sentence-model",
        metavar="FOLDER",
        help="sentence model of the record's similarity of steps (default: its name in the local cache)",
    )
    fit.add_argument("--force", action="store_true", help="replace the file that is to be written")
    fit.add_argument(
        "--store", metavar="PATH", type=Path, default=_STORE, help="the folder of saved runs (default: %(default)s)"
    )


def run(options: argparse.Namespace) -> int:
    """Fit the coefficients to the sequences of a record, write them, and print what they are.

    Returns:
        0.

    Raises:
        UsageError: if the record cannot be read or holds no sequences, or the file cannot be written.
    """
    if options.out.exists() and not options.force:
        raise UsageError(f"{options.out}: exists already; name another file, or give --force to replace it")
    if options.sentence_model is not None:
        add_sentence_model(options.sentence_model)
    tasks = sampled_tasks(trials(load(options.store, options.record)), FAMILY)
    if not tasks:
        raise UsageError(f"{options.record}: holds no sequences of steps; record a run such as: {_RUN}")
    fit = fit_filter(tasks)
    replace_file(options.out, [json.dumps(fit.to_json(), indent=2, allow_nan=False), "\n"], "file of coefficients")
    print("\n".join([*fit_lines(fit), f"coefficients written to {one_line(str(options.out))}"]))
    for warning in warnings_of(tasks):
        print(f"warning: {warning}", file=sys.stderr)
    return 0


def fit_lines(fit: FilterFit) -> list[str]:
    """Return the lines about a fit: its coefficients, and its quality on clusters that it was not fitted to."""
    rows = [[name, f"{value:+.4f}"] for name, value in zip(fit.model.features, fit.model.coefficients, strict=True)]
    return [
        *table(["feature", "coefficient"], rows, "lr"),
        "",
        f"fitted to {_amount(fit.sequences, 'sequence')} of {_amount(fit.tasks, 'task')}, ridge {fit.penalty:g}",
        f"cross-validated: R2 {_decimal(fit.r2)}, correlation {_decimal(fit.correlation)}",
        f"hungarian_f1: picked {_decimal(fit.picked)}, mean of all {_decimal(fit.mean)}, best {_decimal(fit.best)}",
    ]


def warnings_of(tasks: Sequence[SampledTask]) -> Iterator[str]:
    """Yield the reasons for which a fit to these tasks is unreliable, a line each."""
    if (number := distinct_tasks(tasks)) < FEW_TASKS:
        yield f"{_amount(number, 'task')}; a fit to fewer than {FEW_TASKS} is unreliable for other tasks"
    if odd := sorted({task.split or "none" for task in tasks} - {"train"}):
        yield f"tasks of the split {', '.join(map(one_line, odd))}; fit to those of train, and rank others"
    if len({task.cluster for task in tasks}) == 1:
        yield "one cluster of tasks; nothing is cross-validated"


def _amount(number: int, noun: str) -> str:
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"


def _decimal(value: float | None) -> str:
    return "undefined" if value is None else f"{value:.4f}"
