"""The similarity of the nodes of two procedural graphs, and which of them may stand for each other."""

from __future__ import annotations

from collections.abc import Mapping

from ...workflow.procedural_graph import ProceduralGraph, ProceduralNode
from .bleu import MATCHED, bleu1

Similarities = Mapping[ProceduralNode, Mapping[ProceduralNode, float]]
Matches = Mapping[ProceduralNode, frozenset[ProceduralNode]]

_WITH_TEXT = ("action", "data", "notice")


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
