"""The references of a run: the questions of each method that the settings name, and what a user should know of them."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from ...benchmarks.family import QuestionReference
from ...benchmarks.method_family import MethodSet
from ...trial import Question
from .demonstrations import demonstration_notices
from .prompts import PROMPTS
from .recipe_questions import DEMONSTRATED
from .recipe_questions import METHODS as RECIPE_METHODS
from .sample_sets import asked_samples
from .steps_settings import StepsSettings

METHODS: Final = MethodSet(
    "STEPS", RECIPE_METHODS, {"classification": "classification", "multiple_choice": "multiple_choice"}
)


def check(settings: StepsSettings) -> None:
    """Check methods and prompts. Raises UsageError."""
    METHODS.select(settings.methods)
    PROMPTS.check(settings)


def references(settings: StepsSettings, instances: int | None = None) -> list[QuestionReference]:
    """Return the questions of each method, in the order of reports.

    Args:
        settings: The settings.
        instances: The number of recipes per method that the suite states.

    Raises:
        UsageError: if an option cannot be met.
    """
    check(settings)
    count = settings.instances_of(instances)
    return [
        reference for method in METHODS.select(settings.methods) for reference in method.references(settings, count)
    ]


def notices(settings: StepsSettings, instances: int | None = None) -> Iterator[str]:
    """Yield the counts and problems of the data, and what is left out, a line each."""
    methods, count = METHODS.select(settings.methods), settings.instances_of(instances)
    yield from asked_samples(settings, count).notices
    if any(method.name in DEMONSTRATED for method in methods):
        yield from demonstration_notices(settings)


def question(reference: QuestionReference, settings: StepsSettings) -> Question:
    """Return the question that a reference stands for."""
    return METHODS[reference.group].question(reference, settings)
