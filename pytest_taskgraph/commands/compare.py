"""Command `compare A B`: two records, each a file or a saved name, compared question by question."""

from __future__ import annotations

import argparse
import shutil
from pathlib import Path
from typing import Final

from ..reports.comparison_lines import lines
from ..reports.escape import json_text
from ..results.comparison import FAIL_ON, MARGIN, compare, comparison_case, parse_fail_on
from ..results.record.saved import load

SUMMARY = "compare a run with a former one, question by question; exit code 1 if it is worse"
STORE: Final = Path(".taskgraph")
NARROWEST: Final = 40


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
    parser.add_argument("--json", action="store_true", help="print JSON")


def run(options: argparse.Namespace) -> int:
    """Compare the two runs and print the result.

    Returns:
        1 if the comparison fails on what `--fail-on` names, else 0.

    Raises:
        UsageError: if an option is invalid or a record cannot be read.
    """
    fail_on = parse_fail_on([options.fail_on], "--fail-on")
    before, after = load(options.store, options.before), load(options.store, options.after)
    comparison = compare(before, after, options.margin)
    outcome, reason = comparison_case(comparison, fail_on)
    if options.json:
        print(json_text({"outcome": outcome, "told": reason, **comparison.to_json()}))
    else:
        width = max(NARROWEST, shutil.get_terminal_size().columns)
        print("\n".join(line for line, _ in lines(comparison, options.before, width)))
    return 1 if outcome == "failed" else 0
