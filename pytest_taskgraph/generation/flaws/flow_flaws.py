"""Plant flaws in the control flow: missing links, links back, and tasks that no path reaches.

The kinds of both answers have the same numbers of links and of conditions, and the same degrees, as far as possible: a
detached cycle has as many links as the stretch of tasks had, a stretch that cannot be left has the conditions of a
stretch that can be bypassed, a stretch that cannot be entered those of a loop.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from random import Random

from ...errors import NoCaseError
from ...workflow.check import problems
from ...workflow.graph import distances, is_connected, shortest_cycle, task_graph
from ...workflow.model import END, OTHERWISE, START, Flaw, Link, Workflow
from .stretches import Stretch, new_condition, on_every_way, stretches


def drop_link(workflow: Workflow, rng: Random) -> Workflow:
    """Return the workflow without one unguarded control link, so that a task is on no path from START to END.

    Raises:
        NoCaseError: if the control flow is not connected as it is.
    """
    if is_connected(workflow):
        candidates = [link for link in workflow.links if link.guard is None]
        for dropped in rng.sample(candidates, len(candidates)):
            mutated = replace(workflow, links=tuple(link for link in workflow.links if link != dropped))
            if not is_connected(mutated) and not problems(mutated):
                return replace(mutated, flaw=Flaw("drop-link", (dropped.source, dropped.target)))
    raise NoCaseError(f"drop-link: workflow {workflow.name!r} has no control link that keeps its tasks connected")


def back_link(workflow: Workflow, rng: Random) -> Workflow:
    """Return the workflow with a guarded control link from a task back to an earlier task, or to itself: a loop.

    The later task lies on every way from the earlier task to END, and the earlier task on every way to the later, so
    the loop cuts through no block; its other link, the way on, becomes "otherwise". Every possible length of the cycle
    is equally likely.

    Raises:
        NoCaseError: if the control flow has a cycle already, is not connected, or no task has a single way on.
    """
    pairs = [] if shortest_cycle(workflow) or not is_connected(workflow) else _loop_spans(workflow)
    if not pairs:
        raise NoCaseError(f"back-link: workflow {workflow.name!r} has a cycle already, or no task for a way back")
    first, last = _draw_pair_by_length(pairs, rng)
    return _with_guarded_link(workflow, Link(last, first), "back-link", rng)


def forward_link(workflow: Workflow, rng: Random) -> Workflow:
    """Return the workflow with a guarded link from a task forward to a later task, over at least one task: no loop.

    It is the counterpart of `back_link` without a cycle: the same number and kind of guards, at such a place that they
    cut through no block.

    Raises:
        NoCaseError: if the control flow has a cycle, is not connected, or no task fits.
    """
    pairs = [] if shortest_cycle(workflow) or not is_connected(workflow) else _skip_spans(workflow)
    if not pairs:
        raise NoCaseError(f"forward-link: workflow {workflow.name!r} has a cycle, or no task for a way past others")
    first, last = _draw_pair_by_length(pairs, rng)
    return _with_guarded_link(workflow, Link(first, last), "forward-link", rng)


def cross_condition(workflow: Workflow, rng: Random) -> Workflow:
    """Lead to one task by a conditional link and by an unconditional link, each beside a link of the other kind.

    A task with a single way on gets a second: under a condition, to the target of an unconditional link that leaves a
    task with conditions; or without one, to the target of a conditional link, and the existing way gets a condition.

    Raises:
        NoCaseError: if no such target or no such task is found.
    """
    tasks, links = set(workflow.task_names), workflow.links
    guarded = {link.source for link in links if link.guard is not None}
    mixed = {link.source for link in links if link.guard is None} & guarded
    links_with_both_kinds = [link for link in links if link.source in (mixed or guarded) and link.target in tasks]
    plain = rng.random() < 0.5
    targets = [link.target for link in links_with_both_kinds if (link.guard is None) != plain]
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
    condition = new_condition(workflow, rng)
    kept = replace(way, guard=condition) if plain else way
    new = new if plain else replace(new, guard=condition)
    return replace(workflow, links=(*(kept if link == way else link for link in links), new), flaw=flaw)


def _draw_pair_by_length(pairs: Sequence[tuple[str, str, int]], rng: Random) -> tuple[str, str]:
    """Draw one of the pairs; every length is equally likely."""
    by_length: dict[int, list[tuple[str, str]]] = {}
    for first, last, length in pairs:
        by_length.setdefault(length, []).append((first, last))
    return rng.choice(by_length[rng.choice(sorted(by_length))])


def _with_guarded_link(workflow: Workflow, link: Link, kind: str, rng: Random) -> Workflow:
    """Return the workflow with the link under a new condition; the way that its task had becomes "otherwise"."""
    guarded = replace(link, guard=new_condition(workflow, rng))
    links = [replace(other, guard=OTHERWISE) if other.source == link.source else other for other in workflow.links]
    return replace(workflow, links=(*links, guarded), flaw=Flaw(kind, (link.source, link.target)))


def _loop_spans(workflow: Workflow) -> list[tuple[str, str, int]]:
    """Return first task, last task and length of every loop that a link back from a task with one way on can make."""
    single, spans = _spans(workflow)
    return [span for span in spans if span[1] in single]


def _skip_spans(workflow: Workflow) -> list[tuple[str, str, int]]:
    """Return first task, last task and length of every way past tasks that cuts through no block.

    The length is the number of tasks on a shortest way.
    """
    single, spans = _spans(workflow)
    return [span for span in spans if span[0] in single and span[2] > 2]


def _spans(workflow: Workflow) -> tuple[set[str], list[tuple[str, str, int]]]:
    """Return the tasks with a single way on, and the stretches of control flow with one way in and one way out.

    A stretch is its first task, its last task, and the number of tasks on a shortest way.
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
    """Return the tasks with a single unguarded way on, and for each node those on all ways to it and from it to END."""
    ahead: dict[str, list[str]] = {}
    behind: dict[str, list[str]] = {}
    for link in workflow.links:
        ahead.setdefault(link.source, []).append(link.target)
        behind.setdefault(link.target, []).append(link.source)
    guarded = {link.source for link in workflow.links if link.guard is not None}
    single = {task for task in workflow.task_names if len(ahead[task]) == 1 and task not in guarded}
    return single, on_every_way(START, ahead, behind), on_every_way(END, behind, ahead)


TRIES = 300  # largest number of stretches tried for one kind of change
Change = Callable[[Workflow, Stretch, str], Sequence[Link]]  # (workflow, stretch, condition) -> links, none if unfit


def disconnect(workflow: Workflow, rng: Random) -> Workflow:
    """Take some tasks off all paths from START to END, in one of several ways that are equally likely.

    A link is dropped; a stretch is detached as a cycle; it stands behind a gateway that nothing leads to; it cannot be
    left; or it can be left, but not entered. In all but the first, every task has a link in and a link out.

    Raises:
        NoCaseError: if the control flow is not connected, has a cycle, or holds no place for the drawn way.
    """
    kind = rng.choice(_DISCONNECTED_KINDS)
    if kind == "dropped link":
        mutated = drop_link(_maybe_add_loop(workflow, rng), rng)
        return replace(mutated, flaw=Flaw("disconnect", (kind, *(mutated.flaw.details if mutated.flaw else ()))))
    return _change_stretch(workflow, rng, kind, "disconnect")


def keep_connected(workflow: Workflow, rng: Random) -> Workflow:
    """Leave all tasks connected, with a way back or a way past as often as `disconnect` plants conditions.

    Raises:
        NoCaseError: if the control flow is not connected, has a cycle, or holds no place for the drawn way.
    """
    return _change_stretch(workflow, rng, rng.choice(_CONNECTED_KINDS), "keep-connected")


def _change_stretch(workflow: Workflow, rng: Random, kind: str, flaw: str) -> Workflow:
    """Return the workflow, half the time with a loop, changed in the way `kind`, which the flaw records."""
    looped = _maybe_add_loop(workflow, rng)
    if kind == "plain":
        return replace(looped, flaw=Flaw(flaw, (kind,)))
    loops = [link for link in looped.links if (link.source, link.target) == (looped.flaw and looped.flaw.details)]
    condition = new_condition(looped, rng)
    for _, stretch in zip(range(TRIES), stretches(looped, rng, loops), strict=False):
        links = _CHANGES[kind](looped, stretch, condition)
        mutated = replace(looped, links=tuple(links), flaw=Flaw(flaw, (kind, stretch.first, stretch.last)))
        if links and is_connected(mutated) == (flaw == "keep-connected") and not problems(mutated):
            return mutated
    raise NoCaseError(f"{flaw}: workflow {workflow.name!r} has no control flow to change ({kind})")


def _maybe_add_loop(workflow: Workflow, rng: Random) -> Workflow:
    """Return the workflow unchanged or with a loop, each half the time, if it has room for one.

    Raises:
        NoCaseError: if the control flow is not connected, or has a cycle.
    """
    if not is_connected(workflow) or shortest_cycle(workflow):
        raise NoCaseError(f"disconnect, keep-connected: workflow {workflow.name!r} is not connected, or has a cycle")
    if rng.random() < 0.5:
        return workflow
    try:
        return back_link(workflow, rng)
    except NoCaseError:
        return workflow


def _detach_stretch(workflow: Workflow, stretch: Stretch, condition: str) -> Sequence[Link]:
    """Lead past the stretch, and from its end back to its beginning."""
    again = replace(stretch.exit, target=stretch.first)
    return _replace_links(workflow, stretch, [_link_past(stretch)], [again]) if _holds_some(workflow, stretch) else []


def _unreach_gateway(workflow: Workflow, stretch: Stretch, condition: str) -> Sequence[Link]:
    """Lead past a stretch that begins at a gateway, so that nothing leads to the gateway any more."""
    if stretch.first in workflow.task_names or not _holds_some(workflow, stretch):
        return []
    return _replace_links(workflow, stretch, [_link_past(stretch)], [stretch.exit])


def _trap_stretch(workflow: Workflow, stretch: Stretch, condition: str) -> Sequence[Link]:
    """Lead into the stretch or past it, and from its end only back to its beginning."""
    again = replace(stretch.exit, target=stretch.first)
    ways = _two_ways(workflow, stretch.entry, stretch.exit.target, condition)
    return _replace_links(workflow, stretch, ways, [again]) if ways else []


def _unreach_stretch(workflow: Workflow, stretch: Stretch, condition: str) -> Sequence[Link]:
    """Lead past the stretch, and from its end back to its beginning or on."""
    ways = _two_ways(workflow, stretch.exit, stretch.first, condition)
    return (
        _replace_links(workflow, stretch, [_link_past(stretch)], ways)
        if ways and _holds_some(workflow, stretch)
        else []
    )


def _repeat_stretch(workflow: Workflow, stretch: Stretch, condition: str) -> Sequence[Link]:
    """Lead into the stretch, and from its end back to its beginning or on."""
    ways = _two_ways(workflow, stretch.exit, stretch.first, condition)
    return _replace_links(workflow, stretch, [stretch.entry], ways) if ways else []


def _bypass_stretch(workflow: Workflow, stretch: Stretch, condition: str) -> Sequence[Link]:
    """Lead into the stretch or past it, and from its end on."""
    ways = _two_ways(workflow, stretch.entry, stretch.exit.target, condition)
    return _replace_links(workflow, stretch, ways, [stretch.exit]) if ways else []


def _link_past(stretch: Stretch) -> Link:
    return replace(stretch.entry, target=stretch.exit.target)


def _two_ways(workflow: Workflow, link: Link, other: str, condition: str) -> list[Link]:
    """Return the link of a task with a single way on as "otherwise", beside a link under the condition; or none."""
    out = [other_link for other_link in workflow.links if other_link.source == link.source]
    if link.source not in workflow.task_names or len(out) > 1 or link.guard is not None or other == link.target:
        return []
    return [replace(link, guard=OTHERWISE), Link(link.source, other, condition)]


def _holds_some(workflow: Workflow, stretch: Stretch) -> bool:
    """Return True if some tasks are in the stretch, and some are not."""
    return 0 < len(stretch.nodes.intersection(workflow.task_names)) < len(workflow.tasks)


def _replace_links(workflow: Workflow, stretch: Stretch, into: Sequence[Link], out: Sequence[Link]) -> Sequence[Link]:
    """Return the links with the entry and the exit replaced; none if two links would have the same ends."""
    other_links = [link for link in workflow.links if link not in (stretch.entry, stretch.exit)]
    links = [*other_links, *into, *out]
    ends = [(link.source, link.target) for link in links]
    return links if len(set(ends)) == len(ends) and (START, END) not in ends else []


_CHANGES: dict[str, Change] = {
    "detached cycle": _detach_stretch,
    "unreachable gateway": _unreach_gateway,
    "no way out": _trap_stretch,
    "no way in": _unreach_stretch,
    "loop": _repeat_stretch,
    "way past": _bypass_stretch,
}
_DISCONNECTED_KINDS = ("dropped link", "detached cycle", "unreachable gateway", "no way out", "no way in")
_CONNECTED_KINDS = ("plain", "plain", "plain", "loop", "way past")
