"""What is made of a run once it is over: the comparison with a saved one, the files, and the record that is kept."""

from __future__ import annotations

import os
from collections.abc import Callable
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from ..errors import UnknownNameError, UsageError
from . import options
from .cases import Case

if TYPE_CHECKING:
    from ..results.comparison import Comparison

STEP_SUMMARY = "GITHUB_STEP_SUMMARY"  # the environment variable with the path of a file that all steps add to


def _markdown(record: dict[str, Any], comparison: Comparison | None) -> str:
    from ..reports.markdown import markdown

    return markdown(record, comparison)


def _html(record: dict[str, Any], comparison: Comparison | None) -> str:
    from ..reports.html import html

    return html(record, comparison)


def _csv(record: dict[str, Any], comparison: Comparison | None) -> str:
    from ..reports.csv import csv

    return csv(record)


KINDS: dict[str, Callable[[dict[str, Any], Comparison | None], str] | None] = {
    "json": None,  # the record itself
    "md": _markdown,
    "html": _html,
    "csv": _csv,
}


class Reporting:
    """The options that ask for reports, for keeping and for comparing."""

    def __init__(self, config: pytest.Config, folder: Path) -> None:
        self._config, self._folder = config, folder
        self.notices: list[str] = []
        self.comparison: Comparison | None = None
        self._fail_on = frozenset(part for one in options.values(config, "fail-on") for part in one.split(",") if part)
        self._before: dict[str, Any] | None = None

    @property
    def compares(self) -> str:
        """The run to compare with; the empty text where there is none."""
        return options.value(self._config, "compare")

    @cached_property
    def draws(self) -> bool:
        """Whether a report shows the workflows."""
        return any(kind in ("json", "html") for kind, _ in self._reports()) or bool(options.value(self._config, "save"))

    @property
    def wanted(self) -> bool:
        """Whether anything is written at the end: a file, or the record of a run of an explicit model."""
        return bool(self._reports() or options.value(self._config, "save")) or self._keeps_last

    @property
    def _keeps_last(self) -> bool:
        """Whether the run of an explicit model is kept as the last: from the first save or comparison on."""
        from ..results.saved import folder

        explicit = options.given(self._config, "model") is not None
        used = self.compares or options.value(self._config, "save") or folder(self._folder).is_dir()
        return explicit and bool(used)

    def check(self) -> None:
        """Nothing, if everything asked for can be made; what is compared with is read here. Raises UsageError."""
        from ..results import comparison, saved

        for kind, path in self._reports():
            if kind not in KINDS:
                raise UnknownNameError("kind of --taskgraph-report", kind, KINDS)
            if self._path(path).is_dir():
                raise UsageError(f"--taskgraph-report: {path} is a folder; expected the path of a file")
        for name in filter(None, [options.value(self._config, "save")]):
            saved.checked(name)
        for one in sorted(self._fail_on - set(comparison.FAIL_ON)):
            raise UnknownNameError("thing for --taskgraph-fail-on", one, comparison.FAIL_ON)
        if self._fail_on and not self.compares:
            raise UsageError("--taskgraph-fail-on says what a comparison fails on: name one with --taskgraph-compare")
        self._margin()
        if self.compares:
            self._before = self._baseline()

    def cases(self, record: Callable[[], dict[str, Any]]) -> list[Case]:
        """The verdict of the comparison, if there is one: `compare::NAME`."""
        from ..results.comparison import case_of, compare

        name = self.compares
        if not name:
            return []
        if self._before is None:
            return [Case(f"compare::{name}", "failed" if "missing" in self._fail_on else "skipped", self._none_yet())]
        self.comparison = compare(self._before, record(), self._margin())
        return [Case(f"compare::{name}", *case_of(self.comparison, self._fail_on))]

    def write(self, record: dict[str, Any], whole: bool) -> None:
        """Nothing; the reports stand where they were asked for, and the run is kept if it is `whole`.

        Raises UsageError at the end for whatever could not be written; the rest is.
        """
        from ..results import saved
        from ..results.record import save

        failures = []
        for kind, path in self._reports():
            try:
                if (made := KINDS[kind]) is None:
                    save(self._path(path), record)
                else:
                    self._write(self._path(path), made(record, self.comparison))
            except UsageError as error:
                failures.append(str(error))
        names = [options.value(self._config, "save"), saved.LAST if self._keeps_last else ""]
        for name in filter(None, names) if whole else ():
            try:
                self._prepare()
                saved.save(record, self._folder, name)
            except UsageError as error:
                failures.append(str(error))
        if failures:
            raise UsageError("; ".join(failures))

    def _prepare(self) -> None:
        from ..models.store.schema import prepare

        try:
            prepare(self._folder)
        except OSError as error:
            raise UsageError(f"--taskgraph-store: {self._folder} cannot be written ({error.strerror})") from None

    def _write(self, path: Path, text: str) -> None:
        from ..reports.written import write

        summary = os.environ.get(STEP_SUMMARY)
        write(path, text, append=bool(summary) and Path(str(summary)).absolute() == path.absolute())

    def _reports(self) -> list[tuple[str, str]]:
        return options.pairs(self._config, "report")

    def _path(self, path: str) -> Path:
        return Path(self._config.invocation_params.dir, path)

    def _margin(self) -> float:
        margin = options.number(self._config, "margin")
        if margin is None or margin > 1:
            raise UsageError("--taskgraph-margin: expected a number from 0 to 1")
        return margin

    def _baseline(self) -> dict[str, Any] | None:
        """The saved run; None where none of that name is there yet."""
        from ..results import saved

        name = self.compares
        path = str(self._path(name)) if saved.is_path(name) else name
        if saved.find(self._folder, path) is None and not saved.is_path(name):
            saved.checked(name)
            self.notices.append(self._none_yet())
            return None
        return saved.load(self._folder, path)

    def _none_yet(self) -> str:
        from ..results import saved

        known = ", ".join(saved.names(self._folder)) or "none"
        return (
            f"there is no run named {self.compares!r} to compare with yet (saved: {known}); keep one with "
            "--taskgraph-save"
        )
