"""What is made of a run once it is over: the comparison with a saved one, and files, checked beforehand."""

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
from ...results.case import RunCase, is_worse
from .. import options

if TYPE_CHECKING:
    from ...results.comparison import RunComparison
    from ...results.record import RecordBuilder


STEP_SUMMARY = "GITHUB_STEP_SUMMARY"  # the environment variable with the path of a file that all steps add to
OWN = ("replies.sqlite", "runs", ".gitignore")  # how the names of what a store holds begin
_OPTION = "--taskgraph-report"


def check(config: pytest.Config, reports: Sequence[tuple[str, str]], store: Path) -> None:
    """Nothing, if each of the reports, kind and path, can be written and replaces neither another nor what is kept.

    Raises UsageError.
    """
    for kind, path in reports:
        _ = REPORTS[kind]
        if not path.strip():
            raise UsageError(f"{_OPTION}: {kind}=: nothing given after {kind}=; expected the path of a file")
    taken: dict[str, str] = {}
    for title, path in _files(config, reports):
        real = os.path.realpath(place(config, path))
        if real in taken:
            raise UsageError(f"{_OPTION}: {taken[real]} and {title} are the same file; give each a path of its own")
        taken[real] = title
        if _is_kept(Path(real), Path(os.path.realpath(store)), place(config, "")):
            raise UsageError(
                f"{_OPTION}: {title} is in the folder of the store, {store}, whose replies and saved runs it could "
                "replace; name a path outside of it"
            )
    _check_writable(config, reports)


def place(config: pytest.Config, path: str) -> Path:
    """Where a path of an option leads: relative ones start where pytest was started."""
    return Path(config.invocation_params.dir, path)


def is_summary(path: Path) -> bool:
    """Whether it is the summary of a step in GitHub Actions, to which reports are added."""
    summary = os.environ.get(STEP_SUMMARY)
    return bool(summary) and Path(str(summary)).absolute() == path.absolute()


def _files(config: pytest.Config, reports: Sequence[tuple[str, str]]) -> Iterator[tuple[str, str]]:
    """As it was given, and its path, of each file that is written; pytest's own report may be the same as another."""
    for kind, path in reports:
        yield f"{kind}={path}", path
    if junit := config.getoption("xmlpath", None):
        yield f"--junitxml={junit}", os.path.expanduser(os.path.expandvars(junit))


def _is_kept(path: Path, store: Path, start: Path) -> bool:
    """Whether the file is in the store's folder; where the project is in that folder as well, whether it is the
    store's own.
    """
    if store not in path.parents:
        return False
    shared = store in (start.resolve() / "any").parents
    return not shared or path.relative_to(store).parts[0].startswith(OWN)


def _check_writable(config: pytest.Config, reports: Sequence[tuple[str, str]]) -> None:
    from ...reports.report_file import check_writable

    for kind, path in reports:
        try:
            check_writable(place(config, path), is_summary(place(config, path)))
        except UsageError as error:
            raise UsageError(f"{_OPTION}: {kind}={path}: {error}") from None


BASELINE = "taskgraph_baseline"  # told to workers: the question sets of the run that this one is compared with


@dataclass(frozen=True, slots=True)
class Narrowing:
    """What the user's selection made of the questions."""

    empty: str  # how they selected so that no question was left; "" where there were some, or were to be
    chosen: str  # how they selected at all
    left_out: Callable[[str], bool]  # of the id of a question: whether it was not asked for that


class Reporting:
    """The options that ask for reports, for keeping and for comparing."""

    def __init__(self, config: pytest.Config, folder: Path, fail_on: frozenset[str]) -> None:
        self._config, self._folder = config, folder
        self._fail_on = fail_on  # what the comparison fails on
        self.notices: list[str] = []  # to be told before anything is asked
        self.remarks: list[str] = []  # to be told at the end
        self.comparison: RunComparison | None = None
        self._before: dict[str, Any] | None = None
        self._stays = False  # whether what this run was compared with is to be compared with again
        self._mistake = ""  # what is wrong with a comparison that is configured, rather than asked for by a flag

    @property
    def compares(self) -> str:
        """The run to compare with; the empty text where there is none."""
        return options.value(self._config, "compare")

    @cached_property
    def draws(self) -> bool:
        """Return True if a report shows diagrams."""
        return any(kind in ("json", "html") for kind, _ in self._reports()) or bool(options.value(self._config, "save"))

    @property
    def wanted(self) -> bool:
        """Whether anything is written at the end: a file, or the record of a run of an explicit model."""
        return bool(self._reports() or options.value(self._config, "save")) or self._keeps_last

    @property
    def _keeps_last(self) -> bool:
        """Whether the run of an explicit model is kept as the last: from the first save or comparison on."""
        from ...results.record.atomic_files import nearest_existing
        from ...results.record.saved import records_folder

        runs = records_folder(self._folder)
        explicit = options.given(self._config, "model") is not None
        used = self.compares or options.value(self._config, "save") or runs.is_dir()
        # A replay may be of a store that nobody may write to.
        return explicit and bool(used) and os.access(nearest_existing(runs), os.W_OK)

    def check(self) -> None:
        """Nothing, if everything asked for can be made; what is compared with is read here. Raises UsageError.

        A mistake in a comparison that is configured waits for `demand`: runs without questions need none.
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
        """The versions of the question sets that the run asked that this one is compared with, by family."""
        worker: dict[str, Any] | None = getattr(self._config, "workerinput", None)
        if worker is not None:
            return dict(worker.get(BASELINE, {}))
        from ...results.record import question_sets_of

        return question_sets_of(self._before) if self._before is not None else {}

    def refused(self, asked: Mapping[str, int], notices: list[str]) -> list[str]:
        """Return why this run cannot be compared as asked, now that its question sets are known; nothing if it can.

        The run before is a baseline that nobody chose: a notice says that there is nothing to compare with yet.
        """
        from ...results.comparison import question_set_mismatch
        from ...results.record.saved import LAST

        why = question_set_mismatch(self.baseline_sets, asked)
        if why and self.compares == LAST:
            notices.append(f"nothing is compared: {why}; the next run can be compared with this one")
        elif why:
            advice = "record the baseline anew with --taskgraph-save, without --taskgraph-compare"
            return [f"--taskgraph-compare: {self.compares}: {why}; {advice}"]
        return []

    def demand(self) -> None:
        """Nothing, if what is configured can be had: questions were collected. Raises UsageError."""
        if self._mistake:
            raise UsageError(self._mistake)

    def _check_once(self, name: str) -> None:
        flag = f"--taskgraph-{name}"
        given = [str(one).partition("=")[0] for one in self._config.invocation_params.args]
        if given.count(flag) > 1:
            raise UsageError(f"{flag}: given {given.count(flag)} times; a run takes one")

    def cases(self, record: Callable[[], RecordBuilder], narrowing: Narrowing) -> list[RunCase]:
        """The verdict of the comparison, if there is one: `compare::NAME`."""
        name = self.compares
        if not name:
            return []
        title = f"compare::{name}"
        if narrowing.empty:
            return [RunCase(title, "skipped", f"not decided: no question was left ({narrowing.empty})")]
        if self._mistake:
            return [RunCase(title, "failed", self._mistake)]
        if self._before is None:
            return [RunCase(title, "failed" if "missing" in self._fail_on else "skipped", self._none_yet())]
        from ...results.comparison import compare, comparison_case, question_set_mismatch
        from ...results.record.saved import LAST

        asked = record().to_json()
        if why := question_set_mismatch(self.baseline_sets, asked["question_sets"]):
            excused = name == LAST and "missing" not in self._fail_on
            return [RunCase(title, "skipped" if excused else "failed", f"not decided: {why}")]
        self.comparison = compare(self._before, asked, self._margin())
        outcome, reason = comparison_case(self.comparison, self._fail_on, narrowing.chosen, narrowing.left_out)
        self._stays = outcome != "passed" or is_worse(self.comparison.verdict)
        return [RunCase(title, outcome, reason)]

    def write(self, record: RecordBuilder, whole: bool) -> None:
        """Nothing; the reports stand where they were asked for; a run that is `whole`, and asked anything, is kept.

        Raises UsageError at the end for whatever could not be written; the rest is.
        """
        from ...results.record import save

        failures = []
        for kind, path in self._reports():
            try:
                if kind == JSON:  # piece by piece
                    save(self._path(path), record)
                else:
                    self._write(self._path(path), self._text(kind, path, record))
            except UsageError as error:
                failures.append(str(error))
        failures += self._keep(record, whole)
        if failures:
            raise UsageError("; ".join(failures))

    def _text(self, kind: str, path: str, record: RecordBuilder) -> str:
        """Return the text of a report. Raises UsageError where a report that is registered fails."""
        report = REPORTS[kind]
        if kind not in REPORTS.registered:
            return report(record.to_json(), self.comparison)
        told = f"--taskgraph-report: {kind}={path}: the report {kind!r} of {REPORTS.owner(kind)}"
        try:
            text = report(record.to_json(), self.comparison)
        except Exception as error:
            raise UsageError(f"{told} raised {type(error).__name__}: {' '.join(str(error).split())}") from error
        if not isinstance(text, str):
            raise UsageError(f"{told} returned a {type(text).__name__}; expected a text")
        return text

    def _keep(self, record: RecordBuilder, whole: bool) -> Iterator[str]:
        """Saves the run; yields what could not be. Why it is not to be saved is noted."""
        from ...results.record import saved

        named = options.value(self._config, "save")
        if not (whole and record.has_asked_questions):
            why = "nothing was asked" if whole else "it did not come to its end"
            self.remarks += [f"the run {named!r} is not saved: {why}"] if named else []
            return
        if named and self._stays and self._compared_with(named):  # or the next run would be compared with this one
            self.remarks.append(
                f"the run {named!r} is not saved: its comparison with the run of that name did not pass"
            )
            named = ""
        for name in filter(None, (named, saved.LAST if self._keeps_last else "")):
            try:
                self._prepare()
                saved.save(record, self._folder, name)
            except UsageError as error:
                yield str(error)

    def _compared_with(self, name: str) -> bool:
        """Whether the run of that name is what this one was compared with."""
        from ...results.record import saved

        path = str(self._path(self.compares)) if saved.is_path(self.compares) else self.compares
        found = [saved.find(self._folder, one) for one in (name, path)]
        return found[0] is not None and found[1] is not None and found[0].samefile(found[1])

    def _prepare(self) -> None:
        from ...models.store.schema import prepare_folder

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
        return place(self._config, path)

    def _margin(self) -> float:
        return options.number(self._config, "margin") or 0.0

    def _baseline(self) -> dict[str, Any] | None:
        """The saved run; None where none of that name is there yet."""
        from ...results.record import saved

        name = self.compares
        path = str(self._path(name)) if saved.is_path(name) else name
        if saved.find(self._folder, path) is None and not saved.is_path(name):
            known = [one for one in saved.saved_names(self._folder) if one != saved.LAST]
            meant = saved.find_similar_name(saved.check_name(name), known)
            if meant and options.value(self._config, "save") != name:
                raise UsageError(
                    f"--taskgraph-compare: there is no run named {name!r} (saved: {', '.join(known)}); {meant!r} may "
                    f"be meant; if not, keep the first of that name in the same run, with --taskgraph-save={name}"
                )
            self.notices.append(self._none_yet())
            return None
        return saved.load(self._folder, path)

    def _none_yet(self) -> str:
        from ...results.record import saved

        known = ", ".join(saved.saved_names(self._folder)) or "none"
        return (
            f"there is no run named {self.compares!r} to compare with yet (saved: {known}); keep one with "
            "--taskgraph-save"
        )
