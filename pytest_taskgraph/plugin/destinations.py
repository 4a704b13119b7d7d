"""Where reports are to stand: checked before anything is asked, for a run is not to be paid for in vain."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from pathlib import Path

import pytest

from ..errors import UsageError
from ..reports import REPORTS

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
    from ..reports import written

    for kind, path in reports:
        try:
            written.check(place(config, path), is_summary(place(config, path)))
        except UsageError as error:
            raise UsageError(f"{_OPTION}: {kind}={path}: {error}") from None
