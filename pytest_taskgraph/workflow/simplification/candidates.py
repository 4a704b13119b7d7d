"""The smaller projects that can be made of a project: well-formed, each once, in the order to try."""

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
"""Cost of a task: more than the gateways and links that may have to replace one."""


def cost(project: Workflow) -> int:
    """Return the size of a project: tasks count most, then everything else that it states."""
    level_costs = sum(_level_cost(level) for level in every_level(project))
    return level_costs + 2 * len(project.others)


def _level_cost(level: Workflow) -> int:
    texts = [level.description, level.base]
    data = sum(2 + bool(data_object.description) + bool(data_object.schema) for data_object in level.data)
    links = sum(1 + (link.guard is not None) for link in level.links)
    contents = (
        2 * len(level.gateways) + links + data + len(level.data_links) + sum(map(_parameter_cost, level.parameters))
    )
    configured = sum(map(_configuration_cost, level.configurations))
    return contents + sum(map(bool, texts)) + configured + sum(map(_task_cost, level.tasks))


def _task_cost(task: Task) -> int:
    properties = [task.description, task.kind, task.implementation, task.subworkflow, task.reference]
    contents = sum(map(_parameter_cost, task.parameters)) + len(task.effects) + len(task.bindings)
    return TASK + contents + sum(map(bool, properties))


def _parameter_cost(parameter: Parameter) -> int:
    return 1 + (parameter.domain is not None) + (parameter.value is not None)


def _configuration_cost(configuration: Configuration) -> int:
    properties = [
        configuration.description,
        configuration.kind,
        configuration.implementation,
        configuration.schema,
        configuration.reference,
    ]
    contents = (
        sum(map(_parameter_cost, configuration.parameters)) + len(configuration.effects) + len(configuration.bindings)
    )
    return 1 + contents + sum(map(bool, properties)) + sum(map(_configuration_cost, configuration.configurations))


def reductions(project: Workflow, kept_tasks: Collection[str] = (), flow_only: bool = False) -> Iterator[Workflow]:
    """Yield smaller projects made of a project: those nearest half its cost first.

    They are well-formed, cost less, and are different from each other. The order depends on the project alone.

    Args:
        project: The project.
        kept_tasks: Names of tasks that stay.
        flow_only: Keep everything but the control flow, as far as it concerns what stays.
    """
    project_cost = cost(project)
    costs: dict[Workflow, int] = {}
    for candidate in _candidates(project, flow_only):
        if candidate not in costs and (size := cost(candidate)) < project_cost:
            costs[candidate] = size
    ordered = sorted(costs.items(), key=lambda entry: abs(2 * entry[1] - project_cost))
    idle = _empty_branches(project)
    for candidate, _ in ordered:
        if _keeps_tasks(candidate, kept_tasks) and _empty_branches(candidate) <= idle and _is_well_formed(candidate):
            yield candidate


def _empty_branches(project: Workflow) -> int:
    """Return how many forks have an empty branch: reductions must not add such oddities."""
    return sum(map(_empty_forks, every_level(project)))


def _empty_forks(level: Workflow) -> int:
    kinds = {gateway.name: (gateway.kind, gateway.role) for gateway in level.gateways}
    splits = {START, *(name for name, kind in kinds.items() if kind == ("parallel", "split"))}
    joins = {END, *(name for name, kind in kinds.items() if kind == ("parallel", "join"))}
    return sum(link.source in splits and link.target in joins for link in level.links)


def _keeps_tasks(candidate: Workflow, kept_tasks: Collection[str]) -> bool:
    if not kept_tasks:
        return True
    names = {task.name for level in every_level(candidate) for task in level.tasks}
    return names.issuperset(kept_tasks)


def _is_well_formed(candidate: Workflow) -> bool:
    try:
        return bool(candidate.tasks) and not problems(candidate)
    except WorkflowError:
        return False


def _candidates(project: Workflow, flow_only: bool) -> Iterator[Workflow]:
    if not flow_only:
        yield from smaller_projects(project)
        yield from _fewer_details(project)
    for place, root in enumerate((replace(project, others=()), *project.others)):
        for level in _changed_levels(root, flow_only):
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
            for inside in _changed_levels(task.subworkflow, flow_only):
                yield _with_inside(level, task, inside)


def _with_inside(level: Workflow, task: Task, inside: Workflow) -> Workflow:
    data_names = {binding.name for binding in inside.data}
    bindings = tuple(binding for binding in task.bindings if binding[0] in data_names)
    changed = replace(task, subworkflow=inside, bindings=bindings)
    return replace(level, tasks=tuple(changed if binding is task else binding for binding in level.tasks))


def _fewer_details(project: Workflow) -> Iterator[Workflow]:
    """Yield the project without all details, without all of a kind, and without some of them."""
    details = details_of(project)
    kinds = dict.fromkeys(detail.kind for detail in details)
    of_kind: Callable[[str], list[Detail]] = lambda kind: [detail for detail in details if detail.kind == kind]  # noqa: E731
    parts = [details, *(of_kind(kind) for kind in kinds), *chunks(details)]
    for part in parts:
        yield without_details(project, frozenset(part))
