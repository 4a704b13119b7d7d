"""The runs of a level: every resolution of its choices that can hold together, and which tasks share a run.

A parameter keeps its value through a run unless a task has an effect on it or a loop depends on it; for those, and for
prose, guards of different choices about the same thing are undecided where it matters. Situations in which a choice has
no way open are not covered.

Where the level is block-structured, the lowest common block of the tasks decides: never in a sequence or a loop, always
in a fork or a choice that can take both ways, provided the guards on the way to both can hold in one run. The
irreducible parts that `reduced_edges` leaves are decided run by run: every resolution of their choices, up to MAX_RUNS.
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

Need = tuple[tuple[Link, ...], bool]  # links out of a node, and whether some or none of them is taken


class JointChoices:
    """The combinations of ways out of several nodes that a run can take; at `loops`, it repeats or leaves a loop."""

    def __init__(self, flow: ControlFlow, loops: set[str]) -> None:
        self.flow = flow
        own_parameters = [
            Parameter(f"{task.name}.{parameter.name}", domain=parameter.domain)
            for task in flow.level.tasks
            for parameter in task.parameters
        ]
        self.domains = {
            parameter.name: parameter.domain for parameter in reversed([*flow.level.parameters, *own_parameters])
        }
        deciding = [self._formula(link) for node in sorted(loops) for link in flow.out[node]]
        self.unsteady = {*_parameter_names(*deciding), *_changed_parameters(flow.level)}
        self.answers: dict[frozenset[Need], bool | None] = {}
        any_way = {
            node: Or(tuple(map(self._formula, links))) for node, links in flow.out.items() if self._is_decidable(links)
        }
        self.gaps = {
            node: _parameter_names(guard)
            for node, guard in any_way.items()
            if self._satisfiable([Not(guard)]) is not False
        }
        self.stuck = any(self._satisfiable([guard]) is not True for guard in any_way.values()) or any(
            not first.isdisjoint(second) for first, second in combinations(self.gaps.values(), 2)
        )

    def possible(self, needs: frozenset[Need]) -> bool | None:
        """Return True if some run meets just these needs; None if that depends on changing values or on prose."""
        guarded = frozenset(need for need in needs if all(link.guard is not None for link in need[0]))
        if guarded not in self.answers:
            self.answers[guarded] = self._possible(guarded)
        return self.answers[guarded]

    def _possible(self, needs: frozenset[Need]) -> bool | None:
        separate_formulas = [self._need(need, separate=True) for need in needs]
        if self._satisfiable(separate_formulas) is False:
            return False
        steady = [self._need(need) for need in needs]
        nodes, names = {links[0].source for links, _ in needs}, _parameter_names(*steady)
        gap = any(node not in nodes and not names.isdisjoint(gap_names) for node, gap_names in self.gaps.items())
        return None if gap or self._may_conflict(needs) or self._satisfiable(steady) is not True else True

    def _may_conflict(self, needs: frozenset[Need]) -> bool:
        """Return True if two ways out of one node are needed that may exclude each other."""
        taken = [links for links, positive in needs if positive]
        pairs = [(a, b) for a, b in combinations(taken, 2) if a[0].source == b[0].source and set(a).isdisjoint(b)]
        return any(not any(self.flow.together(first, second) for first in a for second in b) for a, b in pairs)

    def _need(self, need: Need, separate: bool = False) -> Guard:
        either = Or(tuple(self._formula(link, separate) for link in need[0]))
        return either if need[1] else Not(either)

    def _formula(self, link: Link, separate: bool = False) -> Guard:
        """Return the guard of a link over names of the whole level.

        If `separate` is set, the names of unsteady variables become names of the link's node alone.
        """
        own = {parameter.name for parameter in self.flow.parameters(link.source)} - {
            parameter.name for parameter in self.flow.level.parameters
        }

        def node_name(parameter: str) -> str:
            name = f"{link.source}.{parameter}" if parameter in own else parameter
            alone = separate and (name in self.unsteady or name[:1] == " ")
            return f"{name}\0{link.source}" if alone else name

        others = tuple(beside.guard for beside in self.flow.out[link.source] if beside.guard is not None)
        return rename_parameters(_guard_formula(link.guard or "", others), node_name)

    def _is_decidable(self, links: list[Link]) -> bool:
        """Return True if guards alone decide whether a way is open: none of them is prose, or "otherwise"."""
        guards = (None if link.guard is None else parse_guard(link.guard) for link in links)
        return bool(links) and all(guard is not None and not isinstance(guard, Otherwise) for guard in guards)

    def _satisfiable(self, guards: list[Guard]) -> bool | None:
        parameters = [
            Parameter(name, domain=self.domains.get(name.split("\0")[0])) for name in sorted(_parameter_names(*guards))
        ]
        return satisfiable(guards, [*parameters, *self.flow.level.parameters])


def _guard_formula(guard: str, beside: tuple[str, ...]) -> Guard:
    """Return the guard with prose as a proposition of its own, and "otherwise" as none of those beside it."""
    parsed = parse_guard(guard)
    if isinstance(parsed, Otherwise):
        return Not(
            Or(tuple(_guard_formula(other, ()) for other in beside if not isinstance(parse_guard(other), Otherwise)))
        )
    return parsed or Comparison(" " + " ".join(guard.split()), "=", "true")


def _parameter_names(*guards: Guard) -> set[str]:
    return {comparison.parameter for guard in guards for comparison in comparisons(guard)}


def _changed_parameters(level: Workflow) -> Iterator[str]:
    """Yield the names of the parameters on which tasks have effects, at any depth."""
    waiting = [level]
    while waiting:
        tasks = waiting.pop().tasks
        waiting.extend(task.subworkflow for task in tasks if task.subworkflow is not None)
        for task in tasks:
            yield from (
                name for effect in task.effects for name in (effect.parameter, f"{task.name}.{effect.parameter}")
            )


MAX_RUNS = 1000
"""Largest number of resolutions of the choices in irreducible parts; beyond, answers about them are undecided."""

Step = tuple[Block, int]  # a block, and which of its children


@dataclass(frozen=True, slots=True)
class _Resolution:
    """One resolution of the choices between the edges of a level; sets of edges are bits of a number."""

    edges: int  # those that it takes
    needs: frozenset[Need]  # what that needs
    before: dict[Node, int]  # for every node, the edges that come before it


class Runs:
    """The runs of a level. None means that its guards, or its structure, leave the answer undecided."""

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
        self.is_reached = [edge.source in self.behind for edge in self.edges]
        self.choices = JointChoices(
            self.flow, {block.node for edge in self.edges for block in _loop_blocks(edge.block)}
        )
        self.too_many = False
        self.runs = None if self.choices.stuck else self._runs()

    def parallel(self, a: str, b: str) -> bool | None:
        """Return True if some run holds both tasks with neither having to come before the other; None if undecided."""
        (first, path), (second, further) = self.paths[a], self.paths[b]
        if a == b:
            return False
        if not (self.is_reached[first] and self.is_reached[second]):
            return None
        if first == second and _lowest_common_block(path, further).kind in ("sequence", "loop", "exclusive"):
            return False
        if self.runs is None:
            if self.too_many:
                record_bound("steps")
            return None
        needs = {(block.ways[child], True) for block, child in path + further if block.ways and block.ways[child]}
        return _any_true(
            self.choices.possible(run.needs | needs) for run in self.runs if self._unordered(run, first, second)
        )

    def _unordered(self, run: _Resolution, first_edge: int, second_edge: int) -> bool:
        """Return True if the run takes both edges, and neither comes before the other."""
        first, second = run.before[self.edges[first_edge].source], run.before[self.edges[second_edge].source]
        return bool(
            run.edges >> first_edge & run.edges >> second_edge & ~(second >> first_edge) & ~(first >> second_edge) & 1
        )

    def _runs(self) -> list[_Resolution] | None:
        """Return every resolution of the choices between the edges; None if there is a cycle, or there are too many."""
        nodes = self._sorted()
        states: list[tuple[int, frozenset[Need]]] = [(0, frozenset())]
        for node in nodes:
            states = list(islice((after for state in states for after in self._visit(node, *state)), MAX_RUNS + 1))
            if len(states) > MAX_RUNS:  # each goes on in at least one way, so they never become fewer
                self.too_many = True
                return None
        if not nodes:
            return None
        runs = [_Resolution(edges, needs, self._before(nodes, edges)) for edges, needs in states]
        return None if any(self._clashes(run) for run in runs) else runs

    def _sorted(self) -> list[Node]:
        """Return the nodes that START leads to, each after all that lead to it; none if there is a cycle."""
        ahead = Counter(edge.target for edge in self.edges if edge.source in self.behind)
        nodes: list[Node] = [(START, 1)]
        for node in nodes:
            for i in self.out.get(node, ()):
                target = self.edges[i].target
                ahead[target] -= 1
                if not ahead[target]:
                    nodes.append(target)
        return nodes if len(nodes) == len(self.behind) else []

    def _visit(self, node: Node, edges: int, needs: frozenset[Need]) -> Iterator[tuple[int, frozenset[Need]]]:
        """Yield the run so far, continued by every set of edges that can be taken out of the node."""
        if node != (START, 1) and not edges & _bits(self.into[node]):
            yield edges, needs
            return
        conditional = [i for i in self.out.get(node, ()) if self.edges[i].conditional]
        always = _bits(i for i in self.out.get(node, ()) if not self.edges[i].conditional)
        single = self.flow.takes_one(node[0])
        for taken in _subsets(conditional, 0 if always or not conditional else 1, 1 if single else len(conditional)):
            further = {(self.edges[i].links, True) for i in taken}
            if not single:
                further |= {(self.edges[i].links, False) for i in conditional if i not in taken}
            yield edges | always | _bits(taken), needs | further

    def _before(self, nodes: list[Node], edges: int) -> dict[Node, int]:
        before: dict[Node, int] = {}
        for node in nodes:
            edges_in = [i for i in self.into.get(node, ()) if edges >> i & 1]
            before[node] = _bits(edges_in)
            for i in edges_in:
                before[node] |= before[self.edges[i].source]
        return before

    def _clashes(self, run: _Resolution) -> bool:
        """Return True if two branches reach a gateway that awaits one."""
        merges = [
            name
            for name, gateway in self.flow.gateways.items()
            if (gateway.role, gateway.kind) == ("join", "exclusive")
        ]
        return any((run.edges & _bits(self.into.get((name, 0), ()))).bit_count() > 1 for name in merges)


def _paths(block: Block, path: tuple[Step, ...] = ()) -> Iterator[tuple[str, tuple[Step, ...]]]:
    """Yield every task in the block with the blocks that hold it, from the outermost."""
    if block.kind == "task":
        yield block.task, path
    for i, child in enumerate(block.children):
        yield from _paths(child, (*path, (block, i)))


def _lowest_common_block(path: tuple[Step, ...], further: tuple[Step, ...]) -> Block:
    """Return the lowest block that holds the tasks at the ends of both paths."""
    for (block, child), (_, other_child) in zip(path, further, strict=False):
        if child != other_child:
            return block
    raise ValueError("the paths are the same")


def _loop_blocks(block: Block) -> Iterator[Block]:
    if block.kind == "loop":
        yield block
    for child in block.children:
        yield from _loop_blocks(child)


def _subsets(items: list[int], least: int, most: int) -> Iterator[tuple[int, ...]]:
    return chain.from_iterable(combinations(items, size) for size in range(least, min(most, len(items)) + 1))


def _bits(items: Iterable[int]) -> int:
    bits = 0
    for item in items:
        bits |= 1 << item
    return bits


def _any_true(answers: Iterable[bool | None]) -> bool | None:
    """Return True if an answer is True, else None if one is undecided, else False."""
    undecided = False
    for answer in answers:
        if answer:
            return True
        undecided = undecided or answer is None
    return None if undecided else False
