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
from .conditions import conditions_for
from .description_flaws import (
    hide_description,
    hide_purpose,
    keep_purpose,
    misdescribe,
    misname,
    stray_task,
    swap_purpose,
)
from .guard_flaws import exclude_guards, overlap_guards, words_in_use
from .order_flaws import omit_kind, swap_order
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
    first, last = _any_length(pairs, rng)
    return _guarded(workflow, Link(last, first), "back-link", rng)


def forward_link(workflow: Workflow, rng: Random) -> Workflow:
    """The workflow with a guarded control link from a task forward to a later one, over at least one task: no loop.

    What `back_link` is with a cycle, this is without: the same number and kind of guards, at such a place that they cut
    through no block. Raises NoCaseError where the control flow has a cycle, is not connected, or no task fits.
    """
    pairs = [] if shortest_cycle(workflow) or not connected(workflow) else _skips(workflow)
    if not pairs:
        raise NoCaseError(f"forward-link: workflow {workflow.name!r} has a cycle, or no task for a way past others")
    first, last = _any_length(pairs, rng)
    return _guarded(workflow, Link(first, last), "forward-link", rng)


def _any_length(pairs: Sequence[tuple[str, str, int]], rng: Random) -> tuple[str, str]:
    """One of the pairs; every length is equally likely."""
    by_length: dict[int, list[tuple[str, str]]] = {}
    for first, last, length in pairs:
        by_length.setdefault(length, []).append((first, last))
    return rng.choice(by_length[rng.choice(sorted(by_length))])


def _guarded(workflow: Workflow, link: Link, kind: str, rng: Random) -> Workflow:
    """The workflow with the link under a condition of its own; the way that its task had becomes "otherwise"."""
    taken = [*words_in_use(workflow.links, workflow), *(one.name for one in workflow.parameters)]
    measure = conditions_for(workflow, taken, rng).measure()
    guarded = replace(link, guard=f"{measure.name} < {measure.low + 1 + rng.randrange(measure.high - measure.low - 1)}")
    links = [replace(one, guard=OTHERWISE) if one.source == link.source else one for one in workflow.links]
    return replace(workflow, links=(*links, guarded), flaw=Flaw(kind, (link.source, link.target)))


def _loops(workflow: Workflow) -> list[tuple[str, str, int]]:
    """First task, last task and length of every loop that a link back from a task with a single way on can make."""
    single, spans = _spans(workflow)
    return [span for span in spans if span[1] in single]


def _skips(workflow: Workflow) -> list[tuple[str, str, int]]:
    """Two tasks and the number of tasks on a shortest way, for every way past tasks that cuts through no block."""
    single, spans = _spans(workflow)
    return [span for span in spans if span[0] in single and span[2] > 2]


def _spans(workflow: Workflow) -> tuple[set[str], list[tuple[str, str, int]]]:
    """The tasks with a single way on; and the stretches of control flow with one way in and one way out: the first
    task, the last, and the number of tasks on a shortest way.
    """
    single, before, after = _single_ways(workflow)
    tasks = task_graph(workflow)
    spans = [
        (first, last, length)
        for first in workflow.task_names
        for last, length in _distances(tasks, first).items()
        if first in before[last] and last in after[first]
    ]
    return single, spans


def _single_ways(workflow: Workflow) -> tuple[set[str], dict[str, frozenset[str]], dict[str, frozenset[str]]]:
    """The tasks with a single unguarded way on; and for each node those on every way to it, and from it to END."""
    ahead: dict[str, list[str]] = {}
    behind: dict[str, list[str]] = {}
    for link in workflow.links:
        ahead.setdefault(link.source, []).append(link.target)
        behind.setdefault(link.target, []).append(link.source)
    guarded = {link.source for link in workflow.links if link.guard is not None}
    single = {task for task in workflow.task_names if len(ahead[task]) == 1 and task not in guarded}
    return single, _on_every_way(START, ahead, behind), _on_every_way(END, behind, ahead)


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
    "forward-link": forward_link,
    "exclude-guards": exclude_guards,
    "overlap-guards": overlap_guards,
    "close-cycle": close_cycle,
    "cut-cycle": cut_cycle,
    "hide-description": hide_description,
    "hide-purpose": hide_purpose,
    "misdescribe": misdescribe,
    "misname": misname,
    "keep-purpose": keep_purpose,
    "swap-purpose": swap_purpose,
    "stray-task": stray_task,
    "omit-kind": omit_kind,
    "swap-order": swap_order,
}
