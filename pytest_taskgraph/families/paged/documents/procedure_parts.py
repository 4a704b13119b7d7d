"""The sub-procedures of a graph: the part between a split and its join, found by walking branch by branch.

Any graph can be walked. Where gateways do not come in pairs, a part has no join, and what follows stands behind it.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property

from ....workflow.procedural_graph import ProceduralFlow, ProceduralGraph, ProceduralNode
from .document_phrases import is_otherwise
from .units import is_split


@dataclass(frozen=True, slots=True)
class PartBranch:
    """A branch of a part, numbered from 0 in the order in which branches are walked."""

    split: ProceduralNode
    number: int


@dataclass(frozen=True, slots=True)
class ProcedurePart:
    """What is between a split and its join.

    Args:
        split: The node with several ways out.
        join: Where the branches come together; None if they do not, or elsewhere.
        ways: The first flow of each branch, in the order in which they are walked.
        leading_on: How many branches do not end.
    """

    split: ProceduralNode
    join: ProceduralNode | None
    ways: tuple[ProceduralFlow, ...]
    leading_on: int

    def is_main_line(self, branch: PartBranch) -> bool:
        """Return True if what follows the part can only be this branch: the last, and all others have ended."""
        return self.join is None and self.leading_on <= 1 and branch.number == len(self.ways) - 1


@dataclass(frozen=True)
class ProcedureParts:
    """A graph walked part by part.

    Args:
        walked: Every flow but constraints, once, each with the branches that it is in, the outermost first.
        parts: The parts by their split.
    """

    walked: Mapping[ProceduralFlow, tuple[PartBranch, ...]]
    parts: Mapping[ProceduralNode, ProcedurePart]

    @cached_property
    def by_join(self) -> Mapping[ProceduralNode, ProcedurePart]:
        """The parts by the gateway that ends them."""
        return {part.join: part for part in self.parts.values() if part.join is not None}


def find_parts(graph: ProceduralGraph) -> ProcedureParts:
    """Return the parts of a graph.

    Simple branches come before those with gateways of their own, branches that end before the others, the longer of
    these last, and "otherwise" last of all.
    """
    walk = _PartWalk(graph)
    entries = (node for node in graph.nodes if not any(_is_walked(flow) for flow in graph.incoming(node)))
    for root in (*graph.nodes_of("start"), *entries, *graph.nodes):
        walk.walk_from(root)
    return ProcedureParts(walk.walked, walk.parts)


@dataclass
class _OpenPart:
    """A split whose branches are being walked.

    `place` are the branches around what is being walked, the part's own included.
    """

    split: ProceduralNode
    ways: tuple[ProceduralFlow, ...]
    around: tuple[PartBranch, ...]
    place: tuple[PartBranch, ...] = ()
    taken: int = 0
    exits: Counter[ProceduralNode] = field(default_factory=Counter)
    """The joins that branches have come to, with the number of flows."""
    leading_on: set[int] = field(default_factory=set)
    """The branches that have come to one."""

    def come_to(self, join: ProceduralNode, flows: int) -> None:
        """Record that the branch that is being walked comes to a join by some flows."""
        self.exits[join] += flows
        self.leading_on.add(self.taken)


class _PartWalk:
    """A walk that takes every flow once, one branch after the other, and goes on behind a join when all are walked."""

    def __init__(self, graph: ProceduralGraph) -> None:
        self.walked: dict[ProceduralFlow, tuple[PartBranch, ...]] = {}
        self.parts: dict[ProceduralNode, ProcedurePart] = {}
        self._graph = graph
        self._left: set[ProceduralNode] = set()
        self._open: list[_OpenPart] = []
        self._late: list[ProceduralNode] = []
        self._back = _back_flows(graph)
        self._arrived: Counter[ProceduralNode] = Counter()

    def walk_from(self, root: ProceduralNode) -> None:
        self._late.append(root)
        while self._late:
            at: ProceduralNode | None = self._late.pop(0)
            while at is not None or self._open:
                at = self._leave(at) if at is not None else self._next_branch()

    def _leave(self, node: ProceduralNode) -> ProceduralNode | None:
        """Take the only way out of a node, or open a part; return where that leads."""
        if node in self._left:
            return None
        self._left.add(node)
        ways = [flow for flow in self._graph.outgoing(node) if _is_walked(flow)]
        if len(ways) == 1 and not is_split(self._graph, node):
            return self._take(ways[0])
        if ways:
            self._open.append(_OpenPart(node, tuple(sorted(ways, key=self._simplicity)), self._place()))
        return None

    def _place(self) -> tuple[PartBranch, ...]:
        return self._open[-1].place if self._open else ()

    def _take(self, flow: ProceduralFlow) -> ProceduralNode | None:
        """Walk a flow; return its target, or None if the branch is over there."""
        self.walked[flow] = self._place()
        target = flow.target
        if target.sort == "end" or target in self._left:
            return None
        if target.is_gateway and not is_split(self._graph, target):
            self._arrived[target] += 1
            if self._open and not (self._is_loop_head(target) and self._is_complete(target, self._arrived[target])):
                self._open[-1].come_to(target, 1)
                return None
        return target

    def _next_branch(self) -> ProceduralNode | None:
        """Take the next branch of the innermost part, or close it; return where that leads."""
        part = self._open[-1]
        if part.taken < len(part.ways):
            part.place = (*part.around, PartBranch(part.split, part.taken))
            part.taken += 1
            return self._take(part.ways[part.taken - 1])
        self._open.pop()
        own = [node for node, flows in part.exits.items() if self._is_complete(node, flows) and node not in self._left]
        join = own[0] if len(own) == len(part.exits) == 1 else None
        self.parts[part.split] = ProcedurePart(part.split, join, part.ways, len(part.leading_on))
        for node, flows in part.exits.items():
            if node in own[:1]:
                continue
            if self._open:
                self._open[-1].come_to(node, flows)
            else:
                self._late.append(node)
        return own[0] if own else None

    def _is_complete(self, join: ProceduralNode, flows: int) -> bool:
        """Return True if so many flows are all that lead forward to a join."""
        forward = [flow for flow in self._graph.incoming(join) if _is_walked(flow) and flow not in self._back]
        return flows >= len(forward)

    def _is_loop_head(self, join: ProceduralNode) -> bool:
        return any(flow in self._back for flow in self._graph.incoming(join))

    def _simplicity(self, way: ProceduralFlow) -> tuple[bool, bool, bool, int]:
        """Return what orders branches: no "otherwise", no gateway, an end, and early."""
        nodes = [*self._straight_on(way.target)]
        ends = nodes[-1].sort == "end"
        last = way.source.sort != "parallel" and is_otherwise(way.condition)
        return last, is_split(self._graph, nodes[-1]), not ends, len(nodes) if ends else 0

    def _straight_on(self, node: ProceduralNode) -> Iterator[ProceduralNode]:
        """Yield the nodes from one on, up to a gateway or the end."""
        met: set[ProceduralNode] = set()
        while node not in met:
            yield node
            met.add(node)
            ways = [flow for flow in self._graph.outgoing(node) if _is_walked(flow)]
            if node.is_gateway or len(ways) != 1:
                return
            node = ways[0].target


def _is_walked(flow: ProceduralFlow) -> bool:
    return flow.sort != "constraint"


def _back_flows(graph: ProceduralGraph) -> set[ProceduralFlow]:
    """Return the flows that lead back to a node on the way from the start."""
    back: set[ProceduralFlow] = set()
    on_way: set[ProceduralNode] = set()
    met: set[ProceduralNode] = set()
    for root in (*graph.nodes_of("start"), *graph.nodes):
        if root in met:
            continue
        met.add(root)
        on_way.add(root)
        stack = [(root, iter(graph.outgoing(root)))]
        while stack:
            node, flows = stack[-1]
            flow = next((flow for flow in flows if _is_walked(flow)), None)
            if flow is None:
                on_way.discard(node)
                stack.pop()
            elif flow.target in on_way:
                back.add(flow)
            elif flow.target not in met:
                met.add(flow.target)
                on_way.add(flow.target)
                stack.append((flow.target, iter(graph.outgoing(flow.target))))
    return back
