"""The workflows that questions about next steps are built from: generated ones, and the user's own files.

Every level is a source of its own: a whole workflow, or the inside of a composite task.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
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
from ....trial import digest_of
from ....workflow.model import Workflow
from ...data_sets.item_ids import unique_ids
from ...understanding.own_files.projects import load, shown_workflows
from ...understanding.patterns.scope import Scope, all_scopes, scopes

NameKind = Literal["neutral", "domain", "misleading"]

NAME_KINDS: Final[tuple[NameKind, ...]] = ("neutral", "domain", "misleading")
FEATURES: Final = (  # of a generated workflow, in turn; of those that do not fit its size, the next that do
    frozenset({"parallel", "exclusive", "descriptions"}),
    frozenset({"parallel", "descriptions"}),
    frozenset({"parallel", "exclusive", "inclusive", "descriptions"}),
    frozenset({"parallel", "exclusive", "hierarchy", "data", "descriptions"}),
)
PLAIN: Final = frozenset({"descriptions"})  # all tasks in a row
PLAIN_DRAWS: Final = 6
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
        path: The composite tasks from the workflow down to the level; empty for the workflow itself.
    """

    id: str
    project: Workflow
    level: Workflow
    place: str
    names: str = ""
    path: tuple[str, ...] = ()

    @property
    def root(self) -> Workflow:
        """The workflow that the level lies in, or is."""
        return self.level.others[0] if self.path else self.level


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
        yield generate_source(seed, number, tasks, names)


@catalog_cache
@lru_cache(maxsize=512)
def generate_source(seed: int, number: int, tasks: int, names: NameKind | None = None, draw: int = 0) -> StepSource:
    """Return the whole workflow of a seed and a number.

    Args:
        seed: Decides on the workflow.
        number: Which of the workflows of the seed.
        tasks: The number of tasks, at any depth.
        names: What the names are like; None takes the kinds in turn.
        draw: Which of the workflows of that number: another one where those before it do not suit. From PLAIN_DRAWS on,
            all tasks are in a row.

    Raises:
        UsageError: if no workflow of that size can be generated.
    """
    rng = Random(f"{seed}|steps workflow|{tasks}|{number}" + (f"|{draw}" if draw else ""))
    kind = NAME_KINDS[number % len(NAME_KINDS)] if names is None else names
    kind = "neutral" if tasks > most_tasks() else kind
    turn = number // len(NAME_KINDS) % len(FEATURES) if draw < PLAIN_DRAWS else len(FEATURES)
    for attempt in range(ATTEMPTS):
        if 2 * attempt >= ATTEMPTS:
            kind = "neutral"
        try:
            project = build(_recipe(tasks, kind, turn, rng), rng)
        except NoCaseError:  # no tasks of the domain make sense in what was drawn
            continue
        scope = all_scopes(project)[0]
        source_id = f"workflow-{tasks}-{seed}-{number}" + (f"-{draw}" if draw else "")
        return StepSource(source_id, project, scope.workflow, scope.place, kind)
    raise UsageError(f"--taskgraph-tasks: no workflow of {tasks} tasks in {ATTEMPTS} attempts; state another size")


def _recipe(tasks: int, kind: NameKind, turn: int, rng: Random) -> WorkflowRecipe:
    """Return the recipe of a workflow: with the features whose turn it is, or the next that fit; behind all, PLAIN."""
    domain = "neutral" if kind == "neutral" else rng.choice(domain_names())
    others = FEATURES[:turn] if turn < len(FEATURES) else ()
    for features in (*FEATURES[turn:], *others, PLAIN):
        avoided = AVOIDED if features & {"exclusive", "inclusive"} else AVOIDED | {"guards"}
        recipe = WorkflowRecipe(
            tasks, features=features, avoid=avoided, vocabulary=domain, misleading=kind == "misleading", complete=True
        )
        if least_tasks(recipe) <= tasks:
            return recipe
    raise UsageError(f"--taskgraph-tasks: found {tasks}, expected more tasks")


@catalog_cache
@lru_cache(maxsize=32)
def read_sources(path: str, converted: str = "") -> tuple[StepSource, ...]:
    """Return the levels of the user's own workflows: of a file, or of all files of a folder.

    The ids depend on what the files say and on the level alone.

    Args:
        path: The file or folder, in any notation.
        converted: The notation in which it is shown, one workflow at a time; empty for the text of the files. What it
            does not support is left out.

    Raises:
        UsageError: if a file cannot be read; it names file and line.
    """
    located = [
        (project, scope)
        for project in shown_workflows(path, converted)
        for scope in (scopes(project) if converted else all_scopes(project))
    ]
    places = (json.dumps([str(scope.root.qualified), *scope.path]) for _, scope in located)
    ids = unique_ids(f"own-{load(path).digest[:6]}-{digest_of(place)[:6]}" for place in places)
    return tuple(_source(source_id, project, scope) for source_id, (project, scope) in zip(ids, located, strict=True))


def sources_of(project: Workflow, name: str) -> tuple[StepSource, ...]:
    """Return every level of a project as a source.

    Args:
        project: The workflow, with the others of its project.
        name: What the ids begin with.
    """
    return tuple(_source(f"{name}-{at}", project, scope) for at, scope in enumerate(all_scopes(project)))


def _source(source_id: str, project: Workflow, scope: Scope) -> StepSource:
    return StepSource(source_id, project, scope.workflow, scope.place, path=scope.path)
