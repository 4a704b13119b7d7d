"""Facts about the loops of a level: when they end, how often they repeat, and which of them always end."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import replace
from fractions import Fraction
from functools import lru_cache

from ..graph import reachable, task_graph
from ..guards.cells import is_unbounded
from ..guards.solver import And, Comparison, Guard, Not, Or, Otherwise, read_guard, satisfiable
from ..guards.syntax import negate, write_guard
from ..model import Domain, Link, Parameter, Workflow
from .execution import Endless, Outcome, Run, check_task_names, executions
from .loop_nest import LoopPart, forward_links, loops_in, parts_of
from .variables import Variables, Way, variables_of


def loop_at(level: Workflow, task: str) -> tuple[str, ...] | None:
    """Return the tasks of the loop that the task is in, in the order of declaration; None if in none or several.

    Raises:
        UnknownNameError: if the task is not in the level.
    """
    loop = _only_loop_of(level, task)
    return None if loop is None else tuple(name for name in level.task_names if name in loop.nodes)


def looping_tasks(level: Workflow) -> tuple[str, ...]:
    """Return the tasks that are in a loop, or in several, in the order of declaration."""
    inside = {node for loop in loops_in(parts_of(level) or ()) for node in loop.nodes}
    return tuple(name for name in level.task_names if name in inside)


def forward_task_graph(level: Workflow) -> dict[str, tuple[str, ...]]:
    """Return every task with the tasks directly after it, through gateways, without the links that repeat a loop.

    Empty if a loop has more than one entry.
    """
    parts = parts_of(level)
    if parts is None:
        return {}
    forward = {link for links in forward_links(variables_of(level).flow, parts).values() for link in links}
    return task_graph(replace(level, links=tuple(link for link in level.links if link in forward)))


def only_loops_decide(level: Workflow) -> bool:
    """Return True if there are guards, and all of them decide whether to repeat or to leave a loop."""
    loops = list(loops_in(parts_of(level) or ()))
    guarded = [link for link in level.links if link.guard is not None]
    variables = variables_of(level)
    deciding = {
        node
        for loop in loops
        for node in loop.nodes
        if _leads_out(variables, node, loop) or _leads_back(variables, node, loop)
    }
    return bool(guarded) and all(link.source in deciding for link in guarded)


def exit_condition(level: Workflow, task: str) -> str | None:
    """Return the guard under which the loop at a task ends.

    That is the guard of its way out or, if that is "otherwise", the condition that no way back is open. None if the
    task is in no loop or several, the loop is left at several nodes, or a guard cannot be computed.

    Raises:
        UnknownNameError: if the task is not in the level.
    """
    loop = _only_loop_of(level, task)
    variables = variables_of(level)
    leaving = {node for node in loop.nodes if _leads_out(variables, node, loop)} if loop is not None else set()
    if loop is None or len(leaving) != 1:
        return None
    ways = variables.ways[leaving.pop()]
    if any(way.guard is None for way in ways) or variables.flow.split(ways[0].link.source) != "exclusive":
        return None
    out = [read_guard(way.link.guard or "") for way in ways if way.link.target not in loop.nodes]
    if not any(isinstance(guard, Otherwise) for guard in out):
        return write_guard(_any_of(out))
    stay = [read_guard(way.link.guard or "") for way in ways if way.link.target in loop.nodes]
    return write_guard(negate(_any_of(stay)))


def loop_ends_in(level: Workflow, task: str, result: Outcome) -> bool | None:
    """Return True if the loop at a task ends with an outcome; None if it is not entered, or that is undecided.

    None too if the task is in no loop, or in several.

    Raises:
        UnknownNameError: if the task is not in the level.
    """
    loop = _only_loop_of(level, task)
    if loop is None:
        return None
    if isinstance(result, Endless) and any(nodes <= loop.nodes for nodes in result.loops):
        return False
    if not isinstance(result, (Run, Endless)):
        return None
    return True if loop.nodes.intersection(result.tasks) else None


def execution_count_in(task: str, result: Outcome) -> int | None:
    """Return how many times a task runs; None if the execution never ends or is undecided."""
    return len(executions(result, task)) if isinstance(result, Run) else None


@lru_cache(maxsize=512)
def always_ends(level: Workflow, loop: LoopPart) -> bool:
    """Return True if the loop provably ends in every situation; False means only that there is no proof.

    The proof: all loops inside it end. Tasks change some variables by fixed steps in one direction, which their domain
    does not bound, and one of these tasks runs in every pass. Once such a variable is past all constants, guards on it
    no longer change; and then, whatever the other variables are, no way back is open.
    """
    variables = variables_of(level)
    if not all(always_ends(level, inner) for inner in loops_in(loop.inner)):
        return False
    limits = {name: step for name in variables.read(loop.nodes) if (step := _steady_step(variables, loop, name))}
    open_ways = [way.link for node in loop.nodes for way in variables.ways[node] if _can_open(variables, way, limits)]
    return not _can_return(loop, open_ways, avoid=())


def _any_of(guards: Sequence[Guard]) -> Guard:
    return guards[0] if len(guards) == 1 else Or(tuple(guards))


def _only_loop_of(level: Workflow, task: str) -> LoopPart | None:
    """Return the only loop that the task is in; None if it is in none or several."""
    loop = _loops_by_task(level).get(task)
    if loop is None:
        check_task_names(level, [task])
    return loop


@lru_cache(maxsize=128)
def _loops_by_task(level: Workflow) -> dict[str, LoopPart]:
    """Return the loop of every task that is in exactly one."""
    loops = list(loops_in(parts_of(level) or ()))
    loop_counts = Counter(node for loop in loops for node in loop.nodes)
    single = [task for task in level.task_names if loop_counts[task] == 1]
    return {task: loop for loop in loops for task in single if task in loop.nodes}


def _leads_out(variables: Variables, node: str, loop: LoopPart) -> bool:
    return any(way.link.target not in loop.nodes for way in variables.ways[node])


def _leads_back(variables: Variables, node: str, loop: LoopPart) -> bool:
    return any(way.link.target == loop.head for way in variables.ways[node])


def _steady_step(variables: Variables, loop: LoopPart, name: str) -> Fraction | None:
    """Return one of the steps by which passes change a variable, all in one direction; None if that is not certain."""
    changing = [
        (node, change) for node in loop.nodes for change in variables.changes.get(node, ()) if change.variable == name
    ]
    steps = [change.step for _, change in changing]
    sure = [step for step in steps if step is not None]
    if not sure or len(sure) < len(steps) or len({step > 0 for step in sure}) > 1 or 0 in sure:
        return None
    links = [way.link for node in loop.nodes for way in variables.ways[node]]
    if _can_return(loop, links, avoid=[node for node, _ in changing]) or not _unbounded(
        variables.domains.get(name), sure
    ):
        return None
    return sure[0]


def _unbounded(domain: Domain | None, steps: Iterable[Fraction]) -> bool:
    return domain is None or all(is_unbounded(domain, step) for step in steps)


def _can_return(loop: LoopPart, links: Iterable[Link], avoid: Iterable[str]) -> bool:
    """Return True if links inside the loop lead from its head back to it without passing the nodes to avoid."""
    avoided = set(avoid)
    graph: dict[str, list[str]] = {}
    for link in links:
        if link.target in loop.nodes and not avoided.intersection((link.source, link.target)):
            graph.setdefault(link.source, []).append(link.target)
    return loop.head in reachable(graph, loop.head)


def _can_open(variables: Variables, way: Way, limits: dict[str, Fraction]) -> bool:
    """Return True if the way can be open once all variables with limits are past all constants."""
    if way.link.guard is None or way.guard is None:
        return True
    beside = [other.guard for other in variables.ways[way.link.source] if other.guard is not None]
    plain = [guard for guard in beside if not isinstance(guard, Otherwise)]
    guard = Not(Or(tuple(plain))) if isinstance(way.guard, Otherwise) else way.guard
    return satisfiable([_guard_at_limit(guard, limits)], _as_parameters(variables)) is not False


def _guard_at_limit(guard: Guard, limits: dict[str, Fraction]) -> Guard:
    """Return what a guard becomes once every variable is past all constants in the direction of its limit."""
    match guard:
        case Comparison(name, operator, _):
            if name not in limits:
                return guard
            grows = limits[name] > 0
            holds = operator == "!=" or operator in ((">", ">=") if grows else ("<", "<="))
            return And(()) if holds else Or(())
        case Not(part):
            return Not(_guard_at_limit(part, limits))
        case And(parts):
            return And(tuple(_guard_at_limit(part, limits) for part in parts))
        case Or(parts):
            return Or(tuple(_guard_at_limit(part, limits) for part in parts))
    return guard


def _as_parameters(variables: Variables) -> list[Parameter]:
    return [Parameter(name, domain=domain) for name, domain in variables.domains.items()]
