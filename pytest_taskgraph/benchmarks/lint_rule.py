"""The rules by which the linter checks suites, and the problems that they find."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal, NamedTuple

Severity = Literal["error", "warning"]


class SourcePlace(NamedTuple):
    """A line of a file, from 1."""

    path: Path
    line: int = 1


@dataclass(frozen=True, slots=True)
class LintProblem:
    """What a rule found.

    Args:
        message: What was found and what was expected, in one line.
        place: Where; None for the place of the suite.
        details: Further lines that show it.
    """

    message: str
    place: SourcePlace | None = None
    details: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class LintRule:
    """Something that is wrong with a suite and can be found without a model.

    Args:
        name: The name, in lower case with hyphens.
        title: What the rule finds, as a sentence.
        remedy: What to do about it, as a sentence.
        check: Yields the problems of a `LintedSuite`. It stands in a module of its own because it names its family, and
            families name their rules.
        severity: "error" if scores of the suite mean little, "warning" if they may.
    """

    name: str
    title: str
    remedy: str
    check: Callable[[Any], Iterable[LintProblem]] = field(repr=False)
    severity: Severity = "error"
