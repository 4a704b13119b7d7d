"""Plant what keeps tasks off every path from START to END, or leave them connected in workflows that look the same.

The kinds of both sides have the same numbers of links and of conditions, and the same degrees, as far as that can be: a
detached cycle has as many links as the stretch of tasks that it was, a stretch that cannot be left has the conditions
of one that can be passed by, a stretch that cannot be entered those of a loop.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from random import Random

from ..errors import NoCaseError
from ..workflow.check import problems
from ..workflow.graph import connected, shortest_cycle
from ..workflow.model import END, OTHERWISE, START, Flaw, Link, Workflow
from .flow_flaws import back_link, drop_link
from .stretches import Stretch, new_condition, stretches

TRIES = 300  # stretches that are looked at for one kind of change
Change = Callable[[Workflow, Stretch, str], Sequence[Link]]  # (workflow, stretch, condition) -> links, none if unfit


def disconnect(workflow: Workflow, rng: Random) -> Workflow:
    """Take some tasks off all paths from START to END, in one of several ways that are equally likely.

    A link is dropped; a stretch is detached as a cycle; it stands behind a gateway that nothing leads to; it cannot be
    left; or it can be left, but not entered. In all but the first, every task has a link in and a link out.

    Raises:
        NoCaseError: if the control flow is not connected, has a cycle, or holds no place for the drawn way.
    """
    kind = rng.choice(_PARTED)
    if kind == "dropped link":
        found = drop_link(_maybe_looped(workflow, rng), rng)
        return replace(found, flaw=Flaw("disconnect", (kind, *(found.flaw.details if found.flaw else ()))))
    return _changed(workflow, rng, kind, "disconnect")


def keep_connected(workflow: Workflow, rng: Random) -> Workflow:
    """Leave all tasks connected, with a way back or a way past as often as `disconnect` plants conditions.

    Raises:
        NoCaseError: if the control flow is not connected, has a cycle, or holds no place for the drawn way.
    """
    return _changed(workflow, rng, rng.choice(_KEPT), "keep-connected")


def _changed(workflow: Workflow, rng: Random, kind: str, flaw: str) -> Workflow:
    """Return the workflow, half the time with a loop, changed in a way of that kind, which the flaw tells."""
    looped = _maybe_looped(workflow, rng)
    if kind == "plain":
        return replace(looped, flaw=Flaw(flaw, (kind,)))
    loops = [link for link in looped.links if (link.source, link.target) == (looped.flaw and looped.flaw.details)]
    condition = new_condition(looped, rng)
    for _, stretch in zip(range(TRIES), stretches(looped, rng, loops), strict=False):
        links = _CHANGES[kind](looped, stretch, condition)
        found = replace(looped, links=tuple(links), flaw=Flaw(flaw, (kind, stretch.first, stretch.last)))
        if links and connected(found) == (flaw == "keep-connected") and not problems(found):
            return found
    raise NoCaseError(f"{flaw}: workflow {workflow.name!r} has no control flow to change ({kind})")


def _maybe_looped(workflow: Workflow, rng: Random) -> Workflow:
    """Return the workflow as it is or with a loop, each half the time, if it has room for one.

    Raises:
        NoCaseError: if the control flow is not connected, or has a cycle.
    """
    if not connected(workflow) or shortest_cycle(workflow):
        raise NoCaseError(f"disconnect, keep-connected: workflow {workflow.name!r} is not connected, or has a cycle")
    if rng.random() < 0.5:
        return workflow
    try:
        return back_link(workflow, rng)
    except NoCaseError:
        return workflow


def _detach(workflow: Workflow, stretch: Stretch, condition: str) -> Sequence[Link]:
    """Lead past the stretch, and from its end back to its beginning."""
    again = replace(stretch.exit, target=stretch.first)
    return _led(workflow, stretch, [_past(stretch)], [again]) if _holds_some(workflow, stretch) else []


def _unreach_gateway(workflow: Workflow, stretch: Stretch, condition: str) -> Sequence[Link]:
    """Lead past a stretch that begins at a gateway, so that nothing leads to this any more."""
    if stretch.first in workflow.task_names or not _holds_some(workflow, stretch):
        return []
    return _led(workflow, stretch, [_past(stretch)], [stretch.exit])


def _trap(workflow: Workflow, stretch: Stretch, condition: str) -> Sequence[Link]:
    """Lead into the stretch or past it, and from its end back to its beginning alone."""
    again = replace(stretch.exit, target=stretch.first)
    ways = _two_ways(workflow, stretch.entry, stretch.exit.target, condition)
    return _led(workflow, stretch, ways, [again]) if ways else []


def _unreach(workflow: Workflow, stretch: Stretch, condition: str) -> Sequence[Link]:
    """Lead past the stretch, and from its end back to its beginning or on."""
    ways = _two_ways(workflow, stretch.exit, stretch.first, condition)
    return _led(workflow, stretch, [_past(stretch)], ways) if ways and _holds_some(workflow, stretch) else []


def _repeat(workflow: Workflow, stretch: Stretch, condition: str) -> Sequence[Link]:
    """Lead into the stretch, and from its end back to its beginning or on."""
    ways = _two_ways(workflow, stretch.exit, stretch.first, condition)
    return _led(workflow, stretch, [stretch.entry], ways) if ways else []


def _pass(workflow: Workflow, stretch: Stretch, condition: str) -> Sequence[Link]:
    """Lead into the stretch or past it, and from its end on."""
    ways = _two_ways(workflow, stretch.entry, stretch.exit.target, condition)
    return _led(workflow, stretch, ways, [stretch.exit]) if ways else []


def _past(stretch: Stretch) -> Link:
    return replace(stretch.entry, target=stretch.exit.target)


def _two_ways(workflow: Workflow, link: Link, other: str, condition: str) -> list[Link]:
    """Return the link of a task with a single way on as "otherwise", beside one under the condition; or none."""
    out = [one for one in workflow.links if one.source == link.source]
    if link.source not in workflow.task_names or len(out) > 1 or link.guard is not None or other == link.target:
        return []
    return [replace(link, guard=OTHERWISE), Link(link.source, other, condition)]


def _holds_some(workflow: Workflow, stretch: Stretch) -> bool:
    """Return True if some tasks are in the stretch, and some are not."""
    return 0 < len(stretch.nodes.intersection(workflow.task_names)) < len(workflow.tasks)


def _led(workflow: Workflow, stretch: Stretch, into: Sequence[Link], out: Sequence[Link]) -> Sequence[Link]:
    """Return the links with others in the place of the entry and the exit; none where a link would stand twice."""
    kept = [link for link in workflow.links if link not in (stretch.entry, stretch.exit)]
    links = [*kept, *into, *out]
    ends = [(link.source, link.target) for link in links]
    return links if len(set(ends)) == len(ends) and (START, END) not in ends else []


_CHANGES: dict[str, Change] = {
    "detached cycle": _detach,
    "unreachable gateway": _unreach_gateway,
    "no way out": _trap,
    "no way in": _unreach,
    "loop": _repeat,
    "way past": _pass,
}
_PARTED = ("dropped link", "detached cycle", "unreachable gateway", "no way out", "no way in")
_KEPT = ("plain", "plain", "plain", "loop", "way past")
