"""What a model of natural language inference says of two texts; any object with `judge` may be one."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

from ....errors import UsageError


@dataclass(frozen=True, slots=True)
class EntailmentScores:
    """The probabilities, from 0.0 to 1.0, that a premise entails a hypothesis, leaves it open, or contradicts it."""

    entailment: float
    neutral: float
    contradiction: float


class EntailmentModel(Protocol):
    """A model of natural language inference."""

    @property
    def name(self) -> str:
        """What reports call the model."""

    def judge(self, premise: str, hypotheses: Sequence[str]) -> Sequence[EntailmentScores]:
        """Return the scores of each hypothesis behind the premise, in their order.

        Raises:
            UsageError: if the model cannot take the texts.
        """
        ...


def judge_texts(model: EntailmentModel, premise: str, hypotheses: Sequence[str]) -> list[EntailmentScores]:
    """Return the scores that a model gives each hypothesis behind the premise, in their order.

    Raises:
        UsageError: if the model cannot take the texts, or does not give probabilities for each.
    """
    scores = list(model.judge(premise, hypotheses))
    if len(scores) != len(hypotheses) or not all(map(_are_probabilities, scores)):
        raise UsageError(
            f"the entailment model {model.name}: expected {len(hypotheses)} probabilities from 0 to 1, one a text"
        )
    return scores


def _are_probabilities(scores: EntailmentScores) -> bool:
    return all(0.0 <= value <= 1.0 for value in (scores.entailment, scores.neutral, scores.contradiction))
