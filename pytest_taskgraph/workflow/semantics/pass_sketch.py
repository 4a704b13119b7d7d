"""Passes through a level: which nodes may run together, found without the values that tasks change.

A variable is constant if no task changes it and no loop depends on it. Where a choice depends on other variables, a
pass takes either all its ways, so that what no pass runs together no run does (`never_together`), or any one of them,
so that what every pass runs every run does (`always_runs`). Choices that cannot keep the task in question from running
are passed by all their ways.

Sets of nodes and of links are bits of numbers.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass, field
from functools import lru_cache, reduce
from operator import or_

from ..bounds import record_bound
from ..graph import reachable_from
from ..guards.cells import Constant
from ..guards.solver import Guard, evaluate_guards
from ..model import START, Link, Workflow
from .concurrency import regions_of
from .loop_nest import LoopPart, loops_in, parts_of
from .variables import Variables, Way, variables_of

MAX_PASSES = 2000
"""Largest number of passes, unfinished ones included, for one answer about a small level."""

MAX_SKETCH_WORK = 12_000
"""Largest total number of tasks in the passes for one answer; a large level gets fewer passes."""


Values = dict[str, tuple[Constant, ...]]


@dataclass(frozen=True, slots=True)
class SketchNode:
    """A node with its links.

    Args:
        name: Its name.
        into: The links into it.
        ways: Each link out of it.
        out: All of these.
        free: Those without a guard.
        guarded: Those with a guard that can be computed, with the guard.
        has_guard: True if a link out of it has a guard.
        forks: True if all links out of it are taken.
        names: The variables that decide which way is taken; None if a pass cannot know that.
        several: True if more than one guarded link may be taken.
    """

    name: str
    into: int
    ways: tuple[int, ...]
    out: int
    free: int
    guarded: tuple[tuple[int, Guard], ...]
    has_guard: bool
    forks: bool
    names: tuple[str, ...] | None
    several: bool


class Sketch:
    """What passes need to know about a level, whatever tasks are in question."""

    def __init__(self, level: Workflow, parts: Collection[LoopPart]) -> None:
        self.variables, self.parts = variables_of(level), parts
        self.numbers: dict[Link, int] = {}
        self.back_to = {loop.nodes: self._bits(_back_links(self.variables, loop)) for loop in loops_in(parts)}
        loop_controls = {
            node for loop in loops_in(parts) for node in loop.nodes if _controls_loop(self.variables, node, loop)
        }
        self.still = self.variables.relevant - self.variables.changed - self.variables.read(loop_controls)
        self.nodes = [self._node(node) for part in parts for node in _nodes_of(part)]
        self.bits = {node.name: 1 << i for i, node in enumerate(self.nodes)}
        self.forward = ~_union(self.back_to.values())

    def _bits(self, links: Iterable[Link]) -> int:
        return _union(1 << self.numbers.setdefault(link, len(self.numbers)) for link in links)

    def _node(self, node: str) -> SketchNode:
        flow, ways = self.variables.flow, self.variables.ways[node]
        links = tuple(self._bits([way.link]) for way in ways)
        names = self.variables.read([node])
        has_guard = _has_guard(ways)
        known = has_guard and not any(way.vague for way in ways) and self.still.issuperset(names)
        return SketchNode(
            node,
            self._bits(flow.into[node]),
            links,
            self._bits(way.link for way in ways),
            self._bits(way.link for way in ways if way.link.guard is None),
            tuple((link, way.guard) for link, way in zip(links, ways, strict=True) if way.guard is not None),
            has_guard,
            flow.split(node) == "parallel",
            tuple(sorted(names)) if known else None,
            flow.split(node) in ("inclusive", "mixed"),
        )


@dataclass(slots=True)
class Pass:
    """A pass so far: how many nodes were examined, the nodes that ran, the links taken, what was decided.

    `missing` is the decision that it needs to continue, with so many `options`.
    """

    examined: int = 0
    ran: int = 0
    links: int = 0
    decisions: dict[str, Constant | int] = field(default_factory=dict)
    missing: str = ""
    options: int = 0
    void: bool = False  # it does not represent a run

    def decide(self, option: Constant | int) -> Pass:
        """Return the pass with an option for the decision that it needs."""
        decisions = {**self.decisions, self.missing: option}
        return Pass(self.examined, self.ran, self.links, decisions, void=self.void)


class PassSearch:
    """The passes through a level that decide whether some tasks run."""

    def __init__(self, sketch: Sketch, tasks: Collection[str], widely: bool) -> None:
        self.sketch, self.widely = sketch, widely
        self.deciding = deciding_nodes(sketch.variables.level, tasks)
        self.required = frozenset(tasks) if widely else frozenset()
        around = [nodes for nodes in sketch.back_to if not widely and nodes.isdisjoint(tasks)]
        self.back = _union(sketch.back_to[nodes] for nodes in around)

    def passes(self, values: Values) -> Iterator[int | None]:
        """Yield the nodes that run in each pass; None, and no more, beyond the bound."""
        waiting = [Pass()]
        for _ in range(min(MAX_PASSES, MAX_SKETCH_WORK // max(1, len(self.sketch.variables.level.tasks)))):
            if not waiting:
                return
            current = waiting.pop()
            self._continue(current)
            if current.missing:
                waiting.extend(map(current.decide, values.get(current.missing) or range(current.options)))
            elif not current.void:
                yield current.ran
        record_bound("steps")
        yield None

    def _continue(self, current: Pass) -> None:
        """Examine the remaining nodes, up to one where a decision is missing."""
        for node in self.sketch.nodes[current.examined :]:
            if current.links & node.into or node.name == START:
                taken = node.out
                if not node.forks and node.name in self.deciding:
                    taken = self._taken(node, current)
                    if current.missing:
                        return
                current.ran |= self.sketch.bits[node.name]
                current.links |= taken & self.sketch.forward
                current.void = current.void or bool(self.back & taken)
            elif node.name in self.required:
                current.void = True  # a run without the task is not asked about
                return
            current.examined += 1

    def _taken(self, node: SketchNode, current: Pass) -> int:
        if node.names is None:
            return node.out if self.widely else self._any(node, current)
        current.missing = next((name for name in node.names if name not in current.decisions), "")
        if current.missing:
            return 0
        truths = evaluate_guards([guard for _, guard in node.guarded], current.decisions)
        if not self.widely and not node.several and sum(truths) > 1:
            return node.free
        return node.free | _union(link for (link, _), holds in zip(node.guarded, truths, strict=True) if holds)

    def _any(self, node: SketchNode, current: Pass) -> int:
        """Return the links that are surely taken, else the link that the pass has decided to take."""
        if node.free and node.has_guard:
            return node.free
        option = current.decisions.get(f" {node.name}")
        if not isinstance(option, int):
            current.missing, current.options = f" {node.name}", len(node.ways)
            return 0
        return node.ways[option]


def never_together(level: Workflow, tasks: Collection[str], values: Values) -> bool:
    """Return True if surely no run holds all of the tasks. The level has parts (`parts_of`)."""
    return not any(True for _ in PassSearch(_sketch_of(level), tasks, widely=True).passes(values))


def always_runs(level: Workflow, task: str, values: Values) -> bool:
    """Return True if the task surely runs in every situation, provided that all loops before it end.

    The level has parts (`parts_of`).
    """
    sketch = _sketch_of(level)
    passes = PassSearch(sketch, [task], widely=False).passes(values)
    return all(ran is not None and ran & sketch.bits.get(task, 0) for ran in passes)


@lru_cache(maxsize=128)
def _sketch_of(level: Workflow) -> Sketch:
    return Sketch(level, parts_of(level) or ())


def deciding_nodes(level: Workflow, tasks: Collection[str]) -> frozenset[str]:
    """Return the nodes whose choice of a way can decide whether one of the tasks runs."""
    return frozenset[str]().union(*(_choices_that_can_avoid(level, task) for task in tasks))


@lru_cache(maxsize=1024)
def _choices_that_can_avoid(level: Workflow, task: str) -> frozenset[str]:
    """Return the nodes with a choice of ways from which a path leads to the task and another past it."""
    regions, ways = regions_of(level), variables_of(level).ways
    return frozenset(
        node
        for node in reachable_from(regions.before, [task])
        if not regions.closers.passes(node, task) and (len(ways[node]) > 1 or _has_guard(ways[node]))
    )


def _has_guard(ways: Iterable[Way]) -> bool:
    return any(way.link.guard is not None for way in ways)


def _union(sets: Iterable[int]) -> int:
    return reduce(or_, sets, 0)


def _back_links(variables: Variables, loop: LoopPart) -> list[Link]:
    return [link for link in variables.flow.into[loop.head] if link.source in loop.nodes]


def _controls_loop(variables: Variables, node: str, loop: LoopPart) -> bool:
    """Return True if a way out of a node leaves or repeats the loop."""
    return any(way.link.target == loop.head or way.link.target not in loop.nodes for way in variables.ways[node])


def _nodes_of(part: LoopPart) -> Iterator[str]:
    if not part.loop:
        yield part.head
    for inner in part.inner:
        yield from _nodes_of(inner)
