"""Facts about the loops of a level: when they end, how often they repeat, and which of them end whatever happens."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import replace
from fractions import Fraction
from functools import lru_cache

from ..graph import reachable, task_graph
from ..guards.cells import Situation, is_unbounded
from ..guards.solver import And, Comparison, Guard, Not, Or, Otherwise, read_guard, satisfiable
from ..guards.syntax import negate, write_guard
from ..model import Domain, Link, Parameter, Workflow
from .execution import Endless, Outcome, Run, check_task_names, executions, outcome
from .loop_nest import LoopPart, forward_links, loops_in, parts_of
from .variables import Variables, Way, fixed_step, variables_of


def loop_at(level: Workflow, task: str) -> tuple[str, ...] | None:
    """The tasks of the loop that the task is in, in the order of declaration; None if it is in none, or in several.

    Raises UnknownNameError.
    """
    found = _loop(level, task)
    return None if found is None else tuple(name for name in level.task_names if name in found.nodes)


def looping_tasks(level: Workflow) -> tuple[str, ...]:
    """Return the tasks that are in a loop, or in several, in the order of declaration."""
    inside = {node for loop in loops_in(parts_of(level) or ()) for node in loop.nodes}
    return tuple(name for name in level.task_names if name in inside)


def forward_task_graph(level: Workflow) -> dict[str, tuple[str, ...]]:
    """Return every task with the tasks directly after it, through gateways, where no loop is repeated.

    Empty where a loop has more than one entry.
    """
    found = parts_of(level)
    if found is None:
        return {}
    kept = {link for links in forward_links(variables_of(level).flow, found).values() for link in links}
    return task_graph(replace(level, links=tuple(link for link in level.links if link in kept)))


def only_loops_decide(level: Workflow) -> bool:
    """Return True if there are guards, and all of them decide whether to repeat or to leave a loop."""
    found = list(loops_in(parts_of(level) or ()))
    guarded = [link for link in level.links if link.guard is not None]
    known = variables_of(level)
    deciding = {
        node for loop in found for node in loop.nodes if _leads_out(known, node, loop) or _leads_back(known, node, loop)
    }
    return bool(guarded) and all(link.source in deciding for link in guarded)


def exit_condition(level: Workflow, task: str) -> str | None:
    """The guard under which the loop at a task ends: that of its way out or, if that says "otherwise", of no way back.

    None where the task is in no loop or several, the loop is left at several nodes, or a guard cannot be computed.
    Raises UnknownNameError.
    """
    found = _loop(level, task)
    known = variables_of(level)
    leaving = {node for node in found.nodes if _leads_out(known, node, found)} if found is not None else set()
    if found is None or len(leaving) != 1:
        return None
    ways = known.ways[leaving.pop()]
    if any(way.guard is None for way in ways) or known.flow.split(ways[0].link.source) != "exclusive":
        return None
    out = [read_guard(way.link.guard or "") for way in ways if way.link.target not in found.nodes]
    if not any(isinstance(guard, Otherwise) for guard in out):
        return write_guard(_either(out))
    stay = [read_guard(way.link.guard or "") for way in ways if way.link.target in found.nodes]
    return write_guard(negate(_either(stay)))


def loop_ends(level: Workflow, task: str, situation: Situation) -> bool | None:
    """Whether the loop at a task ends in the situation; None if it is not entered there, or that is undecided.

    None too where the task is in no loop, or in several. Raises UnknownNameError.
    """
    return loop_ends_in(level, task, outcome(level, situation))


def loop_ends_in(level: Workflow, task: str, told: Outcome) -> bool | None:
    """Return `loop_ends` for a situation with a known outcome."""
    found = _loop(level, task)
    if found is None:
        return None
    if isinstance(told, Endless) and any(nodes <= found.nodes for nodes in told.loops):
        return False
    if not isinstance(told, (Run, Endless)):
        return None
    return True if found.nodes.intersection(told.tasks) else None


def execution_count(level: Workflow, task: str, situation: Situation) -> int | None:
    """How many times a task runs in the situation; None if that never ends or is undecided. Raises UnknownNameError."""
    check_task_names(level, [task])
    return execution_count_in(task, outcome(level, situation))


def execution_count_in(task: str, told: Outcome) -> int | None:
    """Return `execution_count` for a situation with a known outcome."""
    return len(executions(told, task)) if isinstance(told, Run) else None


@lru_cache(maxsize=512)
def always_ends(level: Workflow, loop: LoopPart) -> bool:
    """Whether the loop provably ends in every situation; False says only that there is no proof of it.

    The proof: all loops inside it end. Tasks move some variables by fixed steps in one direction, without end in
    their domain, and one of them runs in every pass. Once such a variable is past all constants, guards on it stay as
    they are; and then, whatever the other variables are, no way back is open any more.
    """
    known = variables_of(level)
    if not all(always_ends(level, inner) for inner in loops_in(loop.inner)):
        return False
    limits = {name: step for name in known.read(loop.nodes) if (step := _drift(known, loop, name))}
    open_ways = [way.link for node in loop.nodes for way in known.ways[node] if _opens(known, way, limits)]
    return not _returns(loop, open_ways, without=())


def _either(guards: Sequence[Guard]) -> Guard:
    return guards[0] if len(guards) == 1 else Or(tuple(guards))


def _loop(level: Workflow, task: str) -> LoopPart | None:
    """The only loop that the task is in."""
    check_task_names(level, [task])
    return _only_loops(level).get(task)


@lru_cache(maxsize=128)
def _only_loops(level: Workflow) -> dict[str, LoopPart]:
    """Return the loop of every node that is in exactly one."""
    found = list(loops_in(parts_of(level) or ()))
    execution_count = Counter(node for loop in found for node in loop.nodes)
    return {node: loop for loop in found for node in loop.nodes if execution_count[node] == 1}


def _leads_out(known: Variables, node: str, loop: LoopPart) -> bool:
    return any(way.link.target not in loop.nodes for way in known.ways[node])


def _leads_back(known: Variables, node: str, loop: LoopPart) -> bool:
    return any(way.link.target == loop.head for way in known.ways[node])


def _drift(known: Variables, loop: LoopPart, name: str) -> Fraction | None:
    """The direction in which every pass moves a variable, as one of the steps; None if that is not sure."""
    changing = [(node, one) for node in loop.nodes for one in known.changes.get(node, ()) if one.variable == name]
    steps = [fixed_step(one.expression, name) if one.expression is not None else None for _, one in changing]
    sure = [step for step in steps if step is not None]
    if not sure or len(sure) < len(steps) or len({step > 0 for step in sure}) > 1 or 0 in sure:
        return None
    links = [way.link for node in loop.nodes for way in known.ways[node]]
    if _returns(loop, links, without=[node for node, _ in changing]) or not _unbounded(known.domains.get(name), sure):
        return None
    return sure[0]


def _unbounded(domain: Domain | None, steps: Iterable[Fraction]) -> bool:
    return domain is None or all(is_unbounded(domain, step) for step in steps)


def _returns(loop: LoopPart, links: Iterable[Link], without: Iterable[str]) -> bool:
    """Whether links inside the loop lead from its head back to it, past the nodes `without`."""
    avoided = set(without)
    graph: dict[str, list[str]] = {}
    for link in links:
        if link.target in loop.nodes and not avoided.intersection((link.source, link.target)):
            graph.setdefault(link.source, []).append(link.target)
    return loop.head in reachable(graph, loop.head)


def _opens(known: Variables, way: Way, limits: dict[str, Fraction]) -> bool:
    """Whether the way can be open once all variables with limits are past all constants."""
    if way.link.guard is None or way.guard is None:
        return True
    beside = [one.guard for one in known.ways[way.link.source] if one.guard is not None]
    plain = [guard for guard in beside if not isinstance(guard, Otherwise)]
    guard = Not(Or(tuple(plain))) if isinstance(way.guard, Otherwise) else way.guard
    return satisfiable([_limit(guard, limits)], _parameters(known)) is not False


def _limit(guard: Guard, limits: dict[str, Fraction]) -> Guard:
    """What a guard comes to once every variable is past all constants in the direction of its limit."""
    match guard:
        case Comparison(name, operator, _):
            if name not in limits:
                return guard
            grows = limits[name] > 0
            holds = operator == "!=" or operator in ((">", ">=") if grows else ("<", "<="))
            return And(()) if holds else Or(())
        case Not(part):
            return Not(_limit(part, limits))
        case And(one):
            return And(tuple(_limit(part, limits) for part in one))
        case Or(one):
            return Or(tuple(_limit(part, limits) for part in one))
    return guard


def _parameters(known: Variables) -> list[Parameter]:
    return [Parameter(name, domain=domain) for name, domain in known.domains.items()]
