"""The hooks of `--taskgraph-fuzz`: each item searches the questions of a group, and no model is asked."""

from __future__ import annotations

import shlex
from collections.abc import Generator, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Final

import pytest

from ..errors import NoCaseError, UsageError
from . import options
from .pytest_compat import forget_failed
from .suites import demand_questions, group_of

if TYPE_CHECKING:
    from ..soundness.fuzzing import Finding
    from .suites import GroupOfSuite

PLUGIN: Final = "taskgraph-fuzz"
OPTION: Final = "fuzz"
SECTION: Final = "taskgraph: what does not hold"
_CARRIED: Final = "taskgraph_findings"  # the attribute of a report that holds the findings of an item, as plain data
_FOUND: Final = pytest.StashKey[list["Finding"]]()
_DECIDING: Final = (*options.SHARED, "data", "profile")
_REFUSED: Final = ("prompt-snapshots", "dry-run")
_Packed = dict[str, Any]


class PropertyViolationError(Exception):
    """An item whose questions violate properties; its findings stand in place of a traceback."""


class FuzzHooks:
    """Registered for a session with the option, in each of its processes."""

    def __init__(self, config: pytest.Config) -> None:
        self._config = config
        self._examples = options.whole(config, OPTION) or 1
        self._told: dict[str, list[_Packed]] = {}  # by node id, the findings after the first of each item
        self._broken_off: pytest.Item | None = None
        self._searched = self._sound = 0

    def check(self) -> None:
        """Check that the options go together. Raises UsageError."""
        for name in _REFUSED:
            if options.given(self._config, name) is not None and options.value(self._config, name) != "false":
                raise UsageError(f"--taskgraph-fuzz and {options.OPTIONS[name].flag}: run one after the other")

    def pytest_report_header(self) -> list[str]:
        """Return that no model is asked, and which options of the command line have no effect for it."""
        unused = [name for name in options.OPTIONS if name not in (*_DECIDING, OPTION)]
        flags = [options.OPTIONS[name].flag for name in unused if options.flagged(self._config, name)]
        without = f"; not used: {', '.join(flags)}" if flags else ""
        return [f"taskgraph: up to {self._examples:,} examples of each group; no model is asked{without}"]

    @pytest.hookimpl(tryfirst=True)
    def pytest_collection_modifyitems(self, items: Sequence[pytest.Item]) -> None:
        """Check that some suite has a group, before anything is deselected."""
        demand_questions(items, worker=self._is_worker)

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtest_setup(self, item: pytest.Item) -> None:
        """Keep pytest from setting up fixtures, which questions do not depend on."""
        if group_of(item) is not None:
            item.fixturenames = []  # type: ignore[attr-defined]

    @pytest.hookimpl(tryfirst=True)
    def pytest_pyfunc_call(self, pyfuncitem: pytest.Function) -> bool | None:
        """Search the questions of a group in place of calling the function of the item."""
        group = group_of(pyfuncitem)
        if group is None:
            return None
        findings = self._search(pyfuncitem, group)
        pyfuncitem.stash[_FOUND] = findings
        if findings:
            raise PropertyViolationError(_reason(_packed(findings[0])))
        return True

    @pytest.hookimpl(wrapper=True, tryfirst=True)  # around pytest's own, which makes what is expected of failures
    def pytest_runtest_makereport(
        self, item: pytest.Item, call: pytest.CallInfo[None]
    ) -> Generator[None, pytest.TestReport, pytest.TestReport]:
        """Attach the findings to the report. A mark that expects wrong answers expects no violated property."""
        report = yield
        group = group_of(item)
        if group is None or call.when != "call":
            return report
        if item.get_closest_marker("xfail") is not None:
            report = pytest.TestReport.from_item_and_call(item, call)
        findings, own = item.stash.get(_FOUND, []), group.family.properties()
        setattr(report, _CARRIED, [_packed(one, own) for one in findings])
        if call.excinfo is not None and isinstance(call.excinfo.value, PropertyViolationError) and not self._traces:
            report.longrepr = str(call.excinfo.value)
        elif report.skipped and isinstance(report.longrepr, tuple):
            path, line, _ = item.location  # in place of ours
            report.longrepr = (path, (line or 0) + 1, report.longrepr[2])
        return report

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """Where results come together, let the item tell its first finding, and keep the others for the end."""
        if self._is_worker or not hasattr(report, _CARRIED):
            return
        findings: list[_Packed] = getattr(report, _CARRIED)
        delattr(report, _CARRIED)
        self._searched += not report.skipped
        self._sound += report.passed
        if findings:
            first, *self._told[report.nodeid] = findings
            self._tell(report, first, len(findings))

    @pytest.hookimpl(wrapper=True, trylast=True)  # within pytest's own, which ends the line of progress
    def pytest_runtestloop(self, session: pytest.Session) -> Generator[None, object, object]:
        """However the loop ends, each finding that no item told becomes a case of its own."""
        if self._is_worker or options.idle(session.config):
            return (yield)
        try:
            return (yield)
        finally:
            self._issue(session)

    @pytest.hookimpl(tryfirst=True)
    def pytest_terminal_summary(self, terminalreporter: pytest.TerminalReporter) -> None:
        """Print how many groups were searched."""
        from ..reports.wording import count

        if self._searched:
            found = self._searched - self._sound
            violated = f"{found:,} with violated properties" if found else "no property is violated"
            terminalreporter.write_line(
                f"taskgraph: {count(self._searched, 'group')} searched with "
                f"{count(self._examples, 'example')} each: {violated}"
            )

    @property
    def _is_worker(self) -> bool:
        return hasattr(self._config, "workerinput")

    @property
    def _traces(self) -> bool:
        """Return True if the user asks for tracebacks in full."""
        return bool(self._config.getoption("fulltrace", False)) or self._config.getoption("tbstyle", "auto") == "long"

    def _search(self, item: pytest.Item, group: GroupOfSuite) -> list[Finding]:
        """Return what does not hold for the questions of a group. Skips the item if nothing can be asked."""
        from ..soundness.fuzzing import FuzzingInterrupted, fuzz

        try:
            return fuzz(group.family, group.group, group.settings, self._examples, group.options)
        except NoCaseError as error:
            pytest.skip(str(error))
        except UsageError as error:
            raise pytest.fail.Exception(str(error), pytrace=False) from None
        except FuzzingInterrupted as stop:
            own = group.family.properties()
            self._told[item.nodeid] = [_packed(one, own) for one in stop.findings]
            raise KeyboardInterrupt from None  # anew: pytest names the exception

    def _tell(self, report: pytest.TestReport, finding: _Packed, count: int) -> None:
        """Put a finding on the report of its item."""
        from .verdicts.outcomes import Told

        text = self._text(report.nodeid, finding)
        if count > 1:
            others = ", ".join(one["property"] for one in self._told[report.nodeid])
            text = f"{text}\nfurther properties, each reported as a case of its own: {others}"
        if self._traces:
            report.sections.append((SECTION, text))
        else:
            report.longrepr = Told(text, _reason(finding))  # type: ignore[assignment]

    def _text(self, nodeid: str, finding: _Packed) -> str:
        from ..reports.escape import disarm_lines

        seed = f"--hypothesis-seed={finding['seed']}"
        words = [nodeid, f"--taskgraph-fuzz={self._examples}", seed, *self._deciding_flags()]
        return "\n".join([*map(disarm_lines, finding["lines"]), "", f"reproduce: pytest {shlex.join(words)}"])

    def _issue(self, session: pytest.Session) -> None:
        from ..results.case import RunCase
        from .verdicts.cases import issue

        found = [
            (RunCase(_case_name(nodeid, one["property"]), "failed", _reason(one)), self._text(nodeid, one))
            for nodeid, findings in self._told.items()
            for one in findings
        ]
        self._told.clear()
        issue(session, [case for case, _ in found], {case.name: text for case, text in found})
        forget_failed(session.config, [case.name for case, _ in found])

    def _deciding_flags(self) -> Iterator[str]:
        """Yield the arguments of the command line that decide what is drawn, as they stand there."""
        known = options.all_options()
        names = {*_DECIDING, *(name for name in known if name not in options.OPTIONS)}
        flags = {known[name].flag: known[name].kind != "switch" for name in names} | {"--hypothesis-profile": True}
        words = iter(map(str, self._config.invocation_params.args))
        for word in words:
            flag, stated, _ = word.partition("=")
            if flag in flags:
                yield word
                if flags[flag] and not stated:
                    yield from (value for value in (next(words, None),) if value is not None)


def _case_name(nodeid: str, name: str) -> str:
    """Return the node id of the case of a property: that of the item, with the property before its parameters."""
    function, bracket, parameters = nodeid.partition("[")
    return f"{function}::{name}{bracket}{parameters}"


def _packed(finding: Finding, own: Mapping[str, str] | None = None) -> _Packed:
    """Return a finding as plain data, which crosses to the controller of xdist."""
    from ..redaction import redact
    from ..soundness.finding_lines import finding_lines

    lines = [redact(line) for line in finding_lines(finding, own or {})]
    return {"property": finding.property, "lines": lines, "seed": finding.seed}


def _reason(finding: _Packed) -> str:
    from ..reports.escape import one_line

    return one_line(str(finding["lines"][0]))
