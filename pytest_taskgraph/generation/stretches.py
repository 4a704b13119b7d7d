"""Find stretches of control flow: what lies between one link that leads in and one link that leads out."""

from __future__ import annotations

from collections import deque
from collections.abc import Collection, Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from random import Random
from typing import TypeVar

from ..workflow.model import END, START, Link, Workflow
from .conditions import conditions_for, words_in_use

_Node = TypeVar("_Node", bound=Hashable)


@dataclass(frozen=True, slots=True)
class Stretch:
    """The nodes on all ways from the target of `entry` to the source of `exit`."""

    entry: Link
    exit: Link
    nodes: frozenset[str]

    @property
    def first(self) -> str:
        """The node that the entry leads to."""
        return self.entry.target

    @property
    def last(self) -> str:
        """The node that the exit leaves."""
        return self.exit.source


def stretches(workflow: Workflow, rng: Random, ignored: Collection[Link] = ()) -> Iterator[Stretch]:
    """Yield stretches of a level in a drawn order: first an entry, then an exit of it; each pair at most once.

    Every way from START into the stretch takes its entry, and every way on to END its exit. Without the links to be
    `ignored`, the control flow has no cycle.
    """
    links = [link for link in dict.fromkeys(workflow.links) if link not in ignored]
    ahead: dict[Hashable, list[Hashable]] = {}
    behind: dict[Hashable, list[Hashable]] = {}
    for link in links:
        for source, target in ((link.source, link), (link, link.target)):
            ahead.setdefault(source, []).append(target)
            behind.setdefault(target, []).append(source)
    before, after = on_every_way(START, ahead, behind), on_every_way(END, behind, ahead)
    names = [*workflow.task_names, *(gateway.name for gateway in workflow.gateways)]
    for entry in rng.sample(links, len(links)):
        exits = [one for one in after.get(entry, ()) if one != entry and entry in before.get(one, ())]
        ordered = [link for link in links if link in exits]
        for leaving in rng.sample(ordered, len(ordered)):
            inside = (name for name in names if entry in before.get(name, ()) and leaving in after.get(name, ()))
            yield Stretch(entry, leaving, frozenset(inside))


def on_every_way(
    start: _Node, ahead: Mapping[_Node, Sequence[_Node]], behind: Mapping[_Node, Sequence[_Node]]
) -> dict[_Node, frozenset[_Node]]:
    """Return, for each node of an acyclic graph, the nodes on every way from the start to it (its dominators).

    Not by `nx.immediate_dominators`: a node that can also be reached from elsewhere than the start is left out.
    """
    found: dict[_Node, frozenset[_Node]] = {}
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


def new_condition(workflow: Workflow, rng: Random) -> str:
    """Return a condition on a parameter that the level does not have yet."""
    taken = [*words_in_use(workflow.links, workflow), *(one.name for one in workflow.parameters)]
    measure = conditions_for(workflow, taken, rng).measure()
    return f"{measure.name} < {measure.low + 1 + rng.randrange(measure.high - measure.low - 1)}"
