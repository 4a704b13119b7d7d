"""The references of a run: the questions of each method that the settings name, and what a user should know of them."""

from __future__ import annotations

from collections.abc import Iterator

from ...errors import NothingToAskError
from ...trial import Question
from ..family import QuestionReference
from .demonstrations import demonstration_notices
from .next_step_methods import METHODS, select_methods
from .prompts import PROMPTS
from .recipe_questions import DEMONSTRATED
from .sample_sets import asked_samples
from .step_method import StepMethod
from .steps_options import StepsSettings
from .workflows.workflow_methods import check_workflows, workflow_notices


def check(settings: StepsSettings) -> None:
    """Check methods, rule, prompts and, where they are asked about, workflows. Raises UsageError."""
    methods = select_methods(settings.methods)
    PROMPTS.check(settings)
    if _about_workflows(methods):
        check_workflows(settings)


def references(settings: StepsSettings, instances: int | None = None) -> list[QuestionReference]:
    """Return the questions of each method, in the order of reports.

    Args:
        settings: The settings.
        instances: The number of recipes or workflows per method that the suite states.

    Raises:
        NothingToAskError: if the user's own workflows hold nothing to ask, and nothing else is asked.
        UsageError: if an option cannot be met.
    """
    check(settings)
    count = settings.instances_of(instances)
    references_of_methods: list[QuestionReference] = []
    empty: NothingToAskError | None = None
    for method in select_methods(settings.methods):
        try:
            references_of_methods += method.references(settings, count)
        except NothingToAskError as error:
            empty = error
    if not references_of_methods and empty is not None:
        raise empty
    return references_of_methods


def notices(settings: StepsSettings, instances: int | None = None) -> Iterator[str]:
    """Yield the counts and problems of the data, and what is left out, a line each."""
    methods, count = select_methods(settings.methods), settings.instances_of(instances)
    if any(method.section != "workflows" for method in methods):
        yield from asked_samples(settings, count).notices
    if any(method.name in DEMONSTRATED for method in methods):
        yield from demonstration_notices(settings)
    if _about_workflows(methods):
        yield from workflow_notices(settings, count)


def question(reference: QuestionReference, settings: StepsSettings) -> Question:
    """Return the question that a reference stands for."""
    return METHODS[reference.group].question(reference, settings)


def _about_workflows(methods: tuple[StepMethod, ...]) -> bool:
    return any(method.section == "workflows" for method in methods)
