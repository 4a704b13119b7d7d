"""The units that a procedural graph is decomposed into, and their inverse (Du et al. 2024, section 3.2 and Table 3).

Nineteen kinds are *spoken*: Table 3 has a template for each. The paper drops what its table lacks; the kinds in
`LINKING` keep it, so that no flow is lost: a graph is put together again from its units.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final, Literal, cast, get_args

from ....workflow.procedural_graph import ProceduralFlow, ProceduralGraph, ProceduralNode

SpokenKind = Literal[
    "start-action",
    "start-split",
    "action-action",
    "action-end",
    "exclusive-action",
    "exclusive-split",
    "exclusive-join-action",
    "exclusive-end",
    "inclusive-action",
    "inclusive-split",
    "inclusive-join-action",
    "inclusive-end",
    "parallel-two",
    "parallel-three",
    "join-action",
    "join-end",
    "action-data",
    "data-action",
    "action-notice",
]
LinkingKind = Literal[
    "action-split",
    "action-join",
    "join-join",
    "join-split",
    "exclusive-join",  # a branch without an action, to a join that no action follows
    "inclusive-join",
    "parallel-many",  # more than three branches, or fewer than two
    "other-flow",  # what a tidy graph does not have, such as a condition behind an action
]
UnitKind = SpokenKind | LinkingKind
SPOKEN: Final[tuple[SpokenKind, ...]] = get_args(SpokenKind)
"""The kinds of Table 3, in its order."""
LINKING: Final[tuple[LinkingKind, ...]] = get_args(LinkingKind)
"""The kinds that the paper has no template for."""
PARALLEL: Final[tuple[UnitKind, ...]] = ("parallel-two", "parallel-three", "parallel-many")
CONSTRAINING: Final[tuple[UnitKind, ...]] = ("action-data", "data-action", "action-notice")

_UNITS = frozenset((*SPOKEN, *LINKING))
_PARALLEL_BY_BRANCHES: Final[dict[int, UnitKind]] = {2: "parallel-two", 3: "parallel-three"}


@dataclass(frozen=True, slots=True)
class Unit:
    """A minimal part of a graph that means something by itself.

    Args:
        kind: One of SPOKEN or LINKING.
        nodes: The nodes in the order of their flows; of a parallel unit, the split and then the first node of each
            branch.
        condition: The condition of the first flow; empty if it has none. The other flows have none.
    """

    kind: UnitKind
    nodes: tuple[ProceduralNode, ...]
    condition: str = ""

    @property
    def flows(self) -> tuple[ProceduralFlow, ...]:
        """The flows that the unit consists of."""
        first, *others = self.nodes
        if self.kind in PARALLEL:
            return tuple(ProceduralFlow(first, target) for target in others)
        conditions = (self.condition, *("" for _ in others[1:]))
        return tuple(map(ProceduralFlow, self.nodes, others, conditions))


def is_split(graph: ProceduralGraph, node: ProceduralNode) -> bool:
    """Return True if a node is a gateway with several ways out, or with a way out that has a condition.

    Any other gateway is a join: the paper's "merge gateway", although branches that end may have left it one way in.
    """
    ways = _sequences(graph, node)
    return node.is_gateway and (len(ways) > 1 or any(flow.condition for flow in ways))


def decompose(graph: ProceduralGraph) -> list[Unit]:
    """Return the units of a graph by a breadth-first walk from its start.

    An action stands in several units, as in the paper: in one for each flow that reaches or leaves it. Constraints come
    with their action. What no walk from the start reaches follows, from the first node in the order of the graph.
    """
    units: dict[Unit, None] = {}
    for node in _walk(graph):
        for unit in (*_constraint_units(graph, node), *_flow_units(graph, node)):
            units.setdefault(unit)
    return [*units]


def _walk(graph: ProceduralGraph) -> Iterator[ProceduralNode]:
    """Yield every node once, breadth first from the start, along flows that are not constraints."""
    met: set[ProceduralNode] = set()
    waiting: deque[ProceduralNode] = deque()
    entries = [node for node in graph.nodes if not node.is_constraint and not _is_reached(graph, node)]
    for root in (*graph.nodes_of("start"), *entries, *graph.nodes):
        waiting.append(root)
        while waiting:
            node = waiting.popleft()
            if node not in met:
                met.add(node)
                yield node
                waiting.extend(flow.target for flow in _sequences(graph, node))


def _is_reached(graph: ProceduralGraph, node: ProceduralNode) -> bool:
    return any(flow.sort != "constraint" for flow in graph.incoming(node))


def _sequences(graph: ProceduralGraph, node: ProceduralNode) -> tuple[ProceduralFlow, ...]:
    return tuple(flow for flow in graph.outgoing(node) if flow.sort != "constraint")


def _constraint_units(graph: ProceduralGraph, node: ProceduralNode) -> Iterator[Unit]:
    """Yield the units of constraints: those that an action needs, then what leaves the node."""
    needed = graph.incoming(node) if node.sort == "action" else ()
    for flow in (*needed, *graph.outgoing(node)):
        if flow.sort == "constraint":
            kind = f"{flow.source.sort}-{flow.target.sort}"
            yield _unit(kind if kind in CONSTRAINING and not flow.condition else "other-flow", flow)


def _flow_units(graph: ProceduralGraph, node: ProceduralNode) -> Iterator[Unit]:
    ways = _sequences(graph, node)
    if node.sort == "parallel" and is_split(graph, node):
        yield from _parallel_units(node, ways)
    elif node.sort in ("exclusive", "inclusive") and is_split(graph, node):
        for flow in ways:
            yield _branch_unit(graph, flow)
    else:
        source = "join" if node.is_gateway else node.sort
        for flow in ways:
            kind = f"{source}-{_role(graph, flow.target)}"
            yield _unit(kind if kind in _UNITS and not flow.condition else "other-flow", flow)


def _parallel_units(split: ProceduralNode, ways: tuple[ProceduralFlow, ...]) -> Iterator[Unit]:
    """Yield one unit for the branches together, and one for each branch that has a condition after all."""
    targets = [flow.target for flow in ways if not flow.condition]
    if targets:
        yield Unit(_PARALLEL_BY_BRANCHES.get(len(targets), "parallel-many"), (split, *targets))
    for flow in ways:
        if flow.condition:
            yield _unit("other-flow", flow)


def _branch_unit(graph: ProceduralGraph, flow: ProceduralFlow) -> Unit:
    """Return the unit of a branch; one without an action includes the action behind its join."""
    kind = f"{flow.source.sort}-{_role(graph, flow.target)}"
    onward = _sequences(graph, flow.target) if kind.endswith("-join") else ()
    if len(onward) == 1 and onward[0].target.sort == "action":
        nodes = (flow.source, flow.target, onward[0].target)
        return Unit(cast(UnitKind, f"{kind}-action"), nodes, flow.condition)
    return _unit(kind if kind in _UNITS else "other-flow", flow)


def _role(graph: ProceduralGraph, node: ProceduralNode) -> str:
    if node.is_gateway:
        return "split" if is_split(graph, node) else "join"
    return node.sort


def _unit(kind: str, flow: ProceduralFlow) -> Unit:
    return Unit(cast(UnitKind, kind), (flow.source, flow.target), flow.condition)
