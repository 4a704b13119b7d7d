"""Find stretches of control flow between one link in and one link out, and move them into a task."""

from __future__ import annotations

import re
from collections.abc import Collection, Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from random import Random
from typing import TypeVar

from ...errors import NoCaseError
from ...workflow.check import problems
from ...workflow.model import END, START, DataLink, Flaw, Link, Workflow
from ...workflow.project import every_level
from ..guards import GuardNames, conditions_for, words_in_use

_Node = TypeVar("_Node", bound=Hashable)


@dataclass(frozen=True, slots=True)
class Stretch:
    """The nodes on all ways from the target of `entry` to the source of `exit`."""

    entry: Link
    exit: Link
    nodes: frozenset[str]

    @property
    def first(self) -> str:
        """Return the node that the entry leads to."""
        return self.entry.target

    @property
    def last(self) -> str:
        """Return the node that the exit leaves."""
        return self.exit.source


def stretches(workflow: Workflow, rng: Random, ignored: Collection[Link] = ()) -> Iterator[Stretch]:
    """Yield stretches of a level in a drawn order: first an entry, then an exit of it; each pair at most once.

    Every way from START into the stretch takes its entry, and every way on to END its exit. Without the `ignored`
    links, the control flow must have no cycle.
    """
    links = [link for link in dict.fromkeys(workflow.links) if link not in ignored]
    ahead: dict[Hashable, list[Hashable]] = {}
    behind: dict[Hashable, list[Hashable]] = {}
    for place, link in enumerate(links):  # links are nodes too, by their places
        for source, target in ((link.source, place), (place, link.target)):
            ahead.setdefault(source, []).append(target)
            behind.setdefault(target, []).append(source)
    before, after = on_every_way(START, ahead, behind), on_every_way(END, behind, ahead)
    names = [*workflow.task_names, *(gateway.name for gateway in workflow.gateways)]
    places, nowhere = range(len(links)), frozenset[Hashable]()
    for entry in rng.sample(places, len(links)):
        beyond = after.get(entry, nowhere)
        exits = [
            place for place in places if place in beyond and place != entry and entry in before.get(place, nowhere)
        ]
        within = [name for name in names if entry in before.get(name, nowhere)]
        for leaving in rng.sample(exits, len(exits)):
            inside = [name for name in within if leaving in after.get(name, nowhere)]
            yield Stretch(links[entry], links[leaving], frozenset(inside))


def on_every_way(
    start: _Node, ahead: Mapping[_Node, Sequence[_Node]], behind: Mapping[_Node, Sequence[_Node]]
) -> dict[_Node, frozenset[_Node]]:
    """Return, for each node of an acyclic graph, the nodes on every way from the start to it (its dominators).

    A node that can also be reached from elsewhere than the start is left out.
    """
    dominators: dict[_Node, frozenset[_Node]] = {start: frozenset([start])}
    unknown = {node: len(sources) for node, sources in behind.items()}  # how many sources have no dominators yet
    waiting = [start]
    for source in waiting:
        for node in ahead.get(source, ()):
            unknown[node] -= 1
            if not unknown[node]:
                common = frozenset.intersection(*[dominators[before] for before in behind[node]])
                dominators[node] = common | {node}
                waiting.append(node)
    return dominators


def new_condition(workflow: Workflow, rng: Random) -> str:
    """Return a condition on a parameter that the level does not have yet."""
    taken = [*words_in_use(workflow.links, workflow), *(parameter.name for parameter in workflow.parameters)]
    measure = conditions_for(workflow, taken, rng).measure()
    return f"{measure.name} < {measure.low + 1 + rng.randrange(measure.high - measure.low - 1)}"


NESTED = 0.8  # share of the workflows that get a composite task
TRIES = 300  # largest number of stretches tried


def nest_block(workflow: Workflow, rng: Random) -> Workflow:
    """Move a stretch that holds a fork, a choice or a loop into the task before it; some workflows stay unchanged.

    Data that only the moved tasks read and write move with them, the composite task reads and writes the rest.

    Raises:
        NoCaseError: if no such stretch follows an atomic task.
    """
    if rng.random() >= NESTED:
        return replace(workflow, flaw=Flaw("nest-block"))
    back = _back_links(workflow)
    for _, stretch in zip(range(TRIES), stretches(workflow, rng, back), strict=False):
        if _can_be_nested(workflow, stretch):
            mutated = replace(_nest_stretch(workflow, stretch), flaw=Flaw("nest-block", (stretch.entry.source,)))
            if not problems(mutated):
                return mutated
    raise NoCaseError(f"nest-block: workflow {workflow.name!r} has no block after a task that could hold it")


def _back_links(workflow: Workflow) -> list[Link]:
    """Return the links that lead back to a node on the current path of a depth-first walk from START."""
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


def _can_be_nested(workflow: Workflow, stretch: Stretch) -> bool:
    """Return True if the stretch follows only an atomic task, holds an operator, and has no other link in or out."""
    outer, inside = stretch.entry.source, stretch.nodes
    crossing = [link for link in workflow.links if (link.source in inside) != (link.target in inside)]
    own = [link for link in workflow.links if link.source == outer]
    atomic = any(task.name == outer and not task.composite for task in workflow.tasks)
    splits = [link for link in workflow.links if link.source in inside and link != stretch.exit]
    several = len(splits) - len({link.source for link in splits}) > 0 or any(link.guard for link in splits)
    alone = len(own) == 1 and own[0].guard is None and set(crossing) == {stretch.entry, stretch.exit}
    return atomic and alone and several


def _nest_stretch(workflow: Workflow, stretch: Stretch) -> Workflow:
    outer, inside = stretch.entry.source, stretch.nodes
    ends = {stretch.entry: Link(START, stretch.first), stretch.exit: replace(stretch.exit, target=END)}
    moved = tuple(ends.get(link, link) for link in workflow.links if {link.source, link.target} & inside)
    outer_links = [link for link in workflow.links if not {link.source, link.target} & inside]
    inner_guards = " ".join(link.guard for link in moved if link.guard is not None)
    outer_guards = " ".join(link.guard for link in outer_links if link.guard is not None)
    own = {
        parameter.name
        for parameter in workflow.parameters
        if _mentions(inner_guards, parameter.name) and not _mentions(outer_guards, parameter.name)
    }
    names = {data_object.name for data_object in workflow.data}
    ends_of = [pair for link in workflow.data_links for pair in _data_and_task(link, names)]
    data = {name for name, task in ends_of if task in inside} - {name for name, task in ends_of if task not in inside}
    inner = Workflow(
        GuardNames(level.name for level in every_level(workflow)).take(workflow.name),
        tasks=tuple(task for task in workflow.tasks if task.name in inside),
        data=tuple(data_object for data_object in workflow.data if data_object.name in data),
        gateways=tuple(gateway for gateway in workflow.gateways if gateway.name in inside),
        links=moved,
        data_links=tuple(link for link in workflow.data_links if {link.source, link.target} & data),
        parameters=tuple(parameter for parameter in workflow.parameters if parameter.name in own),
    )
    return replace(
        workflow,
        tasks=tuple(
            replace(task, subworkflow=inner, implementation="") if task.name == outer else task
            for task in workflow.tasks
            if task.name not in inside
        ),
        data=tuple(data_object for data_object in workflow.data if data_object.name not in data),
        gateways=tuple(gateway for gateway in workflow.gateways if gateway.name not in inside),
        links=(*outer_links, Link(outer, stretch.exit.target)),
        data_links=tuple(dict.fromkeys(_outer_links(workflow, outer, inside, data))),
        parameters=tuple(parameter for parameter in workflow.parameters if parameter.name not in own),
    )


def _data_and_task(link: DataLink, data: set[str]) -> Iterator[tuple[str, str]]:
    """Yield the data and the task that a link joins."""
    yield (link.source, link.target) if link.source in data else (link.target, link.source)


def _mentions(text: str, name: str) -> bool:
    return re.search(rf"\b{re.escape(name)}\b", text) is not None


def _outer_links(workflow: Workflow, outer: str, inside: frozenset[str], data: set[str]) -> Iterator[DataLink]:
    """Yield the data links that stay, those of moved tasks as links of the composite task."""
    for link in workflow.data_links:
        if not {link.source, link.target} & data:
            source, target = (outer if name in inside else name for name in (link.source, link.target))
            yield DataLink(source, target)
