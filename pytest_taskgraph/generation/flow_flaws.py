"""Plant flaws in the control flow: a link that is missing, a link back, a link past other tasks."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from random import Random

from ..errors import NoCaseError
from ..workflow.check import problems
from ..workflow.graph import connected, distances, shortest_cycle, task_graph
from ..workflow.model import END, OTHERWISE, START, Flaw, Link, Workflow
from .stretches import new_condition, on_every_way


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


def cross_condition(workflow: Workflow, rng: Random) -> Workflow:
    """Lead to one task by a conditional link and by an unconditional one, each beside a link of the other kind.

    A task with a single way on gets a second one, to the target of an unconditional link that leaves a task with
    conditions, or of a conditional one: then under no condition, and the way that the task had gets one.

    Raises:
        NoCaseError: if no such target or no such task is found.
    """
    tasks, links = set(workflow.task_names), workflow.links
    guarded = {link.source for link in links if link.guard is not None}
    mixed = {link.source for link in links if link.guard is None} & guarded
    told = [link for link in links if link.source in (mixed or guarded) and link.target in tasks]
    plain = rng.random() < 0.5
    targets = [link.target for link in told if (link.guard is None) != plain]
    single = {task: [link for link in links if link.source == task] for task in workflow.task_names}
    pairs = [
        (ways[0], target)
        for target in targets
        for task, ways in single.items()
        if task != target and task not in guarded and len(ways) == 1 and ways[0].target != target
    ]
    if not pairs:
        raise NoCaseError(f"cross-condition: workflow {workflow.name!r} has no task for a further condition")
    way, target = rng.choice(pairs)
    new, flaw = Link(way.source, target), Flaw("cross-condition", (way.source, target))
    if not plain:
        return replace(_guarded(workflow, new, flaw.kind, rng), flaw=flaw)
    conditional = replace(way, guard=new_condition(workflow, rng))
    kept = tuple(conditional if link == way else link for link in links)
    return replace(workflow, links=(*kept, new), flaw=flaw)


def _any_length(pairs: Sequence[tuple[str, str, int]], rng: Random) -> tuple[str, str]:
    """One of the pairs; every length is equally likely."""
    by_length: dict[int, list[tuple[str, str]]] = {}
    for first, last, length in pairs:
        by_length.setdefault(length, []).append((first, last))
    return rng.choice(by_length[rng.choice(sorted(by_length))])


def _guarded(workflow: Workflow, link: Link, kind: str, rng: Random) -> Workflow:
    """The workflow with the link under a condition of its own; the way that its task had becomes "otherwise"."""
    guarded = replace(link, guard=new_condition(workflow, rng))
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
        for last, length in distances(tasks, [first]).items()
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
    return single, on_every_way(START, ahead, behind), on_every_way(END, behind, ahead)
