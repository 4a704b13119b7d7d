"""What the linter of suites and the families tell each other: suites with their questions, rules, and problems."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

from ..trial import Question
from .family import QuestionReference
from .settings import Settings

if TYPE_CHECKING:
    from .family import Family

Severity = Literal["error", "warning"]


class SourcePlace(NamedTuple):
    """A line of a file, from 1."""

    path: Path
    line: int = 1


@dataclass(frozen=True, slots=True)
class LintedQuestion:
    """A question that a suite asks.

    Args:
        reference: What stands for it.
        settings: The settings that hold for it.
        question: The question; None if it cannot be built.
        error: Why it cannot be built; empty if it can.
    """

    reference: QuestionReference
    settings: Settings
    question: Question | None
    error: str = ""


@dataclass(frozen=True, slots=True)
class LintedSuite:
    """A function with `@suite`, and what it asks.

    Args:
        name: The id of the function, without that of a question.
        place: Where it is defined.
        family: The family of its questions.
        options: The keyword arguments of the suite that the family reads.
        questions: Its questions, each once: repetitions are left out.
        settings: Its settings, once for each prompt template that is asked with.
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
        check: Yields the problems of a suite.
        severity: "error" if scores of the suite mean little, "warning" if they may.
    """

    name: str
    title: str
    remedy: str
    check: Callable[[LintedSuite], Iterable[LintProblem]] = field(repr=False)
    severity: Severity = "error"
