"""What the terminal says at the end."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

import pytest

from ..verdicts.outcomes import GROUP, REASON

if TYPE_CHECKING:
    from ..session import RunSession

SHOWN = 10  # wrong answers of one group, and errors of one kind, that are told in full


@contextmanager
def shorten_failures(reporter: pytest.TerminalReporter) -> Iterator[None]:
    """Within it, pytest knows only the first verdicts of each group; afterwards the rest is counted, a line each."""
    hidden: Counter[str] = Counter()
    whole = {outcome: list(reporter.stats.get(outcome, ())) for outcome in ("failed", "error")}
    for outcome, reports in whole.items():
        if reports:
            reporter.stats[outcome] = _first(reports, outcome, hidden)
    try:
        yield
    finally:
        for outcome, reports in whole.items():
            if reports:
                reporter.stats[outcome] = reports
    for what, number in hidden.items():
        reporter.write_line(f"... and {number} more {what}")


def _first(reports: list[pytest.TestReport], outcome: str, hidden: Counter[str]) -> list[pytest.TestReport]:
    seen: Counter[str] = Counter()
    kept = []
    for report in reports:
        what = _what(report, outcome)
        seen[what] += 1
        if not hasattr(report, REASON) or seen[what] <= SHOWN:
            kept.append(report)
        else:
            hidden[what] += 1
    return kept


def _what(report: pytest.TestReport, outcome: str) -> str:
    """What a verdict is one of many of: wrong answers of a group, or the same provider's error."""
    if outcome == "error":
        return f"without a reply ({getattr(report, REASON, '')})"
    return f"wrong answers of {getattr(report, GROUP, '')}"


def write_summary(reporter: pytest.TerminalReporter, run: RunSession, width: int) -> None:
    """The table, the verdicts, what a comparison found and what was not done; a few lines under -q."""
    from ...reports import comparison_lines, terminal

    verbosity, more = reporter.config.get_verbosity(), _remarks(run, width)
    if not run.tally and not more:
        return
    found = terminal.lines(run.tally, run.about(), verbosity, width)
    if verbosity >= 0:
        reporter.section("taskgraph", "=")
        if run.reporting.comparison is not None:  # its verdict stands among the others
            found += comparison_lines.details(run.reporting.comparison, width)
    for text, markup in found + more:
        reporter.write_line(text, **markup)


def _remarks(run: RunSession, width: int) -> list[tuple[str, dict[str, bool]]]:
    """Lines with their markup: the verdicts, where no table is above them, and what was asked for and not done."""
    from ...reports.escape import wrap
    from ...reports.gate_lines import gate_lines

    verbosity = run.config.get_verbosity()
    alone = not run.tally and verbosity >= -1
    found = gate_lines(run.about().gates, width, brief=verbosity < 0) if alone else []
    told = list(run.reporting.remarks)
    if run.interrupted and ("gates" in run.fail_policy.kinds or run.reporting.compares):
        told.append("the run was interrupted: there is no verdict of gates and comparisons")
    return found + [(line, {"red": True}) for one in told for line in wrap(f"taskgraph: {one}", width, 3)]
