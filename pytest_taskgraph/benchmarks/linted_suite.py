"""Suites with their questions, as the input of lint rules."""

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
