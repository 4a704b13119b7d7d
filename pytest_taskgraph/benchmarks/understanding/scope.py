"""The levels that questions are asked about, and how a question names them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, replace

from ...workflow.model import Workflow
from ...workflow.references import assemble, expand, levels
from ..templates import render
from .pattern import Case, Pattern


@dataclass(frozen=True, slots=True)
class Scope:
    """One level: a whole workflow, or the inside of a composite task."""

    workflow: Workflow
    place: str  # "workflow 'W'" or "composite task 'A.B' of workflow 'W'"
    whole: bool
    path: tuple[str, ...] = ()  # of composite tasks, from the workflow down to the level

    @property
    def root(self) -> Workflow:
        """The workflow that the level lies in, or is."""
        return self.workflow.others[0] if self.path else self.workflow


def scopes(project: Workflow, entered: bool = False) -> tuple[Scope, ...]:
    """The level of a workflow and of every composite task written inside it; derivation is resolved.

    `entered`: also of composite tasks whose sub-workflow is written elsewhere, as far as references do not come back.
    """
    name = project.name if _unique(project) else str(project.qualified)
    return tuple(
        Scope(
            level,
            f"composite task '{'.'.join(path)}' of workflow '{name}'" if path else f"workflow '{name}'",
            not path,
            path,
        )
        for path, level in levels(expand(project) if entered else assemble(project))
    )


def all_scopes(project: Workflow, entered: bool = False) -> tuple[Scope, ...]:
    """The levels of every workflow of a project."""
    return tuple(scope for root in rotations(project) for scope in scopes(root, entered))


def rotations(project: Workflow) -> Iterator[Workflow]:
    """Each workflow of a project in turn, the remaining ones as its `others`."""
    family = (replace(project, others=()), *project.others)
    for i, one in enumerate(family):
        yield replace(one, others=family[:i] + family[i + 1 :])


def cases(pattern: Pattern, scope: Scope) -> Iterator[Case]:
    """What the pattern asks about a level."""
    if scope.whole or pattern.levels == "all":
        yield from pattern.cases(scope.workflow)


def sentence(pattern: Pattern, phrasing: int, scope: Scope, case: Case) -> str:
    """The question's text. Raises UsageError where the template fails."""
    fields = {
        "workflow": scope.workflow,
        "place": scope.place,
        "nested": any(task.composite for task in scope.workflow.tasks),
        **case.fields,
    }
    return render(pattern.templates[phrasing % len(pattern.templates)], fields, f"pattern {pattern.name}")


def _unique(project: Workflow) -> bool:
    return Counter(one.name for one in (project, *project.others))[project.name] == 1
