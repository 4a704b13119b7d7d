"""Parts of a question: pattern, phrasings, workflow, case and known names."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from random import Random

from ....benchmarks.family import QuestionReference
from ....catalog import catalog_cache
from ....errors import UnknownNameError, UsageError
from ....notations import notation
from ....scoring.name_lists import is_function_word
from ....workflow.model import Workflow
from ....workflow.project import Path, every_level
from ....workflow.references import nested_task_paths
from ..own_files import projects
from ..own_files.choices import choose, text_of
from ..own_files.interpretations import interpretation
from ..own_files.stated_case import stated_case
from ..patterns import catalogue
from ..patterns.pattern import PATTERNS, Case, Pattern
from ..patterns.scope import Scope, omit_workflow_name, rotations, use_own_name
from ..understanding_settings import UnderstandingSettings
from .phrasings import apply_own_phrasings, apply_phrasings, phrasing_of
from .sample import draw


@dataclass(frozen=True, slots=True)
class PatternReference:
    """Reference from which any process can build a question of a pattern."""

    id: str
    pattern: str
    notation: str
    ordinal: int
    tasks: int = 0  # the size of the generated workflow
    source: int = -1  # index of the user's own project among those at the given paths; -1: generated
    relation: str = ""  # the kind of variation; empty: not varied
    twin: str = ""  # id of the question that it varies
    question: str = ""  # the text of the one question about the user's own workflow that a suite states
    shift: int = 0  # of projects that share the questions of a path: it varies phrasings and examples among them

    @property
    def turn(self) -> int:
        """Return the number that decides the phrasing and the examples."""
        return self.ordinal + self.shift

    @classmethod
    def of(cls, reference: QuestionReference) -> PatternReference:
        """Return the reference from the payload of a generic one."""
        return cls(reference.id, reference.group, relation=reference.relation, twin=reference.twin, **reference.payload)

    def generic(self, labels: Mapping[str, str | int | None]) -> QuestionReference:
        """Return the generic reference with these labels."""
        payload = {"notation": self.notation, "ordinal": self.ordinal, "tasks": self.tasks, "source": self.source,
                   **({"question": self.question} if self.question else {}),
                   **({"shift": self.shift} if self.shift else {})}  # fmt: skip
        return QuestionReference(self.id, self.pattern, payload, labels, relation=self.relation, twin=self.twin)


def own_path(reference: PatternReference, settings: UnderstandingSettings) -> str:
    """Return the path of the user's own project that a question is about."""
    return projects.project_paths(settings.workflows)[reference.source]


_PLAIN_NAME = re.compile(r"[A-Za-z_]\w*")


def known_names(
    workflow: Workflow, level: Workflow, paths: Sequence[Path] | None = None, plain: bool = False
) -> list[str]:
    """Return the names that a reader of lists would split or strip if it did not know them.

    Where names clash, paths are included.

    Args:
        workflow: The workflow with the others of its project.
        level: The level that the question is about.
        paths: The `nested_task_paths` of the level, if they are known already.
        plain: True to list all tasks of the level, also those that such a reader would recognize.
    """
    names = {n for each in every_level(workflow) for n in (*each.task_names, *[datum.name for datum in each.data])}
    unusual = set(filter(_is_unusual, names)) | (set(level.task_names) if plain else set())
    if paths := nested_task_paths(level) if paths is None else paths:
        counts = Counter([*level.task_names, *[path[-1] for path in paths]])
        unusual.update([".".join(path) for path in paths if counts[path[-1]] > 1])
    return sorted(unusual)


@lru_cache(maxsize=4096)  # generated workflows take their names from the same vocabularies
def _is_unusual(name: str) -> bool:
    """Return True if the name is not a plain identifier, or reads as prose."""
    return not _PLAIN_NAME.fullmatch(name) or name.lower() in {"none", "empty"} or is_function_word(name)


OWN_NAME = 0.5  # share of the levels inside composite tasks named by their sub-workflow, if its name is unambiguous


@dataclass(frozen=True, slots=True)
class PatternQuestion:
    """Case of a pattern about a level of a workflow, in a phrasing and a notation."""

    pattern: Pattern
    phrased: Pattern  # the same pattern with the phrasings of this run
    workflow: Workflow
    scope: Scope
    case: Case
    phrasing: int
    notation: str
    text: str  # the workflow as it is shown
    names: str = ""  # kind of names of a generated workflow; empty for the user's own
    edit: str = ""  # kind of the edit of the user's own workflow; empty: unchanged

    @property
    def phrasings(self) -> int:
        """Return the number of phrasings."""
        return len(self.phrased.templates)


def unvaried_question(reference: PatternReference, settings: UnderstandingSettings) -> PatternQuestion:
    """Return the question of a reference without variation.

    Raises:
        UnknownNameError: if the pattern is not registered.
        UsageError: if the suite states a question that the workflow does not allow.
    """
    pattern = PATTERNS.get(reference.pattern) or catalogue().get(reference.pattern)
    if pattern is None:
        raise UnknownNameError("pattern", reference.pattern, catalogue())
    if reference.source < 0:
        phrased = apply_phrasings(pattern, settings.templates)
    else:
        phrased = apply_own_phrasings(pattern, settings.templates, own_path(reference, settings))
    if reference.question:
        return _stated_question(reference, settings, phrased)
    names = edit = ""
    if reference.source < 0:
        drawn_case = draw(pattern, reference.tasks, settings.seed, reference.ordinal, settings.names)
        workflow, scope, case, names = drawn_case.project, drawn_case.scope, drawn_case.case, drawn_case.names
        text = write_workflow(workflow, reference.notation)
    else:
        path, converted = own_path(reference, settings), reference.notation if settings.convert else ""
        chosen = choose(pattern, path, converted, settings.seed, max(settings.instances, reference.ordinal + 1))
        workflow, scope, case, edit, text = chosen[reference.ordinal]
        if edit:
            text = text or text_of(path, workflow, notation(reference.notation), edit)
        else:
            text = write_workflow(workflow, converted) if converted else projects.load(path).text
    phrasing = phrasing_of(phrased, reference.turn, settings.phrasing)
    interpreted = interpretation(reference.notation, text) if reference.source >= 0 else None
    if interpreted is not None and interpreted.unnamed:
        scope = omit_workflow_name(scope)
    if scope.path and _prefers_own_name(reference, settings):
        scope = use_own_name(scope, workflow, text)
    return PatternQuestion(pattern, phrased, workflow, scope, case, phrasing, reference.notation, text, names, edit)


def _prefers_own_name(reference: PatternReference, settings: UnderstandingSettings) -> bool:
    """Return True if the question is to name a level inside a composite task by its sub-workflow."""
    seed = f"place|{reference.pattern}|{reference.tasks}|{settings.seed}|{reference.ordinal}"
    return Random(seed).random() < OWN_NAME


def _stated_question(reference: PatternReference, settings: UnderstandingSettings, phrased: Pattern) -> PatternQuestion:
    """Return the question whose text a suite states.

    Raises:
        UsageError: if the workflow does not allow it.
    """
    path, converted = own_path(reference, settings), reference.notation if settings.convert else ""
    stated = stated_case(phrased, path, converted, reference.question)
    if stated is None:
        raise UsageError(f"pattern {phrased.name!r} does not ask {reference.question!r} about {path}")
    text = write_workflow(stated.workflow, converted) if converted else projects.load(path).text
    pattern = catalogue()[reference.pattern]
    return PatternQuestion(
        pattern, phrased, stated.workflow, stated.scope, stated.case, stated.phrasing, reference.notation, text
    )


def workflow_of_question(
    question: PatternQuestion, reference: PatternReference, settings: UnderstandingSettings
) -> Workflow:
    """Return the workflow that the question is about, with the others of its project beside it.

    The user's own workflow is returned as it is in the files, however it is shown: in each notation it is the same
    workflow. A varied workflow is a different one.
    """
    as_shown = reference.source < 0 or reference.relation
    project = question.workflow if as_shown else projects.load(own_path(reference, settings)).workflow
    if not project.others:
        return project
    return next(
        (workflow for workflow in rotations(project) if workflow.qualified == question.scope.root.qualified),
        project,
    )


@catalog_cache
@lru_cache(maxsize=64)
def write_workflow(workflow: Workflow, name: str) -> str:
    """Return the workflow in a notation, without the final line end."""
    return notation(name).write(workflow).strip("\n")
