"""Move a stretch of control flow into the task before it, which becomes composite."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace
from random import Random

from ..errors import NoCaseError
from ..workflow.check import problems
from ..workflow.model import END, START, DataLink, Flaw, Link, Workflow
from ..workflow.project import every_level
from .conditions import Names
from .stretches import Stretch, stretches

NESTED = 0.8  # of the workflows get a composite task so
TRIES = 300  # stretches that are looked at


def nest_block(workflow: Workflow, rng: Random) -> Workflow:
    """Move a stretch that holds a fork, a choice or a loop into the task before it; some workflows stay as they are.

    What the moved tasks alone read and write goes with them, the rest is read and written by the composite task.

    Raises:
        NoCaseError: if no such stretch follows an atomic task.
    """
    if rng.random() >= NESTED:
        return replace(workflow, flaw=Flaw("nest-block"))
    back = _back_links(workflow)
    for _, stretch in zip(range(TRIES), stretches(workflow, rng, back), strict=False):
        if _fits(workflow, stretch):
            found = replace(_nested(workflow, stretch), flaw=Flaw("nest-block", (stretch.entry.source,)))
            if not problems(found):
                return found
    raise NoCaseError(f"nest-block: workflow {workflow.name!r} has no block after a task that could hold it")


def _back_links(workflow: Workflow) -> list[Link]:
    """Return the links that lead back to where a walk from START came from."""
    out: dict[str, list[Link]] = {}
    for link in workflow.links:
        out.setdefault(link.source, []).append(link)
    back: list[Link] = []
    entered, way = {START}, {START: iter(out.get(START, ()))}
    while way:
        node, ways = next(reversed(way.items()))
        following = next(ways, None)
        if following is None:
            del way[node]
        elif following.target in way:
            back.append(following)
        elif following.target not in entered:
            entered.add(following.target)
            way[following.target] = iter(out.get(following.target, ()))
    return back


def _fits(workflow: Workflow, stretch: Stretch) -> bool:
    """Return True if the stretch follows an atomic task alone, holds an operator, and nothing else leads in or out."""
    outer, inside = stretch.entry.source, stretch.nodes
    crossing = [link for link in workflow.links if (link.source in inside) != (link.target in inside)]
    own = [link for link in workflow.links if link.source == outer]
    atomic = any(task.name == outer and not task.composite for task in workflow.tasks)
    splits = [link for link in workflow.links if link.source in inside and link != stretch.exit]
    several = len(splits) - len({link.source for link in splits}) > 0 or any(link.guard for link in splits)
    alone = len(own) == 1 and own[0].guard is None and set(crossing) == {stretch.entry, stretch.exit}
    return atomic and alone and several


def _nested(workflow: Workflow, stretch: Stretch) -> Workflow:
    outer, inside = stretch.entry.source, stretch.nodes
    ends = {stretch.entry: Link(START, stretch.first), stretch.exit: replace(stretch.exit, target=END)}
    moved = tuple(ends.get(link, link) for link in workflow.links if {link.source, link.target} & inside)
    kept = [link for link in workflow.links if not {link.source, link.target} & inside]
    told = " ".join(link.guard for link in moved if link.guard is not None)
    left = " ".join(link.guard for link in kept if link.guard is not None)
    own = {one.name for one in workflow.parameters if _speaks(told, one.name) and not _speaks(left, one.name)}
    names = {one.name for one in workflow.data}
    ends_of = [pair for link in workflow.data_links for pair in _ends(link, names)]
    data = {name for name, task in ends_of if task in inside} - {name for name, task in ends_of if task not in inside}
    inner = Workflow(
        Names(level.name for level in every_level(workflow)).take(workflow.name),
        tasks=tuple(task for task in workflow.tasks if task.name in inside),
        data=tuple(one for one in workflow.data if one.name in data),
        gateways=tuple(one for one in workflow.gateways if one.name in inside),
        links=moved,
        data_links=tuple(link for link in workflow.data_links if {link.source, link.target} & data),
        parameters=tuple(one for one in workflow.parameters if one.name in own),
    )
    return replace(
        workflow,
        tasks=tuple(
            replace(task, subworkflow=inner, implementation="") if task.name == outer else task
            for task in workflow.tasks
            if task.name not in inside
        ),
        data=tuple(one for one in workflow.data if one.name not in data),
        gateways=tuple(one for one in workflow.gateways if one.name not in inside),
        links=(*kept, Link(outer, stretch.exit.target)),
        data_links=tuple(dict.fromkeys(_outer_links(workflow, outer, inside, data))),
        parameters=tuple(one for one in workflow.parameters if one.name not in own),
    )


def _ends(link: DataLink, data: set[str]) -> Iterator[tuple[str, str]]:
    """Yield the data and the task that a link joins."""
    yield (link.source, link.target) if link.source in data else (link.target, link.source)


def _speaks(text: str, name: str) -> bool:
    return re.search(rf"\b{re.escape(name)}\b", text) is not None


def _outer_links(workflow: Workflow, outer: str, inside: frozenset[str], data: set[str]) -> Iterator[DataLink]:
    """Yield the data links that stay, those of moved tasks as links of the composite task."""
    for link in workflow.data_links:
        if not {link.source, link.target} & data:
            source, target = (outer if name in inside else name for name in (link.source, link.target))
            yield DataLink(source, target)
