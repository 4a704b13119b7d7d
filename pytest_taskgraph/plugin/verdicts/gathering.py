"""Where results come together: the controller of xdist, or the one process. Idle, this imports nothing but pytest."""

from __future__ import annotations

import sys
from collections.abc import Generator
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from ..session import RunSession


class Gatherer:
    """Tallies what arrives: registered on the controller, or in the one process, never on a worker."""

    def __init__(self, session: pytest.Session) -> None:
        self.session, self.config = session, session.config
        self._again: set[str] = set()  # items that took their worker with them, and are run again for it

    @pytest.hookimpl(tryfirst=True)
    def pytest_collectreport(self, report: pytest.CollectReport) -> None:
        """A mistake of usage ends the run as one, wherever it was met."""
        if hasattr(report, "taskgraph_mistake"):
            raise pytest.UsageError(report.taskgraph_mistake)

    @pytest.hookimpl(wrapper=True, tryfirst=True)
    def pytest_runtest_logreport(self, report: pytest.TestReport) -> Generator[None, object, object]:
        """Called for every phase of every item: the trial is taken off before other plugins see the report; what was
        reported as expected is remembered for `--lf` after pytest's own plugins have.
        """
        if hasattr(report, "taskgraph"):
            from ..session import run_of

            run_of(self.config).add(report)
        elif (run := existing_run(self.config)) is not None:
            run.hear(report)
            self._take_back(report, run)
        result = yield
        if hasattr(report, "taskgraph_wrong") or hasattr(report, "taskgraph_missing"):
            from ..pytest_compat import add_to_last_failed
            from ..session import run_of

            kinds = run_of(self.config).fail_policy.kinds
            if kinds and "answers" not in kinds:
                add_to_last_failed(self.config, report)
        return result

    def _take_back(self, report: pytest.TestReport, run: RunSession) -> None:
        """An item that pytest-rerunfailures runs again after its worker died is not lost, once it came to an end."""
        if str(report.outcome) == "rerun" and report.nodeid in run.died:
            self._again.add(report.nodeid)
        elif report.when == "teardown" and report.nodeid in self._again:
            self._again.remove(report.nodeid)
            run.died[:] = [one for one in run.died if one != report.nodeid]

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtest_logstart(self) -> None:
        """Before each item: the terminal's percentage is to count the cases that come after the last."""
        run = existing_run(self.config)
        if run is not None:
            from .cases import count_cases

            count_cases(self.session, run)

    @pytest.hookimpl(trylast=True)  # older versions of pytest end a full line here
    def pytest_runtest_logfinish(self) -> None:
        """After each item: it is told how far the run is."""
        run = existing_run(self.config)
        if run is not None:
            if self.config.pluginmanager.has_plugin("dsession"):
                from .cases import count_cases

                run.begin(count_cases(self.session, run))
            run.finished()


def existing_run(config: pytest.Config) -> RunSession | None:
    """The run, if this session has one: nothing of it is imported for sessions without a suite."""
    module = sys.modules.get("pytest_taskgraph.plugin.session")
    found: RunSession | None = config.stash.get(module.RUN, None) if module else None
    return found
