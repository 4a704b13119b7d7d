"""All that can be made of a project that is smaller than it: well-formed, each once, in the order to try."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator
from dataclasses import replace
from typing import Final

from ...errors import WorkflowError
from ..check import problems
from ..model import END, START, Configuration, Parameter, Task, Workflow
from ..project import every_level
from .composites import opened_levels, smaller_projects
from .details import Detail, details_of, without_details
from .flow_reductions import chunks, smaller_flows

TASK: Final = 8
"""What a task costs: more than the gateways and links that may have to stand in for one."""


def cost(project: Workflow) -> int:
    """Return how large a project is: tasks count most, then all else that it says. Smaller projects cost less."""
    whole = sum(_level_cost(level) for level in every_level(project))
    return whole + 2 * len(project.others)


def _level_cost(level: Workflow) -> int:
    said = [level.description, level.base]
    data = sum(2 + bool(one.description) + bool(one.schema) for one in level.data)
    links = sum(1 + (link.guard is not None) for link in level.links)
    held = 2 * len(level.gateways) + links + data + len(level.data_links) + sum(map(_parameter_cost, level.parameters))
    configured = sum(map(_configuration_cost, level.configurations))
    return held + sum(map(bool, said)) + configured + sum(map(_task_cost, level.tasks))


def _task_cost(task: Task) -> int:
    said = [task.description, task.kind, task.implementation, task.subworkflow, task.reference]
    held = sum(map(_parameter_cost, task.parameters)) + len(task.effects) + len(task.bindings)
    return TASK + held + sum(map(bool, said))


def _parameter_cost(parameter: Parameter) -> int:
    return 1 + (parameter.domain is not None) + (parameter.value is not None)


def _configuration_cost(one: Configuration) -> int:
    said = [one.description, one.kind, one.implementation, one.schema, one.reference]
    held = sum(map(_parameter_cost, one.parameters)) + len(one.effects) + len(one.bindings)
    return 1 + held + sum(map(bool, said)) + sum(map(_configuration_cost, one.configurations))


def reductions(project: Workflow, kept: Collection[str] = (), flow_only: bool = False) -> Iterator[Workflow]:
    """Yield smaller projects out of a project: those nearest half its cost first.

    They are well-formed, cost less, and are different from each other. The order depends on the project alone.

    Args:
        project: The project.
        kept: Names of tasks that stay.
        flow_only: Whether everything else that is said stays as it is, as far as it is about what stays.
    """
    whole = cost(project)
    costs: dict[Workflow, int] = {}
    for candidate in _candidates(project, flow_only):
        if candidate not in costs and (size := cost(candidate)) < whole:
            costs[candidate] = size
    ordered = sorted(costs.items(), key=lambda entry: abs(2 * entry[1] - whole))
    idle = _empty_branches(project)
    for candidate, _ in ordered:
        if _keeps(candidate, kept) and _empty_branches(candidate) <= idle and _well_formed(candidate):
            yield candidate


def _empty_branches(project: Workflow) -> int:
    """Return how many forks have a branch without anything on it: cutting is not to make such oddities."""
    return sum(map(_empty_forks, every_level(project)))


def _empty_forks(level: Workflow) -> int:
    kinds = {gateway.name: (gateway.kind, gateway.role) for gateway in level.gateways}
    parts = {START, *(name for name, kind in kinds.items() if kind == ("parallel", "split"))}
    meets = {END, *(name for name, kind in kinds.items() if kind == ("parallel", "join"))}
    return sum(link.source in parts and link.target in meets for link in level.links)


def _keeps(candidate: Workflow, kept: Collection[str]) -> bool:
    if not kept:
        return True
    names = {task.name for level in every_level(candidate) for task in level.tasks}
    return names.issuperset(kept)


def _well_formed(candidate: Workflow) -> bool:
    try:
        return bool(candidate.tasks) and not problems(candidate)
    except WorkflowError:
        return False


def _candidates(project: Workflow, flow_only: bool) -> Iterator[Workflow]:
    if not flow_only:
        yield from smaller_projects(project)
        yield from _fewer_details(project)
    for place, whole in enumerate((replace(project, others=()), *project.others)):
        for level in _changed_levels(whole, flow_only):
            yield _with_workflow(project, place, level)


def _with_workflow(project: Workflow, place: int, changed: Workflow) -> Workflow:
    if place == 0:
        return replace(changed, others=project.others)
    others = list(project.others)
    others[place - 1] = changed
    return replace(project, others=tuple(others))


def _changed_levels(level: Workflow, flow_only: bool) -> Iterator[Workflow]:
    """Yield a workflow with less control flow in it, or in something that is inline in it."""
    yield from smaller_flows(level)
    if not flow_only:
        yield from opened_levels(level)
    for task in level.tasks:
        if task.subworkflow is not None:
            for below in _changed_levels(task.subworkflow, flow_only):
                yield _with_inside(level, task, below)


def _with_inside(level: Workflow, task: Task, below: Workflow) -> Workflow:
    known = {one.name for one in below.data}
    bindings = tuple(one for one in task.bindings if one[0] in known)
    changed = replace(task, subworkflow=below, bindings=bindings)
    return replace(level, tasks=tuple(changed if one is task else one for one in level.tasks))


def _fewer_details(project: Workflow) -> Iterator[Workflow]:
    """Yield the project without all details, without all of a kind, and without some of them."""
    details = details_of(project)
    kinds = dict.fromkeys(detail.kind for detail in details)
    of_kind: Callable[[str], list[Detail]] = lambda kind: [one for one in details if one.kind == kind]  # noqa: E731
    parts = [details, *(of_kind(kind) for kind in kinds), *chunks(details)]
    for part in parts:
        yield without_details(project, frozenset(part))
