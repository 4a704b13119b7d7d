"""Cases that judge a whole run: test reports of their own, issued by whoever gathers the results."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import pytest

from .outcomes import Told


@dataclass(frozen=True, slots=True)
class Case:
    """One verdict: its node id, such as `budget::calls`, how it ended, and why in one line; numbers where it has some.

    These are the entries of `gates` in the record.
    """

    name: str
    outcome: Literal["passed", "failed", "skipped"]
    reason: str
    model: str = ""  # "" where it is about all of them
    estimate: float | None = None
    low: float | None = None
    high: float | None = None
    threshold: float | None = None


def issue(session: pytest.Session, cases: Sequence[Case]) -> None:
    """Nothing; the cases have run, as far as pytest and its reports can tell."""
    if session.testscollected:  # where nothing was collected, the exit code is to say so
        session.testscollected += len(cases)  # or the progress would pass 100 %
    hook = session.config.hook
    for case in cases:
        location = (case.name.partition("::")[0], None, case.name.partition("::")[2])
        hook.pytest_runtest_logstart(nodeid=case.name, location=location)
        for when in ("setup", "call", "teardown"):
            hook.pytest_runtest_logreport(report=_report(case, when, location))
        hook.pytest_runtest_logfinish(nodeid=case.name, location=location)


def _report(
    case: Case, when: Literal["setup", "call", "teardown"], location: tuple[str, int | None, str]
) -> pytest.TestReport:
    from ..reports.escape import one_line

    outcome, reason = case.outcome if when == "call" else "passed", one_line(case.reason)
    report = pytest.TestReport(case.name, location, {}, outcome, None, when)
    if outcome == "failed":
        report.longrepr = Told(reason, reason)  # type: ignore[assignment]
    elif outcome == "skipped":
        report.longrepr = (location[0], 0, reason)
    return report
