"""Levels that questions are asked about, how a question names them, and samples of large levels."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from itertools import islice
from random import Random
from typing import Final, TypeVar

from ....benchmarks.templates import render
from ....workflow.bounds import record_bound
from ....workflow.model import Workflow
from ....workflow.project import every_level
from ....workflow.references import assemble, expand, levels
from .pattern import Case, Pattern

UNNAMED = "the workflow"
SENTENCE_FIELDS: Final = ("workflow", "place", "nested")
"""Variables of the templates of every pattern, beside the fields of its cases."""
MOST_CASES = 20_000
"""Maximum number of cases of a pattern about a level; built-in patterns sample large levels (`limit_candidates`)."""


@dataclass(frozen=True, slots=True)
class Scope:
    """One level: a whole workflow, or the inside of a composite task."""

    workflow: Workflow
    place: str  # "workflow 'W'" or "composite task 'A.B' of workflow 'W'"
    whole: bool
    path: tuple[str, ...] = ()  # names of composite tasks, from the workflow down to the level
    own_name: str = ""  # "sub-workflow 'S'", where questions name the level by its sub-workflow

    @property
    def designation(self) -> str:
        """Return the phrase by which a question names the level: its own name if it is used, else its place."""
        return self.own_name or self.place

    @property
    def root(self) -> Workflow:
        """Return the workflow that contains the level, or the level if it is a whole workflow."""
        return self.workflow.others[0] if self.path else self.workflow


def scopes(project: Workflow, entered: bool = False) -> tuple[Scope, ...]:
    """Return the level of a workflow and of every composite task written inside it, with derivation resolved.

    Args:
        project: The workflow and the others of its project.
        entered: Include composite tasks whose sub-workflow is written elsewhere, as far as references are not
            recursive.
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


@lru_cache(maxsize=64)
def all_scopes(project: Workflow, entered: bool = False) -> tuple[Scope, ...]:
    """Return the levels of every workflow of a project: the same objects for equal projects.

    Results that are cached on a level are then reused.
    """
    return tuple(scope for root in rotations(project) for scope in scopes(root, entered))


def use_own_name(scope: Scope, project: Workflow, text: str) -> Scope:
    """Return the level named by its sub-workflow, or by its place where that name is ambiguous.

    The name is clear if it occurs in the text of the project and names no other level, task or data.
    """
    name = scope.workflow.name
    all_levels = [*every_level(project)]
    level_names = [level.name for level in all_levels]
    taken = {node.name for level in all_levels for nodes in (level.tasks, level.data) for node in nodes}
    clear = level_names.count(name) == 1 and name not in taken and re.search(rf"(?<!\w){re.escape(name)}(?!\w)", text)
    return replace(scope, own_name=f"sub-workflow '{name}'" if scope.path and name and clear else "")


def omit_workflow_name(scope: Scope) -> Scope:
    """Return the level named without its workflow, for a text that does not state the workflow's name."""
    return replace(scope, place=f"composite task '{'.'.join(scope.path)}' of the workflow" if scope.path else UNNAMED)


def scopes_by_own_name(levels_of_project: Iterable[Scope]) -> Iterator[Scope]:
    """Yield the levels inside composite tasks, each named by its sub-workflow."""
    for scope in levels_of_project:
        if scope.path and scope.workflow.name:
            yield replace(scope, own_name=f"sub-workflow '{scope.workflow.name}'")


def rotations(project: Workflow) -> Iterator[Workflow]:
    """Yield each workflow of a project in turn, with the remaining ones as its `others`."""
    workflows = (replace(project, others=()), *project.others)
    for i, workflow in enumerate(workflows):
        yield replace(workflow, others=workflows[:i] + workflows[i + 1 :])


def cases(pattern: Pattern, scope: Scope, hardest: bool = False) -> Iterator[Case]:
    """Yield the cases of the pattern about a level, MOST_CASES at most; none if exceptional links leave it undefined.

    Args:
        pattern: The pattern.
        scope: The level.
        hardest: Leave out cases of a rank above 0, which then do not count; only for a pattern that is `selective`.
    """
    defined = pattern.exceptional or not scope.workflow.exceptional_links
    if defined and (scope.whole or pattern.levels == "all"):
        options = {"hardest": True} if hardest else {}
        all_cases = iter(pattern.cases(scope.workflow, **options))
        yield from islice(all_cases, MOST_CASES)
        if next(all_cases, None) is not None:
            record_bound("cases")


def sentence(pattern: Pattern, phrasing: int, scope: Scope, case: Case) -> str:
    """Return the question's text.

    Raises:
        UsageError: if the template fails.
    """
    fields = {
        "workflow": scope.workflow,
        "place": scope.designation,
        "nested": any(task.composite for task in scope.workflow.tasks),
        **case.fields,
    }
    return render(pattern.templates[phrasing % len(pattern.templates)], fields, f"pattern {pattern.name}")


def _unique(project: Workflow) -> bool:
    return all(other.name != project.name for other in project.others)


FULL_SIZE: Final = 60
"""Largest number of tasks of a level of which all candidates are asked about; larger levels are sampled."""

MAX_WORK: Final = 120_000
"""Approximate maximum of candidates times tasks for the cases of one pattern about a level."""

MIN_CANDIDATES: Final = 40
"""Minimum number of candidates that a sample has."""

T = TypeVar("T")


def limit_candidates(candidates: Sequence[T], size: int, most: int | None = None) -> Sequence[T]:
    """Return all candidates of a small level, and a sample of those of a large one, in their order.

    Args:
        candidates: What may be asked about, in an order that does not depend on the process.
        size: Number of tasks of their level.
        most: Maximum number of candidates of a large level; by default as many as MAX_WORK allows.
    """
    most = max(MIN_CANDIDATES, MAX_WORK // max(1, size)) if most is None else most
    if size <= FULL_SIZE or len(candidates) <= most:
        return candidates
    record_bound("cases")
    chosen = Random(f"spread|{size}|{len(candidates)}").sample(range(len(candidates)), most)
    return [candidates[i] for i in sorted(chosen)]
