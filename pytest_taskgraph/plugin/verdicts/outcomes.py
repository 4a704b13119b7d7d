"""Test reports of items: the trial is attached to the report, and a verdict is shown without a traceback."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, cast

import pytest

from ...errors import OrderTooWideError, ProviderError, UsageError
from ...trial import Trial, WrongAnswerError

TRIAL_ATTRIBUTE = "taskgraph"  # the attribute of a report with the trial; as JSON text on an xdist worker
REASON = "taskgraph_reason"  # the one line of a verdict
GROUP = "taskgraph_group"  # the group of a question that was answered wrongly
WRONG = "taskgraph_wrong"  # set where a wrong answer is reported as expected
MISSING = "taskgraph_missing"  # set where a missing reply is reported as expected
MISTAKE = "taskgraph_mistake"  # the text of a usage error, on the report of a failed collector


@dataclass(frozen=True)
class _Crash:
    """Stand-in for pytest's ReprFileLocation: pytest prints `message` in its summary and under --tb=line."""

    message: str
    path: str = ""
    lineno: int = 0

    def __str__(self) -> str:
        return self.message


class FailureRepr:
    """Representation of a failure: several lines, and one line for the short summary."""

    def __init__(self, text: str, reason: str) -> None:
        self.text = text
        self.reprcrash = _Crash(reason)

    def __str__(self) -> str:
        return self.text

    def toterminal(self, tw: object) -> None:
        """Print the lines."""
        for line in self.text.splitlines():
            tw.line(line)  # type: ignore[attr-defined]


@contextmanager
def without_traceback(call: pytest.CallInfo[None]) -> Iterator[None]:
    """Keep pytest from building a traceback within the context if the call ended with a verdict.

    The traceback is replaced afterwards anyway, and pytest parses the source of each of its functions. In Python 3.11
    that fails with a SystemError if another thread, such as litellm's, formats an exception at the same time.
    """
    excinfo = call.excinfo
    if excinfo is None or not isinstance(excinfo.value, (WrongAnswerError, ProviderError, OrderTooWideError)):
        yield
        return
    call.excinfo = cast(Any, _Text(str(excinfo.value), excinfo.value))  # pytest prints other types than ExceptionInfo
    try:
        yield
    finally:
        call.excinfo = excinfo


class _Text(str):
    """Text of an exception in place of its ExceptionInfo; `value` is the exception, for other hooks."""

    value: BaseException

    def __new__(cls, text: str, value: BaseException) -> _Text:
        """Return the text with the exception attached."""
        instance = super().__new__(cls, text)
        instance.value = value
        return instance


def report_plainly(item: pytest.Item, call: pytest.CallInfo[None]) -> pytest.TestReport:
    """Return the report of a failed call whose traceback pytest could not build, with the text of the exception."""
    excinfo = call.excinfo
    assert excinfo is not None
    call.excinfo = cast(Any, _Text(excinfo.exconly(), excinfo.value))
    try:
        return pytest.TestReport.from_item_and_call(item, call)
    finally:
        call.excinfo = excinfo


def attach_trial(
    report: pytest.TestReport,
    trial: Trial,
    excinfo: pytest.ExceptionInfo[BaseException] | None,
    expects_wrong: bool,
    as_text: bool,
    expects_missing: bool = False,
) -> None:
    """Attach the trial to the report of the setup, and replace the traceback of a verdict.

    Args:
        report: The report of setup, call or teardown.
        trial: The trial of the item.
        excinfo: The exception of the phase.
        expects_wrong: True if a wrong answer is reported as expected; it always is for a variation.
        as_text: True to attach the trial as JSON text, which xdist can send.
        expects_missing: True if a missing reply is reported as expected, for a case decides on their share.
    """
    if report.when == "setup":
        setattr(report, TRIAL_ATTRIBUTE, json.dumps(trial.to_json()) if as_text else trial)
        if excinfo is not None and isinstance(excinfo.value, ProviderError):
            _set_failure(report, [f"no reply: {trial.failure_text}"], f"no reply: {trial.failure_text}")
        elif excinfo is not None and isinstance(excinfo.value, OrderTooWideError):
            _set_failure(report, [excinfo.value.message], excinfo.value.message)
        if expects_missing and report.failed and hasattr(report, REASON):
            _mark_expected(report, MISSING)
    elif excinfo is not None and isinstance(excinfo.value, WrongAnswerError):
        _report_wrong_answer(report, trial, expects_wrong or bool(trial.question.relation))


def _report_wrong_answer(report: pytest.TestReport, trial: Trial, expected: bool) -> None:
    from ...reports.failure import SECTION, failure_lines, reply_section, short_reason

    reason = short_reason(trial)
    _set_failure(report, failure_lines(trial), reason)
    setattr(report, GROUP, trial.question.group)
    if expected:
        _mark_expected(report, WRONG)
    elif trial.reply is not None:
        report.sections.append((SECTION, reply_section(trial.reply.text)))


def _mark_expected(report: pytest.TestReport, verdict: str) -> None:
    """Turn a failure with a reason into an expected failure."""
    report.outcome = "skipped"
    report.wasxfail = getattr(report, REASON)
    setattr(report, verdict, True)


def _set_failure(report: pytest.TestReport, lines: list[str], reason: str) -> None:
    from ...reports.escape import disarm_lines, one_line

    report.longrepr = "\n".join(map(disarm_lines, lines))
    setattr(report, REASON, one_line(reason))


def report_mistake(
    report: pytest.CollectReport,
    excinfo: pytest.ExceptionInfo[BaseException] | None,
    collector: pytest.Collector,
    registration: UsageError | None = None,
) -> None:
    """Set the report of a collector that failed with a UsageError to its place and message.

    Args:
        report: The report of the collector.
        excinfo: The exception; any other than a UsageError is left to pytest.
        collector: The collector.
        registration: The error of a conftest file that was loaded meanwhile; its message has the place.
    """
    if registration is not None:
        report.longrepr = str(registration)
        setattr(report, MISTAKE, report.longrepr)
    elif excinfo is not None and isinstance(excinfo.value, UsageError):
        lines = [entry.lineno + 1 for entry in excinfo.traceback if entry.path == collector.path]
        place = f"{collector.nodeid}:{lines[-1]}" if lines else collector.nodeid
        report.longrepr = f"{place}: {excinfo.value}"
        setattr(report, MISTAKE, report.longrepr)


def restore_failure_repr(report: pytest.TestReport) -> None:
    """Restore the line of the short summary on the controller, after a worker sent the failure as text."""
    reason = getattr(report, REASON, None)
    if reason is not None and isinstance(report.longrepr, str):
        report.longrepr = FailureRepr(report.longrepr, reason)  # type: ignore[assignment]


def expected_status(report: pytest.TestReport) -> tuple[str, str, tuple[str, dict[str, bool]]] | None:
    """Return outcome, letter and word of a wrong answer or missing reply that is reported as expected, else None."""
    if getattr(report, WRONG, False) and report.when == "call" and report.skipped:
        return "wrong", "w", ("WRONG", {"yellow": True})
    if getattr(report, MISSING, False) and report.when == "setup" and report.skipped:
        return "error", "e", ("ERROR", {"yellow": True})
    return None
