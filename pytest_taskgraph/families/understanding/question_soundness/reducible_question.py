"""A question that can be asked about smaller workflows: same pattern, notation, prompt and phrasing."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Any, Final, NamedTuple

from ....benchmarks.instances import Instance
from ....errors import UnsupportedFeatureError, UsageError, WorkflowError
from ....notations import notation
from ....workflow.check import problems
from ....workflow.features import features
from ....workflow.model import Workflow
from ....workflow.project import every_level
from ....workflow.simplification import reductions
from ....workflow.simplification.workflow_shape import shape
from ..own_files.interpretations import interpretation
from ..patterns.pattern import Case, Pattern, verdict
from ..patterns.scope import Scope, cases, omit_workflow_name, scopes, use_own_name
from ..questions.composition import compose
from ..questions.ingredients import PatternQuestion, PatternReference, write_workflow
from ..renaming import RESERVED, names_of, renaming_to, with_texts
from ..understanding_settings import UnderstandingSettings
from ..variations import resolve_reference
from .question_instances import task_count, workflow_instance

PLAIN: Final = {"task": "Task", "data": "Data", "gateway": "Gateway", "parameter": "value", "workflow": "Workflow"}


class AskedCase(NamedTuple):
    """A case and the level that it is about."""

    scope: Scope
    case: Case


def nearest_case(pattern: Pattern, project: Workflow, original: AskedCase) -> AskedCase | None:
    """Return the case about the same as another one, else the most similar case; None if there is none.

    A case with the same fields is about the same, whatever its answer now is. Of other cases the same verdict counts
    most, because a model that always answers yes errs where no is right; then the fields that agree, then the labels.
    """
    try:
        levels = scopes(project)
    except WorkflowError:
        return None
    candidates = [AskedCase(scope, case) for scope in levels for case in cases(pattern, scope) if not case.revealing]
    same = [candidate for candidate in candidates if candidate.case.fields == original.case.fields]
    return max(same or candidates, key=lambda candidate: _similarity(candidate, original), default=None)


def _similarity(candidate: AskedCase, original: AskedCase) -> tuple[float, ...]:
    """Return how much a case has in common with another; of equally similar ones, the first is the nearest."""
    agree = verdict(candidate.case.answer) == verdict(original.case.answer)
    fields = _count_shared(candidate.case.fields, original.case.fields)
    same_path = candidate.scope.path == original.scope.path
    labels = _count_shared(candidate.case.labels, original.case.labels)
    return (agree and isinstance(verdict(candidate.case.answer), str), fields, same_path, labels, -candidate.case.rank)


def _count_shared(first: Mapping[str, Any], second: Mapping[str, Any]) -> int:
    return sum(name in second and second[name] == value for name, value in first.items())


@dataclass(frozen=True, slots=True)
class ReducedWorkflow:
    """A workflow to ask about, with the plain names that replace original ones; none at first."""

    workflow: Workflow
    names: tuple[tuple[str, str], ...] = ()


class ReducibleQuestion:
    """A question whose workflow can be made smaller.

    For a pattern with a planted answer, only tasks that the flaw does not mention are removed: the answer stays true.

    Args:
        original: The case of the question.
        question_id: The id of the question.
        settings: The settings of the run.
    """

    def __init__(self, original: PatternQuestion, question_id: str, settings: UnderstandingSettings) -> None:
        self.original, self.id, self.settings = original, question_id, settings
        workflow = original.workflow
        self.start = ReducedWorkflow(workflow if original.pattern.planted else _without_flaw(workflow))

    @classmethod
    def of(cls, reference: PatternReference, settings: UnderstandingSettings) -> ReducibleQuestion:
        """Return the question of a reference."""
        return cls(resolve_reference(reference, settings), reference.id, settings)

    def smaller(self, subject: ReducedWorkflow) -> Iterator[ReducedWorkflow]:
        """Yield smaller workflows, those nearest half the size first; last, the same with plain names."""
        planted = self.original.pattern.planted
        seen = {self.key(subject)}
        for workflow in reductions(subject.workflow, self._tasks_of_flaw(subject.workflow), flow_only=planted):
            candidate = replace(subject, workflow=workflow)
            if (key := self.key(candidate)) not in seen:
                seen.add(key)
                yield candidate
        if not planted and not subject.names and (plain := _with_plain_names(subject.workflow)) is not None:
            yield plain

    def key(self, subject: ReducedWorkflow) -> str:
        """Return the shape of a workflow, in which only names that the question mentions count."""
        mentioned = set(_texts(self._original_case(subject).case.fields))
        return f"{shape(subject.workflow, mentioned)}{'-plain' if subject.names else ''}"

    def size(self, subject: ReducedWorkflow) -> int:
        """Return the number of tasks, at any depth."""
        return task_count(subject.workflow)

    def instance(self, subject: ReducedWorkflow) -> Instance | None:
        """Return the question about a workflow, with its own answer.

        Returns:
            None if the pattern does not ask it, or the notation does not support the workflow.
        """
        posed = self._pattern_question(subject)
        if posed is None:
            return None
        # A regression test asks it like this, about a file of the user's own.
        reference = PatternReference(f"{self.id}-shrunk", posed.pattern.name, posed.notation, 0, source=0)
        question = compose(posed, reference, self.settings, posed.workflow)
        return workflow_instance(posed, question, self.settings)

    def _pattern_question(self, subject: ReducedWorkflow) -> PatternQuestion | None:
        original, workflow = self.original, subject.workflow
        shown_notation = notation(original.notation)
        if features(workflow, shown_notation.unsupported):
            return None
        nearest = nearest_case(original.pattern, workflow, self._original_case(subject))
        if nearest is None:
            return None
        try:
            text = write_workflow(workflow, shown_notation.name)
        except UnsupportedFeatureError:
            return None
        scope = _use_question_name(nearest.scope, workflow, text, shown_notation.name, bool(original.scope.own_name))
        return replace(original, workflow=workflow, scope=scope, case=nearest.case, text=text, names="", edit="")

    def _original_case(self, subject: ReducedWorkflow) -> AskedCase:
        """Return the case of the original question, in the names of the smaller workflow."""
        return AskedCase(self.original.scope, _rename_case_fields(self.original, subject.names))

    def _tasks_of_flaw(self, workflow: Workflow) -> frozenset[str]:
        """Return the names of the tasks that the flaw of a planted pattern mentions."""
        if not self.original.pattern.planted:
            return frozenset()
        mentioned = {detail for level in every_level(workflow) if level.flaw for detail in level.flaw.details}
        mentioned |= set(_texts(self.original.case.fields))
        return frozenset(name for level in every_level(workflow) for name in level.task_names if name in mentioned)


@lru_cache(maxsize=8)
def _renaming(names: tuple[tuple[str, str], ...]) -> Any:  # noqa: ANN401 - a function of a text
    return renaming_to(dict(names))


def _rename_case_fields(original: PatternQuestion, names: tuple[tuple[str, str], ...]) -> Any:  # noqa: ANN401 - a Case
    return replace(original.case, fields=with_texts(original.case.fields, _renaming(names))) if names else original.case


def _texts(value: object) -> Iterator[str]:
    """Yield the texts in the fields of a case."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict):
        for part in value.values():
            yield from _texts(part)
    elif isinstance(value, Iterable):
        for part in value:
            yield from _texts(part)


def _use_question_name(scope: Scope, project: Workflow, text: str, notation_name: str, own_name: bool) -> Scope:
    """Return the level, named as in the question."""
    interpreted = interpretation(notation_name, text)
    if interpreted is not None and interpreted.unnamed:
        scope = omit_workflow_name(scope)
    return use_own_name(scope, project, text) if own_name else scope


def _without_flaw(workflow: Workflow) -> Workflow:
    """Return the workflow without its recorded flaw: answers of other patterns do not depend on it."""
    return replace(workflow, flaw=None, others=tuple(replace(other, flaw=None) for other in workflow.others))


def _with_plain_names(project: Workflow) -> ReducedWorkflow | None:
    """Return a project with plain names such as Task1; None if they are plain, or are words of conditions too."""
    kinds = names_of(project)
    if any(name.lower() in RESERVED for name in kinds):
        return None
    counts = dict.fromkeys(PLAIN, 0)
    new_names = {}
    for name, kind in kinds.items():
        counts[kind] += 1
        new_names[name] = f"{PLAIN[kind]}{counts[kind]}"
    renamed = with_texts(project, renaming_to(new_names))
    if not project.others:
        renamed = replace(renamed, package="")
    try:
        valid = renamed != project and not problems(renamed)
    except (WorkflowError, UsageError):
        return None
    return ReducedWorkflow(renamed, tuple(new_names.items())) if valid else None
