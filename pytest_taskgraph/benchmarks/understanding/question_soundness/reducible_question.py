"""A question that can be asked about ever smaller workflows: same pattern, notation, prompt and phrasing."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Any, Final

from ....errors import UnsupportedFeatureError, UsageError, WorkflowError
from ....notations import notation
from ....workflow.check import problems
from ....workflow.features import features
from ....workflow.model import Workflow
from ....workflow.project import every_level
from ....workflow.simplification import reductions
from ....workflow.simplification.workflow_shape import shape
from ...instances import Instance
from ..family_options import UnderstandingSettings
from ..own_files.interpretations import interpretation
from ..patterns.scope import Scope, omit_workflow_name, use_own_name
from ..questions.composition import compose
from ..questions.ingredients import PatternQuestion, PatternReference, write_workflow
from ..renaming import RESERVED, names_of, renaming_to, with_texts
from ..variations import resolve_reference
from .nearest_case import AskedCase, nearest_case
from .workflow_instances import task_count, workflow_instance

PLAIN: Final = {"task": "Task", "data": "Data", "gateway": "Gateway", "parameter": "value", "workflow": "Workflow"}


@dataclass(frozen=True, slots=True)
class ReducedWorkflow:
    """A workflow to ask about, and the plain names that stand in it for others, by the others; none at first."""

    workflow: Workflow
    names: tuple[tuple[str, str], ...] = ()


class ReducibleQuestion:
    """A question with the workflow that it is about, to be made smaller.

    Of a pattern whose answer is planted, only tasks that the flaw does not speak of leave: the answer stays true.

    Args:
        original: What was asked.
        id: The id of its question.
        settings: The settings of the run.
    """

    def __init__(self, original: PatternQuestion, id: str, settings: UnderstandingSettings) -> None:
        self.original, self.id, self.settings = original, id, settings
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
        for workflow in reductions(subject.workflow, self._planted(subject.workflow), flow_only=planted):
            candidate = replace(subject, workflow=workflow)
            if (key := self.key(candidate)) not in seen:
                seen.add(key)
                yield candidate
        if not planted and not subject.names and (plain := _plainly_named(subject.workflow)) is not None:
            yield plain

    def key(self, subject: ReducedWorkflow) -> str:
        """Return the shape of a workflow, in which only names count that the question mentions."""
        mentioned = set(_texts(self._original_case(subject).case.fields))
        return f"{shape(subject.workflow, mentioned)}{'-plain' if subject.names else ''}"

    def size(self, subject: ReducedWorkflow) -> int:
        """Return the number of tasks, at any depth."""
        return task_count(subject.workflow)

    def instance(self, subject: ReducedWorkflow) -> Instance | None:
        """Return the question about a workflow, with its own answer; None if the pattern does not ask it.

        None too if the notation has no words for the workflow.
        """
        posed = self._posed(subject)
        if posed is None:
            return None
        # As the suite of a regression test asks it, about a file of the user's own.
        reference = PatternReference(f"{self.id}-shrunk", posed.pattern.name, posed.notation, 0, source=0)
        question = compose(posed, reference, self.settings, posed.workflow)
        return workflow_instance(posed, question, self.settings)

    def _posed(self, subject: ReducedWorkflow) -> PatternQuestion | None:
        original, workflow = self.original, subject.workflow
        shown = notation(original.notation)
        if features(workflow, shown.unsupported):
            return None
        near = nearest_case(original.pattern, workflow, self._original_case(subject))
        if near is None:
            return None
        try:
            text = write_workflow(workflow, shown.name)
        except UnsupportedFeatureError:
            return None
        scope = _named_level(near.scope, workflow, text, shown.name, bool(original.scope.own_name))
        return replace(original, workflow=workflow, scope=scope, case=near.case, text=text, names="", edit="")

    def _original_case(self, subject: ReducedWorkflow) -> AskedCase:
        """Return the case of the question as it was asked, in the names of the subject."""
        return AskedCase(self.original.scope, _in_names(self.original, subject.names))

    def _planted(self, workflow: Workflow) -> frozenset[str]:
        """Return the names of the tasks that the flaw of a planted pattern speaks of."""
        if not self.original.pattern.planted:
            return frozenset()
        mentioned = {detail for level in every_level(workflow) if level.flaw for detail in level.flaw.details}
        mentioned |= set(_texts(self.original.case.fields))
        return frozenset(name for level in every_level(workflow) for name in level.task_names if name in mentioned)


@lru_cache(maxsize=8)
def _names(names: tuple[tuple[str, str], ...]) -> Any:  # noqa: ANN401 - a function of a text
    return renaming_to(dict(names))


def _in_names(original: PatternQuestion, names: tuple[tuple[str, str], ...]) -> Any:  # noqa: ANN401 - a Case
    return replace(original.case, fields=with_texts(original.case.fields, _names(names))) if names else original.case


def _texts(value: object) -> Iterator[str]:
    """Yield the texts in the fields of a case."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict):
        for held in value.values():
            yield from _texts(held)
    elif isinstance(value, Iterable):
        for held in value:
            yield from _texts(held)


def _named_level(scope: Scope, project: Workflow, text: str, shown: str, own_name: bool) -> Scope:
    """Return the level called as the question calls it."""
    read = interpretation(shown, text)
    if read is not None and read.unnamed:
        scope = omit_workflow_name(scope)
    return use_own_name(scope, project, text) if own_name else scope


def _without_flaw(workflow: Workflow) -> Workflow:
    """Return the workflow without the note of what was planted: other answers are computed, whatever was."""
    return replace(workflow, flaw=None, others=tuple(replace(other, flaw=None) for other in workflow.others))


def _plainly_named(project: Workflow) -> ReducedWorkflow | None:
    """Return a project with plain names such as Task1; None if they are plain, or are words of conditions too."""
    kinds = names_of(project)
    if any(name.lower() in RESERVED for name in kinds):
        return None
    counts = dict.fromkeys(PLAIN, 0)
    new = {}
    for name, kind in kinds.items():
        counts[kind] += 1
        new[name] = f"{PLAIN[kind]}{counts[kind]}"
    renamed = with_texts(project, renaming_to(new))
    if not project.others:
        renamed = replace(renamed, package="")
    try:
        sound = renamed != project and not problems(renamed)
    except (WorkflowError, UsageError):
        return None
    return ReducedWorkflow(renamed, tuple(new.items())) if sound else None
