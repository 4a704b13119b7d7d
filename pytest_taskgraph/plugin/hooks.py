"""The hooks, in the order in which pytest calls them. An idle session imports only pytest and small modules here.

PYTEST_DONT_REWRITE: no module of this package is rewritten (see plain_imports).
"""

from __future__ import annotations

from collections.abc import Generator, Sequence

import pytest

from . import options
from .fixtures import RUNNING_ITEM, TRIAL, taskgraph_model, taskgraph_question, taskgraph_reference, trial
from .verdicts.gathering import COLLECTION_ERRORS, existing_run

__all__ = ["taskgraph_model", "taskgraph_question", "taskgraph_reference", "trial"]


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add the options, before the command line is parsed and before any conftest file is imported."""
    from ..errors import UsageError
    from ..installation import check_installation

    try:
        check_installation()
    except UsageError as error:
        raise pytest.UsageError(str(error)) from None
    options.add_options(parser)


def pytest_addhooks(pluginmanager: pytest.PytestPluginManager) -> None:
    """Declare the hook with which other plugins register objects."""
    from .. import hookspec

    pluginmanager.add_hookspecs(hookspec)


@pytest.hookimpl(wrapper=True)
def pytest_load_initial_conftests(
    early_config: pytest.Config, parser: pytest.Parser, args: list[str]
) -> Generator[None, object, object]:
    """Call the registration hooks, and add the alias `--model` if it is used and no other plugin owns that name."""
    if early_config.known_args_namespace.debug:
        from .output.debug_file import mask_after_run

        mask_after_run(early_config)
    result = yield
    from .registration import open_registry

    open_registry(early_config, parser)
    from .pytest_compat import option_names

    used = any(word == "--model" or word.startswith("--model=") for word in args) or {"-h", "--help"} & set(args)
    if used and "--model" not in option_names(parser):
        parser.getgroup("taskgraph").addoption(
            "--model", dest=options.ALIAS, metavar="SPEC", action="append", default=None, help="as --taskgraph-model"
        )
    return result


def pytest_configure(config: pytest.Config) -> None:
    """Check all options, so that a mistake ends the run before any request is sent."""
    config.addinivalue_line("markers", "taskgraph(family, options): set by @suite on its functions; for -m taskgraph")
    from .registration import open_registry

    open_registry(config)  # this plugin may have been loaded by a conftest file
    if not options.any_given(config):
        return
    from ..errors import UsageError
    from ..redaction import hide
    from .asking.prefetch import may_stop
    from .output.dry_run import check
    from .session import run_of

    try:
        options.check_values(config)
        if options.whole(config, "fuzz") is not None:
            _search_questions(config)
            return
        run = run_of(config)
        if hasattr(config, "workerinput"):
            return  # the controller has checked them
        run.check()
        if options.switched(config, "dry-run"):
            check(config)
    except UsageError as error:
        raise pytest.UsageError(hide(str(error))) from None
    if may_stop(config):
        from .distributed import limit_worker_queues

        limit_worker_queues(config)
    if options.switched(config, "dry-run"):
        from .output.dry_run import Planner

        config.pluginmanager.register(Planner(run), "taskgraph-planner")


def _search_questions(config: pytest.Config) -> None:
    """Make the items search questions for violated properties, instead of starting a run: no model is asked.

    Raises:
        UsageError: if the options are invalid.
    """
    from ..benchmarks.contract import report_family_errors
    from ..families import FAMILIES
    from ..redaction import register_environment
    from .fuzz_hooks import PLUGIN, FuzzHooks
    from .registration import open_registry

    hooks = FuzzHooks(config)
    register_environment()
    open_registry(config).check()
    if not hasattr(config, "workerinput"):
        hooks.check()
        options.check_data(config)
        for family in FAMILIES.values():
            with report_family_errors(family, "check"):
                for settings in options.settings_of_grid(config):
                    family.check(settings)
    config.pluginmanager.register(hooks, PLUGIN)


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """Parametrize functions with `@suite` by their questions."""
    marks = [mark for mark in metafunc.definition.iter_markers("taskgraph") if "family" in mark.kwargs]
    if not marks:
        return
    from .suites import expand, expand_groups, unread_settings

    if metafunc.config.pluginmanager.has_plugin("taskgraph-fuzz"):
        expand_groups(metafunc, marks[0])
        return
    from .session import run_of

    run = run_of(metafunc.config)
    run.check_family(marks[0].kwargs["family"])
    unread = unread_settings(metafunc.config, metafunc.definition.path)
    run.notices.extend(notice for notice in unread if notice not in run.notices)
    of_suite = expand(metafunc, marks[0], run.models.labels, run.repeats, run.declare)
    run.notices.extend(line for line in of_suite.sources if line not in run.notices)
    run.remarks.extend(remark for remark in of_suite.remarks if remark not in run.remarks)


@pytest.hookimpl(wrapper=True)
def pytest_make_collect_report(
    collector: pytest.Collector,
) -> Generator[None, pytest.CollectReport, pytest.CollectReport]:
    """Report an invalid suite in a line with its place, as an error of its module alone."""
    report = yield
    if report.failed:
        from .pytest_compat import error_of
        from .registration import registration_error
        from .verdicts.outcomes import report_mistake

        error = error_of(report)
        report_mistake(report, error, collector, registration_error(collector.config, error))
    return report


@pytest.hookimpl(wrapper=True, tryfirst=True)
def pytest_collection_modifyitems(
    session: pytest.Session, config: pytest.Config, items: list[pytest.Item]
) -> Generator[None, None, None]:
    """Raise a usage error for suites without any question and for gates about no question; deselect by the limit.

    The mistakes of suites, before deselection, keep no other test from running, as under xdist.
    """
    errors = config.stash.get(COLLECTION_ERRORS, [])
    if errors and all(errors):
        config.option.continue_on_collection_errors = True
    run = existing_run(config)
    if run is not None:
        from .suites import require_questions

        if not session.testsfailed:  # errors of collection are reported first
            require_questions(items, worker=hasattr(config, "workerinput"))
        run.check_collected(complete=not session.testsfailed)
    yield
    limit = options.whole(config, "limit") if run is not None else None
    if limit is not None:
        from .suites import beyond_limit

        beyond = beyond_limit(items, limit)
        left_out = set(beyond)
        items[:] = [item for item in items if item not in left_out]
        config.hook.pytest_deselected(items=beyond)


def pytest_report_collectionfinish(config: pytest.Config, items: Sequence[pytest.Item]) -> list[str]:
    """Return lines on what is going to be asked, and what was left out."""
    run = existing_run(config)
    if run is None or config.get_verbosity() < 0:
        return []
    from .output.dry_run import announcement, outline

    return announcement(run, *outline(run, items))


@pytest.hookimpl(tryfirst=True)
def pytest_collection_finish(session: pytest.Session) -> None:
    """Plan which items will ask, in each process that runs items; no request is sent yet."""
    config = session.config
    run = existing_run(config)
    if run is not None and not options.idle(config):
        from .suites import asks

        run.questions = sum(map(asks, session.items))
        run.prefetcher.plan(session.items)
        if hasattr(config, "workerinput"):
            from .distributed import send_outline, stop_with_controller

            stop_with_controller(run, session)
            send_outline(run, session.items)


@pytest.hookimpl(wrapper=True, trylast=True)  # within pytest's own hook, which ends the line of progress
def pytest_runtestloop(session: pytest.Session) -> Generator[None, object, object]:
    """End all requests with the loop; unless the user interrupted it, report the cases of the whole run."""
    result, ended = None, None
    if (run := existing_run(session.config)) is not None:
        run.preload()
    try:
        result = yield
        if (run := existing_run(session.config)) is not None:
            run.shrink()
            run.finish()
    except (session.Failed, KeyboardInterrupt) as stop:
        if type(stop) is KeyboardInterrupt:
            raise
        ended = stop  # -x, or another reason to stop: the run is concluded as usual
        if (run := existing_run(session.config)) is not None:
            run.shrink()
    finally:
        run = existing_run(session.config)
        if run is not None:
            run.stop()
    if run is not None and not hasattr(session.config, "workerinput") and not options.idle(session.config):
        from .verdicts.cases import issue

        issue(session, run.decide(session, ended))
    if ended is not None:
        raise ended
    return result


@pytest.hookimpl(wrapper=True)  # not tryfirst: pytest has to have set the warning filters of the item
def pytest_runtest_protocol(item: pytest.Item) -> Generator[None, object, object]:
    """Prefetch the next items before each item; end the run if no model can be asked any more."""
    run = existing_run(item.config)
    if run is not None:
        if run.prefetcher.planned:
            _ignore_warnings_of_requests()
        run.begin(run.prefetcher.planned)
        run.prefetcher.advance()
    running = RUNNING_ITEM.set(item)
    try:
        result = yield
    finally:
        RUNNING_ITEM.reset(running)
    if run is not None and (stopped := run.stopped) is not None:
        from ..reports.escape import one_line

        item.session.shouldstop = f"taskgraph: {one_line(str(stopped))}"
    return result


@pytest.hookimpl(wrapper=True, trylast=True)  # other plugins receive the report in its final form
def pytest_runtest_makereport(
    item: pytest.Item, call: pytest.CallInfo[None]
) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    """Attach the trial to the report, in the process that ran the item: a controller or an xdist worker."""
    trial, run = item.stash.get(TRIAL, None), existing_run(item.config)
    if run is None or call.excinfo is None:
        report = yield
    else:
        from .verdicts.outcomes import report_plainly, without_traceback

        try:
            with without_traceback(call):
                report = yield
        except SystemError:  # CPython 3.11, when two threads parse source at once
            report = report_plainly(item, call)
    if trial is not None and run is not None:
        if report.when == "call":
            run.shrinker.note(item, trial)
        if report.when == "setup" or call.excinfo is not None:
            from .verdicts.outcomes import FailureStyle, attach_trial

            policy = run.fail_policy
            style = FailureStyle(item.config, policy.expects_wrong, policy.max_errors > 0)
            attach_trial(report, trial, call.excinfo, style)
        if report.when == "teardown":
            del item.stash[TRIAL]  # a rerun may fail before it asks
    return report


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_logreport(report: pytest.TestReport) -> None:
    """Restore the failure of a report; reports of a worker arrive at the controller as plain data."""
    if hasattr(report, "taskgraph_reason"):
        from .verdicts.outcomes import restore_failure_repr

        restore_failure_repr(report)


@pytest.hookimpl(tryfirst=True)
def pytest_report_teststatus(report: pytest.TestReport) -> tuple[str, str, tuple[str, dict[str, bool]]] | None:
    """Return outcome, letter and word of wrong answers and missing replies that are reported as expected."""
    if not hasattr(report, "taskgraph_wrong") and not hasattr(report, "taskgraph_missing"):
        return None
    from .verdicts.outcomes import expected_status

    return expected_status(report)


def pytest_sessionstart(session: pytest.Session) -> None:
    """Register the gatherer in the process that gathers results, and the hooks of an xdist controller."""
    plugins = session.config.pluginmanager
    if existing_run(session.config) is not None:
        _ignore_warnings_of_requests()
    if not hasattr(session.config, "workerinput"):
        from .verdicts.gathering import Gatherer

        plugins.register(Gatherer(session), "taskgraph-gatherer")
    if plugins.has_plugin("dsession"):
        from .distributed import Controller

        plugins.register(Controller(session.config), "taskgraph-controller")


@pytest.hookimpl(wrapper=True, tryfirst=True)
def pytest_sessionfinish(session: pytest.Session) -> Generator[None, object, object]:
    """Write the record and the reports, and add properties of the run before LogXML writes its file.

    A report that cannot be written ends the run with a message after all other output.
    """
    run = existing_run(session.config)
    if run is not None and hasattr(session.config, "workerinput"):
        from .asking import shrinker
        from .output import usage_total
        from .verdicts import declared_questions

        output = vars(session.config)["workeroutput"]
        output[shrinker.OUTPUT_KEY] = run.shrinker.pack()
        output[declared_questions.OUTPUT_KEY], output[usage_total.OUTPUT_KEY] = run.population.pack(), run.usage.pack()
        return (yield)
    failure = run.conclude(session) if run is not None else ""
    result = yield
    if failure:  # a run that failed already keeps its exit code
        pytest.exit(failure, returncode=session.exitstatus or pytest.ExitCode.USAGE_ERROR)
    return result


@pytest.hookimpl(wrapper=True, tryfirst=True)
def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> Generator[None, object, object]:
    """Print the tables below pytest's failures; print only the first wrong answers of each group in full."""
    config = terminalreporter.config
    run = existing_run(config)
    if run is None or not (run.concluded or run.verdicts or run.pipeline.counters.sent):
        return (yield)
    from .output.summary import shorten_failures, write_summary
    from .output.terminal_lines import width

    with shorten_failures(terminalreporter):
        result = yield
    write_summary(terminalreporter, run, width(config))
    if run.shrinker.shrunk:
        terminalreporter.section("shrunk wrong answers", "=")
        for line in run.shrinker.lines():
            terminalreporter.write_line(line)
    return result


def pytest_unconfigure(config: pytest.Config) -> None:
    """Stop the run, which may have ended before or without the loop of items."""
    run = existing_run(config)
    if run is not None:
        run.stop()


def _ignore_warnings_of_requests() -> None:
    """Ignore warnings of requests, and of litellm while it is imported in the background."""
    from ..models.clients.request_warnings import ignore_warnings_of_requests

    ignore_warnings_of_requests()
