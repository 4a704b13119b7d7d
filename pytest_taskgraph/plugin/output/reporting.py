"""Reports, saved records and the comparison of a run, checked before it and made after it."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from ...errors import UsageError
from ...reports import JSON, REPORTS
from ...results.case import INCONCLUSIVE, RunCase, is_worse, state_of
from .. import options

if TYPE_CHECKING:
    from ...results.comparison import RunComparison
    from ...results.record import RecordBuilder


STEP_SUMMARY = "GITHUB_STEP_SUMMARY"  # environment variable with the path of a file to which all steps append
OWN = ("replies.sqlite", "runs", ".gitignore")  # prefixes of the names in the folder of a store
_OPTION = "--taskgraph-report"


def check(config: pytest.Config, reports: Sequence[tuple[str, str]], store: Path) -> None:
    """Check that each report can be written, and replaces neither another file nor a file of the store.

    Args:
        config: The configuration of the session.
        reports: Kind and path of each report.
        store: The folder of the store.

    Raises:
        UsageError: if a report is unknown, is not writable, or replaces another file.
    """
    for kind, path in reports:
        _ = REPORTS[kind]
        if not path.strip():
            raise UsageError(f"{_OPTION}: {kind}=: nothing given after {kind}=; expected the path of a file")
    taken: dict[str, str] = {}
    for title, path in _files(config, reports):
        real = os.path.realpath(resolve_path(config, path))
        if real in taken:
            raise UsageError(f"{_OPTION}: {taken[real]} and {title} are the same file; give each a path of its own")
        taken[real] = title
        if _is_of_store(Path(real), Path(os.path.realpath(store)), resolve_path(config, "")):
            raise UsageError(
                f"{_OPTION}: {title} is in the folder of the store, {store}, whose replies and saved runs it could "
                "replace; name a path outside of it"
            )
    _check_writable(config, reports)


def resolve_path(config: pytest.Config, path: str) -> Path:
    """Return the path of an option; relative paths start in the folder where pytest was started."""
    return Path(config.invocation_params.dir, path)


def is_summary(path: Path) -> bool:
    """Return True if the path is the step summary of GitHub Actions, to which reports are appended."""
    summary = os.environ.get(STEP_SUMMARY)
    return bool(summary) and Path(str(summary)).absolute() == path.absolute()


def _files(config: pytest.Config, reports: Sequence[tuple[str, str]]) -> Iterator[tuple[str, str]]:
    """Yield each file that is written, as the user stated it, with its path; pytest's own report included."""
    for kind, path in reports:
        yield f"{kind}={path}", path
    if junit := config.getoption("xmlpath", None):
        yield f"--junitxml={junit}", os.path.expanduser(os.path.expandvars(junit))


def _is_of_store(path: Path, store: Path, start: Path) -> bool:
    """Return True if the file belongs to the store.

    Every file in the folder of the store does, unless the project is in that folder, too; then names decide.
    """
    if store not in path.parents:
        return False
    shared = store in (start.resolve() / "any").parents
    return not shared or path.relative_to(store).parts[0].startswith(OWN)


def _check_writable(config: pytest.Config, reports: Sequence[tuple[str, str]]) -> None:
    from ...reports.report_file import check_writable

    for kind, path in reports:
        try:
            check_writable(resolve_path(config, path), is_summary(resolve_path(config, path)))
        except UsageError as error:
            raise UsageError(f"{_OPTION}: {kind}={path}: {error}") from None


BASELINE = "taskgraph_baseline"  # input of workers: the question sets of the baseline run


@dataclass(frozen=True, slots=True)
class Narrowing:
    """The effect of the user's selection on the questions."""

    empty: str  # the selection if it leaves no question; else the empty text
    chosen: str  # the selection, in the words of the command line
    left_out: Callable[[str], bool]  # id of a question -> True if the selection excludes it


class Reporting:
    """Reports, saved records and comparison of a run, as its options request them.

    Args:
        config: The configuration of the session.
        folder: The folder of the store.
        fail_on: The comparison results that fail the run.
    """

    def __init__(self, config: pytest.Config, folder: Path, fail_on: frozenset[str]) -> None:
        self._config, self._folder = config, folder
        self._fail_on = fail_on
        self.notices: list[str] = []  # printed before the first request
        self.remarks: list[str] = []  # printed at the end
        self.written: list[str] = []  # printed at the end: each file with what it holds
        self.comparison: RunComparison | None = None
        self._before: dict[str, Any] | None = None  # the record of the baseline run
        self._keeps_baseline = False  # True if the baseline run is not replaced by this run
        self._mistake = ""  # the error of a comparison that is configured, rather than requested by a flag
        self._unreadable = ""  # why the last run cannot be read, if it is the configured baseline

    @property
    def compares(self) -> str:
        """Return the name or path of the run to compare with; empty if there is none."""
        return options.value(self._config, "compare")

    @cached_property
    def draws(self) -> bool:
        """Return True if a report shows diagrams."""
        return any(kind in ("json", "html") for kind, _ in self._reports()) or bool(options.value(self._config, "save"))

    @property
    def writes_files(self) -> bool:
        """Return True if a file is written at the end: a report, or the record of a run of an explicit model."""
        return bool(self._reports() or options.value(self._config, "save")) or self._keeps_last

    @property
    def _keeps_last(self) -> bool:
        """Return True if the run is saved as the last run: with an explicit model."""
        from ...results.record.atomic_files import nearest_existing
        from ...results.record.saved import records_folder

        if options.given(self._config, "model") is None:
            return False
        # A replay may use a read-only store.
        readable_only = options.switched(self._config, "replay")
        return not readable_only or os.access(nearest_existing(records_folder(self._folder)), os.W_OK)

    def check(self) -> None:
        """Check the options of reports and comparison, and read the baseline run. Raises UsageError.

        An error of a comparison that is configured waits for `check_configured`: runs without questions need none.
        """
        from ...results.record import saved

        check(self._config, self._reports(), self._folder)
        for name in ("save", "compare"):
            self._check_once(name)
        keep = options.value(self._config, "save")
        if keep and saved.check_name(keep) == saved.LAST:
            raise UsageError("--taskgraph-save: last is the run before, which later runs replace; name it otherwise")
        self._margin()
        try:
            self._before = self._baseline() if self.compares else None
        except UsageError as error:
            if options.flagged(self._config, "compare"):
                raise
            self._mistake = str(error)

    @property
    def baseline_sets(self) -> dict[str, int]:
        """Return the versions of the question sets of the baseline run, by family."""
        worker: dict[str, Any] | None = getattr(self._config, "workerinput", None)
        if worker is not None:
            return dict(worker.get(BASELINE, {}))
        return dict(self._before["question_sets"]) if self._before is not None else {}

    def refusals(self, asked: Mapping[str, int], notices: list[str]) -> list[str]:
        """Return the reasons why this run cannot be compared, now that its question sets are known.

        The last run is an implicit baseline: instead of a refusal, a notice says that the comparison is left out.

        Args:
            asked: The versions of the question sets of this run, by family.
            notices: A list to append the notice to.
        """
        if not (baseline_sets := self.baseline_sets):
            return []
        from ...results.comparison import question_set_mismatch
        from ...results.record.saved import LAST

        why = question_set_mismatch(baseline_sets, asked)
        if why and self.compares == LAST:
            notices.append(f"no comparison: {why}; the next run can be compared with this run")
        elif why:
            advice = "record the baseline again with --taskgraph-save, without --taskgraph-compare"
            return [f"--taskgraph-compare: {self.compares}: {why}; {advice}"]
        return []

    def check_configured(self) -> None:
        """Check the configured comparison, once questions were collected. Raises UsageError."""
        if self._mistake:
            raise UsageError(self._mistake)

    def _check_once(self, name: str) -> None:
        flag = f"--taskgraph-{name}"
        given = [str(word).partition("=")[0] for word in self._config.invocation_params.args]
        if given.count(flag) > 1:
            raise UsageError(f"{flag}: given {given.count(flag)} times; a run takes one")

    def cases(self, record: Callable[[], RecordBuilder], narrowing: Narrowing) -> list[RunCase]:
        """Return the case of the comparison, `compare::NAME`, if there is one.

        Args:
            record: Function that returns the record of the run.
            narrowing: The effect of the user's selection.
        """
        name = self.compares
        if not name:
            return []
        title = f"compare::{name}"
        if narrowing.empty:
            return [RunCase(title, "skipped", f"not decided: no question was left ({narrowing.empty})")]
        if self._mistake:
            return [RunCase(title, "failed", self._mistake)]
        if self._before is None:
            why = self._unreadable or self._no_run_yet()
            return [RunCase(title, "failed" if "missing" in self._fail_on else "skipped", why)]
        from ...results.comparison import compare, comparison_case, question_set_mismatch
        from ...results.record.saved import LAST

        own = record().to_json()
        if why := question_set_mismatch(self.baseline_sets, own["question_sets"]):
            excused = name == LAST and "missing" not in self._fail_on
            return [RunCase(title, "skipped" if excused else "failed", f"not decided: {why}")]
        names = name, options.value(self._config, "save") or ""
        self.comparison = compare(self._before, own, self._margin(), names)
        outcome, reason = comparison_case(self.comparison, self._fail_on, narrowing.chosen, narrowing.left_out)
        replaces = state_of(outcome, reason) in ("passed", INCONCLUSIVE) and not is_worse(self.comparison.verdict)
        self._keeps_baseline = not replaces
        return [RunCase(title, outcome, reason)]

    def write(self, record: RecordBuilder, whole: bool, decided: bool) -> None:
        """Write all reports, and save the run.

        Args:
            record: The record of the run.
            whole: True if the run was complete; other runs are saved under no name of the user.
            decided: True if the cases of the run were decided; a run that was interrupted is not the last run.

        Raises:
            UsageError: after all others were written, if some could not be written.
        """
        from ...results.record import save

        failures = []
        for kind, path in self._reports():
            try:
                if kind == JSON:  # written in pieces, for it is large
                    save(self._path(path), record)
                else:
                    self._write(self._path(path), self._text(kind, path, record))
                self.written.append(f"{kind} report: {path}")
            except UsageError as error:
                failures.append(str(error))
        failures += self._save(record, whole)
        if self._keeps_last and (record.has_asked_questions if whole else decided and record.has_replies):
            self._save_as_last(record)
        if failures:
            raise UsageError("; ".join(failures))

    def _text(self, kind: str, path: str, record: RecordBuilder) -> str:
        """Return the text of a report. Raises UsageError if a registered report fails."""
        report = REPORTS[kind]
        if kind not in REPORTS.registered:
            return report(record.to_json(), self.comparison)
        name = f"--taskgraph-report: {kind}={path}: the report {kind!r} of {REPORTS.owner(kind)}"
        try:
            text = report(record.to_json(), self.comparison)
        except Exception as error:
            raise UsageError(f"{name} raised {type(error).__name__}: {' '.join(str(error).split())}") from error
        if not isinstance(text, str):
            raise UsageError(f"{name} returned a {type(text).__name__}; expected a text")
        return text

    def _save(self, record: RecordBuilder, whole: bool) -> Iterator[str]:
        """Save the run, and yield the errors; a remark states why it is not saved."""
        from ...results.record import saved

        stated = options.value(self._config, "save")
        if not (whole and record.has_replies):
            asked = "no question was answered" if record.has_asked_questions else "nothing was asked"
            why = asked if whole else "it did not come to its end"
            self.remarks += [f"the run {stated!r} is not saved: {why}"] if stated else []
            return
        if stated and self._keeps_baseline and self._compared_with(stated):  # later runs need the same baseline
            self.remarks.append(
                f"the run {stated!r} is not saved: its comparison with the run of that name did not pass"
            )
            stated = ""
        if stated:
            try:
                self._prepare()
                path = saved.save(record, self._folder, stated)
                self.written.append(f"run saved as {stated}: {self._shown_path(path)}")
            except UsageError as error:
                yield str(error)

    def _save_as_last(self, record: RecordBuilder) -> None:
        """Save the run as the last run; a remark states why it cannot be, which does not fail the run."""
        from ...results.record import saved

        try:
            self._prepare()
            saved.save(record, self._folder, saved.LAST)
        except UsageError as error:
            self.remarks.append(f"the run is not saved as {saved.LAST}: {error}")

    def _compared_with(self, name: str) -> bool:
        """Return True if the saved run of that name is the baseline run."""
        from ...results.record import saved

        path = str(self._path(self.compares)) if saved.is_path(self.compares) else self.compares
        files = [saved.find(self._folder, run) for run in (name, path)]
        return files[0] is not None and files[1] is not None and files[0].samefile(files[1])

    def _prepare(self) -> None:
        from ...models.store_folder import prepare_folder

        try:
            prepare_folder(self._folder)
        except OSError as error:
            raise UsageError(f"--taskgraph-store: {self._folder} cannot be written ({error.strerror})") from None

    def _write(self, path: Path, text: str) -> None:
        from ...reports.report_file import write_report

        write_report(path, text, append=is_summary(path))

    def _reports(self) -> list[tuple[str, str]]:
        return options.pairs(self._config, "report")

    def _path(self, path: str) -> Path:
        return resolve_path(self._config, path)

    def _shown_path(self, path: Path) -> Path:
        """Return the path, relative to the folder where pytest was started if it is below it."""
        start = resolve_path(self._config, "")
        return path.relative_to(start) if start in path.parents else path

    def _margin(self) -> float:
        return options.number(self._config, "margin") or 0.0

    def _baseline(self) -> dict[str, Any] | None:
        """Return the record of the baseline run; None if there is no run of that name yet.

        The last run is an implicit baseline that this run replaces: a notice says if it cannot be read, unless a flag
        names it.

        Raises:
            UsageError: if the name is invalid or the record cannot be read.
        """
        from ...results.record import saved

        name = self.compares
        path = str(self._path(name)) if saved.is_path(name) else name
        if saved.find(self._folder, path) is None and not saved.is_path(name):
            names = saved.saved_names(self._folder)
            similar = saved.find_similar_name(saved.check_name(name), names)
            if similar and options.value(self._config, "save") != name:
                raise UsageError(
                    f"--taskgraph-compare: there is no run named {name!r} (saved: {', '.join(names)}); did you mean "
                    f"{similar!r}? To save the first run of that name with this run, add --taskgraph-save={name}"
                )
            self.notices.append(self._no_run_yet())
            return None
        try:
            return saved.load(self._folder, path)
        except UsageError as error:
            if name != saved.LAST or options.flagged(self._config, "compare"):
                raise
            self._unreadable = f"no comparison: {error}; the next run can be compared with this run"
            self.notices.append(self._unreadable)
            return None

    def _no_run_yet(self) -> str:
        from ...results.record import saved

        names = ", ".join(saved.saved_names(self._folder)) or "none"
        return (
            f"there is no run named {self.compares!r} to compare with yet (saved: {names}); save one with "
            "--taskgraph-save"
        )
