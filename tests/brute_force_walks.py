"""What walks over the links of a level tell, found naively: node by node, by leaving nodes out."""

from __future__ import annotations

from collections.abc import Collection

from pytest_taskgraph.workflow.model import END, START, Flow, Link, Workflow


def steps(level: Workflow, flow: Flow) -> list[tuple[str, str]]:
    """The links as pairs."""
    if flow == "control":
        return [(link.source, link.target) for link in level.links]
    return [(link.source, link.target) for link in level.data_links]


def out(level: Workflow, node: str) -> list[Link]:
    """The links of the control flow that leave a node."""
    return [link for link in level.links if link.source == node]


def walk(pairs: Collection[tuple[str, str]], node: str, without: Collection[str] = ()) -> set[str]:
    """Where a walk of at least one step comes to, if it never enters some nodes."""
    reached: set[str] = set()
    waiting = [node]
    while waiting:
        at = waiting.pop()
        new = {target for source, target in pairs if source == at} - reached - set(without)
        reached |= new
        waiting += new
    return reached


def next_tasks(level: Workflow, node: str, flow: Flow = "control") -> set[str]:
    """The tasks that a walk comes to which passes no other task on its way (but gateways, or data)."""
    tasks = set(level.task_names)
    pairs = steps(level, flow)
    following: set[str] = set()
    seen: set[str] = set()
    waiting = [node]
    while waiting:
        at = waiting.pop()
        for source, target in pairs:
            if source == at and target in tasks:
                following.add(target)
            elif source == at and target not in seen:
                seen.add(target)
                waiting.append(target)
    return following


def task_steps(level: Workflow, flow: Flow) -> list[tuple[str, str]]:
    """All pairs of tasks of which the second comes directly after the first."""
    return [(task, other) for task in level.task_names for other in sorted(next_tasks(level, task, flow))]


def region(level: Workflow, split: str) -> set[str]:
    """The nodes after a split, up to where all walks from it to END meet: the first node that none can leave out."""
    pairs = steps(level, "control")
    nodes = sorted({node for pair in pairs for node in pair} - {split})
    gates = [node for node in nodes if node != START and END not in walk(pairs, split, {node})]
    inside = [walk(pairs, split, {gate, split}) for gate in gates]
    return min(inside, key=len)


def splits_after(level: Workflow, task: str) -> list[str]:
    """The first node with several ways out, from a task on through nothing but gateways; none, or one."""
    node, tasks = task, set(level.task_names)
    for _ in range(len(level.links) + 1):
        ways = out(level, node)
        if len(ways) > 1:
            return [node]
        if not ways or ways[0].target in tasks or ways[0].target == END:
            return []
        node = ways[0].target
    return []


def forks(level: Workflow) -> list[str]:
    """The nodes after which several branches are all executed: several links, none of them conditional."""
    kinds = {gateway.name: gateway.kind for gateway in level.gateways}
    nodes = dict.fromkeys(link.source for link in level.links)
    several = [node for node in nodes if len(out(level, node)) > 1 and kinds.get(node, "parallel") == "parallel"]
    return [node for node in several if all(link.guard is None for link in out(level, node))]


def closed_walks(level: Workflow, node: str, without: Collection[str] = ()) -> set[str]:
    """The nodes of all walks from a node back to it that never enter some others; none, if there is no such walk."""
    pairs = steps(level, "control")
    ahead = walk(pairs, node, without)
    return {other for other in ahead if node in walk(pairs, other, without)} if node in ahead else set()
