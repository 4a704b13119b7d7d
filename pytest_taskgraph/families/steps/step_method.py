"""A method of STEPS: what is asked about the next step, and how; a row of its tables."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

if TYPE_CHECKING:
    from ...benchmarks.family import QuestionReference
    from ...trial import Question
    from .steps_settings import StepsSettings

StepSection = Literal["classification", "multiple_choice"]


@dataclass(frozen=True, slots=True)
class StepMethod:
    """One way to ask about next steps.

    Args:
        name: The name in options, gates and tables.
        title: What it does, in a few words, for the documentation.
        section: "classification": whether a candidate is the next step of a recipe. "multiple_choice": which of two
            steps is.
        metric: The main metric.
        references: From the settings and the number of recipes to the questions, in order. Raises
            UsageError.
        question: From a reference and the settings to its question.
    """

    name: str
    title: str
    section: StepSection
    metric: str
    references: Callable[[StepsSettings, int], list[QuestionReference]]
    question: Callable[[QuestionReference, StepsSettings], Question]

    @property
    def metrics(self) -> tuple[str, ...]:
        """Return the only metric of its answers."""
        return (self.metric,)
