"""The hooks, in the order in which pytest calls them. Idle, this imports nothing but pytest and small modules."""

from __future__ import annotations

from collections.abc import Generator, Sequence
from typing import TYPE_CHECKING

import pytest

from . import options
from .fixtures import TRIAL, taskgraph_model, taskgraph_question, taskgraph_reference, trial
from .retired_options import add_retired_flags, refuse_retired
from .verdicts.gathering import run_so_far as _run

if TYPE_CHECKING:
    from .fuzz_hooks import FuzzHooks
    from .snapshots.snapshot_hooks import SnapshotHooks

__all__ = ["taskgraph_model", "taskgraph_question", "taskgraph_reference", "trial"]


def pytest_addoption(parser: pytest.Parser) -> None:
    """Called once, before the command line is read and before any conftest file is imported."""
    from ..errors import UsageError
    from ..installation import check_installation

    try:
        check_installation()
    except UsageError as error:
        raise pytest.UsageError(str(error)) from None
    options.add_options(parser)
    add_retired_flags(parser)


def pytest_addhooks(pluginmanager: pytest.PytestPluginManager) -> None:
    """Declare the hook by which other plugins register what they add."""
    from .. import hookspec

    pluginmanager.add_hookspecs(hookspec)


@pytest.hookimpl(wrapper=True)
def pytest_load_initial_conftests(
    early_config: pytest.Config, parser: pytest.Parser, args: list[str]
) -> Generator[None, object, object]:
    """What plugins and conftest files register; the alias `--model`, late and only when used: a project that owns that
    name keeps it.
    """
    result = yield
    from .registration import open_registry

    open_registry(early_config, parser)
    from .pytest_compat import option_names

    used = any(one == "--model" or one.startswith("--model=") for one in args) or {"-h", "--help"} & set(args)
    if used and "--model" not in option_names(parser):
        parser.getgroup("taskgraph").addoption(
            "--model", dest=options.ALIAS, metavar="SPEC", action="append", default=None, help="as --taskgraph-model"
        )
    return result


def pytest_configure(config: pytest.Config) -> None:
    """Whatever was asked for by option is checked here, so that a mistake ends the run before anything is asked."""
    config.addinivalue_line("markers", "taskgraph(family, options): set by @suite on its functions; for -m taskgraph")
    from .registration import open_registry

    open_registry(config)  # this plugin may have been loaded by a conftest file
    refuse_retired(config)
    if not any(options.given(config, name) is not None for name in options.all_options()):
        return
    from ..errors import UsageError
    from ..redaction import hide
    from .output.dry_run import check
    from .session import run_of

    try:
        if options.whole(config, "fuzz") is not None:
            _search_questions(config)
            return
        if options.value(config, "prompt-snapshots"):
            _render_prompts(config)
            return
        run = run_of(config)
        if hasattr(config, "workerinput"):
            return  # the controller has checked
        run.check()
        if options.switched(config, "dry-run"):
            check(config)
    except UsageError as error:
        raise pytest.UsageError(hide(str(error))) from None
    if run.may_stop:
        from .distributed import keep_queues_short

        keep_queues_short(config)
    if options.switched(config, "dry-run"):
        from .output.dry_run import Planner

        config.pluginmanager.register(Planner(run), "taskgraph-planner")


def _render_prompts(config: pytest.Config) -> None:
    """Let the items render their prompts. Raises UsageError."""
    from .snapshots.snapshot_hooks import PLUGIN, SnapshotHooks

    _register_without_run(config, SnapshotHooks(config), PLUGIN)


def _search_questions(config: pytest.Config) -> None:
    """Let the items search questions for violated properties. Raises UsageError."""
    from .fuzz_hooks import PLUGIN, FuzzHooks

    _register_without_run(config, FuzzHooks(config), PLUGIN)


def _register_without_run(config: pytest.Config, hooks: SnapshotHooks | FuzzHooks, name: str) -> None:
    """Register hooks in place of a run: no model is asked.

    Raises:
        UsageError: if the options cannot be met.
    """
    from ..benchmarks import FAMILIES
    from ..benchmarks.contract import report_family_errors
    from ..redaction import register_environment
    from .registration import open_registry

    register_environment()
    open_registry(config).check()
    if not hasattr(config, "workerinput"):
        hooks.check()
        options.check_data(config)
        for family in FAMILIES.values():
            with report_family_errors(family, "check"):
                for settings in options.settings_of_prompts(config):
                    family.check(settings)
    config.pluginmanager.register(hooks, name)


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """One item a question, for functions with `@suite`."""
    marks = [mark for mark in metafunc.definition.iter_markers("taskgraph") if "family" in mark.kwargs]
    if not marks:
        return
    from .suites import expand, expand_groups

    if metafunc.config.pluginmanager.has_plugin("taskgraph-fuzz"):
        expand_groups(metafunc, marks[0])
        return
    if (snapshots := metafunc.config.pluginmanager.get_plugin("taskgraph-snapshots")) is not None:
        expand(metafunc, marks[0], [], declare=snapshots.declare)
        return
    from .session import run_of

    run = run_of(metafunc.config)
    run.demand(marks[0].kwargs["family"])
    notices = expand(metafunc, marks[0], run.models.labels, run.repeats, run.declare)
    run.notices.extend(one for one in notices if one not in run.notices)


@pytest.hookimpl(wrapper=True)
def pytest_make_collect_report(
    collector: pytest.Collector,
) -> Generator[None, pytest.CollectReport, pytest.CollectReport]:
    """In the process that collects: a suite that cannot be had as it is written is a mistake of usage."""
    report = yield
    if report.failed:
        from .pytest_compat import error_of
        from .registration import registration_error
        from .verdicts.outcomes import name_mistake

        found = error_of(report)
        name_mistake(report, found, collector, registration_error(collector.config, found))
    return report


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(session: pytest.Session, config: pytest.Config, items: Sequence[pytest.Item]) -> None:
    """Suites of which none has anything to ask, and gates about nothing, are mistakes of usage, before anything is
    deselected.
    """
    run = _run(config)
    if run is not None:
        from .suites import demand_questions

        demand_questions(items, worker=hasattr(config, "workerinput"))
        if not session.testsfailed:  # what could not be collected is told first
            run.check_collected()


def pytest_report_collectionfinish(config: pytest.Config, items: Sequence[pytest.Item]) -> list[str]:
    """What is going to be asked, and what was left out."""
    run = _run(config)
    if run is None or config.get_verbosity() < 0:
        return []
    from .output.dry_run import announced, outline

    return announced(run, *outline(run, items))


@pytest.hookimpl(tryfirst=True)
def pytest_collection(session: pytest.Session) -> None:
    """Where items will run, and ask."""
    run = _run(session.config)
    if run is not None and not options.idle(session.config) and not session.config.pluginmanager.has_plugin("dsession"):
        run.preload()


@pytest.hookimpl(tryfirst=True)
def pytest_collection_finish(session: pytest.Session) -> None:
    """Where items run: which of them will ask is known from now on. Nothing is asked yet."""
    config = session.config
    run = _run(config)
    if run is not None and not options.idle(config):
        from .suites import asks

        run.questions = sum(map(asks, session.items))
        run.prefetcher.plan(session.items)
        if hasattr(config, "workerinput"):
            from .distributed import obey, tell_outline

            obey(run, session)
            tell_outline(run, session.items)


@pytest.hookimpl(wrapper=True, trylast=True)  # within pytest's own, which ends the line of progress
def pytest_runtestloop(session: pytest.Session) -> Generator[None, object, object]:
    """However the loop ends, asking ends with it; where nobody broke it off, the cases of the whole run follow."""
    result, ended = None, None
    try:
        result = yield
        if (run := _run(session.config)) is not None:
            run.shrink()
            run.finish()
    except (session.Failed, KeyboardInterrupt) as stop:
        if type(stop) is KeyboardInterrupt:
            raise
        ended = stop  # -x, or a reason to stop: the run ends in order
        if (run := _run(session.config)) is not None:
            run.shrink()
    finally:
        run = _run(session.config)
        if run is not None:
            run.stop()
    if run is not None and not hasattr(session.config, "workerinput") and not options.idle(session.config):
        from .verdicts.cases import issue

        issue(session, run.decide(session, ended))
    if ended is not None:
        raise ended
    return result


@pytest.hookimpl(wrapper=True)  # not tryfirst: the filters of warnings are to be the item's by now
def pytest_runtest_protocol(item: pytest.Item) -> Generator[None, object, object]:
    """Before each item those to come are asked; a model that cannot be asked ends the run."""
    run = _run(item.config)
    if run is None:
        return (yield)
    if run.prefetcher.planned:
        _ignore_warnings_of_requests()
    run.begin(run.prefetcher.planned)
    run.prefetcher.advance()
    result = yield
    if (stopped := run.stopped) is not None:
        from ..reports.escape import one_line

        item.session.shouldstop = f"taskgraph: {one_line(str(stopped))}"
    return result


@pytest.hookimpl(wrapper=True, trylast=True)  # whoever else looks at a report is to see it as it is told
def pytest_runtest_makereport(
    item: pytest.Item, call: pytest.CallInfo[None]
) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    """Give the report its trial, in the process that ran the item: a controller or an xdist worker."""
    made = item.stash.get(TRIAL, None)
    if _run(item.config) is None:
        report = yield
    else:
        from .verdicts.outcomes import report_plainly, without_traceback

        try:
            with without_traceback(call):
                report = yield
        except SystemError:  # CPython 3.11: source is parsed in two threads at once
            if call.excinfo is None:
                raise
            report = report_plainly(item, call)
    if made is not None:
        from .session import run_of
        from .verdicts.outcomes import shape

        run = run_of(item.config)
        if report.when == "call":
            run.shrinker.note(item, made)
        policy, travels = run.fail_policy, hasattr(item.config, "workerinput")
        shape(report, made, call.excinfo, policy.expects_wrong, travels, policy.max_errors > 0)
        if report.when == "teardown":
            del item.stash[TRIAL]  # an attempt after this one may fail before it asks
    return report


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_logreport(report: pytest.TestReport) -> None:
    """Everywhere; a worker's reports arrive at the controller as plain data."""
    if hasattr(report, "taskgraph_reason"):
        from .verdicts.outcomes import retell

        retell(report)


@pytest.hookimpl(tryfirst=True)
def pytest_report_teststatus(report: pytest.TestReport) -> tuple[str, str, tuple[str, dict[str, bool]]] | None:
    """The letters of wrong answers and missing replies that are reported as expected."""
    if not hasattr(report, "taskgraph_wrong") and not hasattr(report, "taskgraph_missing"):
        return None
    from .verdicts.outcomes import status

    return status(report)


def pytest_sessionstart(session: pytest.Session) -> None:
    """The gatherer, where results come together; what deals with workers, where there are any."""
    plugins = session.config.pluginmanager
    if _run(session.config) is not None:
        _ignore_warnings_of_requests()
    if not hasattr(session.config, "workerinput"):
        from .verdicts.gathering import Gatherer

        plugins.register(Gatherer(session), "taskgraph-gatherer")
    if plugins.has_plugin("dsession"):
        from .distributed import Controller

        plugins.register(Controller(session.config), "taskgraph-controller")


@pytest.hookimpl(wrapper=True, tryfirst=True)
def pytest_sessionfinish(session: pytest.Session) -> Generator[None, object, object]:
    """Before LogXML writes its file: the properties of the whole run, and the record. One that cannot be written is
    told after everything else.
    """
    run = _run(session.config)
    if run is not None and hasattr(session.config, "workerinput"):
        from .asking import shrinker
        from .output import usage
        from .verdicts import declared_questions

        output = vars(session.config)["workeroutput"]
        output[shrinker.TRAVELS] = run.shrinker.pack()
        output[declared_questions.TRAVELS], output[usage.TRAVELS] = run.population.pack(), run.usage.pack()
        return (yield)
    failure = run.conclude(session) if run is not None else ""
    result = yield
    if failure:  # a run that failed already ends as it did, for that weighs more
        pytest.exit(failure, returncode=session.exitstatus or pytest.ExitCode.USAGE_ERROR)
    return result


@pytest.hookimpl(wrapper=True, tryfirst=True)
def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> Generator[None, object, object]:
    """The table, below what pytest tells of failures; of the wrong answers of a group, only the first are told."""
    config = terminalreporter.config
    run = _run(config)
    if run is None or not (run.concluded or run.verdicts):
        return (yield)
    from .output.summary import told_in_full, write
    from .output.terminal_lines import width

    with told_in_full(terminalreporter):
        result = yield
    write(terminalreporter, run, width(config))
    if run.shrinker.found:
        terminalreporter.section("shrunk wrong answers", "=")
        for line in run.shrinker.lines():
            terminalreporter.write_line(line)
    return result


def pytest_unconfigure(config: pytest.Config) -> None:
    """Whatever was opened and not closed by the loop of items: a run may end before it, or not have one."""
    run = _run(config)
    if run is not None:
        run.stop()


def _ignore_warnings_of_requests() -> None:
    """Nothing; what litellm warns of while it is imported beside the items is let go, and so is what requests do."""
    from ..models.clients.litellm_client import ignore_warnings_of_requests

    ignore_warnings_of_requests()
