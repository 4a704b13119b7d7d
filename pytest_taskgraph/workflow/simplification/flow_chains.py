"""The parts of a control flow with one way in and one way out, of any level: block-structured or not.

Nodes and links alike are arcs. Arcs that every run passes together, in a fixed order, make a *chain* (the classes of
cycle equivalence in the program structure tree of Johnson, Pearson and Pingali, 1994). A *block* lies between two arcs
that follow each other in a chain; its content is again made of chains: its branches.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Final

from ..graph import reachable_from
from ..model import END, START, Link, Workflow

Vertex = tuple[str, int]  # the name of a node, and 0 where it is entered, 1 where it is left
LARGEST: Final = 400
"""Largest number of arcs of a level that is decomposed; finding chains takes quadratic time."""


@dataclass(frozen=True, slots=True)
class FlowArc:
    """A node between its two sides, or a link between two nodes; `link` is None for a node."""

    tail: Vertex
    head: Vertex
    link: Link | None = None

    @property
    def node(self) -> str:
        """Return the name of the node that the arc is; empty for a link."""
        return self.tail[0] if self.link is None else ""


@dataclass(frozen=True, slots=True)
class FlowBlock:
    """The content between two arcs of a chain: the nodes in it, at any depth, and its branches."""

    entry: FlowArc
    exit: FlowArc
    nodes: frozenset[str]
    branches: tuple[Chain, ...] = ()


@dataclass(frozen=True, slots=True)
class Chain:
    """Arcs that are passed one after the other; for each but the last, the block behind it, or None."""

    arcs: tuple[FlowArc, ...]
    blocks: tuple[FlowBlock | None, ...] = ()

    @property
    def nodes(self) -> frozenset[str]:
        """Return the names of all nodes in the chain, without START and END."""
        inside = {arc.node for arc in self.arcs}.union(*(block.nodes for block in self.blocks if block))
        return frozenset(inside - {"", START, END})


def chains_of(level: Workflow) -> tuple[Chain, ...]:
    """Return the outermost chains of a level: one from START to END if there is a way; none of a large level.

    Nodes on no way from START to END are in no chain.
    """
    arcs = _on_the_way(_arcs(level))
    if len(arcs) > LARGEST:
        return ()
    return _Chains(arcs).nested()


def every_chain(chains: Iterable[Chain]) -> Iterator[Chain]:
    """Yield chains and all that are in them, outer before inner."""
    waiting = list(chains)
    for chain in waiting:
        yield chain
        waiting += [branch for block in chain.blocks if block for branch in block.branches]


def _arcs(level: Workflow) -> list[FlowArc]:
    names = (START, *level.task_names, *(gateway.name for gateway in level.gateways), END)
    links = [FlowArc((link.source, 1), (link.target, 0), link) for link in level.links]
    return [*(FlowArc((name, 0), (name, 1)) for name in names), *links]


def _on_the_way(arcs: Sequence[FlowArc]) -> list[FlowArc]:
    """Return the arcs on a way from START to END."""
    ahead = _reached_vertices((START, 0), [(arc.tail, arc.head) for arc in arcs])
    behind = _reached_vertices((END, 1), [(arc.head, arc.tail) for arc in arcs])
    return [arc for arc in arcs if arc.tail in ahead and arc.head in behind]


def _reached_vertices(start: Vertex, steps: Iterable[tuple[Vertex, Vertex]]) -> frozenset[Vertex]:
    further: dict[Vertex, list[Vertex]] = {}
    for source, target in steps:
        further.setdefault(source, []).append(target)
    return reachable_from(further, [start])


@dataclass(slots=True)
class _Between:
    """The content between two arcs: the places of arcs in it, and the chains in it."""

    entry: int
    exit: int
    arcs: frozenset[int]
    chains: list[int] = field(default_factory=list)


class _Chains:
    def __init__(self, arcs: Sequence[FlowArc]) -> None:
        self.arcs = arcs
        self.out: dict[Vertex, list[int]] = {}
        self.into: dict[Vertex, list[int]] = {}
        for place, arc in enumerate(arcs):
            self.out.setdefault(arc.tail, []).append(place)
            self.into.setdefault(arc.head, []).append(place)
        self.next: dict[int, _Between] = {}
        if arcs:
            self._follow(self._post_dominators())

    def nested(self) -> tuple[Chain, ...]:
        """Return the outermost chains, with all that is in them."""
        followers = {between.exit for between in self.next.values()}
        heads = [place for place in range(len(self.arcs)) if place not in followers]
        betweens = sorted(
            (between for between in self.next.values() if between.arcs), key=lambda between: len(between.arcs)
        )
        outermost: list[int] = []
        for head in heads:
            around = next((between for between in betweens if head in between.arcs), None)
            (outermost if around is None else around.chains).append(head)
        return tuple(self._chain(head) for head in outermost)

    def _chain(self, head: int) -> Chain:
        arcs, blocks = [self.arcs[head]], list[FlowBlock | None]()
        while (between := self.next.get(head)) is not None:
            head = between.exit
            arcs.append(self.arcs[head])
            blocks.append(self._block(between) if between.arcs else None)
        return Chain(tuple(arcs), tuple(blocks))

    def _block(self, between: _Between) -> FlowBlock:
        nodes = frozenset(self.arcs[place].node for place in between.arcs) - {""}
        branches = tuple(self._chain(head) for head in between.chains)
        return FlowBlock(self.arcs[between.entry], self.arcs[between.exit], nodes, branches)

    def _post_dominators(self) -> dict[object, object]:
        import networkx as nx

        backwards: nx.DiGraph[object] = nx.DiGraph()
        for place, arc in enumerate(self.arcs):
            backwards.add_edge(arc.head, place)
            backwards.add_edge(place, arc.tail)
        return dict(nx.immediate_dominators(backwards, (END, 1)))

    def _follow(self, after: dict[object, object]) -> None:
        """Find, for each arc, the next arc of its chain: the nearest with no other way in or out between."""
        for place in range(len(self.arcs)):
            later = after.get(place)
            while later is not None and later != (END, 1):
                if isinstance(later, int) and (inside := self._between(place, later)) is not None:
                    self.next[place] = _Between(place, later, inside)
                    break
                later = after.get(later)

    def _between(self, entry: int, leaving: int) -> frozenset[int] | None:
        """Return the arcs between two; None if there is another way in or out."""
        first = self.arcs[entry].head
        vertices, arcs = {first}, set[int]()
        waiting = [first]
        for vertex in waiting:
            for place in self.out.get(vertex, ()):
                if place == entry:
                    return None
                if place != leaving and place not in arcs:
                    arcs.add(place)
                    if (head := self.arcs[place].head) not in vertices:
                        vertices.add(head)
                        waiting.append(head)
        if self.arcs[leaving].tail not in vertices or self.arcs[leaving].head in vertices:
            return None
        entering = (place for vertex in vertices for place in self.into.get(vertex, ()))
        return frozenset(arcs) if all(place in arcs or place == entry for place in entering) else None
