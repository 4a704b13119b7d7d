"""The block structure of a level: sequences, forks and joins, choices and loops, one inside the other.

The control flow is a graph of edges, each carrying a block: first one edge for every node and one for every link. Then
three reductions are repeated as long as one applies: a node with one way in and one way out makes a *sequence*; edges
from one node to one other make a *parallel*, *exclusive* or *inclusive* block (an undecided *choice* where the guards
are not known to exclude each other or not); a guarded way back beside a guarded way out makes a *loop*. A level is
block-structured if one edge from START to END is left. What is left of any other level are its irreducible parts,
each edge with the block it stands for; `concurrency.py` goes on from there.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Hashable, Iterable, Mapping
from dataclasses import dataclass, field
from functools import cached_property, lru_cache
from itertools import combinations
from typing import Literal, TypeVar

from .guards import exclusive
from .model import END, START, Link, Parameter, Workflow

BlockKind = Literal["task", "sequence", "parallel", "exclusive", "inclusive", "choice", "loop"]
SplitKind = Literal["", "parallel", "exclusive", "inclusive", "choice", "mixed", "unclear"]
T = TypeVar("T", bound=Hashable)
Node = tuple[str, int]  # the name of a node, and 0 where it is entered, 1 where it is left

MAX_NESTING = 100
"""How deep blocks may nest; a level that goes deeper is not reduced further."""


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


class ControlFlow:
    """The links of a level by node, and what it means where several leave one node."""

    def __init__(self, level: Workflow) -> None:
        self.level = level
        self.gateways = {gateway.name: gateway for gateway in level.gateways}
        self.nodes = (START, *level.task_names, *self.gateways, END)
        self.out: dict[str, list[Link]] = {node: [] for node in self.nodes}
        self.into: dict[str, list[Link]] = {node: [] for node in self.nodes}
        for link in level.links:
            if link.source in self.out and link.target in self.into:
                self.out[link.source].append(link)
                self.into[link.target].append(link)
        self._own = {task.name: task.parameters for task in level.tasks}
        self._kinds: dict[str, SplitKind] = {}

    def parameters(self, node: str) -> tuple[Parameter, ...]:
        """The parameters that guards of links out of the node speak of: those of the level, then the task's own."""
        return (*self.level.parameters, *self._own.get(node, ()))

    def chooses(self, node: str) -> bool:
        """Whether the node is a gateway that says of itself that it splits exclusively or inclusively."""
        gateway = self.gateways.get(node)
        return gateway is not None and gateway.role == "split" and gateway.kind != "parallel"

    def split(self, node: str) -> SplitKind:
        """What happens where the node has several links out; "" where it has not.

        Unguarded links fork; guarded ones are a choice of the kind that their guards provably make. A gateway's own
        word counts where the guards leave it open, but not directly after a task: there, other notations guard the
        links out of the task and the word is lost. "mixed": guarded and unguarded links leave a task. "unclear": the
        links contradict the gateway.
        """
        if node not in self._kinds:
            self._kinds[node] = self._split(node)
        return self._kinds[node]

    def together(self, one: Link, other: Link) -> bool | None:
        """Whether one run may take both of two links out of one node; None where that is undecided."""
        kind = self.split(one.source)
        if kind in ("parallel", "exclusive", "unclear"):
            return {"parallel": True, "exclusive": False, "unclear": None}[kind]
        if one.guard is None or other.guard is None:
            return True
        apart = exclusive([one.guard, other.guard], self.parameters(one.source))
        if apart is None:
            return True if kind == "inclusive" and self.trusted(one.source) else None
        return not apart

    def trusted(self, node: str) -> bool:
        """Whether the node is a gateway whose own word counts: one that chooses, and does not directly follow a task.

        A gateway without any guard has nothing but its word.
        """
        if not self.chooses(node):
            return False
        unguarded = all(link.guard is None for link in self.out[node])
        return unguarded or not any(link.source in self._own for link in self.into[node])

    def _split(self, node: str) -> SplitKind:
        guards = [link.guard for link in self.out[node] if link.guard is not None]
        gateway = self.gateways.get(node)
        if len(self.out[node]) < 2:
            return ""
        if not guards:
            return gateway.kind if gateway and self.chooses(node) else "parallel"
        if gateway and gateway.role == "split" and (len(guards) < len(self.out[node]) or not self.chooses(node)):
            return "unclear"
        if len(guards) < len(self.out[node]):
            return "mixed"
        return self._choice(node, exclusive(guards, self.parameters(node)))

    def _choice(self, node: str, apart: bool | None) -> SplitKind:
        if not self.chooses(node):
            return "choice" if apart is None else "exclusive" if apart else "inclusive"
        said = self.gateways[node].kind
        if apart is None:
            return said if self.trusted(node) else "choice"
        if apart == (said == "exclusive"):
            return said
        return "choice" if apart else "unclear"


@dataclass(slots=True)
class Part:
    """A branch of a fork or choice: its block, the links that lead into it, its alphabetically first task."""

    first: str
    links: tuple[Link, ...]
    block: Block


@dataclass(slots=True, eq=False)
class Edge:
    """A block between two nodes. `conditional`: what leads into it is not always taken when its source is left."""

    source: Node
    target: Node
    links: tuple[Link, ...] = ()  # out of the source
    block: Block = EMPTY
    conditional: bool = False
    first: str = ""
    depth: int = 0
    parts: tuple[Part, ...] = ()  # where the block is nothing but branches of the source


def block_tree(level: Workflow) -> Block | None:
    """The block structure of a level; None if it is not block-structured.

    It does not depend on the order of declaration. None too where a task is off every path from START to END, a loop
    leaves it open whether it goes back or on, links contradict their gateway, or blocks nest deeper than MAX_NESTING.
    """
    edges = reduced(level)
    whole = len(edges) == 1 and (edges[0].source, edges[0].target) == ((START, 1), (END, 0))
    return edges[0].block if whole and not edges[0].conditional else None


@lru_cache(maxsize=128)
def reduced(level: Workflow) -> tuple[Edge, ...]:
    """The edges to which the control flow of a level reduces, as the head of this module tells. Not to be changed."""
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
        for name in flow.nodes[1:-1]:
            task = name not in flow.gateways
            block = Block("task", name) if task else EMPTY
            self._add(Edge((name, 0), (name, 1), block=block, first=name if task else ""))
        for link in (link for links in flow.out.values() for link in links):
            picked = len(flow.out[link.source]) > 1 and flow.chooses(link.source)
            conditional = picked or link.guard is not None
            self._add(Edge((link.source, 1), (link.target, 0), (link,), conditional=conditional))

    def run(self) -> None:
        while self.waiting:
            while self.waiting:
                node = self.waiting.popleft()
                if not self._sequence(node):
                    self._branches(node)
            for node in self.out:
                if self._loop(node):
                    break

    def _add(self, edge: Edge) -> None:
        self.out[edge.source].append(edge)
        self.into[edge.target].append(edge)
        self.waiting.extend((edge.source, edge.target))

    def _remove(self, *edges: Edge) -> None:
        for edge in edges:
            self.out[edge.source].remove(edge)
            self.into[edge.target].remove(edge)

    def _sequence(self, node: Node) -> bool:
        """Join the only edge into a node with the only edge out of it."""
        if len(self.into[node]) != 1 or len(self.out[node]) != 1:
            return False
        before, after = self.into[node][0], self.out[node][0]
        if after.conditional or before.source == after.target:
            return False
        self._remove(before, after)
        block = _in_sequence(before.block, after.block)
        first = min(filter(None, (before.first, after.first)), default="")
        parts = before.parts if block is before.block else ()
        depth = max(before.depth, after.depth)
        self._add(Edge(before.source, after.target, before.links, block, before.conditional, first, depth, parts))
        return True

    def _branches(self, node: Node) -> None:
        """Join the edges from a node that lead to one other."""
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
        whole = len(group) == len(self.out[node])
        kind = self._kind(parts, always)
        if kind == "parallel" and self._merges(target):
            return
        children, ways = tuple(part.block for part in parts), tuple(part.links for part in parts)
        first = next((part.first for part in parts if part.first), "")
        links = tuple(link for part in parts for link in part.links)
        self._remove(*group)
        block = Block(kind, "", children, node[0], ways)
        self._add(Edge(node, target, links, block, not (whole or any(always)), first, depth, tuple(parts)))

    def _kind(self, parts: list[Part], always: list[bool]) -> BlockKind:
        if any(always):
            return "parallel" if all(always) else "inclusive"
        pairs = ((a, b) for one, other in combinations(parts, 2) for a in one.links for b in other.links)
        answers = {self.flow.together(a, b) for a, b in pairs}
        return "inclusive" if True in answers else "choice" if None in answers else "exclusive"

    def _merges(self, target: Node) -> bool:
        """Whether a node says of itself that it awaits one branch only, so that no fork can end there."""
        gateway = self.flow.gateways.get(target[0])
        return gateway is not None and gateway.role == "join" and gateway.kind == "exclusive"

    def _loop(self, node: Node) -> bool:
        """Fold the way back from a node to where the block before it begins."""
        if len(self.into[node]) != 1 or self.flow.split(node[0]) != "exclusive":
            return False
        body = self.into[node][0]
        back = [edge for edge in self.out[node] if edge.target == body.source and edge.conditional]
        on = [edge for edge in self.out[node] if edge.target != body.source]
        depth = 1 + max(edge.depth for edge in (body, *back))
        alone = len(self.out[body.source]) == 1 and not body.conditional
        if len(back) != 1 or not on or not alone or body.source == node or depth > MAX_NESTING:
            return False
        redo = () if back[0].block == EMPTY else (back[0].block,)
        block = Block("loop", "", (body.block, *redo), node[0], ((), back[0].links)[: 1 + len(redo)])
        first = min(filter(None, (body.first, back[0].first)), default="")
        self._remove(body, back[0])
        self._add(Edge(body.source, node, body.links, block, False, first, depth))
        on[0].conditional = len(on) > 1
        return True


def _in_sequence(before: Block, after: Block) -> Block:
    """Both blocks one after the other; sequences in sequences are laid open."""
    steps = [block.children if block.kind == "sequence" else (block,) for block in (before, after)]
    flat = steps[0] + steps[1]
    return flat[0] if len(flat) == 1 else Block("sequence", "", flat)


class Regions:
    """What lies between a node and the place where all ways out of it meet again (its immediate post-dominator)."""

    def __init__(self, flow: ControlFlow) -> None:
        self.flow = flow
        self.after = {node: [link.target for link in links] for node, links in flow.out.items()}
        self.before = {node: [link.source for link in links] for node, links in flow.into.items()}
        self.openers = _dominators(self.after, self.before, START)
        self.closers = _dominators(self.before, self.after, END)

    def end(self, node: str) -> str | None:
        """Where all ways out of the node meet again; None where END cannot be reached, or the node is END."""
        strict = self.closers.get(node, frozenset()) - {node}
        return max(strict, key=lambda one: len(self.closers[one]), default=None)

    def repeats(self, node: str) -> bool:
        """Whether a way out of the node comes back to it before all of them meet: it repeats or leaves a loop."""
        return node in reached(self.after, self.after[node], self.end(node))

    def inside(self, node: str) -> frozenset[str] | None:
        """The nodes up to where its ways meet; None where ways lead back, in from elsewhere, or nowhere."""
        end = self.end(node)
        found = reached(self.after, self.after[node], end)
        entered = all(one in self.closers and node in self.openers.get(one, ()) for one in found)
        return None if end is None or node in found or not entered else found

    def fork(self, node: str) -> frozenset[str] | None:
        """The nodes between a fork and its join; None where no two branches are apart, or one may pass the join by."""
        found, end = self.inside(node), self.end(node)
        heads = sorted(set(self.after[node]) - {end or END})
        ahead = {head: reached(self.after, [head], end) for head in heads}
        apart = any(a not in ahead[b] and b not in ahead[a] for a, b in combinations(heads, 2))
        if found is None or not apart:
            return None
        passing = any(self.flow.split(one) not in ("", "parallel") and self.end(one) == end for one in found)
        return None if passing and frozenset.intersection(*ahead.values()) else found

    def head(self, task: str) -> str:
        """The node that splits right after a task: the task, or a gateway behind it to which nothing else leads."""
        node = task
        while [link.guard for link in self.flow.out[node]] == [None]:
            after = self.after[node][0]
            if after not in self.flow.gateways or len(self.before[after]) != 1:
                break
            node = after
        return node

    def loop_after(self, task: str) -> frozenset[str] | None:
        """The nodes of the one loop whose single entry only this task leads to, through gateways.

        None where there is no such loop, or several decisions lead back to the entry: these may be several loops.
        """
        found = [loop for loop in self.loops if task not in loop and self._leading_to(loop) == {task}]
        return found[0] if len(found) == 1 else None

    @cached_property
    def loops(self) -> list[frozenset[str]]:
        """The nodes of every loop; those of one inside another are of the outer one."""
        from networkx import DiGraph, strongly_connected_components

        graph: DiGraph[str] = DiGraph([(node, one) for node, found in self.after.items() for one in found])
        parts = [frozenset(part) for part in strongly_connected_components(graph)]
        return [part for part in parts if any(node in self.after[node] or len(part) > 1 for node in part)]

    def _leading_to(self, loop: frozenset[str]) -> set[str]:
        """The tasks and START from which the loop is entered; none where its entry is not one, or not of one loop."""
        entries = [node for node in loop if not loop.issuperset(self.before[node])]
        if len(entries) != 1:
            return set()
        splits = [node for node in loop if self.flow.split(node)]
        again = [one for one in splits if entries[0] in reached(self.after, self.after[one], self.end(one))]
        waiting = [one for one in self.before[entries[0]] if one not in loop]
        for node in waiting:
            waiting += [one for one in self.before[node] if node in self.flow.gateways and one not in waiting]
        return {node for node in waiting if node not in self.flow.gateways} if len(again) <= 1 else set()


def reached(graph: Mapping[T, Iterable[T]], begin: Iterable[T], without: object = None) -> frozenset[T]:
    """The nodes of a graph to which a path leads from those where it begins, and they; none that passes `without`."""
    waiting = [node for node in begin if node != without]
    found = set(waiting)
    while waiting:
        for after in graph.get(waiting.pop(), ()):
            if after != without and after not in found:
                found.add(after)
                waiting.append(after)
    return frozenset(found)


def _dominators(
    after: Mapping[str, list[str]], before: Mapping[str, list[str]], root: str
) -> dict[str, frozenset[str]]:
    """For every node behind the root, the nodes that all paths to it pass, itself included."""
    behind = reached(after, [root])
    found = dict.fromkeys(sorted(behind), behind) | {root: frozenset({root})}
    waiting = deque(after[root])
    while waiting:
        node = waiting.popleft()
        ways = [found[one] for one in before[node] if one in found]
        passed = frozenset.intersection(*ways) | {node}
        if node != root and passed != found[node]:
            found[node] = passed
            waiting.extend(after[node])
    return found
