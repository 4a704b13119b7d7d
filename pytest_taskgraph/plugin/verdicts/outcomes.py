"""Test reports of items: the trial is attached to the report, and a verdict is shown without a traceback."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, cast

import pytest

from ...errors import OrderTooWideError, ProviderError, RunOptionError, UsageError
from ...trial import Trial, WrongAnswerError

if TYPE_CHECKING:
    from ...reports.failure_text import TextBlock, WireBlock

TRIAL_ATTRIBUTE = "taskgraph"  # the attribute of a report with the trial; as JSON text on an xdist worker
REASON = "taskgraph_reason"  # a verdict in a line
GROUP = "taskgraph_group"  # the group of a question that was answered wrongly
WRONG = "taskgraph_wrong"  # set where a wrong answer is reported as expected
MISSING = "taskgraph_missing"  # set where a missing reply is reported as expected
MISTAKE = "taskgraph_mistake"  # the text of a usage error that ends the run, on the report of a failed collector
SUITE_MISTAKE = "taskgraph_suite_mistake"  # set on the report of a collector that failed because of its own suite
QUESTION = "taskgraph_question"  # the part of the id of a test that names the question, and the model if it does
PLACE = "taskgraph_place"  # path and line of the test, from the folder where pytest was started
BLOCKS = "taskgraph_blocks"  # the text of a failure as blocks, which the printing process lays out


@dataclass(frozen=True)
class _Crash:
    """Stand-in for pytest's ReprFileLocation: pytest prints `message` in its summary, and the text under --tb=line."""

    message: str
    text: str
    path: str = ""
    lineno: int = 0

    def __str__(self) -> str:
        return self.text


class FailureRepr:
    """Representation of a failure: several lines, and one line for the short summary.

    Args:
        text: The lines as text, for reports.
        reason: The line of the short summary.
        blocks: The lines for the terminal, as blocks that are laid out for its width; None for those of the text.
        place: What stands before the reason under --tb=line.
    """

    def __init__(self, text: str, reason: str, blocks: Sequence[WireBlock] | None = None, place: str = "") -> None:
        self.text = text
        self.reprcrash = _Crash(reason, place + reason)
        self._blocks = blocks

    def __str__(self) -> str:
        return self.text

    def toterminal(self, tw: Any) -> None:  # noqa: ANN401 - pytest's writer has no public type
        """Print the lines."""
        for line in self._lines(tw.fullwidth):
            tw.line(line)

    def _lines(self, width: int) -> list[str]:
        if self._blocks is None:
            return self.text.splitlines()
        from ...reports.failure_text import lay_out

        return lay_out(self._blocks, width)


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


@dataclass(frozen=True, slots=True)
class FailureStyle:
    """How a process reports failures.

    Attributes:
        config: The configuration of the session.
        expects_wrong: True if a wrong answer is reported as expected; that on a variation always is.
        expects_missing: True if a missing reply is reported as expected, because a case decides on their share.
    """

    config: pytest.Config
    expects_wrong: bool
    expects_missing: bool

    @property
    def as_text(self) -> bool:
        """Return True if the trial is attached as JSON text, which xdist can send."""
        return hasattr(self.config, "workerinput")

    @property
    def verbosity(self) -> int:
        """Return how much is shown, as of failed assertions."""
        return self.config.get_verbosity(pytest.Config.VERBOSITY_ASSERTIONS)

    @property
    def one_line(self) -> bool:
        """Return True if the terminal shows a failed test as one line."""
        return bool(self.config.getoption("tbstyle", "auto") == "line")

    def place(self, report: pytest.TestReport) -> str:
        """Return path and line of the test; the path starts in the folder where pytest was started."""
        path = report.location[0]
        if self.config.rootpath != self.config.invocation_params.dir:
            with suppress(ValueError):  # another drive
                path = os.path.relpath(self.config.rootpath / path, self.config.invocation_params.dir)
        return f"{path}:{(report.location[1] or 0) + 1}"


def attach_trial(
    report: pytest.TestReport,
    trial: Trial,
    excinfo: pytest.ExceptionInfo[BaseException] | None,
    style: FailureStyle,
) -> None:
    """Attach the trial to the report of the setup, and replace the traceback of a verdict.

    Args:
        report: The report of setup, call or teardown.
        trial: The trial of the item.
        excinfo: The exception of the phase.
        style: How the failure is reported.
    """
    error = None if excinfo is None else excinfo.value
    if report.when == "setup":
        setattr(report, TRIAL_ATTRIBUTE, trial.to_json_text() if style.as_text else trial)
        if isinstance(error, (ProviderError, OrderTooWideError)):
            _report_missing_reply(report, trial, error, style)
    elif isinstance(error, WrongAnswerError):
        _report_wrong_answer(report, trial, style)


def _report_missing_reply(
    report: pytest.TestReport, trial: Trial, error: ProviderError | OrderTooWideError, style: FailureStyle
) -> None:
    from ...reports.failure_text import TextBlock, missing_reply_blocks

    if isinstance(error, ProviderError):
        verbosity = 0 if style.one_line else style.verbosity
        _set_failure(report, style, missing_reply_blocks(trial, verbosity), f"no reply: {trial.failure_text}")
    else:
        _set_failure(report, style, [TextBlock(error.message)], error.message)
    if style.expects_missing and report.failed:
        _mark_expected(report, MISSING, getattr(report, REASON))


def _report_wrong_answer(report: pytest.TestReport, trial: Trial, style: FailureStyle) -> None:
    from ...reports.failure import short_reason
    from ...reports.failure_text import failure_blocks

    _set_failure(report, style, failure_blocks(trial, style.verbosity), short_reason(trial))
    setattr(report, GROUP, trial.question.group)
    if style.expects_wrong or trial.question.relation:
        _mark_expected(report, WRONG, short_reason(trial, scored=True))
    elif style.one_line:
        setattr(report, BLOCKS, [])  # pytest prints the reason after the place of the test


def _mark_expected(report: pytest.TestReport, verdict: str, reason: str) -> None:
    """Turn a failure into an expected failure; JUnit, Allure and other reports show its reason."""
    report.outcome = "skipped"
    report.wasxfail = reason
    setattr(report, verdict, True)


def _set_failure(report: pytest.TestReport, style: FailureStyle, blocks: Sequence[TextBlock], reason: str) -> None:
    from ...reports.escape import one_line
    from ...reports.failure_text import lay_out

    wire_blocks = [block.to_json() for block in blocks]
    report.longrepr = "\n".join(lay_out(wire_blocks, None))
    setattr(report, REASON, one_line(reason))
    name = report.nodeid.partition("::")[2]
    setattr(report, QUESTION, one_line(name.partition("[")[2].removesuffix("]") or name))
    setattr(report, PLACE, one_line(style.place(report)))
    setattr(report, BLOCKS, wire_blocks)


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
        if isinstance(excinfo.value, RunOptionError):
            setattr(report, MISTAKE, report.longrepr)
        else:
            setattr(report, SUITE_MISTAKE, True)


def restore_failure_repr(report: pytest.TestReport) -> None:
    """Restore the representation of a failure on the controller, after a worker sent it as plain values."""
    reason = getattr(report, REASON, None)
    if reason is not None and isinstance(report.longrepr, str):
        blocks, question = getattr(report, BLOCKS, None), getattr(report, QUESTION, "")
        place = f"{getattr(report, PLACE, report.location[0])}: {question}: "
        report.longrepr = FailureRepr(report.longrepr, reason, blocks, place)  # type: ignore[assignment]


def expected_status(report: pytest.TestReport) -> tuple[str, str, tuple[str, dict[str, bool]]] | None:
    """Return outcome, letter and word of a wrong answer or missing reply that is reported as expected, else None."""
    if getattr(report, WRONG, False) and report.when == "call" and report.skipped:
        return "wrong", "w", ("WRONG", {"yellow": True})
    if getattr(report, MISSING, False) and report.when == "setup" and report.skipped:
        return "error", "e", ("ERROR", {"yellow": True})
    return None
