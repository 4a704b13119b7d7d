"""Plant tasks that contradict what their workflow is for (patterns.md, F7)."""

from __future__ import annotations

from dataclasses import replace
from random import Random

from ..errors import NoCaseError
from ..workflow.model import Parameter, Task, Workflow
from .domain_tasks import atomic, domain, far_domains, flawed, how_many, in_some_level, retasked
from .vocabularies import Alternative, Goal, Vocabulary


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
