"""What holds of all runs of a level, whatever the situation, and what of one at least.

That something can happen is shown by a run; that it cannot, by the graph or by the coarse picture of `sketch.py`; that
a task always runs, by that picture too. What neither shows is undecided, and so is what would take more than
MAX_OUTCOMES executions, or MAX_WORK tasks in them. A run is one from START to END: what never ends is none.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from functools import lru_cache
from itertools import combinations

from .bounds import reach
from .concurrency import can_run_in_parallel
from .execution import Endless, Outcome, Run, Undecided, outcome
from .graph import digraph, reached
from .guard_cells import Constant
from .loop_nest import Part, forward, loops, parts
from .loops import always_ends
from .model import Workflow
from .situations import representatives
from .sketch import apart, certain, complete, deciding
from .traces import all_before, allows_among_others, check_known
from .variables import variables

MAX_OUTCOMES = 500
"""How many executions, those that lack a value counted, are looked at for one answer about a small level."""

MAX_WORK = 6000
"""How many tasks the executions for one answer may go through in all; of large levels, fewer are looked at."""


def some_run_in_order(level: Workflow, tasks: Sequence[str]) -> bool | None:
    """Whether there is a run in which the tasks run in this order, other executions between them.

    Raises UnknownNameError.
    """
    check_known(level, tasks)
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
    check_known(level, (a, b))
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
    check_known(level, [task])
    undecided = False
    for one in _outcomes(level, frozenset([task]), whole=True):
        undecided = undecided or isinstance(one, Undecided)
        if isinstance(one, (Run, Endless)) and task not in one.tasks:
            return False
    found, values = parts(level), representatives(level, wide=True)
    if undecided or found is None or values is None:
        return None
    known, paths = variables(level), _paths(level)
    ending = all(always_ends(level, loop) for loop in _loops_before_or_beside(level, found, task))
    clear = ending and complete(known, [node for node in paths.ahead if paths.lead(node, task)])
    return True if clear and certain(known, found, task, values) else None


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
    found, flow = parts(level), variables(level).flow
    if found is None:
        return False
    ahead = {node: frozenset(links) for node, links in forward(flow, found).items()}
    before = {node: [link.source for link in links if link in ahead[link.source]] for node, links in flow.into.items()}
    awaited = reached(before, [one])
    ways = {
        node: [link.target for link in links if link in ahead[node] or link.target not in awaited]
        for node, links in flow.out.items()
    }
    return other in awaited or all(flow.out[node] for node in reached(ways, [other]))


def _loops_before_or_beside(level: Workflow, found: Collection[Part], task: str) -> list[Part]:
    """Return the loops that do not run after the task.

    One beside it counts: readers disagree whether a branch of a fork that never ends keeps the others from running.
    """
    paths = _paths(level)
    others = [loop for loop in loops(found) if task not in loop.nodes]
    return [loop for loop in others if paths.lead(loop.head, task) or not paths.lead(task, loop.head)]


def _outcomes(level: Workflow, tasks: frozenset[str], whole: bool = False) -> Iterator[Outcome]:
    """What becomes of the level in situations that differ in what matters to the tasks.

    Only those in which all of them may run, unless `whole`; of more than are looked at, a last one is undecided.
    """
    known, values, found = variables(level), representatives(level, wide=False), parts(level)
    base = _base(level)
    if values is None or found is None or (base is None and not whole):
        yield Undecided("no situation is known in which the whole level runs")
        return
    nodes = deciding(known, tasks)
    turning = [loop for task in sorted(tasks) for loop in loops(found) if _matters(level, loop, task)]
    names = known.sources(known.read(nodes), known.flow.nodes).union(*(known.needed(loop.nodes) for loop in turning))
    rest = {name: value for name, value in (base or {}).items() if name not in names}
    pruned = frozenset() if whole else tasks
    for _, one in _search(level, rest, values, pruned):
        yield one


def _matters(level: Workflow, loop: Part, task: str) -> bool:
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
    reach("steps")
    yield told, Undecided(f"more than {most} situations")


@lru_cache(maxsize=512)
def _apart(level: Workflow, tasks: frozenset[str]) -> bool | None:
    """Whether surely no run holds all of the tasks; None where a level cannot be looked at."""
    found, values = parts(level), representatives(level, wide=True)
    return None if found is None or values is None else apart(variables(level), found, tasks, values)


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

        out = variables(level).flow.out
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
