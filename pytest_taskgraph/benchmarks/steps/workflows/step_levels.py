"""The levels that a run asks about, with the steps that are asked for in each: what a reference stands for."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, Final

from ....catalog import catalog_cache
from ....errors import UsageError
from ....notations import NOTATIONS, Notation
from ....notations.plain_json import digest
from ....scoring.forms.form import collapse_spaces
from ....workflow.model import QualifiedName, Workflow
from ...data_sets.item_draw import draw_items
from ...understanding.own_files.interpretations import interpretation
from ...understanding.own_files.projects import load
from ...understanding.patterns.scope import rotations
from ...understanding.questions.ingredients import write_workflow
from ...workflow_options import Names
from ..steps_options import StepsSettings
from .workflow_sources import PLAIN_DRAWS, StepSource, generate_source, read_sources
from .workflow_steps import LEAST_TASKS, WorkflowQuestions, workflow_questions

PLACES: Final = 3
"""Places that are asked about in one level."""

MOST_LEVELS: Final = 200
"""Levels of one of the user's projects that are asked about."""

_RUNS: Final = 4  # in which places are looked for
_DRAWS: Final = 2 * PLAIN_DRAWS


@dataclass(frozen=True, slots=True)
class ShownLevel:
    """A level that is asked about, as it is shown.

    Args:
        questions: The level with its questions.
        notation: The notation that it is written in.
        text: The text of the workflow, or of the user's own files.
        own: True for the user's own.
        about: The workflow that the level lies in, the same in every notation.
        digest: Of that workflow.
    """

    questions: WorkflowQuestions
    notation: Notation
    text: str
    own: bool
    about: Workflow
    digest: str

    @property
    def source(self) -> StepSource:
        """The level."""
        return self.questions.source

    @property
    def place(self) -> str:
        """What stands behind "the" for the level, in one line; without the name of a workflow that the text omits."""
        read = interpretation(self.notation.name, self.text) if self.own else None
        if read is None or not read.unnamed:
            return collapse_spaces(self.source.place)
        inside = collapse_spaces(".".join(self.source.path))
        return f"composite task '{inside}' of the workflow" if inside else "workflow"


def places_of(tasks: int) -> int:
    """Return how many places are asked about in a generated workflow of so many tasks."""
    return min(PLACES, tasks - LEAST_TASKS + 1)


@catalog_cache
@lru_cache(maxsize=512)
def generated_questions(seed: int, number: int, tasks: int, names: Names) -> WorkflowQuestions:
    """Return the questions about a generated workflow: for as many places as its size has.

    Another workflow is drawn in place of one with fewer places. As far as possible, a wrong task that has run before is
    asked about in every second workflow alone, once: it can be told without the workflow.

    Args:
        seed: Decides on the workflow and on what is asked.
        number: Which of the workflows of the seed.
        tasks: The number of its tasks.
        names: What its names are like.

    Raises:
        UsageError: if no such workflow can be generated.
    """
    kind, place_count = None if names == "mixed" else names, places_of(tasks)
    most_done = number % 2 if place_count == PLACES else 0
    candidates: list[WorkflowQuestions] = []
    for draw in range(_DRAWS):
        source = generate_source(seed, number, tasks, kind, draw)
        (questions,) = workflow_questions([source], seed, runs=_RUNS, places=PLACES, most=place_count)
        candidates += [questions] if len(questions.pairs) == place_count else []
        if candidates and _count_done(candidates[-1]) <= most_done:
            return candidates[-1]
    if not candidates:
        raise UsageError(
            f"--taskgraph-tasks: none of {_DRAWS} workflows of {tasks} tasks has {place_count} places to ask about; "
            "state another size"
        )
    return min(candidates, key=_count_done)


def _count_done(questions: WorkflowQuestions) -> int:
    """Return the number of wrong tasks that have run before."""
    return sum(pair.kind == "done" for pair in questions.pairs)


@catalog_cache
@lru_cache(maxsize=32)
def own_questions(path: str, converted: str, seed: int) -> tuple[WorkflowQuestions, ...]:
    """Return the questions about each level of a project of the user, also of levels that there are none about.

    Args:
        path: The file or folder.
        converted: The notation in which it is shown; empty for the text of the files.
        seed: Decides on what is asked and, among more than MOST_LEVELS, on the levels.

    Raises:
        UsageError: if the project cannot be read.
    """
    sources = draw_items(read_sources(path, converted), MOST_LEVELS, seed)
    return tuple(workflow_questions(sources, seed, runs=_RUNS, places=PLACES, most=PLACES))


def own_projects(settings: StepsSettings) -> Iterator[tuple[int, str]]:
    """Yield the place of each of the user's projects and the notation to show it in, empty for the text of the files.

    Of projects that say the same in the same notation, the first.
    """
    seen: set[tuple[str, str]] = set()
    for converted in dict.fromkeys(settings.notations) if settings.convert else ("",):
        for at, path in enumerate(settings.workflows):
            project = load(path)
            key = project.digest, converted or project.notation.name
            if key not in seen:
                seen.add(key)
                yield at, converted


def shown_level(payload: Mapping[str, Any], settings: StepsSettings) -> ShownLevel:
    """Return the level that the payload of a reference names.

    Args:
        payload: "notation", and "tasks" and "number" of a generated workflow or "source" and "level" of the user's own.
        settings: The settings of the run.
    """
    notation = NOTATIONS[payload["notation"]]
    if "source" not in payload:
        questions = generated_questions(settings.seed, payload["number"], payload["tasks"], settings.names)
        about = questions.source.project
        return ShownLevel(questions, notation, write_workflow(about, notation.name), False, about, digest(about))
    path, converted = settings.workflows[payload["source"]], notation.name if settings.convert else ""
    questions = own_questions(path, converted, settings.seed)[payload["level"]]
    text = write_workflow(questions.source.project, converted) if converted else load(path).text
    return ShownLevel(questions, notation, text, True, *_about(path, questions.source.root.qualified))


@catalog_cache
@lru_cache(maxsize=256)
def _about(path: str, name: QualifiedName) -> tuple[Workflow, str]:
    """Return the workflow of that name in the user's files, the others of its project beside it."""
    project = load(path).workflow
    workflow = next((workflow for workflow in rotations(project) if workflow.qualified == name), project)
    return workflow, digest(workflow)
