"""Grouping and ordering of units: which belong together, and in which order they are stated.

The paper trains two models for this (Du et al. 2024, section 3.2). Here it is a rule: sub-procedure by sub-procedure,
and within one actor by actor. Anything that is a `UnitGrouping` can take its place.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Protocol

from ....workflow.procedural_graph import ProceduralFlow, ProceduralGraph, ProceduralNode
from .procedure_parts import PartBranch, find_parts
from .units import CONSTRAINING, PARALLEL, Unit


@dataclass(frozen=True, slots=True)
class UnitGroup:
    """Units that are stated together, in order.

    Args:
        units: The units. A parallel unit may stand once in front of each of its branches, or once for all.
        actor: Who does what they say; empty if nobody is named.
        branch: The innermost branch that they are in; None outside of every part.
    """

    units: tuple[Unit, ...]
    actor: str = ""
    branch: PartBranch | None = None


class UnitGrouping(Protocol):
    """A way to group and order the units of a graph; every unit is to stand in a group."""

    def __call__(self, graph: ProceduralGraph, units: Sequence[Unit]) -> Sequence[UnitGroup]:
        """Return the groups in the order in which they are stated."""
        ...


def group_by_part(graph: ProceduralGraph, units: Sequence[Unit]) -> list[UnitGroup]:
    """Return the units in the order of a narration: branch after branch, then what follows their join.

    A group ends where a branch begins or ends, and where another actor takes over. Constraints follow the unit that
    states their action first.
    """
    groups: list[UnitGroup] = []
    group: list[Unit] = []
    place: tuple[PartBranch, ...] = ()
    actor: str | None = None
    for unit, within, acting in _in_order(graph, units):
        changed = within != place or (acting is not None and actor is not None and acting != actor)
        if group and changed:
            groups.append(_group(group, actor, place))
            group, actor = [], None
        group.append(unit)
        place = within
        actor = acting if acting is not None else actor
    return [*groups, _group(group, actor, place)] if group else groups


def _group(units: list[Unit], actor: str | None, place: tuple[PartBranch, ...]) -> UnitGroup:
    return UnitGroup(tuple(units), actor or "", place[-1] if place else None)


def _in_order(
    graph: ProceduralGraph, units: Sequence[Unit]
) -> Iterator[tuple[Unit, tuple[PartBranch, ...], str | None]]:
    """Yield the units as they are stated, each with the branches around it and the actor that it brings in, if any."""
    by_flow = _by_first_flow(units)
    constraints = _by_action(units)
    placed: set[Unit] = set()
    within: tuple[PartBranch, ...] = ()
    for flow, within in find_parts(graph).walked.items():
        for unit in by_flow.get(flow, ()):
            placed.add(unit)
            yield unit, within, flow.target.actor if flow.target.sort == "action" else None
        for node in (flow.source, flow.target):
            for unit in constraints.pop(node, ()):
                placed.add(unit)
                yield unit, within, None
    for unit in units:
        if unit not in placed:
            yield unit, (), None


def _by_first_flow(units: Iterable[Unit]) -> dict[ProceduralFlow, list[Unit]]:
    """Return the units by the flow at which they are stated: their first, or each flow of a parallel unit."""
    by_flow: dict[ProceduralFlow, list[Unit]] = {}
    for unit in units:
        for flow in unit.flows if unit.kind in PARALLEL else unit.flows[:1]:
            by_flow.setdefault(flow, []).append(unit)
    return by_flow


def _by_action(units: Iterable[Unit]) -> dict[ProceduralNode, list[Unit]]:
    by_action: dict[ProceduralNode, list[Unit]] = {}
    for unit in units:
        if unit.kind in CONSTRAINING:
            by_action.setdefault(next(node for node in unit.nodes if node.sort == "action"), []).append(unit)
    return by_action
