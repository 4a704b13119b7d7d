"""Statements about all runs of a level, in any situation, and about at least one.

A variable is constant if no task changes it and no loop depends on it. Where a choice depends on other variables, a
pass takes either all its ways, so that what no pass runs together no run does (`never_together`), or any one of them,
so that what every pass runs every run does (`always_runs`). Choices that cannot keep the task in question from running
are passed by all their ways.

That something can happen is shown by a run; that it cannot, by the graph or by the passes of a `PassSketch`; that a
task always runs, by the passes too. What neither shows is undecided, and so is what would take more than MAX_OUTCOMES
executions, or MAX_WORK tasks in them. A run is complete, from START to END: an execution that never ends is not a run.
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
"""Largest number of passes, unfinished ones included, for one answer about a small level."""

MAX_SKETCH_WORK = 12_000
"""Largest total number of tasks in the passes for one answer; a large level gets fewer passes."""


Values = dict[str, tuple[Constant, ...]]


@dataclass(slots=True)
class Pass:
    """A pass so far: the nodes that ran and the links taken.

    `missing` is the decision that it needs to continue, with so many `options`.
    """

    ran: set[str] = field(default_factory=set)
    links: set[Link] = field(default_factory=set)
    missing: str = ""
    options: int = 0
    void: bool = False  # it does not represent a run


class PassSketch:
    """The passes through a level that decide whether some tasks run."""

    def __init__(self, variables: Variables, parts: Collection[LoopPart], tasks: Collection[str], widely: bool) -> None:
        self.variables, self.tasks, self.widely = variables, frozenset(tasks), widely
        self.forward = {node: frozenset(links) for node, links in forward_links(variables.flow, parts).items()}
        self.order = [node for part in parts for node in _nodes_of(part)]
        self.deciding = deciding_nodes(variables, tasks)
        around = [loop for loop in loops_in(parts) if self.tasks.isdisjoint(loop.nodes)]
        self.back = {link for loop in around for link in variables.flow.into[loop.head] if link.source in loop.nodes}
        loop_controls = {
            node for loop in loops_in(parts) for node in loop.nodes if _controls_loop(variables, node, loop)
        }
        self.still = variables.relevant - variables.changed - variables.read(loop_controls)

    def passes(self, values: Values) -> Iterator[frozenset[str] | None]:
        """Yield the nodes that run in each pass; None, and no more, beyond the bound."""
        waiting: list[dict[str, Constant | int]] = [{}]
        for _ in range(min(MAX_PASSES, MAX_SKETCH_WORK // max(1, len(self.variables.level.tasks)))):
            if not waiting:
                return
            decisions = waiting.pop()
            sketch = self._pass(decisions)
            if sketch.missing:
                options = values.get(sketch.missing) or range(sketch.options)
                waiting.extend({**decisions, sketch.missing: option} for option in options)
            elif not sketch.void:
                yield frozenset(sketch.ran)
        record_bound("steps")
        yield None

    def _pass(self, decisions: dict[str, Constant | int]) -> Pass:
        sketch = Pass()
        for node in self.order:
            if node != START and sketch.links.isdisjoint(self.variables.flow.into[node]):
                if self.widely and node in self.tasks:
                    sketch.void = True  # a run without the task is not asked about
                    return sketch
                continue
            sketch.ran.add(node)
            taken_links = self._taken(node, sketch, decisions)
            if sketch.missing:
                return sketch
            sketch.links.update(link for link in taken_links if link in self.forward[node])
            sketch.void = sketch.void or (not self.widely and not self.back.isdisjoint(taken_links))
        return sketch

    def _taken(self, node: str, sketch: Pass, decisions: dict[str, Constant | int]) -> list[Link]:
        ways = self.variables.ways[node]
        links = [way.link for way in ways]
        if node not in self.deciding or self.variables.flow.split(node) == "parallel":
            return links
        names = sorted(
            {comparison.parameter for way in ways if way.guard is not None for comparison in comparisons(way.guard)}
        )
        if any(way.vague for way in ways) or not self.still.issuperset(names) or not _has_guard(ways):
            return links if self.widely else self._any(node, sketch, decisions)
        sketch.missing = next((name for name in names if name not in decisions), "")
        return [] if sketch.missing else self._open(node, {name: decisions[name] for name in names})

    def _open(self, node: str, values: dict[str, Constant | int]) -> list[Link]:
        ways = self.variables.ways[node]
        guarded = [way for way in ways if way.guard is not None]
        truths = evaluate_guards([way.guard for way in guarded if way.guard is not None], values)
        open_links = [way.link for way, holds in zip(guarded, truths, strict=True) if holds]
        clear = self.widely or len(open_links) < 2 or self.variables.flow.split(node) in ("inclusive", "mixed")
        return [way.link for way in ways if way.guard is None] + (open_links if clear else [])

    def _any(self, node: str, sketch: Pass, decisions: dict[str, Constant | int]) -> list[Link]:
        """Return the links that are surely taken, else the link that the pass has decided to take."""
        ways = self.variables.ways[node]
        sure = [way.link for way in ways if way.link.guard is None]
        if sure and _has_guard(ways):
            return sure
        option = decisions.get(f" {node}")
        if not isinstance(option, int):
            sketch.missing, sketch.options = f" {node}", len(ways)
            return []
        return [ways[option].link]


def never_together(variables: Variables, parts: Collection[LoopPart], tasks: Collection[str], values: Values) -> bool:
    """Return True if surely no run holds all of the tasks."""
    return not any(True for _ in PassSketch(variables, parts, tasks, widely=True).passes(values))


def always_continues(variables: Variables, nodes: Collection[str]) -> bool:
    """Return True if at all of the nodes a way is surely open, whatever the situation, and it is clear which.

    Tasks among them must change variables that matter by fixed steps only, which their domain does not bound.
    """
    return all(_always_continues(variables, node) for node in nodes)


@lru_cache(maxsize=4096)
def _always_continues(variables: Variables, node: str) -> bool:
    guards = [way.link.guard for way in variables.ways[node] if way.link.guard is not None]
    kind, parameters = variables.flow.split(node), variables.flow.parameters(node)
    for change in variables.changes.get(node, ()):
        step = None if change.expression is None else fixed_step(change.expression, change.variable)
        domain = variables.domains.get(change.variable)
        steady = step is not None and (domain is None or not step or is_unbounded(domain, step))
        if change.variable in variables.relevant and not steady:
            return False
    if any(way.vague for way in variables.ways[node]) or kind in ("unclear", "choice"):
        return False
    if not guards:
        return kind in ("", "parallel")
    clear = kind != "exclusive" or exclusive(guards, parameters) is True
    return clear and (kind == "mixed" or covers(guards, parameters) is True)


def always_runs(variables: Variables, parts: Collection[LoopPart], task: str, values: Values) -> bool:
    """Return True if the task surely runs in every situation, provided that all loops before it end."""
    sketch = PassSketch(variables, parts, [task], widely=False)
    return all(ran is not None and task in ran for ran in sketch.passes(values))


def deciding_nodes(variables: Variables, tasks: Collection[str]) -> frozenset[str]:
    """Return the nodes whose choice of a way can decide whether one of the tasks runs."""
    nodes = frozenset[str]().union(*(_nodes_that_can_avoid(variables.level, task) for task in tasks))
    return frozenset(node for node in nodes if len(variables.ways[node]) > 1 or _has_guard(variables.ways[node]))


@lru_cache(maxsize=1024)
def _nodes_that_can_avoid(level: Workflow, task: str) -> frozenset[str]:
    """Return the nodes from which a path leads to the task and another past it."""
    regions = regions_of(level)
    return frozenset(node for node in reachable_from(regions.before, [task]) if not regions.closers.passes(node, task))


def _has_guard(ways: Collection[Way]) -> bool:
    return any(way.link.guard is not None for way in ways)


def _controls_loop(variables: Variables, node: str, loop: LoopPart) -> bool:
    """Return True if a way out of a node leaves or repeats the loop."""
    return any(way.link.target == loop.head or way.link.target not in loop.nodes for way in variables.ways[node])


def _nodes_of(part: LoopPart) -> Iterator[str]:
    if not part.loop:
        yield part.head
    for inner in part.inner:
        yield from _nodes_of(inner)


MAX_OUTCOMES = 500
"""Largest number of executions, those that lack a value included, for one answer about a small level."""

MAX_WORK = 6000
"""Largest total number of tasks in the executions for one answer; a large level gets fewer executions."""


def some_run_in_order(level: Workflow, tasks: Sequence[str]) -> bool | None:
    """Return True if there is a run in which the tasks run in this order, other executions between them.

    Returns:
        False if there is none, None if that is undecided.

    Raises:
        UnknownNameError: if a task is not in the level.
    """
    check_task_names(level, tasks)
    if any(_runs_only_after(level, earlier, later) for earlier, later in combinations(tasks, 2)):
        return False
    surely_none = _surely_never_together(level, frozenset(tasks))
    if surely_none is not False:
        return None if surely_none is None else False
    runs = (result for result in _outcomes(level, frozenset(tasks)) if isinstance(result, Run))
    return True if any(allows_among_others(run, tasks) for run in runs) else None


def always_before(level: Workflow, a: str, b: str) -> bool | None:
    """Return True if `a` runs before `b` in every run in which both run; None if no run is found that holds both.

    If a run holds a task several times, True means that all executions of `a` come before all of `b`, and False that
    neither the first nor the last of them do.

    Raises:
        UnknownNameError: if a task is not in the level.
    """
    check_task_names(level, (a, b))
    clear = _runs_only_after(level, b, a) and can_run_in_parallel(level, a, b) is not True
    for result in _outcomes(level, frozenset((a, b))):
        if isinstance(result, Run) and {a, b}.issubset(result.tasks):
            answer = all_before(result, a, b)
            if answer is False or (answer and clear):
                return answer
    return None


def executed_in_every_situation(level: Workflow, task: str) -> bool | None:
    """Return True if the task is executed in every situation, including those whose execution never ends.

    Returns:
        False if it is not, None if that is undecided or a loop before or beside the task may never end.

    Raises:
        UnknownNameError: if a task is not in the level.
    """
    check_task_names(level, [task])
    undecided = False
    for result in _outcomes(level, frozenset([task]), whole=True):
        undecided = undecided or isinstance(result, Undecided)
        if isinstance(result, (Run, Endless)) and task not in result.tasks:
            return False
    parts, values = parts_of(level), representatives(level, wide=True)
    if undecided or parts is None or values is None:
        return None
    variables, paths = variables_of(level), _paths(level)
    ending = all(always_ends(level, loop) for loop in _loops_before_or_beside(level, parts, task))
    clear = ending and always_continues(variables, [node for node in paths.ahead if paths.lead(node, task)])
    return True if clear and always_runs(variables, parts, task, values) else None


def _runs_only_after(level: Workflow, task: str, earlier: str) -> bool:
    """Return True if a task runs only after the last execution of another; for the same task, if it cannot repeat."""
    paths = _paths(level)
    if not paths.lead(earlier, earlier):
        return task == earlier or paths.lead(earlier, task)
    return paths.lead(earlier, task) and not paths.lead(task, earlier) and _waits_in_loop(level, task, earlier)


@lru_cache(maxsize=1024)
def _waits_in_loop(level: Workflow, task: str, earlier: str) -> bool:
    """Return True if a task that a loop leads to waits for another inside that loop.

    A loop may be left while the other has yet to run in its last pass. The task still waits for the other if links
    that repeat no loop lead from the other to it; also if every way on from the other repeats a loop from whose head
    such links lead to it, as the other then never runs in the last pass.
    """
    parts, flow = parts_of(level), variables_of(level).flow
    if parts is None:
        return False
    ahead = {node: frozenset(links) for node, links in forward_links(flow, parts).items()}
    before = {node: [link.source for link in links if link in ahead[link.source]] for node, links in flow.into.items()}
    awaited = reachable_from(before, [task])
    ways = {
        node: [link.target for link in links if link in ahead[node] or link.target not in awaited]
        for node, links in flow.out.items()
    }
    return earlier in awaited or all(flow.out[node] for node in reachable_from(ways, [earlier]))


def _loops_before_or_beside(level: Workflow, parts: Collection[LoopPart], task: str) -> list[LoopPart]:
    """Return the loops that do not run after the task.

    A loop beside it counts: readers disagree whether a branch of a fork that never ends keeps the others from running.
    """
    paths = _paths(level)
    others = [loop for loop in loops_in(parts) if task not in loop.nodes]
    return [loop for loop in others if paths.lead(loop.head, task) or not paths.lead(task, loop.head)]


def _outcomes(level: Workflow, tasks: frozenset[str], whole: bool = False) -> Iterator[Outcome]:
    """Yield the outcomes of the level in situations that differ in what matters to the tasks.

    Only those in which all of them may run, unless `whole`; beyond the bound, the last outcome is undecided.
    """
    variables, values, parts = variables_of(level), representatives(level, wide=False), parts_of(level)
    base = _complete_situation(level)
    if values is None or parts is None or (base is None and not whole):
        yield Undecided("no situation is known in which the whole level runs")
        return
    nodes = deciding_nodes(variables, tasks)
    relevant_loops = [loop for task in sorted(tasks) for loop in loops_in(parts) if _affects_task(level, loop, task)]
    read = variables.sources(variables.read(nodes), variables.flow.nodes)
    names = read.union(*(variables.needed(loop.nodes) for loop in relevant_loops))
    rest = {name: value for name, value in (base or {}).items() if name not in names}
    pruned = frozenset() if whole else tasks
    for _, result in _search(level, rest, values, pruned):
        yield result


def _affects_task(level: Workflow, loop: LoopPart, task: str) -> bool:
    return task in loop.nodes or _paths(level).lead(loop.head, task)


def _search(
    level: Workflow, start: dict[str, Constant], values: dict[str, tuple[Constant, ...]], tasks: frozenset[str]
) -> Iterator[tuple[dict[str, Constant], Outcome]]:
    """Yield situations that complete `start`, value by value where a value is needed, with the outcome of each."""
    waiting = [start]
    limit = min(MAX_OUTCOMES, MAX_WORK // max(1, len(level.tasks)))
    for _ in range(limit):
        if not waiting:
            return
        situation = waiting.pop()
        result = outcome(level, situation)
        if not isinstance(result, Undecided) or result.missing not in values:
            yield situation, result
        elif tasks.isdisjoint(result.passed):
            waiting.extend({**situation, result.missing: value} for value in reversed(values[result.missing]))
    record_bound("steps")
    yield start, Undecided(f"more than {limit} situations")


@lru_cache(maxsize=512)
def _surely_never_together(level: Workflow, tasks: frozenset[str]) -> bool | None:
    """Return True if surely no run holds all of the tasks; None if the level cannot be examined."""
    parts, values = parts_of(level), representatives(level, wide=True)
    return None if parts is None or values is None else never_together(variables_of(level), parts, tasks, values)


@lru_cache(maxsize=128)
def _complete_situation(level: Workflow) -> dict[str, Constant] | None:
    """Return a situation with values for all variables in which the level runs to its end; None if none is found."""
    values = representatives(level, wide=False)
    if values is None:
        return None
    for situation, result in _search(level, {}, values, frozenset()):
        if isinstance(result, Run):
            return {name: situation.get(name, options[0]) for name, options in values.items()}
    return None


class _Paths:
    """The nodes of a level between which paths of at least one link lead; the nodes ahead of each as bits.

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

    def lead(self, node: str, target: str) -> bool:
        """Return True if a path leads from a node to another."""
        return bool(self.ahead[node] & self.bits[target])


@lru_cache(maxsize=128)
def _paths(level: Workflow) -> _Paths:
    return _Paths(level)
