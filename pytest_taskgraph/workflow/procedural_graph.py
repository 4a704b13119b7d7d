"""Procedural graphs (Du et al., 2024): actions with their actors, gateways, constraints, and the flows between them.

A node is identified by its sort, its text and, for an action, its actor: two nodes that agree in these are the same.
Gateways need not come in pairs, and flows need not make sense: people and models write graphs that are not tidy.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, Final, Literal, cast, get_args

NodeSort = Literal["start", "end", "action", "data", "notice", "exclusive", "inclusive", "parallel"]
FlowSort = Literal["sequence", "condition", "constraint"]
GATEWAYS: Final[tuple[NodeSort, ...]] = ("exclusive", "inclusive", "parallel")
CONSTRAINTS: Final[tuple[NodeSort, ...]] = ("data", "notice")
GATEWAY_NAMES: Final[Mapping[NodeSort, str]] = {"exclusive": "XOR", "inclusive": "OR", "parallel": "AND"}
"""How the name of a gateway begins; a number may follow."""
_SORTS: Final = {name: sort for sort, name in GATEWAY_NAMES.items()}
_GATEWAY_NAME: Final = re.compile(r"(XOR|OR|AND)[0-9]{0,9}")


@dataclass(frozen=True, slots=True)
class ProceduralNode:
    """A node of a procedural graph.

    Args:
        sort: "data" is a data constraint, "notice" an action constraint; the last three are gateways.
        text: What is done, needed or noted; the name of a gateway, such as "XOR1"; empty for start and end.
        actor: Who performs the action; empty if not stated, and for every other sort.

    Raises:
        ValueError: if a start or an end has a text, another node has none, or a node other than an action has an actor.
    """

    sort: NodeSort
    text: str = ""
    actor: str = ""

    def __post_init__(self) -> None:
        if self.sort in ("start", "end"):
            if self.text:
                raise ValueError(f"found the text {self.text!r:.60} of a node of the sort {self.sort}; expected none")
        elif not self.text.strip():
            raise ValueError(f"found a node of the sort {self.sort} without a text; expected one")
        if self.actor and (self.sort != "action" or not self.actor.strip()):
            where = f"{self.sort} {self.text!r:.60}".rstrip()
            raise ValueError(
                f"found the actor {self.actor!r:.60} of {where}; expected the name of one, of actions only"
            )

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
    """A flow from one node to another, under a condition in words; the empty text is no condition."""

    source: ProceduralNode
    target: ProceduralNode
    condition: str = ""

    @property
    def sort(self) -> FlowSort:
        """Return the sort of the flow: a constraint if either end is one, a condition if it has one, or a sequence."""
        if self.source.is_constraint or self.target.is_constraint:
            return "constraint"
        return "condition" if self.condition else "sequence"


@dataclass(frozen=True, eq=False)
class ProceduralGraph:
    """The flows of a procedure, each once, in the order in which they were written; its nodes follow from them.

    Two graphs with the same flows are equal, in whatever order.
    """

    flows: tuple[ProceduralFlow, ...] = ()

    @classmethod
    def of(cls, flows: Iterable[ProceduralFlow]) -> ProceduralGraph:
        """Return the graph of these flows; repeated flows are dropped."""
        return cls(tuple(dict.fromkeys(flows)))

    def __eq__(self, other: object) -> bool:
        return isinstance(other, ProceduralGraph) and self._set == other._set

    def __hash__(self) -> int:
        return hash(self._set)

    @cached_property
    def _set(self) -> frozenset[ProceduralFlow]:
        return frozenset(self.flows)

    @cached_property
    def nodes(self) -> tuple[ProceduralNode, ...]:
        """Return the nodes, in the order in which flows name them."""
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

    @cached_property
    def actors(self) -> tuple[str, ...]:
        """Return those who perform the actions, in the order in which flows name them."""
        return tuple(dict.fromkeys(node.actor for node in self.nodes if node.actor))

    def with_nodes(self, replacements: Mapping[ProceduralNode, ProceduralNode]) -> ProceduralGraph:
        """Return the graph with some nodes replaced by others; flows that become equal are merged."""
        return self.of(
            replace(
                flow,
                source=replacements.get(flow.source, flow.source),
                target=replacements.get(flow.target, flow.target),
            )
            for flow in self.flows
        )

    def to_json(self) -> list[list[Any]]:
        """Return the flows as plain JSON values: source and target as sort, text and actor, and the condition."""
        return [[_node_json(flow.source), _node_json(flow.target), flow.condition] for flow in self.flows]

    @classmethod
    def from_json(cls, data: object) -> ProceduralGraph:
        """Return the graph that `to_json` wrote.

        Raises:
            ValueError: if the value is not a list of flows, or a node is not possible.
        """
        if not isinstance(data, list):
            raise ValueError(f"a procedural graph is a list of flows, not {type(data).__name__}")
        return cls.of(map(_flow_of, data))


def gateway_sort(name: str) -> NodeSort | None:
    """Return the sort of gateway that a name such as "XOR1" or "AND" states; None for any other name."""
    match = _GATEWAY_NAME.fullmatch(name)
    return _SORTS[match[1]] if match else None


def name_gateways(graph: ProceduralGraph) -> ProceduralGraph:
    """Return the graph with the name of every gateway stating its sort: XOR1, OR1, AND1.

    Names that already do are kept; the others get the next free number of their sort, in the order of the nodes.
    """
    gateways = graph.nodes_of(*GATEWAYS)
    taken = {node.text for node in gateways if gateway_sort(node.text) == node.sort}
    renamed: dict[ProceduralNode, ProceduralNode] = {}
    numbers = dict.fromkeys(GATEWAYS, 0)
    for node in gateways:
        if gateway_sort(node.text) == node.sort:
            continue
        name = ""
        while not name or name in taken:
            numbers[node.sort] += 1
            name = f"{GATEWAY_NAMES[node.sort]}{numbers[node.sort]}"
        taken.add(name)
        renamed[node] = replace(node, text=name)
    return graph.with_nodes(renamed)


def _by_node(
    flows: Iterable[tuple[ProceduralNode, ProceduralFlow]],
) -> dict[ProceduralNode, tuple[ProceduralFlow, ...]]:
    by_node: dict[ProceduralNode, list[ProceduralFlow]] = {}
    for node, flow in flows:
        by_node.setdefault(node, []).append(flow)
    return {node: tuple(own) for node, own in by_node.items()}


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
