"""The vocabulary of what a workflow may hold, and which of it a workflow does hold.

A recipe demands these features, a pattern needs them, a notation supports them or not.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator

from .graph import shortest_cycle
from .guards.solver import exclusive
from .model import START, GatewayKind, Link, Parameter, Workflow
from .references import configurations, levels

FEATURES = frozenset(
    {
        "parallel",  # fork and join
        "exclusive",  # a choice of exactly one branch
        "inclusive",  # a choice of one or more branches
        "loop",  # a way back to an earlier task
        "guards",  # conditional links
        "exceptional",  # links that are taken if a task fails
        "mixed",  # a task with a conditional and an unconditional link out of it
        "domains",  # parameters with a domain
        "effects",  # tasks that change parameters
        "durations",  # tasks that state how long they take
        "parameters",  # tasks with parameters of their own
        "implementations",
        "descriptions",  # of tasks, of data, or of the workflow
        "kinds",  # of tasks
        "data",  # data and data flow
        "schemas",
        "hierarchy",  # composite tasks
        "references",  # sub-workflows by name
        "bindings",  # data renamed at the border of a sub-workflow
        "derivation",  # workflows derived from others
    }
)


def features(workflow: Workflow, among: Collection[str] = FEATURES) -> frozenset[str]:
    """Return the features, of those in `among`, that the workflow, its inline sub-workflows or its others have.

    What a derived workflow fills in counts as if it stood in the task. Guarded links out of one task count as
    "exclusive" or "inclusive" only where their guards provably are that; beside an unguarded link they are "inclusive",
    because that branch always runs.

    Raises:
        WorkflowError: if sub-workflows are nested too deeply.
    """
    all_levels = [level for whole in (workflow, *workflow.others) for _, level in levels(whole)]
    rules = {name: holds for name, holds in _HOLDS.items() if name in among}
    return frozenset(name for name, holds in rules.items() if any(map(holds, all_levels)))


def _parameters(level: Workflow) -> Iterator[Parameter]:
    yield from level.parameters
    for task in level.tasks:
        yield from task.parameters
    for configuration in configurations(level):
        yield from configuration.parameters


def _outgoing(level: Workflow) -> dict[str, list[Link]]:
    """Return the links out of START, tasks and joins by their source; those out of splits belong to the gateway."""
    splits = {gateway.name for gateway in level.gateways if gateway.role == "split"}
    links_by_source: dict[str, list[Link]] = {}
    for link in level.links:
        if link.source not in splits:
            links_by_source.setdefault(link.source, []).append(link)
    return links_by_source


def _has_gateway(level: Workflow, kind: GatewayKind) -> bool:
    return any(gateway.kind == kind for gateway in level.gateways)


def _has_parallel(level: Workflow) -> bool:
    forks = (sum(link.guard is None for link in links) > 1 for links in _outgoing(level).values())
    return _has_gateway(level, "parallel") or any(forks)


def _has_exclusive(level: Workflow) -> bool:
    return _has_gateway(level, "exclusive") or any(answer is True for answer in _exclusive_choices(level))


def _has_inclusive(level: Workflow) -> bool:
    overlapping = any(answer is False for answer in _exclusive_choices(level))
    return _has_gateway(level, "inclusive") or _has_mixed(level) or overlapping


def _exclusive_choices(level: Workflow) -> Iterator[bool | None]:
    """Yield, for every node whose several links are all guarded, whether their guards exclude each other."""
    parameters = {task.name: task.parameters for task in level.tasks}
    for source, links in _outgoing(level).items():
        guards = [link.guard for link in links if link.guard is not None]
        if len(links) == len(guards) > 1:
            yield exclusive(guards, (*level.parameters, *parameters.get(source, ())))


def _has_mixed(level: Workflow) -> bool:
    tasks = {START, *level.task_names}
    kinds = ({link.guard is None for link in links} for source, links in _outgoing(level).items() if source in tasks)
    return any(len(kind) == 2 for kind in kinds)


def _has_attribute(level: Workflow, attribute: str) -> bool:
    """Return True if a task or a configuration has a value for that attribute."""
    return any(getattr(owner, attribute) for owner in (*level.tasks, *configurations(level)))


def _has_descriptions(level: Workflow) -> bool:
    in_data = any(data_object.description for data_object in level.data)
    return bool(level.description) or _has_attribute(level, "description") or in_data


def _has_schemas(level: Workflow) -> bool:
    return any(owner.schema for owner in level.data) or any(owner.schema for owner in configurations(level))


_HOLDS: dict[str, Callable[[Workflow], bool]] = {
    "parallel": _has_parallel,
    "exclusive": _has_exclusive,
    "inclusive": _has_inclusive,
    "loop": lambda level: bool(shortest_cycle(level)),
    "guards": lambda level: any(link.guard is not None for link in level.links),
    "exceptional": lambda level: bool(level.exceptional_links),
    "mixed": _has_mixed,
    "domains": lambda level: any(parameter.domain for parameter in _parameters(level)),
    "effects": lambda level: _has_attribute(level, "effects"),
    "durations": lambda level: _has_attribute(level, "duration"),
    "parameters": lambda level: _has_attribute(level, "parameters"),
    "implementations": lambda level: _has_attribute(level, "implementation"),
    "descriptions": _has_descriptions,
    "kinds": lambda level: _has_attribute(level, "kind"),
    "data": lambda level: bool(level.data or level.data_links),
    "schemas": _has_schemas,
    "hierarchy": lambda level: any(task.composite for task in level.tasks) or _has_attribute(level, "reference"),
    "references": lambda level: _has_attribute(level, "reference"),
    "bindings": lambda level: _has_attribute(level, "bindings"),
    "derivation": lambda level: bool(level.base or level.configurations),
}
