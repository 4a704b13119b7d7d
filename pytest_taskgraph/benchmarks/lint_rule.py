"""Rules of the linter, and the problems that they find in suites."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal, NamedTuple

from ..trial import Question
from .family import Family, QuestionReference
from .settings import Settings

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


@dataclass(frozen=True, slots=True)
class LintedQuestion:
    """A question that a suite asks.

    Args:
        reference: The reference to the question.
        settings: The settings that apply to it.
        question: The question; None if it cannot be built.
        error: The reason why it cannot be built; empty if it can.
    """

    reference: QuestionReference
    settings: Settings
    question: Question | None
    error: str = ""


@dataclass(frozen=True, slots=True)
class LintedSuite:
    """A function with `@suite`, and its questions.

    Args:
        name: The id of the function, without that of a question.
        place: The place of its definition.
        family: The family of its questions.
        options: The keyword arguments of the suite that the family reads.
        questions: Its questions, each once: repetitions are omitted.
        settings: Its settings, once for each prompt template in use.
    """

    name: str
    place: SourcePlace
    family: Family
    options: Mapping[str, Any]
    questions: Sequence[LintedQuestion]
    settings: Sequence[Settings]

    @property
    def groups(self) -> list[str]:
        """Return the groups of the questions, in their order."""
        return list(dict.fromkeys(linted.reference.group for linted in self.questions))
