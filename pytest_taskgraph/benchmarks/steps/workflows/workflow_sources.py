"""The workflows that questions about next steps are built from: generated ones, and the user's own files.

Every level is a source of its own: a whole workflow, or the inside of a composite task.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from random import Random
from typing import Final, Literal

from ....catalog import catalog_cache
from ....errors import NoCaseError, UsageError
from ....generation.builder import build
from ....generation.recipe import Recipe as WorkflowRecipe
from ....generation.recipe import least_tasks
from ....generation.vocabularies import domain_names, most_tasks
from ....workflow.model import Workflow
from ...understanding.own_files.projects import load
from ...understanding.patterns.scope import all_scopes

NameKind = Literal["neutral", "domain", "misleading"]

NAME_KINDS: Final[tuple[NameKind, ...]] = ("neutral", "domain", "misleading")
FEATURES: Final = (  # of a generated workflow, in turn; of those that do not fit its size, the next that do
    frozenset({"parallel", "exclusive", "descriptions"}),
    frozenset({"parallel", "descriptions"}),
    frozenset({"parallel", "exclusive", "inclusive", "descriptions"}),
    frozenset({"parallel", "exclusive", "hierarchy", "data", "descriptions"}),
)
AVOIDED: Final = frozenset({"loop", "effects"})  # whose next steps are not known exactly
ATTEMPTS: Final = 50


@dataclass(frozen=True, slots=True)
class StepSource:
    """A level whose tasks are asked about.

    Args:
        id: Unlike that of any other source of its set; letters, digits and hyphens.
        project: What is shown: the workflow with the others of its project.
        level: The level.
        place: What a question calls the level, such as "workflow 'Order'".
        names: What the names of a generated workflow are like; empty for the user's own.
    """

    id: str
    project: Workflow
    level: Workflow
    place: str
    names: str = ""


def generate_sources(seed: int, count: int, tasks: int = 12, names: NameKind | None = None) -> Iterator[StepSource]:
    """Yield the whole workflows of a seed, one for each number; the first ones are the same for fewer.

    Args:
        seed: Decides on the workflows.
        count: The number of workflows.
        tasks: The number of tasks of each, at any depth.
        names: What the names are like; None takes the kinds in turn. Where no domain has so many tasks, all are
            neutral.

    Raises:
        UsageError: if no workflow of that size can be generated.
    """
    for number in range(count):
        yield _generated(seed, number, tasks, names)


@catalog_cache
@lru_cache(maxsize=512)
def _generated(seed: int, number: int, tasks: int, names: NameKind | None) -> StepSource:
    rng = Random(f"{seed}|steps workflow|{tasks}|{number}")
    kind = NAME_KINDS[number % len(NAME_KINDS)] if names is None else names
    kind = "neutral" if tasks > most_tasks() else kind
    turn = number // len(NAME_KINDS) % len(FEATURES)
    for attempt in range(ATTEMPTS):
        if 2 * attempt >= ATTEMPTS:
            kind = "neutral"
        try:
            found = build(_recipe(tasks, kind, turn, rng), rng)
        except NoCaseError:  # no tasks of the domain make sense in what was drawn
            continue
        scope = all_scopes(found)[0]
        return StepSource(f"workflow-{tasks}-{seed}-{number}", found, scope.workflow, scope.place, kind)
    raise UsageError(f"STEPS: no workflow of {tasks} tasks was found in {ATTEMPTS} attempts; ask for another size")


def _recipe(tasks: int, kind: NameKind, turn: int, rng: Random) -> WorkflowRecipe:
    """Return the recipe of a workflow; the features are those whose turn it is, or the next that fit."""
    domain = "neutral" if kind == "neutral" else rng.choice(domain_names())
    for features in (*FEATURES[turn:], *FEATURES[:turn], frozenset({"descriptions"})):
        avoided = AVOIDED if features & {"exclusive", "inclusive"} else AVOIDED | {"guards"}
        recipe = WorkflowRecipe(
            tasks, features=features, avoid=avoided, vocabulary=domain, misleading=kind == "misleading", complete=True
        )
        if least_tasks(recipe) <= tasks:
            return recipe
    raise UsageError(f"STEPS: workflows of {tasks} tasks; expected more tasks")


def read_sources(path: str, number: int = 0) -> tuple[StepSource, ...]:
    """Return the levels of the user's own workflows: of a file, or of all files of a folder.

    Args:
        path: The file or folder, in any notation.
        number: The place of the path among several; part of the ids.

    Raises:
        UsageError: if a file cannot be read; it names file and line.
    """
    return sources_of(load(path).workflow, f"own-{number}")


def sources_of(project: Workflow, name: str) -> tuple[StepSource, ...]:
    """Return every level of a project as a source.

    Args:
        project: The workflow, with the others of its project.
        name: What the ids begin with.
    """
    found: Sequence[StepSource] = [
        StepSource(f"{name}-{at}", project, scope.workflow, scope.place) for at, scope in enumerate(all_scopes(project))
    ]
    return tuple(found)
