"""Plants flaws: each mutation is named, remembers what it did as a Flaw, and leaves a well-formed workflow.

More mutations stand in files of their own; here are those of the control flow, and the list of all.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from random import Random

from ..errors import NoCaseError
from ..workflow.check import problems
from ..workflow.graph import connected, shortest_cycle, task_graph
from ..workflow.model import END, OTHERWISE, START, Flaw, Link, Workflow
from .conditions import Names
from .reference_cycles import close_cycle, cut_cycle

Mutation = Callable[[Workflow, Random], Workflow]


def drop_link(workflow: Workflow, rng: Random) -> Workflow:
    """The workflow without one unguarded control link, so that a task no longer lies on a path from START to END.

    Raises NoCaseError where the control flow is not connected as it is.
    """
    if connected(workflow):
        candidates = [link for link in workflow.links if link.guard is None]
        for dropped in rng.sample(candidates, len(candidates)):
            mutated = replace(workflow, links=tuple(link for link in workflow.links if link != dropped))
            if not connected(mutated) and not problems(mutated):
                return replace(mutated, flaw=Flaw("drop-link", (dropped.source, dropped.target)))
    raise NoCaseError(f"drop-link: workflow {workflow.name!r} has no control link that keeps its tasks connected")


def back_link(workflow: Workflow, rng: Random) -> Workflow:
    """The workflow with a guarded control link from a task back to an earlier one, or to itself: a loop.

    The later task lies on every way from the earlier one to END, and the earlier one on every way to the later, so
    the loop cuts through no block; its other link, the way on, becomes "otherwise". Every length of the cycle that is
    possible is equally likely. Raises NoCaseError where the control flow has a cycle already, is not connected, or
    no task has a single way on.
    """
    pairs = [] if shortest_cycle(workflow) or not connected(workflow) else _loops(workflow)
    if not pairs:
        raise NoCaseError(f"back-link: workflow {workflow.name!r} has a cycle already, or no task for a way back")
    by_length: dict[int, list[tuple[str, str]]] = {}
    for first, last, length in pairs:
        by_length.setdefault(length, []).append((first, last))
    first, last = rng.choice(by_length[rng.choice(sorted(by_length))])
    names = Names(_words(workflow))
    back = Link(last, first, f"{names.take('rounds')} < {1 + rng.randrange(9)}")
    links = [replace(link, guard=OTHERWISE) if link.source == last else link for link in workflow.links]
    return replace(workflow, links=(*links, back), flaw=Flaw("back-link", (last, first)))


def _words(workflow: Workflow) -> list[str]:
    """Every word of its guards, and the names of its parameters."""
    guards = [link.guard for link in workflow.links if link.guard is not None]
    parameters = [*workflow.parameters, *(one for task in workflow.tasks for one in task.parameters)]
    return [*(word for guard in guards for word in guard.split()), *(one.name for one in parameters)]


def _loops(workflow: Workflow) -> list[tuple[str, str, int]]:
    """First task, last task and length of every loop that a link back from a task with a single way on can make."""
    ahead: dict[str, list[str]] = {}
    behind: dict[str, list[str]] = {}
    for link in workflow.links:
        ahead.setdefault(link.source, []).append(link.target)
        behind.setdefault(link.target, []).append(link.source)
    guarded = {link.source for link in workflow.links if link.guard is not None}
    single = {task for task in workflow.task_names if len(ahead[task]) == 1 and task not in guarded}
    before, after = _on_every_way(START, ahead, behind), _on_every_way(END, behind, ahead)
    tasks = task_graph(workflow)
    return [
        (first, last, length)
        for first in workflow.task_names
        for last, length in _distances(tasks, first).items()
        if last in single and first in before[last] and last in after[first]
    ]


def _on_every_way(
    start: str, ahead: Mapping[str, Sequence[str]], behind: Mapping[str, Sequence[str]]
) -> dict[str, frozenset[str]]:
    """For each node of an acyclic graph, the nodes on every way from the start to it (its dominators), itself too."""
    found: dict[str, frozenset[str]] = {}
    waiting = deque([start])
    while waiting:
        node = waiting.popleft()
        sources = [found[source] for source in behind.get(node, ())]
        found[node] = (frozenset.intersection(*sources) if sources else frozenset()) | {node}
        waiting.extend(
            target
            for target in dict.fromkeys(ahead.get(node, ()))
            if target not in found and target not in waiting and all(one in found for one in behind[target])
        )
    return found


def _distances(graph: Mapping[str, Sequence[str]], first: str) -> dict[str, int]:
    """The number of tasks on a shortest way from the first task to each that it leads to; 1 for itself."""
    found = {first: 1}
    waiting = deque([first])
    while waiting:
        node = waiting.popleft()
        for target in graph[node]:
            if target not in found:
                found[target] = found[node] + 1
                waiting.append(target)
    return found


MUTATIONS: dict[str, Mutation] = {
    "drop-link": drop_link,
    "back-link": back_link,
    "close-cycle": close_cycle,
    "cut-cycle": cut_cycle,
}
