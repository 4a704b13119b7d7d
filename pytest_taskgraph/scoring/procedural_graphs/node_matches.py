"""Which nodes of one procedural graph a node of another may stand for."""

from __future__ import annotations

from collections.abc import Mapping

from ...workflow.procedural_graph import ProceduralGraph, ProceduralNode
from .bleu import MATCHED, bleu1

Matches = Mapping[ProceduralNode, frozenset[ProceduralNode]]

_WITH_TEXT = ("action", "data", "notice")


def node_matches(scored: ProceduralGraph, partner: ProceduralGraph) -> Matches:
    """Return, for every node of the scored graph, the nodes of its partner that match it.

    Actions and constraints match those of their type with a BLEU of at least MATCHED, the scored one being the
    candidate; other nodes match all of their type. Actors do not count.
    """
    by_sort: dict[str, list[ProceduralNode]] = {}
    for node in partner.nodes:
        by_sort.setdefault(node.sort, []).append(node)
    return {
        node: frozenset(other for other in by_sort.get(node.sort, ()) if _match(node, other)) for node in scored.nodes
    }


def _match(node: ProceduralNode, other: ProceduralNode) -> bool:
    return node.sort not in _WITH_TEXT or bleu1(node.text, other.text) >= MATCHED
