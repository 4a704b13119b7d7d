"""Cases of a whole run, reported like test items by the process that gathers the results."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from importlib import import_module
from types import MappingProxyType
from typing import TYPE_CHECKING, Literal

import pytest

from ...results.case import RunCase
from .outcomes import FailureRepr

if TYPE_CHECKING:
    from ..session import RunSession

ITEMS = pytest.StashKey[int]()  # number of collected items, without cases
ITEMS_AND_CASES = pytest.StashKey[int]()  # the number that the session has, with cases


class CaseReport(pytest.TestReport):
    """Report whose failure is printed under the complete name of its case, for a case is in no file."""

    @property
    def head_line(self) -> str:
        """Return the node id, such as `gates::NAME`."""
        return self.nodeid


def count_cases(session: pytest.Session, run: RunSession | None) -> int:
    """Return the number of collected items, and add the expected cases to that of the session.

    The progress of the session then reaches 100 % with the last case. To be called before each item is reported, for
    xdist counts again when it replaces a worker.
    """
    stash = session.config.stash
    if session.testscollected != stash.get(ITEMS_AND_CASES, None):
        _count(session, session.testscollected, _expected(run) if run is not None else 0)
    return stash[ITEMS]


def _expected(run: RunSession) -> int:
    """Return the number of cases of a run with questions."""
    from .. import options
    from .fail_policy import BUDGETS

    budgets = sum(options.given(run.config, limit) is not None for limit in BUDGETS.values())
    of_each_model = len(run.fail_policy.gates) + bool(run.fail_policy.max_errors)
    return budgets + len(run.models.labels) * of_each_model + bool(run.reporting.compares)


def _count(session: pytest.Session, items: int, cases: int) -> None:
    # Without items the number stays 0, for pytest's exit code of an empty collection.
    session.testscollected = items + cases if items else 0
    session.config.stash[ITEMS], session.config.stash[ITEMS_AND_CASES] = items, session.testscollected


def issue(session: pytest.Session, cases: Sequence[RunCase], texts: Mapping[str, str] = MappingProxyType({})) -> None:
    """Report the cases as tests that have run.

    Args:
        session: The session.
        cases: The cases.
        texts: Long descriptions of failed cases, by name; by default the reason.
    """
    _count(session, count_cases(session, None), len(cases))
    hook, reason_alone = session.config.hook, session.config.getoption("tbstyle", "auto") == "line"
    for case in cases:
        # Without the name of a function, in which pytest replaces dots by "::": these names contain numbers.
        location = (case.name.partition("::")[0], None, "")
        hook.pytest_runtest_logstart(nodeid=case.name, location=location)
        for when in ("setup", "call", "teardown"):
            hook.pytest_runtest_logreport(report=_report(case, when, location, texts.get(case.name, ""), reason_alone))
        hook.pytest_runtest_logfinish(nodeid=case.name, location=location)
        if session.config.pluginmanager.has_plugin("allure_listener"):
            _write_allure_result(case, texts.get(case.name, ""))


def _write_allure_result(case: RunCase, text: str) -> None:
    """Write the result of a case for Allure, whose plugin reads the hooks of items alone: a case has no item."""
    from ...reports.escape import one_line

    commons, model = import_module("allure_commons"), import_module("allure_commons.model2")
    utils = import_module("allure_commons.utils")
    reason, key, now = one_line(case.reason), utils.md5(case.name), utils.now()
    result = model.TestResult(
        uuid=utils.uuid4(),
        name=case.name,
        fullName=case.name,
        testCaseId=key,
        historyId=key,
        status=case.outcome,
        statusDetails=model.StatusDetails(message=reason, trace=text or reason),
        labels=[model.Label(name="suite", value=case.name.partition("::")[0])],
        start=now,
        stop=now,
    )
    commons.plugin_manager.hook.report_result(result=result)


def _report(
    case: RunCase,
    when: Literal["setup", "call", "teardown"],
    location: tuple[str, int | None, str],
    text: str,
    reason_alone: bool,
) -> pytest.TestReport:
    from ...reports.escape import one_line

    outcome, reason = case.outcome if when == "call" else "passed", one_line(case.reason)
    report = CaseReport(case.name, location, {}, outcome, None, when)
    if outcome == "failed":
        report.longrepr = _failure(case.name, text, reason, reason_alone)  # type: ignore[assignment]
    elif outcome == "skipped":
        report.longrepr = (location[0], 0, reason)
    return report


def _failure(name: str, text: str, reason: str, reason_alone: bool) -> FailureRepr:
    """Return the representation of a failed case: its text or reason, or one line with its name."""
    from ...reports.escape import one_line
    from ...reports.failure_text import TextBlock

    if reason_alone:
        return FailureRepr(text or reason, reason, [], f"{one_line(name)}: ")
    return FailureRepr(text or reason, reason, None if text else [TextBlock(reason).to_json()])
