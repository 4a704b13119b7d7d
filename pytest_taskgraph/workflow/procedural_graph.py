"""Procedural graphs (Du et al. 2024): actions with their actors, gateways, constraints, and the flows between them.

A node is known by its kind, its text and, for an action, its actor: two nodes that agree in these are the same. Nothing
demands that gateways come in pairs, or that a flow is possible; what people and models write is not tidy.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Final, Literal, cast, get_args

NodeSort = Literal["start", "end", "action", "data", "notice", "exclusive", "inclusive", "parallel"]
FlowSort = Literal["sequence", "condition", "constraint"]
GATEWAYS: Final[tuple[NodeSort, ...]] = ("exclusive", "inclusive", "parallel")
CONSTRAINTS: Final[tuple[NodeSort, ...]] = ("data", "notice")


@dataclass(frozen=True, slots=True)
class ProceduralNode:
    """A node of a procedural graph.

    Args:
        sort: "data" is a data constraint, "notice" an action constraint; the last three are gateways.
        text: What is done, needed or noted; the name of a gateway, such as "XOR1"; empty for start and end.
        actor: Who does it; empty if that is not said, and for anything but actions.
    """

    sort: NodeSort
    text: str = ""
    actor: str = ""

    @property
    def is_gateway(self) -> bool:
        """Return True for an exclusive, inclusive or parallel gateway."""
        return self.sort in GATEWAYS

    @property
    def is_constraint(self) -> bool:
        """Return True for a data constraint or an action constraint."""
        return self.sort in CONSTRAINTS


@dataclass(frozen=True, slots=True)
class ProceduralFlow:
    """A flow from one node to another, under a condition in words; none where that is empty."""

    source: ProceduralNode
    target: ProceduralNode
    condition: str = ""

    @property
    def sort(self) -> FlowSort:
        """The sort of the flow: a constraint if either end is one, else a condition if it has one, else a sequence."""
        if self.source.is_constraint or self.target.is_constraint:
            return "constraint"
        return "condition" if self.condition else "sequence"


@dataclass(frozen=True)
class ProceduralGraph:
    """The flows of a procedure, each once, in the order in which they were written; its nodes follow from them."""

    flows: tuple[ProceduralFlow, ...] = ()

    @classmethod
    def of(cls, flows: Iterable[ProceduralFlow]) -> ProceduralGraph:
        """Return the graph of these flows; a flow that stands there again is dropped."""
        return cls(tuple(dict.fromkeys(flows)))

    @cached_property
    def nodes(self) -> tuple[ProceduralNode, ...]:
        """The nodes, in the order in which flows name them."""
        return tuple(dict.fromkeys(node for flow in self.flows for node in (flow.source, flow.target)))

    def nodes_of(self, *sorts: NodeSort) -> tuple[ProceduralNode, ...]:
        """Return the nodes of some sorts, in order."""
        return tuple(node for node in self.nodes if node.sort in sorts)

    def outgoing(self, node: ProceduralNode) -> tuple[ProceduralFlow, ...]:
        """Return the flows that leave a node."""
        return self._outgoing.get(node, ())

    def incoming(self, node: ProceduralNode) -> tuple[ProceduralFlow, ...]:
        """Return the flows that reach a node."""
        return self._incoming.get(node, ())

    @cached_property
    def _outgoing(self) -> Mapping[ProceduralNode, tuple[ProceduralFlow, ...]]:
        return _by_node((flow.source, flow) for flow in self.flows)

    @cached_property
    def _incoming(self) -> Mapping[ProceduralNode, tuple[ProceduralFlow, ...]]:
        return _by_node((flow.target, flow) for flow in self.flows)

    def to_json(self) -> list[list[Any]]:
        """Return the flows as plain JSON values: source and target as sort, text and actor, and the condition."""
        return [[_node_json(flow.source), _node_json(flow.target), flow.condition] for flow in self.flows]

    @classmethod
    def from_json(cls, data: object) -> ProceduralGraph:
        """Return the graph that `to_json` wrote.

        Raises:
            ValueError: if the value is none.
        """
        if not isinstance(data, list):
            raise ValueError(f"a procedural graph is a list of flows, not {type(data).__name__}")
        return cls.of(map(_flow_of, data))


def _by_node(
    flows: Iterable[tuple[ProceduralNode, ProceduralFlow]],
) -> dict[ProceduralNode, tuple[ProceduralFlow, ...]]:
    found: dict[ProceduralNode, list[ProceduralFlow]] = {}
    for node, flow in flows:
        found.setdefault(node, []).append(flow)
    return {node: tuple(own) for node, own in found.items()}


def _node_json(node: ProceduralNode) -> list[str]:
    return [node.sort, node.text, node.actor]


def _flow_of(value: object) -> ProceduralFlow:
    match value:
        case [list(source), list(target), str(condition)]:
            return ProceduralFlow(_node_of(source), _node_of(target), condition)
    raise ValueError(f"a flow is a source, a target and a condition, not {value!r:.80}")


def _node_of(value: list[object]) -> ProceduralNode:
    match value:
        case [str(sort), str(text), str(actor)] if sort in get_args(NodeSort):
            return ProceduralNode(cast(NodeSort, sort), text, actor)
    raise ValueError(f"a node is a sort, a text and an actor, not {value!r:.80}")
