"""What stands for a question about a recipe until it is built, and what all such questions have in common."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any, Final

from ....benchmarks.family import QuestionReference
from ....scoring.forms.form import collapse_spaces
from ....trial import Json, Question, digest_of
from ..next_step_samples import ChoiceSample, NextStepSample
from ..step_method import StepSection
from ..steps_settings import StepsSettings

CHANCE: Final = 0.5
"""The score expected from guessing: each question has two answers."""


def recipe_reference(
    method: str,
    question_id: str,
    sample: NextStepSample | ChoiceSample,
    expected: str,
    payload: Mapping[str, Json],
    labels: Mapping[str, int | None] = MappingProxyType({}),
) -> QuestionReference:
    """Return the reference of a sample.

    Args:
        method: The name of the method.
        question_id: Unlike that of any other question of the method.
        sample: The sample; its previous steps and its recipe join the payload, their number the labels.
        expected: The right answer.
        payload: What else the question is built from.
        labels: Further labels.
    """
    return QuestionReference(
        f"{method}-{question_id}",
        method,
        payload={"previous": [*sample.prefix], **payload, "recipe": sample.recipe},
        labels={"expected": expected, "previous": len(sample.prefix), **labels},
        cluster=f"recipe:{sample.recipe}",
    )


def previous_steps(reference: QuestionReference) -> list[str]:
    """Return the steps done so far, each in one line."""
    return [collapse_spaces(step) for step in reference.payload["previous"]]


def recipe_question(
    reference: QuestionReference,
    settings: StepsSettings,
    section: StepSection,
    prompt: str,
    **further: Any,  # noqa: ANN401 - fields of Question
) -> Question:
    """Return the question of a reference, whose answer is the whole reply.

    Args:
        reference: The reference that it is built from.
        settings: The settings of the run.
        section: The kind of its method.
        prompt: The prompt.
        **further: Further fields of the question.
    """
    return Question(
        id=reference.id,
        family="steps",
        group=reference.group,
        section=section,
        prompt=prompt,
        reference=reference.labels["expected"],
        place="whole",
        parsing=settings.parsing,
        pass_threshold=1.0 if settings.pass_threshold is None else settings.pass_threshold,
        labels={label: value for label, value in reference.labels.items() if value is not None},
        cluster=reference.cluster,
        digests={"procedure": digest_of(reference.payload["recipe"]), "prompt": digest_of(prompt)},
        chance=CHANCE,
        **further,
    )
