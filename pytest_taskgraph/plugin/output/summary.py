"""The summary of a run on the terminal."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

import pytest

from .. import options
from ..verdicts.outcomes import GROUP, PLACE, QUESTION, REASON

if TYPE_CHECKING:
    from ...trial import Trial
    from ..session import RunSession

REASON_ROOM = 40  # columns for the reason in a line of pytest's summary that say enough
MOST_IN_FULL = 10  # wrong answers of one group, and errors of one kind, that are printed in full


@contextmanager
def shorten_failures(reporter: pytest.TerminalReporter) -> Iterator[None]:
    """Hide all but the first verdicts of each group from pytest's summary; afterwards print the numbers of the rest.

    With -vv all are shown.
    """
    if reporter.config.get_verbosity() > 1:
        yield
        return
    hidden: Counter[str] = Counter()
    whole = {outcome: list(reporter.stats.get(outcome, ())) for outcome in ("failed", "error")}
    for outcome, reports in whole.items():
        if reports:
            reporter.stats[outcome] = _first(reports, outcome, hidden)
    try:
        yield
        write_reasons(reporter)
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


def write_reasons(reporter: pytest.TerminalReporter) -> None:
    """Print the reason of each verdict under --tb=no, if the lines of pytest's summary have no room for it."""
    from ...reports.escape import wrap
    from .terminal_lines import width

    if reporter.config.getoption("tbstyle", "auto") != "no":
        return
    columns = width(reporter.config)
    kinds = [kind for kind, letter in (("failed", "f"), ("error", "E")) if reporter.hasopt(letter)]
    reports = [report for kind in kinds for report in reporter.stats.get(kind, ()) if hasattr(report, QUESTION)]
    if max(map(_summary_columns, reports), default=0) + REASON_ROOM <= columns:
        return
    reporter.write_sep("-", "reasons")
    for report in reports:
        for line in wrap(f"{getattr(report, QUESTION)}: {getattr(report, REASON)}", columns, 2):
            reporter.write_line(line)


def _summary_columns(report: pytest.TestReport) -> int:
    """Return the columns of a line of pytest's summary without the reason."""
    path, name = getattr(report, PLACE).rpartition(":")[0], report.nodeid.partition("::")[2]
    return len(f"FAILED {path}::{name} - ")


def write_summary(reporter: pytest.TerminalReporter, run: RunSession, width: int) -> None:
    """Print the tables, the verdicts, the comparison and remarks; a few lines with -q."""
    from ...reports import terminal
    from ...reports.escape import wrap

    verbosity, remarks = reporter.config.get_verbosity(), _remarks(run, width)
    if not run.tally and not remarks and not run.reporting.written:
        return
    lines = terminal.lines(run.tally, run.about(), verbosity, width, with_header=not run.announced)
    if verbosity >= 0:
        reporter.write_sep("=", "taskgraph")
        lines = lines[1:] if lines and not lines[0][0] else lines
        if run.reporting.comparison is not None:  # its verdict stands among the others
            from ...reports import comparison_lines

            lines += comparison_lines.details(run.reporting.comparison, width)
    for file_text in run.reporting.written if verbosity >= -1 else ():
        lines += [(line, {}) for line in wrap(f"taskgraph: {file_text}", width, 3)]
    for text, markup in lines + remarks:
        reporter.write_line(text, **markup)


def _remarks(run: RunSession, width: int) -> list[tuple[str, dict[str, bool]]]:
    """Return lines with their markup: the verdicts if there is no table above them, and requests that were not met."""
    from ...reports.escape import wrap
    from ...reports.gate_lines import gate_lines
    from ...reports.wording import count

    verbosity = run.config.get_verbosity()
    alone = not run.tally and verbosity >= -1
    verdicts = gate_lines(run.about().gates, width, brief=verbosity < 0) if alone else []
    remarks = list(run.reporting.remarks)
    if run.interrupted and ("gates" in run.fail_policy.kinds or run.reporting.compares):
        remarks.append("the run was interrupted: there is no verdict of gates and comparisons")
    if not run.tally and run.pipeline.counters.sent:
        remarks.append(f"{count(run.pipeline.counters.sent, 'request')} sent, and no question was answered")
    remarks += run.pipeline.counters.remarks
    remarks += _slow_replies(run)
    remarks += _unknown_finish_reasons(run.tally)
    wrapped = [line for remark in remarks for line in wrap(f"taskgraph: {remark}", width, 3)]
    return verdicts + [(line, {"red": True}) for line in wrapped]


def _slow_replies(run: RunSession) -> Iterator[str]:
    """Yield what helps against attempts that took longer than their time limit, of this process and of workers."""
    from ...reports.wording import count

    given_up = sum(trial.failure is not None and trial.failure.kind == "timeout" for trial in run.tally)
    if times := max(run.pipeline.counters.timeouts, given_up):
        seconds = options.number(run.config, "timeout")
        yield (
            f"{count(times, 'attempt')} took longer than {seconds:g} s; with a smaller --taskgraph-concurrency fewer "
            "wait in the server, --taskgraph-model-option max_tokens=N ends replies sooner, --taskgraph-timeout=N "
            "waits longer"
        )


def _unknown_finish_reasons(trials: Iterable[Trial]) -> Iterator[str]:
    """Yield a remark for each word with which a provider ended replies, and whose meaning is not known."""
    from ...reports.wording import count
    from ...trial import FINISH_REASONS

    reasons = Counter(trial.reply.finish_reason for trial in trials if trial.reply is not None)
    for reason in sorted(reasons.keys() - set(FINISH_REASONS)):
        yield (
            f"{count(reasons[reason], 'reply', 'replies')} ended with the finish_reason {reason!r}, whose meaning is "
            "not known; scored as complete"
        )
