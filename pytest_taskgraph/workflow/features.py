"""The vocabulary of what a workflow may hold, and which of it a workflow does hold.

A recipe demands these words, a pattern needs them, a notation says or loses them.
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
        "mixed",  # a task with a conditional and an unconditional link out of it
        "domains",  # parameters with a domain
        "effects",  # tasks that change parameters
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
    """The words of FEATURES, or of some of them, that hold of the workflow, its inline sub-workflows or its others.

    What a derived workflow only fills in counts as if it stood in the task. Guarded links out of one task count as
    "exclusive" or "inclusive" only where their guards provably are that; beside an unguarded link they are "inclusive",
    for that branch always runs. Raises WorkflowError if sub-workflows are nested too deeply.
    """
    every = [level for whole in (workflow, *workflow.others) for _, level in levels(whole)]
    return frozenset(name for name, holds in _HOLDS.items() if name in among and any(holds(level) for level in every))


def _parameters(level: Workflow) -> Iterator[Parameter]:
    yield from level.parameters
    for task in level.tasks:
        yield from task.parameters
    for one in configurations(level):
        yield from one.parameters


def _outgoing(level: Workflow) -> dict[str, list[Link]]:
    """The links out of START, tasks and joins; those out of splits belong to the gateway."""
    splits = {gateway.name for gateway in level.gateways if gateway.role == "split"}
    found: dict[str, list[Link]] = {}
    for link in level.links:
        if link.source not in splits:
            found.setdefault(link.source, []).append(link)
    return found


def _gateway(level: Workflow, kind: GatewayKind) -> bool:
    return any(gateway.kind == kind for gateway in level.gateways)


def _parallel(level: Workflow) -> bool:
    forks = (sum(link.guard is None for link in links) > 1 for links in _outgoing(level).values())
    return _gateway(level, "parallel") or any(forks)


def _exclusive(level: Workflow) -> bool:
    return _gateway(level, "exclusive") or any(answer is True for answer in _choices(level))


def _inclusive(level: Workflow) -> bool:
    return _gateway(level, "inclusive") or _mixed(level) or any(answer is False for answer in _choices(level))


def _choices(level: Workflow) -> Iterator[bool | None]:
    """For every node with several guarded links out of it and no other, whether their guards exclude each other."""
    parameters = {task.name: task.parameters for task in level.tasks}
    for source, links in _outgoing(level).items():
        guards = [link.guard for link in links if link.guard is not None]
        if len(links) == len(guards) > 1:
            yield exclusive(guards, (*level.parameters, *parameters.get(source, ())))


def _mixed(level: Workflow) -> bool:
    tasks = {START, *level.task_names}
    kinds = ({link.guard is None for link in links} for source, links in _outgoing(level).items() if source in tasks)
    return any(len(kind) == 2 for kind in kinds)


def _said(level: Workflow, attribute: str) -> bool:
    """Whether a task or a configuration has that attribute."""
    return any(getattr(owner, attribute) for owner in (*level.tasks, *configurations(level)))


def _described(level: Workflow) -> bool:
    return bool(level.description) or _said(level, "description") or any(one.description for one in level.data)


def _schemas(level: Workflow) -> bool:
    return any(one.schema for one in level.data) or any(one.schema for one in configurations(level))


_HOLDS: dict[str, Callable[[Workflow], bool]] = {
    "parallel": _parallel,
    "exclusive": _exclusive,
    "inclusive": _inclusive,
    "loop": lambda level: bool(shortest_cycle(level)),
    "guards": lambda level: any(link.guard is not None for link in level.links),
    "mixed": _mixed,
    "domains": lambda level: any(one.domain for one in _parameters(level)),
    "effects": lambda level: _said(level, "effects"),
    "parameters": lambda level: _said(level, "parameters"),
    "implementations": lambda level: _said(level, "implementation"),
    "descriptions": _described,
    "kinds": lambda level: _said(level, "kind"),
    "data": lambda level: bool(level.data or level.data_links),
    "schemas": _schemas,
    "hierarchy": lambda level: any(task.composite for task in level.tasks) or _said(level, "reference"),
    "references": lambda level: _said(level, "reference"),
    "bindings": lambda level: _said(level, "bindings"),
    "derivation": lambda level: bool(level.base or level.configurations),
}
