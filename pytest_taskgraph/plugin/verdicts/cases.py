"""Cases of a whole run: test reports of their own, issued by whoever gathers the results."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import TYPE_CHECKING, Literal

import pytest

from ...results.case import RunCase
from .outcomes import FailureRepr

if TYPE_CHECKING:
    from ..session import RunSession

ITEMS = pytest.StashKey[int]()  # how many items were collected, without the cases
COUNTED = pytest.StashKey[int]()  # what the session was told, with them


class CaseReport(pytest.TestReport):
    """A report whose failure is told under the whole name of its case, for it stands in no file."""

    @property
    def head_line(self) -> str:
        """The node id: `gates::NAME`."""
        return self.nodeid


def count_cases(session: pytest.Session, run: RunSession | None) -> int:
    """How many items were collected; the session counts the cases to come among them, so that its progress ends with
    the last case, not before it. To be called before an item is told; xdist counts anew when it replaces a worker.
    """
    stash = session.config.stash
    if session.testscollected != stash.get(COUNTED, None):
        _count(session, session.testscollected, _expected(run) if run is not None else 0)
    return stash[ITEMS]


def _expected(run: RunSession) -> int:
    """How many cases there will be, if something is asked."""
    from .. import options
    from .fail_policy import BUDGETS

    budgets = sum(options.given(run.config, limit) is not None for limit in BUDGETS.values())
    of_each = len(run.fail_policy.gates) + bool(run.fail_policy.max_errors)
    return budgets + len(run.models.labels) * of_each + bool(run.reporting.compares)


def _count(session: pytest.Session, items: int, cases: int) -> None:
    # Where nothing was collected, the exit code is to say so.
    session.testscollected = items + cases if items else 0
    session.config.stash[ITEMS], session.config.stash[COUNTED] = items, session.testscollected


def issue(session: pytest.Session, cases: Sequence[RunCase], texts: Mapping[str, str] = MappingProxyType({})) -> None:
    """Report the cases as tests that have run.

    Args:
        session: The session.
        cases: The cases.
        texts: By the names of failed cases, what is told of them in several lines; by default the reason.
    """
    _count(session, count_cases(session, None), len(cases))
    hook = session.config.hook
    for case in cases:
        # Without a name of a function: pytest writes "::" for the dots in one, and names hold numbers.
        location = (case.name.partition("::")[0], None, "")
        hook.pytest_runtest_logstart(nodeid=case.name, location=location)
        for when in ("setup", "call", "teardown"):
            hook.pytest_runtest_logreport(report=_report(case, when, location, texts.get(case.name, "")))
        hook.pytest_runtest_logfinish(nodeid=case.name, location=location)


def _report(
    case: RunCase, when: Literal["setup", "call", "teardown"], location: tuple[str, int | None, str], text: str
) -> pytest.TestReport:
    from ...reports.escape import one_line

    outcome, reason = case.outcome if when == "call" else "passed", one_line(case.reason)
    report = CaseReport(case.name, location, {}, outcome, None, when)
    if outcome == "failed":
        report.longrepr = FailureRepr(text or reason, reason)  # type: ignore[assignment]
    elif outcome == "skipped":
        report.longrepr = (location[0], 0, reason)
    return report
