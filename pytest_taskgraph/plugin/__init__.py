"""The hooks, in the order in which pytest calls them. Idle, this imports nothing but pytest and small modules."""

from __future__ import annotations

from collections.abc import Generator, Sequence
from typing import TYPE_CHECKING

import pytest

from . import options
from .fixtures import TRIAL, taskgraph_model, taskgraph_question, taskgraph_reference, trial

if TYPE_CHECKING:
    from .run import Run

__all__ = ["taskgraph_model", "taskgraph_question", "taskgraph_reference", "trial"]


def pytest_addoption(parser: pytest.Parser) -> None:
    """Called once, before the command line is read."""
    options.add_options(parser)


@pytest.hookimpl(wrapper=True)
def pytest_load_initial_conftests(
    early_config: pytest.Config, parser: pytest.Parser, args: list[str]
) -> Generator[None, object, object]:
    """The alias `--model`, registered late and only when used: a project that owns that name keeps it."""
    result = yield
    from .private import option_names

    used = any(one == "--model" or one.startswith("--model=") for one in args) or {"-h", "--help"} & set(args)
    if used and "--model" not in option_names(parser):
        parser.getgroup("taskgraph").addoption(
            "--model", dest=options.ALIAS, metavar="SPEC", action="append", default=None, help="as --taskgraph-model"
        )
    return result


def pytest_configure(config: pytest.Config) -> None:
    """Whatever was asked for by option is checked here, so that a mistake ends the run before anything is asked."""
    config.addinivalue_line("markers", "taskgraph(family, options): set by @suite on its functions; for -m taskgraph")
    asked = any(options.given(config, name) is not None for name in options.OPTIONS)
    if asked and not hasattr(config, "workerinput"):
        from ..errors import UsageError
        from .run import run_of

        try:
            run_of(config).check()
        except UsageError as error:
            raise pytest.UsageError(str(error)) from None


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """One item a question, for functions with `@suite`."""
    marks = [mark for mark in metafunc.definition.iter_markers("taskgraph") if "family" in mark.kwargs]
    if not marks:
        return
    from .run import run_of
    from .suites import expand

    run = run_of(metafunc.config)
    notices = expand(metafunc, marks[0], run.settings, run.models)
    run.notices.extend(one for one in notices if one not in run.notices)


@pytest.hookimpl(wrapper=True)
def pytest_make_collect_report(
    collector: pytest.Collector,
) -> Generator[None, pytest.CollectReport, pytest.CollectReport]:
    """In the process that collects: a suite or a pattern that cannot be had as it is written is a mistake of usage."""
    report = yield
    if report.failed:
        from .outcomes import name_mistake
        from .private import error_of

        name_mistake(report, error_of(report), collector)
    return report


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(config: pytest.Config, items: Sequence[pytest.Item]) -> None:
    """Suites of which none has anything to ask are a mistake of usage, before anything is deselected."""
    if _run(config) is not None:
        from .suites import demand_questions

        demand_questions(items, worker=hasattr(config, "workerinput"))


def pytest_report_collectionfinish(config: pytest.Config, items: Sequence[pytest.Item]) -> list[str]:
    """What is going to be asked, and what was left out."""
    run = _run(config)
    if run is None or config.get_verbosity() < 0:
        return []
    from ..reports.terminal import header
    from .private import width
    from .suites import asks

    run.questions = sum(map(asks, items))
    if not run.questions:
        return []
    return [*header(run.about(), width(config)), *(f"taskgraph: {notice}" for notice in run.notices)]


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(
    item: pytest.Item, call: pytest.CallInfo[None]
) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    """In the process that ran the item, a controller or an xdist worker."""
    report = yield
    made = item.stash.get(TRIAL, None)
    if made is not None:
        from .outcomes import shape
        from .run import run_of

        shape(report, made, call.excinfo, run_of(item.config).survey)
        if report.when == "teardown":
            del item.stash[TRIAL]  # an attempt after this one may fail before it asks
    return report


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_logreport(report: pytest.TestReport) -> None:
    """Everywhere; a worker's reports arrive at the controller as plain data."""
    if hasattr(report, "taskgraph_reason"):
        from .outcomes import retell

        retell(report)


@pytest.hookimpl(tryfirst=True)
def pytest_report_teststatus(report: pytest.TestReport) -> tuple[str, str, tuple[str, dict[str, bool]]] | None:
    """The letter `w` of a wrong answer in a survey."""
    if not hasattr(report, "taskgraph_wrong"):
        return None
    from .outcomes import status

    return status(report)


class Gatherer:
    """Tallies what arrives: registered on the controller, or in the one process, never on a worker."""

    def __init__(self, config: pytest.Config) -> None:
        self.config = config

    @pytest.hookimpl(tryfirst=True)
    def pytest_collectreport(self, report: pytest.CollectReport) -> None:
        """A mistake of usage ends the run as one, wherever it was met."""
        if hasattr(report, "taskgraph_mistake"):
            raise pytest.UsageError(report.taskgraph_mistake)

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """Called for every phase of every item; the set-up carries the trial."""
        if hasattr(report, "taskgraph"):
            from .run import run_of

            run_of(self.config).add(report)


def pytest_sessionstart(session: pytest.Session) -> None:
    """The gatherer, where results come together."""
    if not hasattr(session.config, "workerinput"):
        session.config.pluginmanager.register(Gatherer(session.config), "taskgraph-gatherer")


@pytest.hookimpl(wrapper=True, tryfirst=True)
def pytest_sessionfinish(session: pytest.Session) -> Generator[None, object, object]:
    """Before LogXML writes its file: the properties of the whole run, and the record. One that cannot be written is
    told after everything else.
    """
    run = _run(session.config)
    if run is None or hasattr(session.config, "workerinput") or not run.tally:
        return (yield)
    from ..errors import UsageError
    from ..reports.junit import suite_properties
    from .private import add_suite_properties

    run.questions = run.questions or len(run.tally)
    add_suite_properties(session.config, suite_properties(run.tally, run.about()))
    failure = ""
    try:
        run.save()
    except UsageError as error:
        failure = str(error)
    result = yield
    if failure:
        pytest.exit(failure, returncode=pytest.ExitCode.USAGE_ERROR)
    return result


@pytest.hookimpl(wrapper=True, tryfirst=True)
def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> Generator[None, object, object]:
    """The table, below what pytest tells of failures; of the wrong answers of a pattern, only the first are told."""
    config = terminalreporter.config
    run = _run(config)
    if run is None or not run.tally:
        return (yield)
    from .private import width
    from .summary import told_in_full, write

    with told_in_full(terminalreporter):
        result = yield
    write(terminalreporter, run, width(config))
    return result


def pytest_unconfigure(config: pytest.Config) -> None:
    """The event loop, if one was started, ends with the session."""
    run = _run(config)
    if run is not None:
        run.loop.stop()


def _run(config: pytest.Config) -> Run | None:
    """The run, if this session has one: nothing of it is imported for sessions without a suite."""
    import sys

    module = sys.modules.get(f"{__name__}.run")
    found: Run | None = config.stash.get(module.RUN, None) if module else None
    return found
