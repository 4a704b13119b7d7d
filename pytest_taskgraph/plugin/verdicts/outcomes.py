"""What pytest is told about one item: the trial rides on its report, and a verdict is told without a traceback."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, cast

import pytest

from ...errors import OrderTooWideError, ProviderError, UsageError
from ...trial import Trial, WrongAnswerError

TRIAL_ATTRIBUTE = "taskgraph"  # the attribute of a report that holds the trial; as JSON text where it is to cross xdist
REASON = "taskgraph_reason"  # the one line of a verdict
GROUP = "taskgraph_group"  # the name of the group of a question that was answered wrong
WRONG = "taskgraph_wrong"  # set where a wrong answer is reported as expected
MISSING = "taskgraph_missing"  # set where a missing reply is reported as expected
MISTAKE = "taskgraph_mistake"  # the text of a mistake of usage, on the report of what could not be collected


@dataclass(frozen=True)
class _Crash:
    """What pytest takes for the place of a failure: it shows `message`, or all of it under --tb=line."""

    message: str
    path: str = ""
    lineno: int = 0

    def __str__(self) -> str:
        return self.message


class FailureRepr:
    """A failure as pytest prints it: a few lines, and one of them for the short summary."""

    def __init__(self, text: str, reason: str) -> None:
        self.text = text
        self.reprcrash = _Crash(reason)

    def __str__(self) -> str:
        return self.text

    def toterminal(self, tw: object) -> None:
        """Prints the lines."""
        for line in self.text.splitlines():
            tw.line(line)  # type: ignore[attr-defined]


@contextmanager
def without_traceback(call: pytest.CallInfo[None]) -> Iterator[None]:
    """Keep pytest from building a traceback, within the context, if the call ended with a verdict.

    A traceback of many lines would be replaced afterwards, and pytest parses the source of each of its functions. With
    Python 3.11 that fails with a SystemError if another thread, litellm's, formats an exception at the same time.
    """
    excinfo = call.excinfo
    if excinfo is None or not isinstance(excinfo.value, (WrongAnswerError, ProviderError, OrderTooWideError)):
        yield
        return
    call.excinfo = cast(Any, _Text(str(excinfo.value), excinfo.value))  # pytest shows what is no ExceptionInfo as it is
    try:
        yield
    finally:
        call.excinfo = excinfo


class _Text(str):
    """What is shown of an exception, in place of its ExceptionInfo; hooks may ask for the exception itself."""

    value: BaseException

    def __new__(cls, text: str, value: BaseException) -> _Text:
        """Return the text with the exception attached."""
        made = super().__new__(cls, text)
        made.value = value
        return made


def report_plainly(item: pytest.Item, call: pytest.CallInfo[None]) -> pytest.TestReport:
    """Return the report of a failed call whose traceback pytest could not build: the exception's own lines."""
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
    travels: bool,
    allowed: bool = False,
) -> None:
    """Puts the trial on the report of the set-up, as JSON if it travels, and a verdict in place of a traceback.

    A wrong answer is reported as expected where `expects_wrong`, and always where the question is varied.
    A missing reply is where `allowed`: there a case decides on how many are missing.
    """
    if report.when == "setup":
        setattr(report, TRIAL_ATTRIBUTE, json.dumps(trial.to_json()) if travels else trial)
        if excinfo is not None and isinstance(excinfo.value, ProviderError):
            _tell(report, [f"no reply: {trial.failure_text}"], f"no reply: {trial.failure_text}")
        elif excinfo is not None and isinstance(excinfo.value, OrderTooWideError):
            _tell(report, [excinfo.value.message], excinfo.value.message)
        if allowed and report.failed and hasattr(report, REASON):
            _expect(report, MISSING)
    elif excinfo is not None and isinstance(excinfo.value, WrongAnswerError):
        _tell_wrong(report, trial, expects_wrong or bool(trial.question.relation))


def _tell_wrong(report: pytest.TestReport, trial: Trial, expected: bool) -> None:
    from ...reports.failure import SECTION, failure_lines, reply_section, short_reason

    reason = short_reason(trial)
    _tell(report, failure_lines(trial), reason)
    setattr(report, GROUP, trial.question.group)
    if expected:
        _expect(report, WRONG)
    elif trial.reply is not None:
        report.sections.append((SECTION, reply_section(trial.reply.text)))


def _expect(report: pytest.TestReport, verdict: str) -> None:
    """Makes an expected failure of a verdict that was told."""
    report.outcome = "skipped"
    report.wasxfail = getattr(report, REASON)
    setattr(report, verdict, True)


def _tell(report: pytest.TestReport, lines: list[str], reason: str) -> None:
    from ...reports.escape import disarm_lines, one_line

    report.longrepr = "\n".join(map(disarm_lines, lines))
    setattr(report, REASON, one_line(reason))


def report_mistake(
    report: pytest.CollectReport,
    excinfo: pytest.ExceptionInfo[BaseException] | None,
    collector: pytest.Collector,
    registration: UsageError | None = None,
) -> None:
    """Puts place and words of a UsageError on the report of a collector; nothing for any other error.

    `registration` is what a conftest file that was loaded meanwhile failed to register: its message has the place.
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
    """On the controller: gives the text that crossed the wire back the line that the short summary shows."""
    reason = getattr(report, REASON, None)
    if reason is not None and isinstance(report.longrepr, str):
        report.longrepr = FailureRepr(report.longrepr, reason)  # type: ignore[assignment]


def expected_status(report: pytest.TestReport) -> tuple[str, str, tuple[str, dict[str, bool]]] | None:
    """Outcome, letter and word of a wrong answer or a missing reply that is reported as expected; None for others."""
    if getattr(report, WRONG, False) and report.when == "call" and report.skipped:
        return "wrong", "w", ("WRONG", {"yellow": True})
    if getattr(report, MISSING, False) and report.when == "setup" and report.skipped:
        return "error", "e", ("ERROR", {"yellow": True})
    return None
