"""The scores of gateways: a gateway is right if it pairs with the same nodes as a gateway of the other graph."""

from __future__ import annotations

from collections.abc import Iterable

from ...workflow.procedural_graph import NodeSort, ProceduralGraph, ProceduralNode
from .element_counts import Part
from .node_matches import Matches


def gateway_scores(scored: ProceduralGraph, partner: ProceduralGraph, sort: NodeSort, matches: Matches) -> Part:
    """Return the number of right gateways of that type, and the number of gateways.

    A gateway is right if some gateway of its type in the partner has a flow in the same direction, with a matching node
    at the other end; several may be right by the same one. Neighbours that are gateways count only for a
    gateway that has no others.
    """
    theirs = partner.nodes_of(sort)
    behind = {flow.target for gateway in theirs for flow in partner.outgoing(gateway)}
    before = {flow.source for gateway in theirs for flow in partner.incoming(gateway)}
    gateways = scored.nodes_of(sort)
    right = 0
    for gateway in gateways:
        targets = [flow.target for flow in scored.outgoing(gateway)]
        sources = [flow.source for flow in scored.incoming(gateway)]
        alone = all(node.is_gateway for node in (*targets, *sources))
        right += _pairs_up(targets, behind, matches, alone) or _pairs_up(sources, before, matches, alone)
    return float(right), len(gateways)


def _pairs_up(neighbours: Iterable[ProceduralNode], theirs: set[ProceduralNode], matches: Matches, alone: bool) -> bool:
    """Return True if a neighbour matches one of theirs; gateways are passed over but where they stand alone."""
    return any(not matches[node].isdisjoint(theirs) for node in neighbours if alone or not node.is_gateway)
