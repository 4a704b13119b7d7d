"""What stands for a question about a recipe until it is built, and what all such questions have in common."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any

from ....benchmarks.family import QuestionReference
from ....scoring.forms.form import collapse_spaces
from ....trial import Json, Question, digest_of
from ..next_step_samples import ChoiceSample, NextStepSample
from ..question_assembly import assemble_question
from ..step_method import StepSection
from ..steps_options import StepsSettings


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
    **further: Any,  # noqa: ANN401 - fields of Question
) -> Question:
    """Return the question of a reference, with these further fields, the prompt among them."""
    return assemble_question(
        reference,
        settings,
        section,
        reference=reference.labels["expected"],
        procedure=digest_of(reference.payload["recipe"]),
        cluster=reference.cluster,
        labels=reference.labels,
        **further,
    )
