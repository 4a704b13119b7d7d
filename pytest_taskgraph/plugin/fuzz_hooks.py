"""Hooks of `--taskgraph-fuzz`: each item searches the questions of a group for violations; no model is asked."""

from __future__ import annotations

import shlex
from collections.abc import Generator, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Final

import pytest

from ..errors import NoCaseError, UsageError
from . import options
from .pytest_compat import remove_from_last_failed
from .suites import group_of, require_questions

if TYPE_CHECKING:
    from ..soundness.fuzzing import Finding
    from .suites import SuiteGroup

PLUGIN: Final = "taskgraph-fuzz"
OPTION: Final = "fuzz"
SECTION: Final = "taskgraph: violated properties"
_ATTRIBUTE: Final = "taskgraph_findings"  # the attribute of a report that holds the findings of an item, as plain data
_FINDINGS: Final = pytest.StashKey[list["Finding"]]()
_DECIDING: Final = (*options.SHARED, "data")
_Packed = dict[str, Any]


class FuzzFindingError(Exception):
    """Violation of properties by the questions of an item; its findings replace the traceback."""


class FuzzHooks:
    """Hooks of a session with the option, registered in each of its processes."""

    def __init__(self, config: pytest.Config) -> None:
        self._config = config
        self._examples = options.whole(config, OPTION) or 1
        self._further: dict[str, list[_Packed]] = {}  # by node id, the findings after the first of each item
        self._searched = self._sound = 0

    def check(self) -> None:
        """Check that the options are compatible. Raises UsageError."""
        if options.switched(self._config, "dry-run"):
            raise UsageError("--taskgraph-fuzz and --taskgraph-dry-run: run one after the other")

    def pytest_report_header(self) -> list[str]:
        """Return a line that says that no model is asked, and which options of the command line have no effect."""
        unused = [name for name in options.OPTIONS if name not in (*_DECIDING, OPTION)]
        flags = [options.OPTIONS[name].flag for name in unused if options.flagged(self._config, name)]
        without = f"; not used: {', '.join(flags)}" if flags else ""
        return [f"taskgraph: up to {self._examples:,} examples of each group; no model is asked{without}"]

    @pytest.hookimpl(tryfirst=True)
    def pytest_collection_modifyitems(self, items: Sequence[pytest.Item]) -> None:
        """Check that some suite has a group, before items are deselected."""
        require_questions(items, worker=self._is_worker)

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtest_setup(self, item: pytest.Item) -> None:
        """Keep pytest from setting up fixtures, which questions do not depend on."""
        if group_of(item) is not None:
            item.fixturenames = []  # type: ignore[attr-defined]

    @pytest.hookimpl(tryfirst=True)
    def pytest_pyfunc_call(self, pyfuncitem: pytest.Function) -> bool | None:
        """Search the questions of a group, instead of calling the function of the item."""
        group = group_of(pyfuncitem)
        if group is None:
            return None
        findings = self._search(pyfuncitem, group)
        pyfuncitem.stash[_FINDINGS] = findings
        if findings:
            raise FuzzFindingError(_reason(_packed(findings[0])))
        return True

    @pytest.hookimpl(wrapper=True, tryfirst=True)  # around pytest's own hook, which turns xfail into outcomes
    def pytest_runtest_makereport(
        self, item: pytest.Item, call: pytest.CallInfo[None]
    ) -> Generator[None, pytest.TestReport, pytest.TestReport]:
        """Attach the findings to the report. A mark `xfail` expects wrong answers, but no violated properties."""
        report = yield
        group = group_of(item)
        if group is None or call.when != "call":
            return report
        if item.get_closest_marker("xfail") is not None:
            report = pytest.TestReport.from_item_and_call(item, call)
        findings, own = item.stash.get(_FINDINGS, []), group.family.properties()
        setattr(report, _ATTRIBUTE, [_packed(finding, own) for finding in findings])
        if call.excinfo is not None and isinstance(call.excinfo.value, FuzzFindingError) and not self._traces:
            report.longrepr = str(call.excinfo.value)
        elif report.skipped and isinstance(report.longrepr, tuple):
            path, line, _ = item.location  # instead of this file
            report.longrepr = (path, (line or 0) + 1, report.longrepr[2])
        return report

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """Where results are gathered, report the first finding of the item, and keep the others for the end."""
        if self._is_worker or not hasattr(report, _ATTRIBUTE):
            return
        findings: list[_Packed] = getattr(report, _ATTRIBUTE)
        delattr(report, _ATTRIBUTE)
        self._searched += not report.skipped
        self._sound += report.passed
        if findings:
            first, *self._further[report.nodeid] = findings
            self._set_failure(report, first, len(findings))

    @pytest.hookimpl(wrapper=True, trylast=True)  # within pytest's own hook, which ends the line of progress
    def pytest_runtestloop(self, session: pytest.Session) -> Generator[None, object, object]:
        """After the loop, however it ends, report each further finding as a case of its own."""
        if self._is_worker or options.idle(session.config):
            return (yield)
        try:
            return (yield)
        finally:
            self._report_further(session)

    @pytest.hookimpl(tryfirst=True)
    def pytest_terminal_summary(self, terminalreporter: pytest.TerminalReporter) -> None:
        """Print the number of groups that were searched."""
        from ..reports.wording import count

        if self._searched:
            unsound = self._searched - self._sound
            violated = f"{unsound:,} with violated properties" if unsound else "no property is violated"
            terminalreporter.write_line(
                f"taskgraph: {count(self._searched, 'group')} searched with "
                f"{count(self._examples, 'example')} each: {violated}"
            )

    @property
    def _is_worker(self) -> bool:
        return hasattr(self._config, "workerinput")

    @property
    def _traces(self) -> bool:
        """Return True if the user requests complete tracebacks."""
        return bool(self._config.getoption("fulltrace", False)) or self._config.getoption("tbstyle", "auto") == "long"

    def _search(self, item: pytest.Item, group: SuiteGroup) -> list[Finding]:
        """Return the properties that the questions of a group violate. Skips the item of a group without questions."""
        from ..soundness.fuzzing import FuzzingInterrupted, fuzz

        try:
            return fuzz(group.family, group.group, group.settings, self._examples, group.options)
        except NoCaseError as error:
            pytest.skip(str(error))
        except UsageError as error:
            raise pytest.fail.Exception(str(error), pytrace=False) from None
        except FuzzingInterrupted as stop:
            own = group.family.properties()
            self._further[item.nodeid] = [_packed(finding, own) for finding in stop.findings]
            raise KeyboardInterrupt from None  # pytest prints the name of the exception

    def _set_failure(self, report: pytest.TestReport, finding: _Packed, count: int) -> None:
        """Set the failure of an item to its first finding, of `count` findings."""
        from .verdicts.outcomes import FailureRepr

        text = self._text(report.nodeid, finding)
        if count > 1:
            others = ", ".join(further["property"] for further in self._further[report.nodeid])
            text = f"{text}\nfurther properties, each reported as a case of its own: {others}"
        if self._traces:
            report.sections.append((SECTION, text))
        else:
            report.longrepr = FailureRepr(text, _reason(finding))  # type: ignore[assignment]

    def _text(self, nodeid: str, finding: _Packed) -> str:
        from ..reports.escape import disarm_lines

        seed = f"--hypothesis-seed={finding['seed']}"
        words = [nodeid, f"--taskgraph-fuzz={self._examples}", seed, *self._deciding_flags()]
        return "\n".join([*map(disarm_lines, finding["lines"]), "", f"reproduce: pytest {shlex.join(words)}"])

    def _report_further(self, session: pytest.Session) -> None:
        from ..results.case import RunCase
        from .verdicts.cases import issue

        cases = [
            (RunCase(_case_name(nodeid, finding["property"]), "failed", _reason(finding)), self._text(nodeid, finding))
            for nodeid, findings in self._further.items()
            for finding in findings
        ]
        self._further.clear()
        issue(session, [case for case, _ in cases], {case.name: text for case, text in cases})
        remove_from_last_failed(session.config, [case.name for case, _ in cases])

    def _deciding_flags(self) -> Iterator[str]:
        """Yield the arguments of the command line that the drawn examples depend on, as the user typed them."""
        present = options.all_options()
        names = {*_DECIDING, *(name for name in present if name not in options.OPTIONS)}
        flags = {present[name].flag: present[name].kind != "switch" for name in names} | {"--hypothesis-profile": True}
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
    """Return a finding as plain data, which xdist can send to the controller."""
    from ..redaction import redact
    from ..soundness.finding_lines import finding_lines

    lines = [redact(line) for line in finding_lines(finding, own or {})]
    return {"property": finding.property, "lines": lines, "seed": finding.seed}


def _reason(finding: _Packed) -> str:
    from ..reports.escape import one_line

    return one_line(str(finding["lines"][0]))
