"""What an execution needs to know about the nodes and loops of a level, in any situation; computed once for a level.

Links are numbered, because a number is found in a dictionary several times as fast as a link; equal links have one
number.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from functools import lru_cache

from ..guards.solver import Comparison, Guard, Otherwise, comparisons
from ..model import END, Link, Workflow
from .loop_nest import LoopPart, loops_in, parts_of
from .variables import Change, Variables, variables_of


@dataclass(frozen=True, slots=True)
class Choice:
    """The choice of links out of a node.

    Args:
        undecided: The reason why no execution can decide it; empty if one can.
        free: The links that are always taken.
        guarded: The links that are taken if their guards hold, with the guards and their comparisons.
        otherwise: The links that are taken if none of these is.
        must_open: True if a guarded link has to be taken.
        single: True if no more than one may be taken.
    """

    undecided: str
    free: tuple[int, ...]
    guarded: tuple[tuple[int, Guard, tuple[Comparison, ...]], ...]
    otherwise: tuple[int, ...]
    must_open: bool
    single: bool


@dataclass(frozen=True, slots=True)
class NodePlan:
    """A node with its links and, if it is a task, its changes of variables that matter.

    `join` is the kind of a gateway that joins, else empty.
    """

    into: tuple[int, ...]
    out: tuple[int, ...]
    is_task: bool
    join: str
    leads_nowhere: bool
    choice: Choice
    changes: tuple[Change, ...]


@dataclass(frozen=True, slots=True)
class LoopPlan:
    """The links out of the nodes of a loop: all of them, those that repeat it, and those that leave it.

    `names` are the variables that decide the ways out of its nodes, sorted; `unstated` is True if guards read variables
    and no task states what it changes.
    """

    inside: tuple[int, ...]
    back: tuple[int, ...]
    left: tuple[int, ...]
    names: tuple[str, ...]
    unstated: bool


class FlowPlan:
    """The plans of the nodes of a level by name, and of its loops by their nodes."""

    def __init__(self, level: Workflow) -> None:
        variables = variables_of(level)
        flow, tasks = variables.flow, frozenset(level.task_names)
        self._numbers: dict[Link, int] = {}
        self.nodes: dict[str, NodePlan] = {}
        for node, out in flow.out.items():
            gateway = flow.gateways.get(node)
            self.nodes[node] = NodePlan(
                self._number(flow.into[node]),
                self._number(out),
                node in tasks,
                gateway.kind if gateway is not None and gateway.role == "join" else "",
                not out and node != END and node not in tasks,
                self._choice(variables, node),
                tuple([change for change in variables.changes.get(node, ()) if change.variable in variables.relevant]),
            )
        self.loops = {loop.nodes: self._loop(variables, loop) for loop in loops_in(parts_of(level) or ())}

    def _number(self, links: Iterable[Link]) -> tuple[int, ...]:
        return tuple([self._numbers.setdefault(link, len(self._numbers)) for link in links])

    def _choice(self, variables: Variables, node: str) -> Choice:
        ways, kind = variables.ways[node], variables.flow.split(node)
        links = self._number(way.link for way in ways)
        guarded = [way for way in ways if way.link.guard is not None]
        vague = next((way.link.guard for way in guarded if way.vague), None)
        undecided = "" if vague is None else f"the guard {vague!r} cannot be computed"
        if kind == "unclear" or (not guarded and kind not in ("", "parallel")):
            undecided = f"it is undecided which way is taken at {node}"
        numbered = list(zip(links, ways, strict=True))
        return Choice(
            undecided,
            tuple([link for link, way in numbered if way.link.guard is None]),
            tuple(
                [
                    (link, way.guard, tuple(comparisons(way.guard)))
                    for link, way in numbered
                    if way.guard and not isinstance(way.guard, Otherwise)
                ]
            ),
            tuple([link for link, way in numbered if isinstance(way.guard, Otherwise)]),
            bool(guarded) and kind != "mixed",
            kind not in ("inclusive", "mixed"),
        )

    def _loop(self, variables: Variables, loop: LoopPart) -> LoopPlan:
        links = [link for node in loop.nodes for link in variables.flow.out[node]]
        return LoopPlan(
            self._number(links),
            self._number(link for link in links if link.target == loop.head),
            self._number(link for link in links if link.target not in loop.nodes),
            tuple(sorted(variables.needed(loop.nodes))),
            bool(variables.read(loop.nodes)) and not variables.changed,
        )


@lru_cache(maxsize=128)
def flow_plan(level: Workflow) -> FlowPlan:
    """Return the plan of a level."""
    return FlowPlan(level)
