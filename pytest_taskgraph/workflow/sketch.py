"""A coarse picture of all runs: single passes through a level, where only guards that hold still decide.

A variable holds still if no task changes it and no loop hangs on it. Where a choice hangs on others, a pass takes all
its ways, so what no pass runs together no run does (`apart`), or any one of them, so what every pass runs every run
does (`certain`). Choices that cannot keep a task asked about from running are passed over by all their ways.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator
from dataclasses import dataclass, field
from functools import lru_cache

from .bounds import reach
from .effects import fixed_step
from .graph import reached
from .guard_cells import Constant, endless
from .guards import comparisons, covers, exclusive, holding
from .loop_nest import Part, forward, loops
from .model import START, Link, Workflow
from .regions import regions_of
from .variables import Variables, Way

MAX_PASSES = 2000
"""How many passes, unfinished ones counted, are looked at for one answer about a small level."""

MAX_WORK = 12_000
"""How many tasks the passes for one answer may go by in all; of large levels, fewer passes are looked at."""


Values = dict[str, tuple[Constant, ...]]


@dataclass(slots=True)
class Pass:
    """A pass so far: what has run, and the links taken. `missing` decides on how it goes on, with so many `options`."""

    ran: set[str] = field(default_factory=set)
    links: set[Link] = field(default_factory=set)
    missing: str = ""
    options: int = 0
    void: bool = False  # it does not stand for a run


class Sketch:
    """The passes through a level that matter to whether some tasks run."""

    def __init__(self, known: Variables, found: Collection[Part], tasks: Collection[str], widely: bool) -> None:
        self.known, self.tasks, self.widely = known, frozenset(tasks), widely
        self.forward = {node: frozenset(links) for node, links in forward(known.flow, found).items()}
        self.order = [node for part in found for node in _flat(part)]
        self.deciding = deciding(known, tasks)
        around = [loop for loop in loops(found) if self.tasks.isdisjoint(loop.nodes)]
        self.back = {link for loop in around for link in known.flow.into[loop.head] if link.source in loop.nodes}
        turning = {node for loop in loops(found) for node in loop.nodes if _turns(known, node, loop)}
        self.still = known.relevant - known.changed - known.read(turning)

    def passes(self, values: Values) -> Iterator[frozenset[str] | None]:
        """What runs in every pass; None, and no more, beyond the bound."""
        waiting: list[dict[str, Constant | int]] = [{}]
        for _ in range(min(MAX_PASSES, MAX_WORK // max(1, len(self.known.level.tasks)))):
            if not waiting:
                return
            told = waiting.pop()
            found = self._pass(told)
            if found.missing:
                options = values.get(found.missing) or range(found.options)
                waiting.extend({**told, found.missing: option} for option in options)
            elif not found.void:
                yield frozenset(found.ran)
        reach("steps")
        yield None

    def _pass(self, told: dict[str, Constant | int]) -> Pass:
        found = Pass()
        for node in self.order:
            if node != START and found.links.isdisjoint(self.known.flow.into[node]):
                if self.widely and node in self.tasks:
                    found.void = True  # no run that is asked about
                    return found
                continue
            found.ran.add(node)
            taken = self._taken(node, found, told)
            if found.missing:
                return found
            found.links.update(link for link in taken if link in self.forward[node])
            found.void = found.void or (not self.widely and not self.back.isdisjoint(taken))
        return found

    def _taken(self, node: str, found: Pass, told: dict[str, Constant | int]) -> list[Link]:
        ways = self.known.ways[node]
        links = [way.link for way in ways]
        if node not in self.deciding or self.known.flow.split(node) == "parallel":
            return links
        names = sorted({one.parameter for way in ways if way.guard is not None for one in comparisons(way.guard)})
        if any(way.vague for way in ways) or not self.still.issuperset(names) or not _guarded(ways):
            return links if self.widely else self._any(node, found, told)
        found.missing = next((name for name in names if name not in told), "")
        return [] if found.missing else self._open(node, {name: told[name] for name in names})

    def _open(self, node: str, values: dict[str, Constant | int]) -> list[Link]:
        ways = self.known.ways[node]
        guarded = [way for way in ways if way.guard is not None]
        answers = holding([way.guard for way in guarded if way.guard is not None], values)
        held = [way.link for way, holds in zip(guarded, answers, strict=True) if holds]
        clear = self.widely or len(held) < 2 or self.known.flow.split(node) in ("inclusive", "mixed")
        return [way.link for way in ways if way.guard is None] + (held if clear else [])

    def _any(self, node: str, found: Pass, told: dict[str, Constant | int]) -> list[Link]:
        """Those links that are surely taken, else the one that the pass is told to take."""
        ways = self.known.ways[node]
        sure = [way.link for way in ways if way.link.guard is None]
        if sure and _guarded(ways):
            return sure
        option = told.get(f" {node}")
        if not isinstance(option, int):
            found.missing, found.options = f" {node}", len(ways)
            return []
        return [ways[option].link]


def apart(known: Variables, found: Collection[Part], tasks: Collection[str], values: Values) -> bool:
    """Whether surely no run holds all of the tasks."""
    return not any(True for _ in Sketch(known, found, tasks, widely=True).passes(values))


def complete(known: Variables, nodes: Collection[str]) -> bool:
    """Whether at every one of the nodes a way is surely open, whatever the situation, and which ones is clear.

    Tasks among them must move variables that matter by fixed steps only, without end in their domain.
    """
    return all(_complete(known, node) for node in nodes)


@lru_cache(maxsize=4096)
def _complete(known: Variables, node: str) -> bool:
    guards = [way.link.guard for way in known.ways[node] if way.link.guard is not None]
    kind, parameters = known.flow.split(node), known.flow.parameters(node)
    for change in known.changes.get(node, ()):
        step = None if change.expression is None else fixed_step(change.expression, change.variable)
        domain = known.domains.get(change.variable)
        steady = step is not None and (domain is None or not step or endless(domain, step))
        if change.variable in known.relevant and not steady:
            return False
    if any(way.vague for way in known.ways[node]) or kind in ("unclear", "choice"):
        return False
    if not guards:
        return kind in ("", "parallel")
    clear = kind != "exclusive" or exclusive(guards, parameters) is True
    return clear and (kind == "mixed" or covers(guards, parameters) is True)


def certain(known: Variables, found: Collection[Part], task: str, values: Values) -> bool:
    """Whether the task surely runs in every situation, provided that all loops before it end."""
    return all(ran is not None and task in ran for ran in Sketch(known, found, [task], widely=False).passes(values))


def deciding(known: Variables, tasks: Collection[str]) -> frozenset[str]:
    """The nodes whose choice of a way can make one of the tasks run or not."""
    found = frozenset[str]().union(*(_avoiding(known.level, task) for task in tasks))
    return frozenset(node for node in found if len(known.ways[node]) > 1 or _guarded(known.ways[node]))


@lru_cache(maxsize=1024)
def _avoiding(level: Workflow, task: str) -> frozenset[str]:
    """The nodes from which a path leads to the task and another past it."""
    regions = regions_of(level)
    return frozenset(node for node in reached(regions.before, [task]) if not regions.closers.passes(node, task))


def _guarded(ways: Collection[Way]) -> bool:
    return any(way.link.guard is not None for way in ways)


def _turns(known: Variables, node: str, loop: Part) -> bool:
    """Whether a way out of a node leaves or repeats the loop."""
    return any(way.link.target == loop.head or way.link.target not in loop.nodes for way in known.ways[node])


def _flat(part: Part) -> Iterator[str]:
    if not part.loop:
        yield part.head
    for inner in part.inner:
        yield from _flat(inner)
