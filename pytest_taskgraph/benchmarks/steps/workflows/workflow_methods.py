"""The methods about workflows: whether a task can run next, and which of two can.

What draws, renders and reads workflows is imported when it is first needed.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from functools import partial
from itertools import product
from typing import TYPE_CHECKING, Any, Final

from ....errors import NothingToAskError, UnknownNameError, UsageError
from ...family import Label, QuestionReference
from ..step_method import StepMethod
from ..steps_options import StepsSettings

if TYPE_CHECKING:
    from ....diagram import Diagram
    from ....trial import Question
    from .workflow_steps import WorkflowQuestions

WORKFLOW_STEP: Final = "workflow_step"
WORKFLOW_CHOICE: Final = "workflow_choice"
MOST_REASONS: Final = 5
"""The largest number of reasons in a notice."""

_Labels = Mapping[str, str | int | None]


def check_workflows(settings: StepsSettings) -> None:
    """Check notations, sizes and the user's own files.

    Raises:
        UnknownNameError: if there is no notation of a name.
        UsageError: if no workflow of a size can be generated, or a file cannot be read.
    """
    from ....generation.recipe import TASKS
    from ....notations import NOTATIONS
    from ...understanding.own_files.projects import load

    for name in settings.notations:
        if name not in NOTATIONS:
            raise UnknownNameError("notation (--taskgraph-notation)", name, NOTATIONS)
    for path in settings.workflows:
        load(path)
    if not settings.workflows and (bad := [size for size in settings.tasks if size not in TASKS]):
        raise UsageError(
            f"--taskgraph-tasks: workflows of {bad[0]} tasks cannot be generated; expected {TASKS[0]} to {TASKS[-1]}"
        )


def workflow_notices(settings: StepsSettings, count: int) -> list[str]:
    """Return what is left out of the questions about workflows and why, a line each.

    Args:
        settings: The settings.
        count: The number of generated workflows for each size and notation.
    """
    return [*(_own_notices(settings) if settings.workflows else _size_notices(settings, count))]


def workflow_labels() -> dict[str, Label]:
    """Return the labels of questions about workflows; those that they share with understanding mean the same."""
    from ...understanding.questions.labels import labels
    from .workflow_steps import WEIGHTS

    shared = labels()
    names = ("size", "notation", "names", "tasks", "links", "guards", "depth", "width", "nested")
    return {**{name: shared[name] for name in names}, "previous": Label(), "wrong": Label((*WEIGHTS,), closed=True)}


def workflow_diagram(reference: QuestionReference, settings: StepsSettings) -> Diagram | None:
    """Return the workflow that a question is about; None for a question about anything else."""
    from ....workflow.workflow_diagram import diagram
    from .step_levels import shown_level

    if reference.group not in (WORKFLOW_STEP, WORKFLOW_CHOICE):
        return None
    return diagram(shown_level(reference.payload, settings).about)


def _references(name: str, settings: StepsSettings, count: int) -> list[QuestionReference]:
    """Return the references of a method. Raises NothingToAskError if the user's own files hold nothing for it."""
    if not settings.workflows:
        return [*_generated_references(name, settings, count)]
    references = [*_own_references(name, settings)]
    if not references:
        reasons = "; ".join(workflow_notices(settings, count)) or "no level has a place to ask about"
        raise NothingToAskError(f"{name}: there is nothing to ask: {reasons}")
    return references


def _generated_references(name: str, settings: StepsSettings, count: int) -> Iterator[QuestionReference]:
    """Yield the references about generated workflows, none of which is built for it."""
    from .step_levels import places_of

    names = "" if settings.names == "mixed" else f"-{settings.names}"
    for size, notation in product(dict.fromkeys(settings.tasks), dict.fromkeys(settings.notations)):
        labels = _labels_of(name, {"size": size, "notation": notation})
        for number, place in product(range(count), range(places_of(size))):
            payload = {"notation": notation, "tasks": size, "number": number, "place": place}
            question_id = f"{name}-{notation}-n{size:03d}-s{settings.seed}-{number:03d}{names}-{place + 1}"
            yield from _place_references(name, question_id, payload, labels)


def _own_references(name: str, settings: StepsSettings) -> Iterator[QuestionReference]:
    """Yield the references about each level of the user's own workflows."""
    from ...data_sets.item_ids import hyphenate, shorten
    from ...understanding.own_files.projects import load
    from .step_levels import own_projects, own_questions

    for at, converted in own_projects(settings):
        path = settings.workflows[at]
        notation = converted or load(path).notation.name
        labels = _labels_of(name, {"size": None, "names": None, "notation": notation})
        for level, questions in enumerate(own_questions(path, converted, settings.seed)):
            workflow_name = shorten(hyphenate(questions.source.root.name), 30) or "workflow"
            for place in range(len(questions.pairs)):
                payload = {"notation": notation, "source": at, "level": level, "place": place}
                question_id = (
                    f"{name}-{notation}-{workflow_name}-{questions.source.id.removeprefix('own-')}-{place + 1}"
                )
                yield from _place_references(name, question_id, payload, labels)


def _labels_of(name: str, labels: _Labels) -> dict[str, _Labels]:
    """Return the labels that are known beforehand, by the answer where a method asks for both of one place."""
    if name == WORKFLOW_CHOICE:
        return {"": labels}
    return {"yes": {**labels, "expected": "yes", "wrong": None}, "no": {**labels, "expected": "no"}}


def _place_references(
    name: str, question_id: str, payload: Mapping[str, Any], labels: Mapping[str, _Labels]
) -> Iterator[QuestionReference]:
    for expected, its_labels in labels.items():
        if expected:
            yield QuestionReference(f"{question_id}-{expected}", name, {**payload, "expected": expected}, its_labels)
        else:
            yield QuestionReference(question_id, name, payload, its_labels)


def _size_notices(settings: StepsSettings, count: int) -> Iterator[str]:
    from .step_levels import PLACES, places_of

    for size in dict.fromkeys(settings.tasks):
        places = places_of(size)
        if places < PLACES:
            yield (
                f"workflows of {size} tasks: {_count_of(places, 'place')} of each of {_count_of(count, 'workflow')} "
                f"asked about instead of {PLACES}; there are no more"
            )


def _own_notices(settings: StepsSettings) -> Iterator[str]:
    from ...understanding.own_files.projects import load, shown_workflows
    from ...understanding.questions.left_out import skipped_file_notices
    from .step_levels import MOST_LEVELS, own_projects, own_questions
    from .workflow_sources import read_sources

    yield from skipped_file_notices(settings.workflows)
    for at, converted in own_projects(settings):
        path = settings.workflows[at]
        where = f"{path}{f' in {converted}' if converted else ''}"
        wholes = 1 + len(load(path).workflow.others)
        if converted and (unsupported := wholes - len(shown_workflows(path, converted))):
            yield f"{where}: {_count_of(unsupported, 'workflow')} left out: the notation does not support them"
        if (count := len(read_sources(path, converted))) > MOST_LEVELS:
            yield f"{where}: a sample of {MOST_LEVELS} of its {count:,} levels is asked about"
        yield from _levels_left_out(where, own_questions(path, converted, settings.seed))


def _levels_left_out(where: str, levels: tuple[WorkflowQuestions, ...]) -> Iterator[str]:
    """Yield a line with the levels about which nothing is asked, most frequent reasons first."""
    reasons = Counter(level.left_out for level in levels if level.left_out).most_common()
    if reasons:
        several = len(levels) > 1
        reason_texts = [f"{reason} ({times})" if several else reason for reason, times in reasons[:MOST_REASONS]]
        if others := sum(times for _, times in reasons[MOST_REASONS:]):
            reason_texts.append(f"other reasons ({others})")
        left = f"{sum(times for _, times in reasons)} of {_count_of(len(levels), 'level')} left out"
        yield f"{where}: {left if several else 'left out'}: {'; '.join(reason_texts)}"


def _count_of(count: int, what: str) -> str:
    return f"{count:,} {what}{'' if count == 1 else 's'}"


def _ask_step(reference: QuestionReference, settings: StepsSettings) -> Question:
    from .workflow_prompts import ask_step

    return ask_step(reference, settings)


def _ask_choice(reference: QuestionReference, settings: StepsSettings) -> Question:
    from .workflow_prompts import ask_choice

    return ask_choice(reference, settings)


METHODS: Final[tuple[StepMethod, ...]] = (
    StepMethod(
        WORKFLOW_STEP,
        "can a task of a workflow run next",
        "workflows",
        "class_accuracy",
        partial(_references, WORKFLOW_STEP),
        _ask_step,
    ),
    StepMethod(
        WORKFLOW_CHOICE,
        "which of two tasks of a workflow can run next",
        "workflows",
        "choice_accuracy",
        partial(_references, WORKFLOW_CHOICE),
        _ask_choice,
    ),
)
