"""The runs of a level: every resolution of its choices, and which two tasks one of them holds in no order.

Where the level is block-structured, the lowest common block of the tasks tells: never in a sequence or a loop, always
in a fork or a choice that can take both ways, provided the guards on the way to both can hold in one run. The
irreducible parts that `blocks.reduced` leaves are taken run by run: every resolution of their choices, up to MAX_RUNS.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import chain, combinations, islice

from .blocks import Block, Node, reduced
from .bounds import reach
from .control_flow import ControlFlow
from .graph import reached
from .joint_choices import JointChoices, Need
from .model import START, Workflow

MAX_RUNS = 1000
"""How many resolutions of the choices in irreducible parts are looked at; beyond, all is undecided there."""

Step = tuple[Block, int]  # a block, and which of its children


@dataclass(frozen=True, slots=True)
class _Run:
    """One resolution of the choices between the edges of a level; sets of edges are bits of a number."""

    edges: int  # those that it takes
    needs: frozenset[Need]  # what that needs
    before: dict[Node, int]  # for every node, the edges that come before it


class Runs:
    """The runs of a level. None stands for what its guards, or its structure, leave undecided."""

    def __init__(self, level: Workflow) -> None:
        self.flow = ControlFlow(level)
        self.edges = reduced(level)
        self.paths = {task: (i, path) for i, edge in enumerate(self.edges) for task, path in _paths(edge.block)}
        self.out: dict[Node, list[int]] = {}
        self.into: dict[Node, list[int]] = {}
        for i, edge in enumerate(self.edges):
            self.out.setdefault(edge.source, []).append(i)
            self.into.setdefault(edge.target, []).append(i)
        self.behind = reached(
            {node: [self.edges[i].target for i in out] for node, out in self.out.items()}, [(START, 1)]
        )
        self.choices = JointChoices(self.flow, {block.node for edge in self.edges for block in _loops(edge.block)})
        self.too_many = False
        self.runs = None if self.choices.stuck else self._runs()

    def parallel(self, a: str, b: str) -> bool | None:
        """Whether some run holds both tasks with neither having to come before the other; None if undecided."""
        (one, path), (other, further) = self.paths[a], self.paths[b]
        if a == b:
            return False
        if not self.behind.issuperset((self.edges[one].source, self.edges[other].source)):
            return None
        if one == other and _common(path, further).kind in ("sequence", "loop", "exclusive"):
            return False
        if self.runs is None:
            if self.too_many:
                reach("steps")
            return None
        needs = {(block.ways[child], True) for block, child in path + further if block.ways and block.ways[child]}
        return _any(self.choices.possible(run.needs | needs) for run in self.runs if self._unordered(run, one, other))

    def _unordered(self, run: _Run, one: int, other: int) -> bool:
        """Whether the run takes both edges, and neither comes before the other."""
        first, second = run.before[self.edges[one].source], run.before[self.edges[other].source]
        return bool(run.edges >> one & run.edges >> other & ~(second >> one) & ~(first >> other) & 1)

    def _runs(self) -> list[_Run] | None:
        """Every resolution of the choices between the edges; None where there is a cycle, or if there are too many."""
        nodes = self._sorted()
        states: list[tuple[int, frozenset[Need]]] = [(0, frozenset())]
        for node in nodes:
            states = list(islice((after for state in states for after in self._visit(node, *state)), MAX_RUNS + 1))
        self.too_many = len(states) > MAX_RUNS
        if not nodes or self.too_many:
            return None
        runs = [_Run(edges, needs, self._before(nodes, edges)) for edges, needs in states]
        return None if any(self._clashes(run) for run in runs) else runs

    def _sorted(self) -> list[Node]:
        """The nodes behind START, each after all that lead to it; none where there is a cycle."""
        ahead = Counter(edge.target for edge in self.edges if edge.source in self.behind)
        found: list[Node] = [(START, 1)]
        for node in found:
            for i in self.out.get(node, ()):
                target = self.edges[i].target
                ahead[target] -= 1
                if not ahead[target]:
                    found.append(target)
        return found if len(found) == len(self.behind) else []

    def _visit(self, node: Node, edges: int, needs: frozenset[Need]) -> Iterator[tuple[int, frozenset[Need]]]:
        """The run so far, gone on by every set of edges that can be taken out of the node."""
        if node != (START, 1) and not edges & _bits(self.into[node]):
            yield edges, needs
            return
        conditional = [i for i in self.out.get(node, ()) if self.edges[i].conditional]
        always = _bits(i for i in self.out.get(node, ()) if not self.edges[i].conditional)
        one = self.flow.split(node[0]) == "exclusive"
        for taken in _subsets(conditional, 0 if always or not conditional else 1, 1 if one else len(conditional)):
            further = {(self.edges[i].links, True) for i in taken}
            if not one:
                further |= {(self.edges[i].links, False) for i in conditional if i not in taken}
            yield edges | always | _bits(taken), needs | further

    def _before(self, nodes: list[Node], edges: int) -> dict[Node, int]:
        before: dict[Node, int] = {}
        for node in nodes:
            came = [i for i in self.into.get(node, ()) if edges >> i & 1]
            before[node] = _bits(came)
            for i in came:
                before[node] |= before[self.edges[i].source]
        return before

    def _clashes(self, run: _Run) -> bool:
        """Whether two branches come to a gateway that awaits one."""
        merges = [name for name, one in self.flow.gateways.items() if (one.role, one.kind) == ("join", "exclusive")]
        return any((run.edges & _bits(self.into.get((name, 0), ()))).bit_count() > 1 for name in merges)


def _paths(block: Block, path: tuple[Step, ...] = ()) -> Iterator[tuple[str, tuple[Step, ...]]]:
    """Every task in the block with the blocks that hold it, from the outermost."""
    if block.kind == "task":
        yield block.task, path
    for i, child in enumerate(block.children):
        yield from _paths(child, (*path, (block, i)))


def _common(path: tuple[Step, ...], further: tuple[Step, ...]) -> Block:
    """The lowest block that holds the tasks at the ends of both paths."""
    return next(one[0] for one, other in zip(path, further, strict=False) if one[1] != other[1])


def _loops(block: Block) -> Iterator[Block]:
    if block.kind == "loop":
        yield block
    for child in block.children:
        yield from _loops(child)


def _subsets(items: list[int], least: int, most: int) -> Iterator[tuple[int, ...]]:
    return chain.from_iterable(combinations(items, size) for size in range(least, min(most, len(items)) + 1))


def _bits(items: Iterable[int]) -> int:
    bits = 0
    for item in items:
        bits |= 1 << item
    return bits


def _any(answers: Iterable[bool | None]) -> bool | None:
    """True if one is; else None if one is undecided."""
    undecided = False
    for answer in answers:
        if answer:
            return True
        undecided = undecided or answer is None
    return None if undecided else False
