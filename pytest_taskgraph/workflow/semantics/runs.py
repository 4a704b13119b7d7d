"""The runs of a level: every resolution of its choices that can hold together, and which tasks share a run.

A parameter keeps its value through a run unless a task has an effect on it or a loop depends on it; for those, and for
prose, guards of different choices that speak of the same thing are undecided where it matters. Nothing is said of
situations in which a choice has no way open.

Where the level is block-structured, the lowest common block of the tasks tells: never in a sequence or a loop, always
in a fork or a choice that can take both ways, provided the guards on the way to both can hold in one run. The
irreducible parts that `reduced_edges` leaves are taken run by run: every resolution of their choices, up to MAX_RUNS.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import chain, combinations, islice

from ..bounds import record_bound
from ..graph import reachable_from
from ..guards.solver import Comparison, Guard, Not, Or, Otherwise, comparisons, parse_guard, satisfiable
from ..guards.syntax import rename_parameters
from ..model import START, Link, Parameter, Workflow
from .block_structure import Block, Node, reduced_edges
from .control_flow import ControlFlow

Need = tuple[tuple[Link, ...], bool]  # one of these links out of one node is taken, or none of them is


class JointChoices:
    """Which ways out of several nodes of a level one run can take; at `loops`, it repeats or leaves a loop."""

    def __init__(self, flow: ControlFlow, loops: set[str]) -> None:
        self.flow = flow
        own = [
            Parameter(f"{task.name}.{one.name}", domain=one.domain)
            for task in flow.level.tasks
            for one in task.parameters
        ]
        self.domains = {one.name: one.domain for one in reversed([*flow.level.parameters, *own])}
        deciding = [self._formula(link) for node in sorted(loops) for link in flow.out[node]]
        self.unsteady = {*_names(*deciding), *_affected(flow.level)}
        self.answers: dict[frozenset[Need], bool | None] = {}
        whole = {
            node: Or(tuple(map(self._formula, links))) for node, links in flow.out.items() if self._measured(links)
        }
        self.gaps = {
            node: _names(guard) for node, guard in whole.items() if self._satisfiable([Not(guard)]) is not False
        }
        self.stuck = any(self._satisfiable([guard]) is not True for guard in whole.values()) or any(
            not one.isdisjoint(other) for one, other in combinations(self.gaps.values(), 2)
        )

    def possible(self, needs: frozenset[Need]) -> bool | None:
        """Whether some run needs just that; None where it hangs on values that may change, or on what prose means."""
        guarded = frozenset(need for need in needs if all(link.guard is not None for link in need[0]))
        if guarded not in self.answers:
            self.answers[guarded] = self._possible(guarded)
        return self.answers[guarded]

    def _possible(self, needs: frozenset[Need]) -> bool | None:
        apart = [self._need(need, apart=True) for need in needs]
        if self._satisfiable(apart) is False:
            return False
        steady = [self._need(need) for need in needs]
        nodes, names = {links[0].source for links, _ in needs}, _names(*steady)
        gap = any(node not in nodes and not names.isdisjoint(found) for node, found in self.gaps.items())
        return None if gap or self._untold(needs) or self._satisfiable(steady) is not True else True

    def _untold(self, needs: frozenset[Need]) -> bool:
        """Whether two ways out of one node are needed that may exclude each other."""
        taken = [links for links, positive in needs if positive]
        pairs = [(a, b) for a, b in combinations(taken, 2) if a[0].source == b[0].source and set(a).isdisjoint(b)]
        return any(not any(self.flow.together(one, other) for one in a for other in b) for a, b in pairs)

    def _need(self, need: Need, apart: bool = False) -> Guard:
        either = Or(tuple(self._formula(link, apart) for link in need[0]))
        return either if need[1] else Not(either)

    def _formula(self, link: Link, apart: bool = False) -> Guard:
        """The guard of a link over names of the whole level; `apart`: unsteady ones over names of its node alone."""
        own = {one.name for one in self.flow.parameters(link.source)} - {one.name for one in self.flow.level.parameters}

        def name(found: str) -> str:
            found = f"{link.source}.{found}" if found in own else found
            return f"{found}\0{link.source}" if apart and (found in self.unsteady or found[:1] == " ") else found

        others = tuple(one.guard for one in self.flow.out[link.source] if one.guard is not None)
        return rename_parameters(_plain(link.guard or "", others), name)

    def _measured(self, links: list[Link]) -> bool:
        """Whether guards alone tell if a way is open: none of them is prose, or "otherwise"."""
        guards = [parse_guard(link.guard or "") for link in links]
        return bool(guards) and all(guard is not None and not isinstance(guard, Otherwise) for guard in guards)

    def _satisfiable(self, guards: list[Guard]) -> bool | None:
        named = [Parameter(name, domain=self.domains.get(name.split("\0")[0])) for name in sorted(_names(*guards))]
        return satisfiable(guards, [*named, *self.flow.level.parameters])


def _plain(guard: str, beside: tuple[str, ...]) -> Guard:
    """The guard, prose as a truth of its own, "otherwise" as none of those beside it."""
    parsed = parse_guard(guard)
    if isinstance(parsed, Otherwise):
        return Not(Or(tuple(_plain(one, ()) for one in beside if not isinstance(parse_guard(one), Otherwise))))
    return parsed or Comparison(" " + " ".join(guard.split()), "=", "true")


def _names(*guards: Guard) -> set[str]:
    return {comparison.parameter for guard in guards for comparison in comparisons(guard)}


def _affected(level: Workflow) -> Iterator[str]:
    """The names of the parameters on which tasks have effects, at any depth."""
    waiting = [level]
    while waiting:
        tasks = waiting.pop().tasks
        waiting.extend(task.subworkflow for task in tasks if task.subworkflow is not None)
        for task in tasks:
            yield from (name for one in task.effects for name in (one.parameter, f"{task.name}.{one.parameter}"))


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
        self.edges = reduced_edges(level)
        self.paths = {task: (i, path) for i, edge in enumerate(self.edges) for task, path in _paths(edge.block)}
        self.out: dict[Node, list[int]] = {}
        self.into: dict[Node, list[int]] = {}
        for i, edge in enumerate(self.edges):
            self.out.setdefault(edge.source, []).append(i)
            self.into.setdefault(edge.target, []).append(i)
        self.behind = reachable_from(
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
                record_bound("steps")
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
