"""Plant tasks of a domain that contradict the goal of a workflow, or stand in a wrong order."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from random import Random
from typing import TypeVar

from ...errors import NoCaseError
from ...workflow.check import problems
from ...workflow.graph import ancestors_of_each
from ...workflow.model import DataLink, Flaw, Link, Parameter, Task, Workflow
from ...workflow.project import Path, every_level, levels
from ..vocabularies import Alternative, Goal, Vocabulary, VocabularyEntry, domain_names, vocabulary

MOST = 2  # largest number of tasks that one flaw is planted in

_Link = TypeVar("_Link", Link, DataLink)

LevelFlaw = Callable[[Workflow, Workflow, Random], Workflow]
"""A function of a level, its project and a source of choice that returns the level with the flaw."""


def plant_in_some_level(project: Workflow, rng: Random, plant: LevelFlaw) -> Workflow:
    """Return the project with a flaw in the workflow itself or inside one of its composite tasks.

    The levels are tried in a drawn order.

    Raises:
        NoCaseError: if no level has room for the flaw.
    """
    paths_and_levels = levels(project)
    reasons: list[str] = []
    for path, level in rng.sample(paths_and_levels, len(paths_and_levels)):
        try:
            return with_level(project, path, plant(level, project, rng))
        except NoCaseError as error:
            reasons.append(str(error))
    raise NoCaseError(reasons[0])


def with_level(project: Workflow, path: Path, level: Workflow) -> Workflow:
    """Return the project with the level at that path of composite tasks replaced."""
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
    """Return the vocabulary to which all atomic tasks of the project belong.

    Raises:
        NoCaseError: if there is none.
    """
    if project.package in domain_names():
        domain_words = vocabulary(project.package)
        if all(domain_words.entry(task.name) for task in every_task(project)):
            return domain_words
    raise NoCaseError(f"workflow {project.name!r} is not of the tasks of one domain ({', '.join(domain_names())})")


def every_task(project: Workflow) -> list[Task]:
    """Return the atomic tasks of a project, at any depth."""
    return [task for level in every_level(project) for task in atomic_tasks(level)]


def atomic_tasks(level: Workflow) -> list[Task]:
    """Return the tasks directly in a level that are not composite."""
    return [task for task in level.tasks if not task.composite]


def entry(domain_words: Vocabulary, name: str) -> VocabularyEntry:
    """Return the task of that name.

    Raises:
        KeyError: if the vocabulary has none.
    """
    vocabulary_entry = domain_words.entry(name)
    if vocabulary_entry is None:
        raise KeyError(name)
    return vocabulary_entry


def draw_flaw_count(rng: Random) -> int:
    """Draw in how many tasks a flaw is planted: one or two."""
    return 1 + rng.randrange(MOST)


def absent_tasks(project: Workflow, domain_words: Vocabulary) -> list[VocabularyEntry]:
    """Return the tasks of the vocabulary that the project does not have."""
    task_names = {task.name for task in every_task(project)}
    return [candidate for candidate in domain_words.tasks if candidate.name not in task_names]


def far_domains(domain_words: Vocabulary) -> Iterator[Vocabulary]:
    """Yield the domains in which every task of the given domain is foreign, and vice versa."""
    return (vocabulary(name) for name in domain_words.far)


def replace_tasks(level: Workflow, changes: Mapping[str, VocabularyEntry]) -> Workflow:
    """Return the level with other tasks in place of some: the name, and those attributes that the old task has."""
    names = {old: new.name for old, new in changes.items()}

    def task(original: Task) -> Task:
        if original.name not in changes:
            return original
        new = changes[original.name]
        return replace(
            original,
            name=new.name,
            description=new.description if original.description else "",
            kind=new.kind if original.kind else "",
            implementation=f"file://{new.name}.py" if original.implementation else "",
        )

    return replace(
        level,
        tasks=tuple(map(task, level.tasks)),
        links=rename_ends(level.links, names),
        data_links=rename_ends(level.data_links, names),
    )


def rename_ends(links: Sequence[_Link], names: Mapping[str, str]) -> tuple[_Link, ...]:
    """Return the links with the new names of those of their ends that have one."""
    return tuple(
        [
            replace(link, source=names.get(link.source, link.source), target=names.get(link.target, link.target))
            if link.source in names or link.target in names
            else link
            for link in links
        ]
    )


def with_flaw(level: Workflow, kind: str, details: Iterable[str]) -> Workflow:
    """Return the level with the flaw recorded.

    Raises:
        NoCaseError: if the level is not well-formed, or no task has a flaw.
    """
    flaw_details = tuple(details)
    if not flaw_details or problems(level):
        raise NoCaseError(f"{kind}: workflow {level.name!r} has no place for it")
    return replace(level, flaw=Flaw(kind, flaw_details))


def stray_task(project: Workflow, rng: Random) -> Workflow:
    """Return the project with tasks of a far domain in the places of one or two tasks of a level.

    The flaw holds triples: the task, the purpose of the whole, and what the task does.

    Raises:
        NoCaseError: if the project is not of one domain.
    """
    domain_words = domain(project)

    def plant(level: Workflow, project: Workflow, rng: Random) -> Workflow:
        tasks = atomic_tasks(level)
        chosen_tasks = rng.sample(tasks, min(draw_flaw_count(rng), len(tasks)))
        others = rng.sample(rng.choice(list(far_domains(domain_words))).tasks, len(chosen_tasks))
        changes = {task.name: other for task, other in zip(chosen_tasks, others, strict=True)}
        details = [text for other in others for text in (other.name, project.description, other.description)]
        return with_flaw(replace_tasks(level, changes), "stray-task", details)

    return plant_in_some_level(project, rng, plant)


def contradict_goal(project: Workflow, rng: Random) -> Workflow:
    """Return the project with a method or a parameter, in one or two tasks of a level, that cannot serve its goal.

    The flaw holds triples: the task, the purpose of the whole, and the reason.

    Raises:
        NoCaseError: if the project has no definite goal, or no task that can contradict it.
    """
    aim = goal(domain(project), project)
    if aim is None:
        raise NoCaseError(f"contradict-goal: workflow {project.name!r} has no definite goal")

    def plant(level: Workflow, project: Workflow, rng: Random) -> Workflow:
        by_task: dict[str, list[Alternative]] = {}
        for alternative in aim.alternatives:
            by_task.setdefault(alternative.task, []).append(alternative)
        tasks = [task.name for task in atomic_tasks(level) if task.name in by_task]
        chosen_names = rng.sample(sorted(tasks), min(draw_flaw_count(rng), len(tasks)))
        changes = {name: rng.choice(by_task[name]) for name in chosen_names}
        details = [
            text
            for alternative in changes.values()
            for text in (alternative.task, project.description, alternative.reason)
        ]
        changed = tuple(_contradict_goal(task, changes.get(task.name)) for task in level.tasks)
        return with_flaw(replace(level, tasks=changed), "contradict-goal", details)

    return plant_in_some_level(project, rng, plant)


def goal(domain_words: Vocabulary, project: Workflow) -> Goal | None:
    """Return the definite goal of the project, which its name identifies; None if it has none."""
    return next((candidate for candidate in domain_words.goals if candidate.name == project.name), None)


def _contradict_goal(task: Task, alternative: Alternative | None) -> Task:
    if alternative is None:
        return task
    if not alternative.parameter:
        return replace(task, description=str(alternative.contradicts))
    parameters = (
        Parameter(p.name, alternative.contradicts) if p.name == alternative.parameter else p for p in task.parameters
    )
    return replace(task, parameters=tuple(parameters))


Before = Mapping[str, frozenset[str]]  # of each task, those that lie before it


def swap_order(project: Workflow, rng: Random) -> Workflow:
    """Return the project with two tasks of a level exchanged, so that a task comes before a task that it requires.

    Of all pairs of tasks that the vocabulary puts in order, at any depth, no other is out of order. The flaw holds the
    task that must be the earlier, the later task, and what each does.

    Raises:
        NoCaseError: if a condition or a cycle makes the order depend on the run, something is out of order already, or
            no two tasks fit.
    """
    domain_words = domain(project)
    if misplaced_pairs(project, domain_words):
        raise NoCaseError(f"swap-order: workflow {project.name!r} is out of order as it is")
    return plant_in_some_level(project, rng, _swap_tasks)


def misplaced_pairs(project: Workflow, domain_words: Vocabulary) -> list[tuple[str, str]]:
    """Return the pairs of tasks, at any depth, whose order in the workflow is not that of the order relation.

    This includes pairs on two branches of a fork. Sub-workflows that are referred to are left out.

    Raises:
        NoCaseError: if a link of the workflow has a condition, or leads back.
    """
    before = _tasks_before(project, frozenset())
    if any(task in earlier for task, earlier in before.items()):
        raise NoCaseError(f"swap-order: workflow {project.name!r} has a cycle")
    return [
        (early, late)
        for late in sorted(before)
        for early in entry(domain_words, late).follows
        if early in before and early not in before[late]
    ]


def _tasks_before(level: Workflow, around: frozenset[str]) -> dict[str, frozenset[str]]:
    """Return the tasks before each atomic task of a level, at any depth; `around` are those before the level."""
    if any(link.guard is not None for link in level.links):
        raise NoCaseError(f"swap-order: workflow {level.name!r} has conditions")
    tasks_inside = {
        task.name: {task.name} if task.subworkflow is None else {inner.name for inner in every_task(task.subworkflow)}
        for task in level.tasks
    }
    before = ancestors_of_each(level, level.task_names)
    tasks_before: dict[str, frozenset[str]] = {}
    for task in level.tasks:
        earlier = around.union(*(tasks_inside[name] for name in before[task.name]))
        if task.subworkflow is not None:
            tasks_before |= _tasks_before(task.subworkflow, earlier)
        else:
            tasks_before[task.name] = earlier
    return tasks_before


def _swap_tasks(level: Workflow, project: Workflow, rng: Random) -> Workflow:
    domain_words = domain(project)
    before = _tasks_before(project, frozenset())
    names = sorted(task.name for task in level.tasks if not task.composite)
    pairs = [(early, late) for late in names for early in entry(domain_words, late).requires if early in names]
    fitting = [pair for pair in pairs if _pairs_out_of_order(before, domain_words, pair) == [pair]]
    if not fitting:
        raise NoCaseError(f"swap-order: in workflow {level.name!r} no exchange puts just two tasks out of order")
    first, second = rng.choice(fitting)
    links = rename_ends(level.links, {first: second, second: first})
    details = (first, second, *(entry(domain_words, name).description for name in (first, second)))
    return with_flaw(replace(level, links=links), "swap-order", details)


def _pairs_out_of_order(before: Before, domain_words: Vocabulary, pair: tuple[str, str]) -> list[tuple[str, str]]:
    """Return the pairs that are out of order once the two tasks are exchanged."""
    place = {pair[0]: pair[1], pair[1]: pair[0]}
    return [
        (early, late)
        for late in before
        for early in entry(domain_words, late).follows
        if early in before and place.get(early, early) not in before[place.get(late, late)]
    ]
