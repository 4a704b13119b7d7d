"""A level whose control flow is being cut: nodes leave, links close the gaps, and what nothing needs goes with them.

The parts of a control flow with one way in and one way out, of any level: block-structured or not.

Nodes and links alike are arcs. Arcs that every run passes together, in a fixed order, make a *chain* (the classes of
cycle equivalence in the program structure tree of Johnson, Pearson and Pingali, 1994). A *block* lies between two arcs
that follow each other in a chain; its content is again made of chains: its branches.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import Final

from ..graph import reachable_from
from ..guards.solver import exclusive
from ..model import END, START, Data, DataLink, Gateway, GatewayKind, Link, Task, Workflow
from ..semantics.control_flow import ControlFlow

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


class FlowDraft:
    """The control flow of a level that is being reduced; `finish` returns the level.

    Args:
        level: The level to cut.
        chains: Its chains, which show what ends where branches meet.
    """

    def __init__(self, level: Workflow, chains: Sequence[Chain]) -> None:
        self.level, self.chains = level, chains
        self.links = list(level.links)
        self.removed: set[str] = set()
        self.gateways = {gateway.name: gateway for gateway in level.gateways}

    def out(self, node: str) -> list[Link]:
        """Return the links out of a node, without those that lead back into it."""
        return [link for link in self.links if link.source == node and link.target != node]

    def into(self, node: str) -> list[Link]:
        """Return the links into a node, without those that come out of it."""
        return [link for link in self.links if link.target == node and link.source != node]

    def remove(self, nodes: Collection[str]) -> None:
        """Remove nodes with all their links."""
        self.removed.update(nodes)
        self.links = [link for link in self.links if not {link.source, link.target} & set(nodes)]

    def bypass(self, entry: FlowArc, leaving: FlowArc, nodes: Collection[str]) -> None:
        """Remove what lies between two arcs of a chain, and link the two ends."""
        link = self.gap(entry, leaving)
        self.cut(entry, leaving)
        self.remove(nodes)
        self.links.append(link)

    def gap(self, entry: FlowArc, leaving: FlowArc) -> Link:
        """Return the link that leads past what lies between two arcs of a chain."""
        guard = entry.link.guard if entry.link else None
        if leaving.link is not None and guard is None and len(self.out(leaving.link.source)) == 1:
            guard = leaving.link.guard
        return Link(
            entry.link.source if entry.link else entry.node,
            leaving.link.target if leaving.link else leaving.node,
            guard,
        )

    def cut(self, entry: FlowArc, leaving: FlowArc) -> None:
        """Remove the links by which what lies between two arcs of a chain is entered and left."""
        entered = [entry.link] if entry.link else self.out(entry.node)
        left = [leaving.link] if leaving.link else self.into(leaving.node)
        self.links = [link for link in self.links if link not in entered and link not in left]

    def dissolve(self, node: str) -> None:
        """Remove a node and link its sources to its targets, by a gateway where several of both would mix."""
        ins, outs = self.into(node), self.out(node)
        self.remove([node])
        if not ins or not outs:
            return
        if len(ins) == len(outs) == 1:
            self.links.append(Link(ins[0].source, outs[0].target, _either(ins[0].guard, outs[0].guard)))
        elif len(ins) == 1:
            self.links += self._moved_out(ins[0], outs, self._split_kind(outs))
        elif len(outs) == 1:
            self.links += self._moved_in(ins, outs[0], self._join_kind(node))
        else:
            meeting = self._gateway("join", self._join_kind(node))
            parting = self._gateway("split", self._split_kind(outs))
            self.links += [replace(link, target=meeting) for link in ins]
            self.links += [Link(meeting, parting), *(replace(link, source=parting) for link in outs)]

    def _moved_out(self, way: Link, outs: Sequence[Link], kind: GatewayKind) -> list[Link]:
        """Return the links to several targets, out of the source of the only way in or of a gateway behind it."""
        alone = way.guard is None and way.source not in self.gateways and not self.out(way.source)
        split = way.source if alone else self._gateway("split", kind)
        return [*([] if alone else [replace(way, target=split)]), *(replace(link, source=split) for link in outs)]

    def _moved_in(self, ins: Sequence[Link], way: Link, kind: GatewayKind) -> list[Link]:
        """Return the links from several sources, into the target of the only way out or into a gateway before it."""
        alone = way.guard is None and way.target not in self.gateways and not self.into(way.target)
        join = way.target if alone else self._gateway("join", kind)
        return [*(replace(link, target=join) for link in ins), *([] if alone else [replace(way, source=join)])]

    def pseudo(self, stem: str) -> str:
        """Return the name of a node that marks the ends of a part while it is moved; `dissolve` removes it."""
        taken = {*self.level.task_names, *self.gateways, *(data.name for data in self.level.data), START, END}
        return next(name for number in range(1, len(taken) + 2) if (name := f"{stem}{number}") not in taken)

    def _gateway(self, role: str, kind: GatewayKind) -> str:
        name = self.pseudo("Join" if role == "join" else "Split")
        self.gateways[name] = Gateway(name, kind, "join" if role == "join" else "split")
        return name

    def _split_kind(self, outs: Sequence[Link]) -> GatewayKind:
        guards = [link.guard for link in outs if link.guard is not None]
        if not guards:
            return "parallel"
        exclude_each_other = len(guards) == len(outs) and exclusive(guards, self.level.parameters) is not False
        return "exclusive" if exclude_each_other else "inclusive"

    def _join_kind(self, node: str) -> GatewayKind:
        """Return the kind of the block whose branches meet at a node; "exclusive" where a loop begins there."""
        blocks = (block for chain in every_chain(self.chains) for block in chain.blocks if block)
        for block in blocks:
            if block.exit.tail == (node, 0) and block.entry.head[0] != node:
                return kind_of(self.level, block)
        return "exclusive"

    def unguard_single(self, nodes: Iterable[str]) -> None:
        """Remove the guard of the only link that is left out of each of the nodes."""
        for node in nodes:
            if len(left := [link for link in self.links if link.source == node]) == 1:
                self.links[self.links.index(left[0])] = replace(left[0], guard=None)

    def finish(self) -> Workflow:
        """Return the level without gateways that decide nothing and data that nothing reads or writes any more."""
        for name in list(self.gateways):
            if name not in self.removed and len(self.into(name)) < 2 and len(self.out(name)) < 2:
                self.dissolve(name)
        level, removed = self.level, self.removed
        data_links = tuple(link for link in level.data_links if not {link.source, link.target} & removed)
        tasks = tuple(task for task in level.tasks if task.name not in removed)
        gateways = tuple(gateway for name, gateway in self.gateways.items() if name not in removed)
        return replace(
            level,
            tasks=tasks,
            gateways=gateways,
            links=tuple(dict.fromkeys(self.links)),
            exceptional_links=exceptions_between(level.exceptional_links, (*tasks, *gateways)),
            data_links=data_links,
            data=used_data(level, data_links),
        )


def exceptions_between(links: Iterable[Link], nodes: Iterable[Task | Gateway]) -> tuple[Link, ...]:
    """Return those of the exceptional links whose ends are among the nodes, or END."""
    names = {END, *(node.name for node in nodes)}
    return tuple(link for link in links if {link.source, link.target} <= names)


def used_data(level: Workflow, links: Iterable[DataLink]) -> tuple[Data, ...]:
    """Return the data of a level that some link reads or writes, or none ever did."""
    before, now = _linked(level.data_links), _linked(links)
    return tuple(data for data in level.data if data.name in now or data.name not in before)


def kind_of(level: Workflow, block: FlowBlock) -> GatewayKind:
    """Return the kind of gateway at which the branches of a block part and meet."""
    kind = ControlFlow(level).split(block.entry.head[0])
    kinds: dict[str, GatewayKind] = {"parallel": "parallel", "inclusive": "inclusive", "mixed": "inclusive"}
    return kinds.get(kind, "exclusive")


def _linked(links: Iterable[DataLink]) -> set[str]:
    return {end for link in links for end in (link.source, link.target)}


def _either(guard: str | None, other: str | None) -> str | None:
    return other if guard is None else guard
