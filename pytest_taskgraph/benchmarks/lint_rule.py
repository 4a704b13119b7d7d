"""Rules of the linter, and the problems that they find in suites."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal, NamedTuple

Severity = Literal["error", "warning"]


class SourcePlace(NamedTuple):
    """A line of a file, counted from 1."""

    path: Path
    line: int = 1


@dataclass(frozen=True, slots=True)
class LintProblem:
    """A problem that a rule found.

    Args:
        message: The actual and the expected state, in one line.
        place: The place; None for the place of the suite.
        details: Further lines that show it.
    """

    message: str
    place: SourcePlace | None = None
    details: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class LintRule:
    """A kind of problem in suites that can be found without a model.

    Args:
        name: The name, in lower case with hyphens.
        title: What the rule finds, as a sentence.
        remedy: What to do about it, as a sentence.
        check: Yields the problems of a `LintedSuite`. That class is in a module of its own, since it names its family,
            and families name their rules.
        severity: "error" if scores of the suite mean little, "warning" if they may.
    """

    name: str
    title: str
    remedy: str
    check: Callable[[Any], Iterable[LintProblem]] = field(repr=False)
    severity: Severity = "error"
