"""The block structure of a level: sequences, forks and joins, choices and loops, one inside the other.

The control flow is a graph of edges, each carrying a block: first one edge for every node and one for every link. Then
three reductions are repeated as long as one applies: a node with a single edge in and out makes a *sequence*; edges
from one node to the same other node make a *parallel*, *exclusive* or *inclusive* block (an undecided *choice* if the
guards are not known to exclude each other or not); a guarded way back beside a guarded way out makes a *loop*. A level
is block-structured if one edge from START to END is left. What is left of any other level are its irreducible parts,
each edge with the block it stands for; `runs.py` continues from there. networkx has no such reduction.
"""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass, field
from functools import lru_cache
from itertools import combinations
from typing import Literal

from ..guards.solver import MAX_GUARDS
from ..model import Link, Workflow
from .control_flow import ControlFlow

BlockKind = Literal["task", "sequence", "parallel", "exclusive", "inclusive", "choice", "loop"]
Node = tuple[str, int]  # the name of a node, and 0 where it is entered, 1 where it is left

MAX_NESTING = 100
"""Largest nesting depth of blocks; a level with deeper blocks is not reduced further."""


@dataclass(frozen=True, slots=True)
class Block:
    """A part of the control flow with one way in and one way out.

    The children of a sequence stand in their order, those of a fork or choice are sorted by their first task name; a
    branch without a task is an empty sequence. A loop has its body and, where there are tasks on the way back, those.
    """

    kind: BlockKind
    task: str = ""
    children: tuple[Block, ...] = ()
    node: str = field(default="", compare=False)  # where it splits: a task, a gateway or START
    ways: tuple[tuple[Link, ...], ...] = field(default=(), compare=False)  # for every child, the links that lead to it


EMPTY = Block("sequence")


@dataclass(slots=True)
class Part:
    """A branch of a fork or choice: its block, the links that lead into it, its alphabetically first task."""

    first: str
    links: tuple[Link, ...]
    block: Block


@dataclass(slots=True, eq=False)
class Edge:
    """A block between two nodes. `conditional` if it is not always taken when its source is left."""

    source: Node
    target: Node
    links: tuple[Link, ...] = ()  # out of the source
    block: Block = EMPTY
    conditional: bool = False
    first: str = ""
    depth: int = 0
    parts: tuple[Part, ...] = ()  # where the block is nothing but branches of the source


@lru_cache(maxsize=128)
def reduced_edges(level: Workflow) -> tuple[Edge, ...]:
    """Return the edges to which the control flow of a level reduces, as described above. Do not change them."""
    reduction = _Reduction(ControlFlow(level))
    reduction.run()
    return tuple(edge for edges in reduction.out.values() for edge in edges)


class _Reduction:
    def __init__(self, flow: ControlFlow) -> None:
        self.flow = flow
        sides = [(node, side) for node in flow.nodes for side in (0, 1)]
        self.out: dict[Node, list[Edge]] = {node: [] for node in sides}
        self.into: dict[Node, list[Edge]] = {node: [] for node in sides}
        self.waiting = deque(sides)
        self.changed = set(sides)  # nodes with new edges since they were examined
        for name in flow.nodes[1:-1]:
            task = name not in flow.gateways
            block = Block("task", name) if task else EMPTY
            self._add(Edge((name, 0), (name, 1), block=block, first=name if task else ""))
        for link in (link for links in flow.out.values() for link in links):
            chosen = len(flow.out[link.source]) > 1 and flow.chooses(link.source)
            conditional = chosen or link.guard is not None
            self._add(Edge((link.source, 1), (link.target, 0), (link,), conditional=conditional))

    def run(self) -> None:
        while self.waiting:
            while self.waiting:
                node = self.waiting.popleft()
                if node in self.changed:
                    self.changed.remove(node)
                    self._reduce(node)
            for node in self.out:
                if self._loop(node):
                    break

    def _add(self, edge: Edge) -> None:
        self.out[edge.source].append(edge)
        self.into[edge.target].append(edge)
        self.waiting += (edge.source, edge.target)
        self.changed |= {edge.source, edge.target}

    def _remove(self, *edges: Edge) -> None:
        for edge in edges:
            self.out[edge.source].remove(edge)
            self.into[edge.target].remove(edge)

    def _reduce(self, node: Node) -> None:
        """Join the only edges into and out of a node, or those out of it that lead to the same node."""
        ways = len(self.out[node])
        if ways > 1:
            self._branches(node)
        elif ways and len(self.into[node]) == 1:
            self._sequence(node)

    def _sequence(self, node: Node) -> None:
        """Join the only edge into a node with the only edge out of it."""
        before, after = self.into[node][0], self.out[node][0]
        if after.conditional or before.source == after.target:
            return
        self._remove(before, after)
        block = _join_in_sequence(before.block, after.block)
        first = _alphabetically_first(before.first, after.first)
        parts = before.parts if block is before.block else ()
        depth = max(before.depth, after.depth)
        self._add(Edge(before.source, after.target, before.links, block, before.conditional, first, depth, parts))

    def _branches(self, node: Node) -> None:
        """Join the edges from a node that lead to the same node."""
        groups: dict[Node, list[Edge]] = {}
        for edge in self.out[node]:
            groups.setdefault(edge.target, []).append(edge)
        for target, group in groups.items():
            depth = 1 + max(edge.depth for edge in group)
            if len(group) > 1 and depth <= MAX_NESTING and self.flow.split(node[0]) != "unclear":
                self._join(node, target, group, depth)

    def _join(self, node: Node, target: Node, group: list[Edge], depth: int) -> None:
        parts = [part for edge in group for part in edge.parts or (Part(edge.first, edge.links, edge.block),)]
        parts.sort(key=lambda part: (part.first, [(link.target, link.guard or "") for link in part.links]))
        always = [not edge.conditional for edge in group]
        complete = len(group) == len(self.out[node])
        kind = self._kind(parts, always)
        if kind == "parallel" and self._merges(target):
            return
        children, ways = tuple(part.block for part in parts), tuple(part.links for part in parts)
        first = next((part.first for part in parts if part.first), "")
        links = tuple(link for part in parts for link in part.links)
        self._remove(*group)
        block = Block(kind, "", children, node[0], ways)
        self._add(Edge(node, target, links, block, not (complete or any(always)), first, depth, tuple(parts)))

    def _kind(self, parts: list[Part], always: list[bool]) -> BlockKind:
        if any(always):
            return "parallel" if all(always) else "inclusive"
        if len(parts) > MAX_GUARDS:  # every two of so many are not compared
            return "exclusive" if self.flow.split(parts[0].links[0].source) == "exclusive" else "choice"
        pairs = ((a, b) for first, second in combinations(parts, 2) for a in first.links for b in second.links)
        answers = {self.flow.together(a, b) for a, b in pairs}
        return "inclusive" if True in answers else "choice" if None in answers else "exclusive"

    def _merges(self, target: Node) -> bool:
        """Return True if a node is declared to await a single branch, so that no fork can end there."""
        gateway = self.flow.gateways.get(target[0])
        return gateway is not None and gateway.role == "join" and gateway.kind == "exclusive"

    def _loop(self, node: Node) -> bool:
        """Fold the way back from a node to the start of the block before it."""
        if len(self.into[node]) != 1 or self.flow.split(node[0]) != "exclusive":
            return False
        body = self.into[node][0]
        back = [edge for edge in self.out[node] if edge.target == body.source and edge.conditional]
        on = [edge for edge in self.out[node] if edge.target != body.source]
        depth = 1 + max(edge.depth for edge in (body, *back))
        sole_entry = len(self.out[body.source]) == 1 and not body.conditional
        if len(back) != 1 or not on or not sole_entry or body.source == node or depth > MAX_NESTING:
            return False
        redo = () if back[0].block == EMPTY else (back[0].block,)
        block = Block("loop", "", (body.block, *redo), node[0], ((), back[0].links)[: 1 + len(redo)])
        first = _alphabetically_first(body.first, back[0].first)
        self._remove(body, back[0])
        self._add(Edge(body.source, node, body.links, block, False, first, depth))
        on[0].conditional = len(on) > 1
        return True


def _alphabetically_first(task: str, other: str) -> str:
    """Return the alphabetically first of two tasks, of which one or both may be missing ("")."""
    return min(task, other) if task and other else task or other


def _join_in_sequence(before: Block, after: Block) -> Block:
    """Return both blocks one after the other; nested sequences are flattened."""
    first = before.children if before.kind == "sequence" else (before,)
    second = after.children if after.kind == "sequence" else (after,)
    return before if not second else after if not first else Block("sequence", "", first + second)
