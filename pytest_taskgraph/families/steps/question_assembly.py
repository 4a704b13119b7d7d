"""The fields that all questions of STEPS have."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from ...benchmarks.family import QuestionReference
from ...trial import Question, digest_of
from .step_method import StepSection
from .steps_options import StepsSettings

CHANCE: Final = 0.5
"""The score expected from guessing: each question has two answers."""


def assemble_question(
    item: QuestionReference,
    settings: StepsSettings,
    section: StepSection,
    *,
    prompt: str,
    procedure: str,
    cluster: str,
    labels: Mapping[str, str | int | None],
    **further: Any,  # noqa: ANN401 - fields of Question
) -> Question:
    """Return a question whose answer is the whole reply.

    Args:
        item: The reference that it is built from.
        settings: The settings of the run.
        section: The kind of its method.
        prompt: The prompt.
        procedure: The digest of the recipe.
        cluster: Questions of one cluster depend on each other.
        labels: The labels; those without a value are left out.
        **further: Further fields of the question.
    """
    return Question(
        id=item.id,
        family="steps",
        group=item.group,
        section=section,
        prompt=prompt,
        place="whole",
        parsing=settings.parsing,
        pass_threshold=1.0 if settings.pass_threshold is None else settings.pass_threshold,
        labels={label: value for label, value in labels.items() if value is not None},
        cluster=cluster,
        digests={"procedure": procedure, "prompt": digest_of(prompt)},
        chance=CHANCE,
        **further,
    )
