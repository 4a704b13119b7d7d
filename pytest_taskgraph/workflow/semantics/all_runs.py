"""Statements about all runs of a level, in any situation, and about at least one.

That something can happen is shown by a run; that it cannot, by the graph or by passes (`pass_sketch.py`); that a task
always runs, by passes too. What neither shows is undecided, and so is what would take more than MAX_OUTCOMES
executions, or MAX_WORK tasks in them. A run is complete, from START to END: an execution that never ends is not a run.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from functools import cached_property, lru_cache
from itertools import combinations
from typing import Literal

from ..bounds import record_bound
from ..graph import cyclic_components, digraph, reachable_from
from ..guards.cells import Constant, is_unbounded
from ..guards.solver import covers, exclusive
from ..model import END, START, Workflow
from .concurrency import can_run_in_parallel, regions_of
from .execution import Endless, Outcome, Run, Undecided, all_before, allows_among_others, check_task_names, outcome
from .loop_nest import LoopPart, forward_links, loops_in, parts_of
from .loops import always_ends
from .pass_sketch import Values, always_runs, deciding_nodes, never_together
from .situations import representatives
from .variables import Variables, variables_of


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
        step, domain = change.step, variables.domains.get(change.variable)
        steady = step is not None and (domain is None or not step or is_unbounded(domain, step))
        if change.variable in variables.relevant and not steady:
            return False
    if any(way.vague for way in variables.ways[node]) or kind in ("unclear", "choice"):
        return False
    if not guards:
        return kind in ("", "parallel")
    clear = kind != "exclusive" or exclusive(guards, parameters) is True
    return clear and (kind == "mixed" or covers(guards, parameters) is True)


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
    paths = _paths(level)
    if any(paths.runs_only_after(earlier, later) for earlier, later in combinations(tasks, 2)):
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
    clear = _paths(level).runs_only_after(b, a) and can_run_in_parallel(level, a, b) is not True
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
    return True if clear and always_runs(level, task, values) else None


NotNext = Literal["", "done", "excluded", "later"]


def why_not_next(level: Workflow, done: Collection[str], task: str) -> NotNext:
    """Return why surely no run begins with executions of the tasks done, and then one of the task; "" if one may.

    Args:
        level: The level.
        done: The tasks that have run at the beginning of some run.
        task: The task that is to run next.

    Returns:
        "done" if it has run, and cannot run again before others do; "excluded" if no run that begins so holds it;
        "later" if another task has to run first. What the graph and passes do not show is not found.

    Raises:
        UnknownNameError: if a task is not in the level.
    """
    check_task_names(level, (*done, task))
    tasks = frozenset(done)
    if task in tasks:
        return "" if _may_repeat(level, tasks, task) else "done"
    paths = _paths(level)
    if any(paths.runs_only_after(each, task) for each in tasks) or _surely_never_together(level, tasks | {task}):
        return "excluded"
    needed = _surely_run_with(level, tasks | {task}).difference(tasks, {task})
    awaited = any(paths.runs_only_after(task, other) for other in needed)
    return "later" if awaited or task not in reachable_from(_ways_past(level, tasks), [START]) else ""


def _may_repeat(level: Workflow, done: frozenset[str], task: str) -> bool:
    """Return True if a cycle that passes no other tasks than those done leads to the task."""
    ways = _ways_past(level, done)
    cycles = cyclic_components(digraph(ways)) if _paths(level).lead(task, task) else []
    return any(task in reachable_from(ways, cycle) for cycle in cycles)


def _ways_past(level: Workflow, tasks: frozenset[str]) -> dict[str, list[str]]:
    """Return the nodes after each node, none after a task that is not among the given ones."""
    others = frozenset(level.task_names) - tasks
    return {node: [] if node in others else after for node, after in regions_of(level).after.items()}


@lru_cache(maxsize=1024)
def _surely_run_with(level: Workflow, tasks: frozenset[str]) -> frozenset[str]:
    """Return tasks that every run holds that holds the given ones, and these: where ways meet, and behind forks."""
    regions, nodes, waiting = regions_of(level), set[str](), [START, *tasks]
    while waiting:
        node = waiting.pop()
        if node not in nodes and node != END:
            nodes.add(node)
            waiting += filter(None, (regions.openers.nearest(node), regions.closers.nearest(node)))
            if regions.flow.split(node) == "parallel":
                waiting += regions.after[node]
    return frozenset(level.task_names) & nodes


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
    values, base = representatives(level, wide=False), _complete_situation(level)
    if values is None or parts_of(level) is None or (base is None and not whole):
        yield Undecided("no situation is known in which the whole level runs")
        return
    names = frozenset[str]().union(*(_variables_that_matter(level, task) for task in tasks))
    start = _start(level, frozenset(base or ()) - names)
    yield from (result for _, result in _search(start, values, frozenset() if whole else tasks))


@lru_cache(maxsize=1024)
def _variables_that_matter(level: Workflow, task: str) -> frozenset[str]:
    """Return the variables on which it depends whether and when a task runs."""
    variables, loops = variables_of(level), loops_in(parts_of(level) or ())
    read = variables.sources(variables.read(deciding_nodes(level, [task])), variables.flow.nodes)
    return read.union(*(variables.needed(loop.nodes) for loop in loops if _affects_task(level, loop, task)))


def _affects_task(level: Workflow, loop: LoopPart, task: str) -> bool:
    return task in loop.nodes or _paths(level).lead(loop.head, task)


class _Situation:
    """A situation that may lack values; its outcome, and what completes it, are computed once, when first needed."""

    def __init__(self, level: Workflow, values: Mapping[str, Constant]) -> None:
        self.level, self.values = level, values
        self._completed: list[_Situation] = []

    @cached_property
    def outcome(self) -> Outcome:
        """Return the outcome of the level."""
        return outcome(self.level, self.values)

    def complete(self, name: str, options: Iterable[Constant]) -> list[_Situation]:
        """Return the situations with each of the options for the variable whose value is missing."""
        if not self._completed:
            self._completed = [_Situation(self.level, {**self.values, name: option}) for option in options]
        return self._completed


@lru_cache(maxsize=32)  # few, as each holds all outcomes found from it; those of one level are asked for in turn
def _start(level: Workflow, names: frozenset[str]) -> _Situation:
    """Return the situation in which only these variables have values: those with which the whole level runs."""
    base = _complete_situation(level) if names else None
    return _Situation(level, {name: value for name, value in (base or {}).items() if name in names})


def _search(start: _Situation, values: Values, tasks: frozenset[str]) -> Iterator[tuple[_Situation, Outcome]]:
    """Yield situations that complete `start`, value by value where a value is needed, with the outcome of each.

    None is completed in which one of the tasks is known not to run.
    """
    waiting = [start]
    limit = min(MAX_OUTCOMES, MAX_WORK // max(1, len(start.level.tasks)))
    for _ in range(limit):
        if not waiting:
            return
        situation = waiting.pop()
        result = situation.outcome
        if not isinstance(result, Undecided) or result.missing not in values:
            yield situation, result
        elif tasks.isdisjoint(result.passed):
            waiting.extend(reversed(situation.complete(result.missing, values[result.missing])))
    record_bound("steps")
    yield start, Undecided(f"more than {limit} situations")


@lru_cache(maxsize=512)
def _surely_never_together(level: Workflow, tasks: frozenset[str]) -> bool | None:
    """Return True if surely no run holds all of the tasks; None if the level cannot be examined."""
    parts, values = parts_of(level), representatives(level, wide=True)
    return None if parts is None or values is None else never_together(level, tasks, values)


@lru_cache(maxsize=128)
def _complete_situation(level: Workflow) -> dict[str, Constant] | None:
    """Return a situation with values for all variables in which the level runs to its end; None if none is found."""
    values = representatives(level, wide=False)
    if values is None:
        return None
    for situation, result in _search(_start(level, frozenset()), values, frozenset()):
        if isinstance(result, Run):
            return {name: situation.values.get(name, options[0]) for name, options in values.items()}
    return None


class _Paths:
    """The nodes of a level between which paths of at least one link lead; the nodes ahead of each as bits.

    Bits, since `nx.transitive_closure` takes 36 times as long on 100 tasks and holds every pair.
    """

    def __init__(self, level: Workflow) -> None:
        import networkx as nx

        self.level = level
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

    def runs_only_after(self, task: str, earlier: str) -> bool:
        """Return True if a task runs only after the last execution of another; for itself, if it cannot repeat."""
        if not self.lead(earlier, earlier):
            return task == earlier or self.lead(earlier, task)
        ahead = self.lead(earlier, task) and not self.lead(task, earlier)
        return ahead and _waits_in_loop(self.level, task, earlier)


@lru_cache(maxsize=128)
def _paths(level: Workflow) -> _Paths:
    return _Paths(level)
