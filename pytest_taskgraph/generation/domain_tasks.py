"""What the flaws of a domain share: its levels, tasks that a workflow has not, and putting these in."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import replace
from random import Random

from ..errors import NoCaseError
from ..workflow.check import problems
from ..workflow.model import Flaw, Task, Workflow
from ..workflow.project import Path, every_level, levels
from .vocabularies import Entry, Vocabulary, domain_names, vocabulary

MOST = 2  # tasks that one flaw is planted in

LevelFlaw = Callable[[Workflow, Workflow, Random], Workflow]
"""From a level, the project that it is a level of, and a source of choice to the level with the flaw."""


def in_some_level(project: Workflow, rng: Random, plant: LevelFlaw) -> Workflow:
    """Return the project with a flaw in the workflow itself or inside one of its composite tasks.

    The levels are tried in a drawn order.

    Raises:
        NoCaseError: if no level has room for the flaw.
    """
    found = levels(project)
    reasons: list[str] = []
    for path, level in rng.sample(found, len(found)):
        try:
            return with_level(project, path, plant(level, project, rng))
        except NoCaseError as error:
            reasons.append(str(error))
    raise NoCaseError(reasons[0])


def with_level(project: Workflow, path: Path, level: Workflow) -> Workflow:
    """Return the project with another level at that path of composite tasks."""
    if not path:
        return replace(level, others=project.others)
    tasks = [
        replace(task, subworkflow=with_level(task.subworkflow, path[1:], level))
        if task.name == path[0] and task.subworkflow is not None
        else task
        for task in project.tasks
    ]
    return replace(project, tasks=tuple(tasks))


def domain(project: Workflow) -> Vocabulary:
    """Return the vocabulary that all atomic tasks of the project are of.

    Raises:
        NoCaseError: if there is none.
    """
    if project.package in domain_names():
        chosen = vocabulary(project.package)
        if all(chosen.entry(task.name) for task in every_task(project)):
            return chosen
    raise NoCaseError(f"workflow {project.name!r} is not of the tasks of one domain ({', '.join(domain_names())})")


def every_task(project: Workflow) -> list[Task]:
    """Return the atomic tasks of a project, at any depth."""
    return [task for level in every_level(project) for task in atomic(level)]


def atomic(level: Workflow) -> list[Task]:
    """Return the tasks directly in a level that are not composite."""
    return [task for task in level.tasks if not task.composite]


def entry(chosen: Vocabulary, name: str) -> Entry:
    """Return the task of that name; KeyError where the vocabulary has none."""
    found = chosen.entry(name)
    if found is None:
        raise KeyError(name)
    return found


def how_many(rng: Random) -> int:
    """Return in how many tasks a flaw is planted: one or two."""
    return 1 + rng.randrange(MOST)


def absent(project: Workflow, chosen: Vocabulary) -> list[Entry]:
    """Return the tasks of the vocabulary that the project has not."""
    held = {task.name for task in every_task(project)}
    return [one for one in chosen.tasks if one.name not in held]


def far_domains(chosen: Vocabulary) -> Iterator[Vocabulary]:
    """Yield the domains in which every task of this one is foreign, and the other way round."""
    return (vocabulary(name) for name in chosen.far)


def retasked(level: Workflow, changes: Mapping[str, Entry]) -> Workflow:
    """Return the level with other tasks in the places of some: name, and what they say of themselves where they do."""

    def name(node: str) -> str:
        return changes[node].name if node in changes else node

    def task(one: Task) -> Task:
        if one.name not in changes:
            return one
        new = changes[one.name]
        return replace(
            one,
            name=new.name,
            description=new.description if one.description else "",
            kind=new.kind if one.kind else "",
            implementation=f"file://{new.name}.py" if one.implementation else "",
        )

    return replace(
        level,
        tasks=tuple(map(task, level.tasks)),
        links=tuple(replace(link, source=name(link.source), target=name(link.target)) for link in level.links),
        data_links=tuple(
            replace(link, source=name(link.source), target=name(link.target)) for link in level.data_links
        ),
    )


def flawed(level: Workflow, kind: str, details: Iterable[str]) -> Workflow:
    """Return the level with the flaw remembered.

    Raises:
        NoCaseError: if the level is not well-formed, or no task has a flaw.
    """
    told = tuple(details)
    if not told or problems(level):
        raise NoCaseError(f"{kind}: workflow {level.name!r} has no place for it")
    return replace(level, flaw=Flaw(kind, told))
