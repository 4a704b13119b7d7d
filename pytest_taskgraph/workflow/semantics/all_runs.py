"""What holds of all runs of a level, whatever the situation, and what of one at least.

A variable holds still if no task changes it and no loop hangs on it. Where a choice hangs on others, a pass takes all
its ways, so what no pass runs together no run does (`apart`), or any one of them, so what every pass runs every run
does (`certain`). Choices that cannot keep a task asked about from running are passed over by all their ways.

That something can happen is shown by a run; that it cannot, by the graph or by the coarse picture of `sketch.py`; that
a task always runs, by that picture too. What neither shows is undecided, and so is what would take more than
MAX_OUTCOMES executions, or MAX_WORK tasks in them. A run is one from START to END: what never ends is none.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from itertools import combinations

from ..bounds import record_bound
from ..graph import digraph, reachable_from
from ..guards.cells import Constant, is_unbounded
from ..guards.solver import comparisons, covers, evaluate_guards, exclusive
from ..model import START, Link, Workflow
from .concurrency import can_run_in_parallel, regions_of
from .execution import Endless, Outcome, Run, Undecided, all_before, allows_among_others, check_task_names, outcome
from .loop_nest import LoopPart, forward_links, loops_in, parts_of
from .loops import always_ends
from .situations import representatives
from .variables import Variables, Way, fixed_step, variables_of

MAX_PASSES = 2000
"""How many passes, unfinished ones counted, are looked at for one answer about a small level."""

MAX_SKETCH_WORK = 12_000
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


class PassSketch:
    """The passes through a level that matter to whether some tasks run."""

    def __init__(self, known: Variables, found: Collection[LoopPart], tasks: Collection[str], widely: bool) -> None:
        self.known, self.tasks, self.widely = known, frozenset(tasks), widely
        self.forward = {node: frozenset(links) for node, links in forward_links(known.flow, found).items()}
        self.order = [node for part in found for node in _flat(part)]
        self.deciding = deciding_nodes(known, tasks)
        around = [loop for loop in loops_in(found) if self.tasks.isdisjoint(loop.nodes)]
        self.back = {link for loop in around for link in known.flow.into[loop.head] if link.source in loop.nodes}
        turning = {node for loop in loops_in(found) for node in loop.nodes if _turns(known, node, loop)}
        self.still = known.relevant - known.changed - known.read(turning)

    def passes(self, values: Values) -> Iterator[frozenset[str] | None]:
        """What runs in every pass; None, and no more, beyond the bound."""
        waiting: list[dict[str, Constant | int]] = [{}]
        for _ in range(min(MAX_PASSES, MAX_SKETCH_WORK // max(1, len(self.known.level.tasks)))):
            if not waiting:
                return
            told = waiting.pop()
            found = self._pass(told)
            if found.missing:
                options = values.get(found.missing) or range(found.options)
                waiting.extend({**told, found.missing: option} for option in options)
            elif not found.void:
                yield frozenset(found.ran)
        record_bound("steps")
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
        answers = evaluate_guards([way.guard for way in guarded if way.guard is not None], values)
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


def never_together(known: Variables, found: Collection[LoopPart], tasks: Collection[str], values: Values) -> bool:
    """Whether surely no run holds all of the tasks."""
    return not any(True for _ in PassSketch(known, found, tasks, widely=True).passes(values))


def always_continues(known: Variables, nodes: Collection[str]) -> bool:
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
        steady = step is not None and (domain is None or not step or is_unbounded(domain, step))
        if change.variable in known.relevant and not steady:
            return False
    if any(way.vague for way in known.ways[node]) or kind in ("unclear", "choice"):
        return False
    if not guards:
        return kind in ("", "parallel")
    clear = kind != "exclusive" or exclusive(guards, parameters) is True
    return clear and (kind == "mixed" or covers(guards, parameters) is True)


def always_runs(known: Variables, found: Collection[LoopPart], task: str, values: Values) -> bool:
    """Whether the task surely runs in every situation, provided that all loops before it end."""
    return all(ran is not None and task in ran for ran in PassSketch(known, found, [task], widely=False).passes(values))


def deciding_nodes(known: Variables, tasks: Collection[str]) -> frozenset[str]:
    """The nodes whose choice of a way can make one of the tasks run or not."""
    found = frozenset[str]().union(*(_avoiding(known.level, task) for task in tasks))
    return frozenset(node for node in found if len(known.ways[node]) > 1 or _guarded(known.ways[node]))


@lru_cache(maxsize=1024)
def _avoiding(level: Workflow, task: str) -> frozenset[str]:
    """The nodes from which a path leads to the task and another past it."""
    regions = regions_of(level)
    return frozenset(node for node in reachable_from(regions.before, [task]) if not regions.closers.passes(node, task))


def _guarded(ways: Collection[Way]) -> bool:
    return any(way.link.guard is not None for way in ways)


def _turns(known: Variables, node: str, loop: LoopPart) -> bool:
    """Whether a way out of a node leaves or repeats the loop."""
    return any(way.link.target == loop.head or way.link.target not in loop.nodes for way in known.ways[node])


def _flat(part: LoopPart) -> Iterator[str]:
    if not part.loop:
        yield part.head
    for inner in part.inner:
        yield from _flat(inner)


MAX_OUTCOMES = 500
"""How many executions, those that lack a value counted, are looked at for one answer about a small level."""

MAX_WORK = 6000
"""How many tasks the executions for one answer may go through in all; of large levels, fewer are looked at."""


def some_run_in_order(level: Workflow, tasks: Sequence[str]) -> bool | None:
    """Whether there is a run in which the tasks run in this order, other executions between them.

    Raises UnknownNameError.
    """
    check_task_names(level, tasks)
    if any(_after(level, one, other) for one, other in combinations(tasks, 2)):
        return False
    surely_none = _apart(level, frozenset(tasks))
    if surely_none is not False:
        return None if surely_none is None else False
    runs = (one for one in _outcomes(level, frozenset(tasks)) if isinstance(one, Run))
    return True if any(allows_among_others(one, tasks) for one in runs) else None


def always_before(level: Workflow, a: str, b: str) -> bool | None:
    """Whether a runs before b in every run in which both run; None if no run is found that holds both.

    Where a run holds one of them several times, all executions of a come before all of b, or the answer is False only
    if neither the first nor the last do. Raises UnknownNameError.
    """
    check_task_names(level, (a, b))
    clear = _after(level, b, a) and can_run_in_parallel(level, a, b) is not True
    for one in _outcomes(level, frozenset((a, b))):
        if isinstance(one, Run) and {a, b}.issubset(one.tasks):
            answer = all_before(one, a, b)
            if answer is False or (answer and clear):
                return answer
    return None


def executed_in_every_situation(level: Workflow, task: str) -> bool | None:
    """Return whether the task is executed whatever the situation, also in those that never end.

    None where that cannot be decided, or a loop before or beside the task may never end. Raises UnknownNameError.
    """
    check_task_names(level, [task])
    undecided = False
    for one in _outcomes(level, frozenset([task]), whole=True):
        undecided = undecided or isinstance(one, Undecided)
        if isinstance(one, (Run, Endless)) and task not in one.tasks:
            return False
    found, values = parts_of(level), representatives(level, wide=True)
    if undecided or found is None or values is None:
        return None
    known, paths = variables_of(level), _paths(level)
    ending = all(always_ends(level, loop) for loop in _loops_before_or_beside(level, found, task))
    clear = ending and always_continues(known, [node for node in paths.ahead if paths.lead(node, task)])
    return True if clear and always_runs(known, found, task, values) else None


def _after(level: Workflow, one: str, other: str) -> bool:
    """Whether a task runs only once another has run for the last time; after itself, if it cannot repeat."""
    paths = _paths(level)
    if not paths.lead(other, other):
        return one == other or paths.lead(other, one)
    return paths.lead(other, one) and not paths.lead(one, other) and _behind(level, one, other)


@lru_cache(maxsize=1024)
def _behind(level: Workflow, one: str, other: str) -> bool:
    """Whether a task that a loop leads to waits for another inside that loop.

    A loop may be left while the other has yet to run in its last pass. The task still waits for the other if links
    that repeat no loop lead from the other to it; also if every way on from the other repeats a loop from whose head
    such links lead to it, as the other then never runs in the last pass.
    """
    found, flow = parts_of(level), variables_of(level).flow
    if found is None:
        return False
    ahead = {node: frozenset(links) for node, links in forward_links(flow, found).items()}
    before = {node: [link.source for link in links if link in ahead[link.source]] for node, links in flow.into.items()}
    awaited = reachable_from(before, [one])
    ways = {
        node: [link.target for link in links if link in ahead[node] or link.target not in awaited]
        for node, links in flow.out.items()
    }
    return other in awaited or all(flow.out[node] for node in reachable_from(ways, [other]))


def _loops_before_or_beside(level: Workflow, found: Collection[LoopPart], task: str) -> list[LoopPart]:
    """Return the loops that do not run after the task.

    One beside it counts: readers disagree whether a branch of a fork that never ends keeps the others from running.
    """
    paths = _paths(level)
    others = [loop for loop in loops_in(found) if task not in loop.nodes]
    return [loop for loop in others if paths.lead(loop.head, task) or not paths.lead(task, loop.head)]


def _outcomes(level: Workflow, tasks: frozenset[str], whole: bool = False) -> Iterator[Outcome]:
    """What becomes of the level in situations that differ in what matters to the tasks.

    Only those in which all of them may run, unless `whole`; of more than are looked at, a last one is undecided.
    """
    known, values, found = variables_of(level), representatives(level, wide=False), parts_of(level)
    base = _base(level)
    if values is None or found is None or (base is None and not whole):
        yield Undecided("no situation is known in which the whole level runs")
        return
    nodes = deciding_nodes(known, tasks)
    turning = [loop for task in sorted(tasks) for loop in loops_in(found) if _matters(level, loop, task)]
    names = known.sources(known.read(nodes), known.flow.nodes).union(*(known.needed(loop.nodes) for loop in turning))
    rest = {name: value for name, value in (base or {}).items() if name not in names}
    pruned = frozenset() if whole else tasks
    for _, one in _search(level, rest, values, pruned):
        yield one


def _matters(level: Workflow, loop: LoopPart, task: str) -> bool:
    return task in loop.nodes or _paths(level).lead(loop.head, task)


def _search(
    level: Workflow, told: dict[str, Constant], values: dict[str, tuple[Constant, ...]], tasks: frozenset[str]
) -> Iterator[tuple[dict[str, Constant], Outcome]]:
    """Situations that complete the one told, value by value where one is needed, with what becomes of the level."""
    waiting = [told]
    most = min(MAX_OUTCOMES, MAX_WORK // max(1, len(level.tasks)))
    for _ in range(most):
        if not waiting:
            return
        situation = waiting.pop()
        found = outcome(level, situation)
        if not isinstance(found, Undecided) or found.missing not in values:
            yield situation, found
        elif tasks.isdisjoint(found.passed):
            waiting.extend({**situation, found.missing: value} for value in reversed(values[found.missing]))
    record_bound("steps")
    yield told, Undecided(f"more than {most} situations")


@lru_cache(maxsize=512)
def _apart(level: Workflow, tasks: frozenset[str]) -> bool | None:
    """Whether surely no run holds all of the tasks; None where a level cannot be looked at."""
    found, values = parts_of(level), representatives(level, wide=True)
    return None if found is None or values is None else never_together(variables_of(level), found, tasks, values)


@lru_cache(maxsize=128)
def _base(level: Workflow) -> dict[str, Constant] | None:
    """A situation in which the whole level runs to its end, values of variables that did not matter there put in."""
    values = representatives(level, wide=False)
    if values is None:
        return None
    for situation, found in _search(level, {}, values, frozenset()):
        if isinstance(found, Run):
            return {name: situation.get(name, options[0]) for name, options in values.items()}
    return None


class _Paths:
    """Between which nodes of a level paths of at least one link lead; the nodes ahead of each as bits.

    Bits, since `nx.transitive_closure` takes 36 times as long on 100 tasks and holds every pair.
    """

    def __init__(self, level: Workflow) -> None:
        import networkx as nx

        out = variables_of(level).flow.out
        after = {node: [link.target for link in links] for node, links in out.items()}
        self.bits = {node: 1 << i for i, node in enumerate(after)}
        self.ahead: dict[str, int] = {}
        whole = nx.condensation(digraph(after))
        for number in reversed(list(nx.topological_sort(whole))):  # each after all that it leads to
            part, mask = whole.nodes[number]["members"], 0
            for target in (target for node in part for target in after[node]):
                mask |= self.bits[target] | self.ahead.get(target, 0)
            self.ahead |= dict.fromkeys(part, mask)

    def lead(self, node: str, other: str) -> bool:
        """Return True if a path leads from a node to another."""
        return bool(self.ahead[node] & self.bits[other])


@lru_cache(maxsize=128)
def _paths(level: Workflow) -> _Paths:
    return _Paths(level)
