"""Plant tasks of a domain that contradict the goal of a workflow, or stand in a wrong order."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import replace
from random import Random

from ...errors import NoCaseError
from ...workflow.check import problems
from ...workflow.graph import ancestors
from ...workflow.model import Flaw, Parameter, Task, Workflow
from ...workflow.project import Path, every_level, levels
from ..vocabularies import Alternative, Goal, Vocabulary, VocabularyEntry, domain_names, vocabulary

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


def entry(chosen: Vocabulary, name: str) -> VocabularyEntry:
    """Return the task of that name; KeyError where the vocabulary has none."""
    found = chosen.entry(name)
    if found is None:
        raise KeyError(name)
    return found


def how_many(rng: Random) -> int:
    """Return in how many tasks a flaw is planted: one or two."""
    return 1 + rng.randrange(MOST)


def absent(project: Workflow, chosen: Vocabulary) -> list[VocabularyEntry]:
    """Return the tasks of the vocabulary that the project has not."""
    held = {task.name for task in every_task(project)}
    return [one for one in chosen.tasks if one.name not in held]


def far_domains(chosen: Vocabulary) -> Iterator[Vocabulary]:
    """Yield the domains in which every task of this one is foreign, and the other way round."""
    return (vocabulary(name) for name in chosen.far)


def retasked(level: Workflow, changes: Mapping[str, VocabularyEntry]) -> Workflow:
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


def stray_task(project: Workflow, rng: Random) -> Workflow:
    """Return the project with tasks of a far domain in the places of one or two tasks of a level.

    The flaw tells triples: the task, the purpose of the whole, and what the task does.

    Raises:
        NoCaseError: if the project is not of one domain.
    """
    chosen = domain(project)

    def plant(level: Workflow, project: Workflow, rng: Random) -> Workflow:
        tasks = atomic(level)
        drawn = rng.sample(tasks, min(how_many(rng), len(tasks)))
        others = rng.sample(rng.choice(list(far_domains(chosen))).tasks, len(drawn))
        changes = {task.name: other for task, other in zip(drawn, others, strict=True)}
        told = [text for other in others for text in (other.name, project.description, other.description)]
        return flawed(retasked(level, changes), "stray-task", told)

    return in_some_level(project, rng, plant)


def contradict_goal(project: Workflow, rng: Random) -> Workflow:
    """Return the project with a method or a parameter, in one or two tasks of a level, that cannot serve its goal.

    The flaw tells triples: the task, the purpose of the whole, and the reason.

    Raises:
        NoCaseError: if the project has no definite goal, or no task that can contradict it.
    """
    aim = goal(domain(project), project)
    if aim is None:
        raise NoCaseError(f"contradict-goal: workflow {project.name!r} has no definite goal")

    def plant(level: Workflow, project: Workflow, rng: Random) -> Workflow:
        by_task: dict[str, list[Alternative]] = {}
        for one in aim.alternatives:
            by_task.setdefault(one.task, []).append(one)
        tasks = [task.name for task in atomic(level) if task.name in by_task]
        drawn = rng.sample(sorted(tasks), min(how_many(rng), len(tasks)))
        changes = {name: rng.choice(by_task[name]) for name in drawn}
        told = [text for one in changes.values() for text in (one.task, project.description, one.reason)]
        changed = tuple(_contradicting(task, changes.get(task.name)) for task in level.tasks)
        return flawed(replace(level, tasks=changed), "contradict-goal", told)

    return in_some_level(project, rng, plant)


def goal(chosen: Vocabulary, project: Workflow) -> Goal | None:
    """Return the definite goal of the project, which its name tells; None if it has none."""
    return next((one for one in chosen.goals if one.name == project.name), None)


def _contradicting(task: Task, one: Alternative | None) -> Task:
    if one is None:
        return task
    if not one.parameter:
        return replace(task, description=str(one.contradicts))
    parameters = (Parameter(p.name, one.contradicts) if p.name == one.parameter else p for p in task.parameters)
    return replace(task, parameters=tuple(parameters))


Before = Mapping[str, frozenset[str]]  # of each task, those that lie before it


def swap_order(project: Workflow, rng: Random) -> Workflow:
    """Return the project with two tasks of a level in each other's place, so that one comes before what it requires.

    Of all pairs of tasks that the vocabulary puts in order, at any depth, that one alone is out of order. The flaw
    tells the task that must be the earlier one, the later one, and what each does.

    Raises:
        NoCaseError: if a condition or a cycle makes the order depend on the run, something is out of order as it is,
        or no two tasks fit.
    """
    chosen = domain(project)
    if misplaced(project, chosen):
        raise NoCaseError(f"swap-order: workflow {project.name!r} is out of order as it is")
    return in_some_level(project, rng, _swap)


def misplaced(project: Workflow, chosen: Vocabulary) -> list[tuple[str, str]]:
    """Return the pairs of tasks, at any depth, whose order in the workflow is not that of the order relation.

    A pair on two branches of a fork is such a pair, too. Sub-workflows that are referred to are left out.

    Raises:
        NoCaseError: if a link of the workflow has a condition, or leads back.
    """
    before = _before(project, frozenset())
    if any(task in earlier for task, earlier in before.items()):
        raise NoCaseError(f"swap-order: workflow {project.name!r} has a cycle")
    return [
        (early, late)
        for late in sorted(before)
        for early in entry(chosen, late).follows
        if early in before and early not in before[late]
    ]


def _before(level: Workflow, around: frozenset[str]) -> dict[str, frozenset[str]]:
    """Return what lies before each atomic task of a level and of those inside it; `around` lies before the level."""
    if any(link.guard is not None for link in level.links):
        raise NoCaseError(f"swap-order: workflow {level.name!r} has conditions")
    held = {
        task.name: {task.name} if task.subworkflow is None else {one.name for one in every_task(task.subworkflow)}
        for task in level.tasks
    }
    found: dict[str, frozenset[str]] = {}
    for task in level.tasks:
        earlier = around.union(*(held[name] for name in ancestors(level, task.name)))
        if task.subworkflow is not None:
            found |= _before(task.subworkflow, earlier)
        else:
            found[task.name] = earlier
    return found


def _swap(level: Workflow, project: Workflow, rng: Random) -> Workflow:
    chosen = domain(project)
    before = _before(project, frozenset())
    names = sorted(task.name for task in level.tasks if not task.composite)
    pairs = [(early, late) for late in names for early in entry(chosen, late).requires if early in names]
    fitting = [pair for pair in pairs if _out_of_order(before, chosen, pair) == [pair]]
    if not fitting:
        raise NoCaseError(f"swap-order: in workflow {level.name!r} no exchange puts just two tasks out of order")
    first, second = rng.choice(fitting)
    place = {first: second, second: first}
    links = tuple(
        replace(link, source=place.get(link.source, link.source), target=place.get(link.target, link.target))
        for link in level.links
    )
    told = (first, second, *(entry(chosen, name).description for name in (first, second)))
    return flawed(replace(level, links=links), "swap-order", told)


def _out_of_order(before: Before, chosen: Vocabulary, pair: tuple[str, str]) -> list[tuple[str, str]]:
    """Return the pairs out of order when the two tasks stand in each other's place."""
    place = {pair[0]: pair[1], pair[1]: pair[0]}
    return [
        (early, late)
        for late in before
        for early in entry(chosen, late).follows
        if early in before and place.get(early, early) not in before[place.get(late, late)]
    ]
