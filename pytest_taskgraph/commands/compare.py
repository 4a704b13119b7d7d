"""Command `compare A B`: two records, each a file or a saved name, compared question by question."""

from __future__ import annotations

import argparse
import shutil
from pathlib import Path
from typing import Final

from ..errors import UnknownNameError, UsageError
from ..reports import REPORTS
from ..reports.comparison_lines import lines
from ..reports.escape import json_text
from ..reports.report_file import check_writable, write_report
from ..results.comparison import FAIL_ON, MARGIN, compare, comparison_case, parse_fail_on
from ..results.record.saved import find, load, records_folder

SUMMARY = "compare a run with a former one, question by question; exit code 1 if it is worse"
STORE: Final = Path(".taskgraph")
NARROWEST: Final = 40
REPLIES: Final = "replies.sqlite"  # the start of the names of files with stored replies
OF_ONE_RUN: Final = ("json", "csv", "tables")  # reports that do not show a comparison


def arguments(parser: argparse.ArgumentParser) -> None:
    """Add the command's arguments to the parser."""
    parser.add_argument("before", metavar="A", help="the baseline: a record, or the name of a saved run")
    parser.add_argument("after", metavar="B", help="the run to compare with A: a record, or the name of a saved run")
    parser.add_argument(
        "--margin", metavar="X", type=float, default=MARGIN,
        help="non-inferiority margin: the mean loss that is acceptable, 0 to 1 (default: %(default)s)",
    )  # fmt: skip
    parser.add_argument(
        "--fail-on", metavar="WHAT[,WHAT]", default="regression",
        help=f"what gives exit code 1: {', '.join(FAIL_ON)} (default: %(default)s)",
    )  # fmt: skip
    parser.add_argument(
        "--store", metavar="PATH", type=Path, default=STORE, help="folder of the saved runs (default: %(default)s)"
    )
    parser.add_argument(
        "--report", metavar="KIND=PATH", action="append", default=[],
        help="write B with the comparison: html=PATH or md=PATH; may be repeated",
    )  # fmt: skip
    parser.add_argument("--json", action="store_true", help="print JSON")


def run(options: argparse.Namespace) -> int:
    """Compare the two runs, write the reports, and print the result.

    Returns:
        1 if the comparison fails on what `--fail-on` names, else 0.

    Raises:
        UsageError: if an option is invalid, a record cannot be read, or a report cannot be written.
    """
    fail_on = parse_fail_on([options.fail_on], "--fail-on")
    reports = [_parse_report(text, options) for text in options.report]
    before, after = load(options.store, options.before), load(options.store, options.after)
    comparison = compare(before, after, options.margin, (options.before, options.after))
    for kind, path in reports:
        write_report(path, REPORTS[kind](after, comparison))
    outcome, reason = comparison_case(comparison, fail_on)
    if options.json:
        print(json_text({"outcome": outcome, "told": reason, **comparison.to_json()}))
    else:
        width = max(NARROWEST, shutil.get_terminal_size().columns)
        print("\n".join(line for line, _ in lines(comparison, options.before, width)))
    return 1 if outcome == "failed" else 0


def _parse_report(text: str, options: argparse.Namespace) -> tuple[str, Path]:
    """Return the kind and the path of a report.

    Raises:
        UsageError: if the kind is unknown or shows no comparison, or the path cannot be written or is in use.
    """
    kind, _, path = (part.strip() for part in text.partition("="))
    kinds = [name for name in REPORTS if name not in OF_ONE_RUN]
    if kind not in kinds:
        raise UnknownNameError("kind of --report", kind, kinds)
    if not path:
        raise UsageError(f"--report: {text!r}: nothing given after {kind}=; expected the path of a file")
    target = Path(path).resolve()
    records = [file.resolve() for name in (options.before, options.after) if (file := find(options.store, name))]
    of_store = records_folder(options.store).resolve() in target.parents or (
        target.parent == options.store.resolve() and target.name.startswith(REPLIES)
    )
    if target in records or of_store:
        raise UsageError(f"--report: {text}: it would replace a record or a file of the store; name another path")
    try:
        check_writable(target)
    except UsageError as error:
        raise UsageError(f"--report: {text}: {error}") from None
    return kind, target
