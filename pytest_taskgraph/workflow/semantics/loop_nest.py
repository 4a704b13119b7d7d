"""The loops of a level, one inside the other: in which order its nodes can be executed, and what is repeated.

A loop is a strongly connected part of the control flow with a single entry, its head. Without the links back to the
head, the loop falls into parts again, and so on inwards. All other nodes are ordered by what leads to what.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator
from dataclasses import dataclass
from functools import lru_cache

from ..graph import digraph, reachable_from
from ..model import START, Link, Workflow
from .control_flow import ControlFlow

MAX_NESTING = 50
"""Largest nesting depth of loops; a level with deeper loops has no parts."""


@dataclass(frozen=True, slots=True)
class LoopPart:
    """A node, or a loop: all its nodes, its head, and the parts that a pass goes through, in order."""

    nodes: frozenset[str]
    head: str
    inner: tuple[LoopPart, ...] = ()

    @property
    def loop(self) -> bool:
        """Return True if the part is a loop, not a node."""
        return bool(self.inner)


@lru_cache(maxsize=128)
def parts_of(level: Workflow) -> tuple[LoopPart, ...] | None:
    """Return the nodes and outermost loops that START leads to, each after all that lead to it.

    None if a loop has more than one entry, or loops nest deeper than MAX_NESTING.
    """
    flow = ControlFlow(level)
    reached = reachable_from({node: [link.target for link in links] for node, links in flow.out.items()}, [START])
    flow.into = {node: [link for link in links if link.source in reached] for node, links in flow.into.items()}
    return _parts(flow, reached, frozenset(), MAX_NESTING)


def loops_in(parts: Collection[LoopPart]) -> Iterator[LoopPart]:
    """Yield the loops among the parts and inside them, outer ones first."""
    for part in parts:
        if part.loop:
            yield part
            yield from loops_in(part.inner)


def forward_links(flow: ControlFlow, parts: Collection[LoopPart]) -> dict[str, list[Link]]:
    """Return the links out of every node, without those that lead back to the head of a loop."""
    back = {link for loop in loops_in(parts) for link in flow.into[loop.head] if link.source in loop.nodes}
    return {node: [link for link in links if link not in back] for node, links in flow.out.items()}


def _parts(flow: ControlFlow, nodes: frozenset[str], cut: frozenset[str], depth: int) -> tuple[LoopPart, ...] | None:
    """Return the parts of some nodes, without links to the nodes `cut`; each part after all that lead to it.

    Of several parts that may come next, that whose head is declared first comes first.
    """
    import networkx as nx

    order = {node: i for i, node in enumerate(flow.nodes)}
    graph: dict[str, list[str]] = {
        node: [link.target for link in flow.out[node] if link.target in nodes and link.target not in cut]
        for node in flow.nodes
        if node in nodes
    }
    condensation = nx.condensation(digraph(graph))
    parts_by_number: dict[int, LoopPart] = {}
    for number, members in condensation.nodes(data="members"):
        part = _part(flow, frozenset(members), cut, depth)
        if part is None:
            return None
        parts_by_number[number] = part
    numbers = nx.lexicographical_topological_sort(condensation, key=lambda number: order[parts_by_number[number].head])
    return tuple(parts_by_number[number] for number in numbers)


def _part(flow: ControlFlow, members: frozenset[str], cut: frozenset[str], depth: int) -> LoopPart | None:
    links = [link for node in members for link in flow.out[node] if link.target in members and link.target not in cut]
    if not links:
        return LoopPart(members, min(members))
    heads = [node for node in members if any(link.source not in members for link in flow.into[node])]
    if len(heads) != 1 or heads[0] in cut or not depth:
        return None
    inner = _parts(flow, members, cut | {heads[0]}, depth - 1)
    return None if inner is None else LoopPart(members, heads[0], inner)
