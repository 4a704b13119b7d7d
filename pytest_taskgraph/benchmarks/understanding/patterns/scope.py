"""The levels that questions are asked about, how a question names them, and samples of large ones."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from random import Random
from typing import Final, TypeVar

from ....workflow.bounds import record_bound
from ....workflow.model import Workflow
from ....workflow.project import every_level
from ....workflow.references import assemble, expand, levels
from ...templates import render
from .pattern import Case, Pattern

UNNAMED = "the workflow"
SENTENCE_FIELDS: Final = ("workflow", "place", "nested")
"""What the templates of every pattern see beside the fields of its cases."""
MOST_CASES = 20_000
"""How many cases of a pattern about one level are listed; ours sample a large level themselves (`spread.py`)."""


@dataclass(frozen=True, slots=True)
class Scope:
    """One level: a whole workflow, or the inside of a composite task."""

    workflow: Workflow
    place: str  # "workflow 'W'" or "composite task 'A.B' of workflow 'W'"
    whole: bool
    path: tuple[str, ...] = ()  # of composite tasks, from the workflow down to the level
    own_name: str = ""  # "sub-workflow 'S'", where a question calls the level so

    @property
    def called(self) -> str:
        """What a question calls the level: by its own name where it does so, else by its place."""
        return self.own_name or self.place

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


@lru_cache(maxsize=64)
def all_scopes(project: Workflow, entered: bool = False) -> tuple[Scope, ...]:
    """Return the levels of every workflow of a project: the same objects for equal projects.

    What is computed about a level is kept by it, and found again at once where the level is the same object.
    """
    return tuple(scope for root in rotations(project) for scope in scopes(root, entered))


def by_own_name(scope: Scope, project: Workflow, text: str) -> Scope:
    """Return the level called by the name of its sub-workflow; by its place where that name is not clear.

    It is clear if it stands in the text of the project, and names nothing else: no other level, no task, no data.
    """
    name = scope.workflow.name
    everywhere = [*every_level(project)]
    known = [level.name for level in everywhere]
    taken = {one.name for level in everywhere for some in (level.tasks, level.data) for one in some}
    clear = known.count(name) == 1 and name not in taken and re.search(rf"(?<!\w){re.escape(name)}(?!\w)", text)
    return replace(scope, own_name=f"sub-workflow '{name}'" if scope.path and name and clear else "")


def without_name(scope: Scope) -> Scope:
    """Return the level called without the name of its workflow: the text that is shown does not tell it."""
    return replace(scope, place=f"composite task '{'.'.join(scope.path)}' of the workflow" if scope.path else UNNAMED)


def own_names(found: Iterable[Scope]) -> Iterator[Scope]:
    """Yield the levels inside composite tasks as they may be called by the names of their sub-workflows."""
    for scope in found:
        if scope.path and scope.workflow.name:
            yield replace(scope, own_name=f"sub-workflow '{scope.workflow.name}'")


def rotations(project: Workflow) -> Iterator[Workflow]:
    """Each workflow of a project in turn, the remaining ones as its `others`."""
    family = (replace(project, others=()), *project.others)
    for i, one in enumerate(family):
        yield replace(one, others=family[:i] + family[i + 1 :])


def cases(pattern: Pattern, scope: Scope) -> Iterator[Case]:
    """Yield what the pattern asks about a level, MOST_CASES at most."""
    if scope.whole or pattern.levels == "all":
        for count, case in enumerate(pattern.cases(scope.workflow)):
            if count == MOST_CASES:
                record_bound("cases")
                return
            yield case


def sentence(pattern: Pattern, phrasing: int, scope: Scope, case: Case) -> str:
    """The question's text. Raises UsageError where the template fails."""
    fields = {
        "workflow": scope.workflow,
        "place": scope.called,
        "nested": any(task.composite for task in scope.workflow.tasks),
        **case.fields,
    }
    return render(pattern.templates[phrasing % len(pattern.templates)], fields, f"pattern {pattern.name}")


def _unique(project: Workflow) -> bool:
    return Counter(one.name for one in (project, *project.others))[project.name] == 1


ALL: Final = 60
"""Tasks of a level about which everything is asked that there is; of larger ones, a sample."""

WORK: Final = 120_000
"""Candidates times tasks: about so many tasks are looked at, at most, for the cases of one pattern about a level."""

LEAST: Final = 40
"""Candidates that are looked at in any level."""

T = TypeVar("T")


def spread(candidates: Sequence[T], size: int, most: int | None = None) -> Sequence[T]:
    """Return all candidates of a small level, and a sample of those of a large one, in their order.

    Args:
        candidates: What may be asked about, in an order that does not depend on the process.
        size: The number of tasks of the level that they are of.
        most: How many are wanted of a large level; by default so many that WORK is kept to.
    """
    most = max(LEAST, WORK // max(1, size)) if most is None else most
    if size <= ALL or len(candidates) <= most:
        return candidates
    record_bound("cases")
    chosen = Random(f"spread|{size}|{len(candidates)}").sample(range(len(candidates)), most)
    return [candidates[i] for i in sorted(chosen)]
