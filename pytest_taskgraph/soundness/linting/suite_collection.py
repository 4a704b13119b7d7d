"""Collection of the suites of a project with pytest, in this process: with its conftest files and options, no model."""

from __future__ import annotations

import io
import re
from collections.abc import Callable, Generator, Iterator, Sequence
from contextlib import redirect_stderr, redirect_stdout, suppress
from dataclasses import dataclass, field
from inspect import unwrap
from pathlib import Path
from typing import Any, Final, Protocol

import pytest

from ...benchmarks.family import Family, QuestionReference
from ...benchmarks.lint_rule import SourcePlace
from ...benchmarks.linted_suite import LintedQuestion, LintedSuite
from ...benchmarks.settings import Settings
from ...errors import NoCaseError, UsageError
from ...trial import Question
from ..properties import describe_exception

SUITE_ERROR: Final = "suite-error"
NO_CASE: Final = "no-case"
_MARK: Final = "taskgraph"
_PARAMETER: Final = "taskgraph_reference"
# The terminal reporter writes to captured streams; a cache would be written beside the suites.
# Modules that this process has imported cannot be rewritten, and pytest warns about that.
_QUIET: Final = ("-W", "ignore::pytest.PytestAssertRewriteWarning")
_COLLECTING: Final = ("-p", _MARK, "-p", "no:cacheprovider", "--collect-only", "-q", *_QUIET)


class ItemQuestion(Protocol):
    """A question that the plugin stores as the parameter of an item."""

    @property
    def reference(self) -> QuestionReference:
        """Return the reference of the question."""
        ...

    @property
    def settings(self) -> Settings:
        """Return the settings that hold for the question."""
        ...

    def question(self) -> Question:
        """Build and return the question.

        Raises:
            UsageError: if it cannot be built.
        """
        ...


@dataclass(frozen=True, slots=True)
class CollectionProblem:
    """A suite that cannot be collected.

    Args:
        rule: SUITE_ERROR or NO_CASE.
        place: The place of the suite.
        message: The reason, in one line.
    """

    rule: str
    place: SourcePlace
    message: str


@dataclass(slots=True)
class CollectedSuites:
    """The result of the collection: problems, and notices such as a suite without questions."""

    problems: list[CollectionProblem] = field(default_factory=list)
    notices: list[str] = field(default_factory=list)
    interrupted: bool = False


def collect_suites(arguments: Sequence[str], inspect: Callable[[list[LintedSuite]], None]) -> CollectedSuites:
    """Collect suites and pass them to a function while the registrations of the project are in effect.

    Args:
        arguments: The arguments of pytest: paths and options.
        inspect: Called once with the suites.

    Raises:
        UsageError: if pytest rejects the arguments, or the plugin rejects an option.
    """
    collector, output = _SuiteCollector(inspect), io.StringIO()
    with redirect_stdout(output), redirect_stderr(output):
        code = pytest.main([*_model(arguments), *arguments, *_COLLECTING], plugins=[collector])
    if collector.failure is not None:
        raise collector.failure
    broken = code == pytest.ExitCode.INTERNAL_ERROR or not (collector.finished or code == pytest.ExitCode.INTERRUPTED)
    if broken or (code == pytest.ExitCode.USAGE_ERROR and not collector.explained):
        raise UsageError(f"pytest could not collect the suites:\n{_errors_in(output.getvalue())}")
    collector.collected.interrupted |= not collector.finished
    return collector.collected


def _model(arguments: Sequence[str]) -> list[str]:
    """Return the option that names a model, which is not asked: not every family has the default model."""
    stated = any(argument.partition("=")[0] in ("--model", "--taskgraph-model") for argument in arguments)
    return [] if stated else ["--taskgraph-model=simulated:1"]


def _errors_in(output: str) -> str:
    """Return pytest's output from the first line with an error on; all of it if there is none."""
    lines = [line for line in output.splitlines() if line.strip()]
    first = next((index for index, line in enumerate(lines) if line.startswith(("ERROR", "INTERNALERROR"))), 0)
    return "\n".join(line.removeprefix("ERROR: ") for line in lines[first:])


class _SuiteCollector:
    """The plugin of pytest that gathers the suites. Its methods are hooks."""

    def __init__(self, inspect: Callable[[list[LintedSuite]], None]) -> None:
        self._inspect = inspect
        self._refused = ""
        self.collected = CollectedSuites()
        self.failure: BaseException | None = None
        self.finished = False

    @property
    def explained(self) -> bool:
        """Return True if a problem of the suites explains the usage error of pytest."""
        return bool(self._refused or self.collected.problems)

    def pytest_exception_interact(self, node: pytest.Collector, call: Any, report: object) -> None:  # noqa: ANN401
        """Record the error that stopped a collector."""
        if isinstance(report, pytest.CollectReport):
            error = call.excinfo.value
            rule = NO_CASE if _is_no_case(error) else SUITE_ERROR
            place = SourcePlace(node.path, _line_of(node, call.excinfo))
            self.collected.problems.append(CollectionProblem(rule, place, _message_of(error, report)))

    @pytest.hookimpl(wrapper=True, tryfirst=True)
    def pytest_collection_modifyitems(self) -> Generator[None, None, None]:
        """Record the plugin's usage error about the suites together: a problem of theirs, not of the arguments."""
        try:
            yield
        except pytest.UsageError as error:
            self._refused = " ".join(str(error).split())

    @pytest.hookimpl(trylast=True)
    def pytest_collection_finish(self, session: pytest.Session) -> None:
        """Inspect the suites of the selected items."""
        self.finished = True
        try:
            suites = list(_suites(session.items, self.collected.notices))
            if self._refused and any(suite.questions for suite in suites):
                self.collected.problems.append(CollectionProblem(SUITE_ERROR, suites[0].place, self._refused))
            self._inspect(suites)
        except KeyboardInterrupt:
            self.collected.interrupted = True
        except Exception as error:  # reported by the command, not by pytest
            self.failure = error


def _is_no_case(error: BaseException) -> bool:
    """Return True if there is nothing to ask, by the error itself or by its cause."""
    return isinstance(error, NoCaseError) or isinstance(error.__cause__, NoCaseError)


def _message_of(error: BaseException, report: pytest.CollectReport) -> str:
    """Return the error in one line: for a file that fails during import, the last line of pytest's report."""
    if isinstance(error, UsageError):
        return " ".join(str(error).split())
    if not isinstance(error, pytest.Collector.CollectError):  # raised by a call in a suite
        return " ".join(describe_exception(error).split())
    lines = [line for line in str(report.longrepr).splitlines() if line.strip()]
    return " ".join((lines[-1] if lines else type(error).__name__).removeprefix("E").split())


def _line_of(node: pytest.Collector, excinfo: pytest.ExceptionInfo[BaseException]) -> int:
    """Return the line of the function that the message begins with, else of the last call in the file, else 1."""
    message = str(excinfo.value)
    lines = [entry.lineno + 1 for entry in excinfo.traceback if entry.path == node.path]
    if isinstance(excinfo.value, UsageError):
        function = None
        with suppress(UsageError):  # it is raised again if it stopped the import of the module
            function = getattr(getattr(node, "obj", None), message.partition(":")[0], None)
        return _first_line(function, lines[-1] if lines else 1)
    lines += map(int, re.findall(rf'{re.escape(node.path.name)}(?:", line |:)(\d{{1,9}})', message))
    return lines[-1] if lines else 1


def _first_line(function: object, default: int = 1) -> int:
    """Return the line where a function begins, its decorators included."""
    code = getattr(unwrap(function) if callable(function) else None, "__code__", None)
    return default if code is None else int(code.co_firstlineno)


def _suites(items: Sequence[pytest.Item], notices: list[str]) -> Iterator[LintedSuite]:
    """Yield the suites among items, in order; those without questions become notices."""
    functions: dict[str, list[pytest.Item]] = {}
    for item in items:
        if item.get_closest_marker(_MARK) is not None:
            functions.setdefault(item.nodeid.partition("[")[0], []).append(item)
    for name, suite_items in functions.items():
        if reasons := [_skip_reason(item) for item in suite_items if _collected_question(item) is None]:
            notices.append(f"{name} is not checked: {reasons[0]}")
        questions = [question for question in map(_collected_question, suite_items) if question is not None]
        if questions:
            yield _make_suite(name, suite_items[0], questions)


def _collected_question(item: pytest.Item) -> ItemQuestion | None:
    """Return the question of an item; None if it asks nothing."""
    value = getattr(getattr(item, "callspec", None), "params", {}).get(_PARAMETER)
    return value if hasattr(value, "question") else None


def _skip_reason(item: pytest.Item) -> str:
    return next((str(mark.kwargs.get("reason", "")) for mark in item.iter_markers("skip")), "it asks nothing")


def _make_suite(name: str, item: pytest.Item, questions: Sequence[ItemQuestion]) -> LintedSuite:
    mark = next(mark for mark in item.iter_markers(_MARK) if "family" in mark.kwargs)
    place = SourcePlace(Path(item.path), _first_line(getattr(item, "obj", None)))
    family: Family = mark.kwargs["family"]
    once = {id(collected.reference): collected for collected in questions if collected.reference.repetition == 1}
    settings: list[Settings] = []
    for collected in once.values():
        if collected.settings not in settings:
            settings.append(collected.settings)
    return LintedSuite(name, place, family, mark.kwargs["options"], [*map(_build_question, once.values())], settings)


def _build_question(collected: ItemQuestion) -> LintedQuestion:
    """Return the built question of an item, or the error if that fails."""
    try:
        return LintedQuestion(collected.reference, collected.settings, collected.question())
    except Exception as error:  # any error of a family or of a user's template
        return LintedQuestion(collected.reference, collected.settings, None, describe_exception(error))
