"""Hooks that gather results in the controller of xdist, or in the single process.

An idle session imports only pytest here.
"""

from __future__ import annotations

import sys
from collections.abc import Generator
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from ..session import RunSession

# For each error of collection, whether it is the mistake of a suite; where results are gathered.
COLLECTION_ERRORS = pytest.StashKey[list[bool]]()


class Gatherer:
    """Hooks that tally arriving reports; registered on the controller or in the single process, never on a worker."""

    def __init__(self, session: pytest.Session) -> None:
        self.session, self.config = session, session.config
        self._again: set[str] = set()  # items that crashed their worker, and run again

    @pytest.hookimpl(tryfirst=True)
    def pytest_collectreport(self, report: pytest.CollectReport) -> None:
        """Note an error of collection; end the run with a usage error about its options, from any process."""
        if hasattr(report, "taskgraph_mistake"):
            raise pytest.UsageError(report.taskgraph_mistake)
        if report.failed:
            self.config.stash.setdefault(COLLECTION_ERRORS, []).append(hasattr(report, "taskgraph_suite_mistake"))

    @pytest.hookimpl(wrapper=True, tryfirst=True)
    def pytest_runtest_logreport(self, report: pytest.TestReport) -> Generator[None, object, object]:
        """Tally the trial of a report, and remove it before other plugins process the report.

        Failures that are reported as expected are added to `--lf` after pytest's own plugins.
        """
        if hasattr(report, "taskgraph"):
            current_run(self.config).add(report)
        elif (run := existing_run(self.config)) is not None:
            run.note_without_trial(report)
            self._remove_rerun(report, run)
        result = yield
        if hasattr(report, "taskgraph_wrong") or hasattr(report, "taskgraph_missing"):
            from ..pytest_compat import add_to_last_failed

            kinds = current_run(self.config).fail_policy.kinds
            if kinds and "answers" not in kinds:
                add_to_last_failed(self.config, report)
        return result

    def _remove_rerun(self, report: pytest.TestReport, run: RunSession) -> None:
        """Remove an item from the crashed ones once it ended in a rerun by pytest-rerunfailures."""
        if str(report.outcome) == "rerun" and report.nodeid in run.crashed:
            self._again.add(report.nodeid)
        elif report.when == "teardown" and report.nodeid in self._again:
            self._again.remove(report.nodeid)
            run.crashed[:] = [nodeid for nodeid in run.crashed if nodeid != report.nodeid]

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtest_logstart(self) -> None:
        """Add the expected cases to the number of items, for the percentage on the terminal."""
        run = existing_run(self.config)
        if run is not None:
            from .cases import count_cases

            count_cases(self.session, run)

    @pytest.hookimpl(trylast=True)  # older versions of pytest end a full line here
    def pytest_runtest_logfinish(self) -> None:
        """Update the progress output after each item."""
        run = existing_run(self.config)
        if run is not None:
            if self.config.pluginmanager.has_plugin("dsession"):
                from .cases import count_cases

                run.begin(count_cases(self.session, run))
            run.progress.end_item()


def existing_run(config: pytest.Config) -> RunSession | None:
    """Return the run if this session has one, without importing its module in a session without suites."""
    module = sys.modules.get("pytest_taskgraph.plugin.session")
    run: RunSession | None = config.stash.get(module.RUN, None) if module else None
    return run


def current_run(config: pytest.Config) -> RunSession:
    """Return the run of this session, created on first use; unlike `run_of`, without importing a module each time.

    Raises:
        UsageError: for an invalid registration.
    """
    run = existing_run(config)
    if run is None:
        from ..session import run_of

        run = run_of(config)
    return run
