"""The similarity of the nodes of two procedural graphs, which of them may stand for each other, and which do."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final

from ...workflow.procedural_graph import GATEWAYS, ProceduralGraph, ProceduralNode
from ..assignment import gainful_pairs
from .bleu import MATCHED, bleu1

Similarities = Mapping[ProceduralNode, Mapping[ProceduralNode, float]]
Matches = Mapping[ProceduralNode, frozenset[ProceduralNode]]
Counterparts = Mapping[ProceduralNode, ProceduralNode]

_WITH_TEXT = ("action", "data", "notice")
_PASSES: Final = 3  # over gateways, some of which stand between gateways
_SAME_SORT: Final = 0.01  # makes a gateway of the same sort the better of two counterparts


def node_similarities(scored: ProceduralGraph, partner: ProceduralGraph) -> Similarities:
    """Return, for every node of the scored graph, its similarity to the nodes of its type in the partner, in order.

    This is the BLEU of the scored text for actions and constraints, whatever their actors, and 1.0 for other nodes.
    """
    by_sort: dict[str, list[ProceduralNode]] = {}
    for node in partner.nodes:
        by_sort.setdefault(node.sort, []).append(node)
    return {node: {other: _similarity(node, other) for other in by_sort.get(node.sort, ())} for node in scored.nodes}


def node_matches(similarities: Similarities) -> Matches:
    """Return, for every scored node, the nodes of the partner that match it: those with a value of at least MATCHED."""
    return {
        node: frozenset(other for other, value in others.items() if value >= MATCHED)
        for node, others in similarities.items()
    }


def _similarity(node: ProceduralNode, other: ProceduralNode) -> float:
    return bleu1(node.text, other.text) if node.sort in _WITH_TEXT else 1.0


def procedural_counterparts(answer: ProceduralGraph, gold: ProceduralGraph) -> Counterparts:
    """Return the gold node that each node of an answer stands for, one-to-one, if any.

    Actions and constraints are matched by their texts (pairs of at least MATCHED), start and end with each other, and
    gateways, whose names are free, by the nodes around them. A gateway may be of another sort than its counterpart.
    """
    similarities = node_similarities(answer, gold)
    ours, theirs = ([node for node in graph.nodes if not node.is_gateway] for graph in (answer, gold))
    node_pairs = _match(
        ours, theirs, [[_text_value(node, other, similarities[node]) for other in theirs] for node in ours]
    )
    gateways, others = answer.nodes_of(*GATEWAYS), gold.nodes_of(*GATEWAYS)
    around = [_around(gold, other, None) for other in others]
    paired: Counterparts = {}
    for _ in range(_PASSES):
        own = [_around(answer, node, {**node_pairs, **paired}) for node in gateways]
        gain = [
            [_gateway_value(node, other, near, theirs) for other, theirs in zip(others, around, strict=True)]
            for node, near in zip(gateways, own, strict=True)
        ]
        paired = _match(gateways, others, gain)
    return {**node_pairs, **paired}


def _match(
    ours: Sequence[ProceduralNode], theirs: Sequence[ProceduralNode], gain: Sequence[Sequence[float]]
) -> dict[ProceduralNode, ProceduralNode]:
    """Match the nodes one-to-one with the largest total gain, without pairs of no gain."""
    return {ours[row]: theirs[column] for row, column in gainful_pairs(gain).items()}


def _text_value(node: ProceduralNode, other: ProceduralNode, similarities: Mapping[ProceduralNode, float]) -> float:
    """Return the similarity of two nodes, and a little more if their actors agree; 0.0 if they cannot match."""
    similarity = similarities.get(other, 0.0)
    return similarity + _SAME_SORT * bleu1(node.actor, other.actor) if similarity >= MATCHED else 0.0


def _around(graph: ProceduralGraph, node: ProceduralNode, counterparts: Counterparts | None) -> set[tuple[str, object]]:
    """Return the gold nodes around a node, each with the direction of the flow; unmatched ones are left out."""
    before = [("before", flow.source) for flow in graph.incoming(node)]
    after = [("after", flow.target) for flow in graph.outgoing(node)]
    if counterparts is None:
        return {*before, *after}
    return {(where, counterparts[near]) for where, near in (*before, *after) if near in counterparts}


def _gateway_value(
    node: ProceduralNode, other: ProceduralNode, own: set[tuple[str, object]], theirs: set[tuple[str, object]]
) -> float:
    """Return the share of the nodes around two gateways that they have in common, and a little more for one sort."""
    common = len(own & theirs) / len(own | theirs) if own or theirs else 0.0
    return common + _SAME_SORT * (node.sort == other.sort) if common else 0.0
