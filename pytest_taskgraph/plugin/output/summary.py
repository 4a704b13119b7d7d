"""The summary of a run on the terminal."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

import pytest

from ..verdicts.outcomes import GROUP, REASON

if TYPE_CHECKING:
    from ..session import RunSession

MOST_IN_FULL = 10  # wrong answers of one group, and errors of one kind, that are printed in full


@contextmanager
def shorten_failures(reporter: pytest.TerminalReporter) -> Iterator[None]:
    """Hide all but the first verdicts of each group from pytest's summary; afterwards print the numbers of the rest."""
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
    for description, number in hidden.items():
        reporter.write_line(f"... and {number} more {description}")


def _first(reports: list[pytest.TestReport], outcome: str, hidden: Counter[str]) -> list[pytest.TestReport]:
    seen: Counter[str] = Counter()
    first_reports = []
    for report in reports:
        description = _describe_verdicts(report, outcome)
        seen[description] += 1
        if not hasattr(report, REASON) or seen[description] <= MOST_IN_FULL:
            first_reports.append(report)
        else:
            hidden[description] += 1
    return first_reports


def _describe_verdicts(report: pytest.TestReport, outcome: str) -> str:
    """Describe the verdicts that are counted together: wrong answers of a group, or equal errors of a provider."""
    if outcome == "error":
        return f"without a reply ({getattr(report, REASON, '')})"
    return f"wrong answers of {getattr(report, GROUP, '')}"


def write_summary(reporter: pytest.TerminalReporter, run: RunSession, width: int) -> None:
    """Print the tables, the verdicts, the comparison and remarks; a few lines with -q."""
    from ...reports import comparison_lines, terminal
    from ...reports.escape import wrap

    verbosity, remarks = reporter.config.get_verbosity(), _remarks(run, width)
    if not run.tally and not remarks and not run.reporting.written:
        return
    lines = terminal.lines(run.tally, run.about(), verbosity, width)
    if verbosity >= 0:
        reporter.section("taskgraph", "=")
        if run.reporting.comparison is not None:  # its verdict stands among the others
            lines += comparison_lines.details(run.reporting.comparison, width)
    for written in run.reporting.written:
        lines += [(line, {}) for line in wrap(f"taskgraph: {written}", width, 3)]
    for text, markup in lines + remarks:
        reporter.write_line(text, **markup)


def _remarks(run: RunSession, width: int) -> list[tuple[str, dict[str, bool]]]:
    """Return lines with their markup: the verdicts if there is no table above them, and requests that were not met."""
    from ...reports.escape import wrap
    from ...reports.gate_lines import gate_lines

    verbosity = run.config.get_verbosity()
    alone = not run.tally and verbosity >= -1
    verdicts = gate_lines(run.about().gates, width, brief=verbosity < 0) if alone else []
    remarks = list(run.reporting.remarks)
    if run.interrupted and ("gates" in run.fail_policy.kinds or run.reporting.compares):
        remarks.append("the run was interrupted: there is no verdict of gates and comparisons")
    wrapped = [line for remark in remarks for line in wrap(f"taskgraph: {remark}", width, 3)]
    return verdicts + [(line, {"red": True}) for line in wrapped]
