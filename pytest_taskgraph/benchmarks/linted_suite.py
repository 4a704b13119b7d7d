"""Suites with their questions, as rules of the linter look at them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from ..trial import Question
from .family import Family, QuestionReference
from .lint_rule import SourcePlace
from .settings import Settings


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
