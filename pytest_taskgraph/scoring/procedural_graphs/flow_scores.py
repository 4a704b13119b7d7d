"""The scores of the flows of one procedural graph against those of another."""

from __future__ import annotations

from math import fsum

from ...workflow.procedural_graph import FlowSort, ProceduralFlow, ProceduralGraph, ProceduralNode
from .bleu import bleu1
from .element_counts import Part
from .node_matches import Matches


def flow_scores(scored: ProceduralGraph, partner: ProceduralGraph, sort: FlowSort, matches: Matches) -> Part:
    """Return the sum of the scores of the flows of that type, and their number.

    A flow scores 1 if its partner has a flow of its type with matching ends. A condition flow scores the best BLEU of
    its condition with those of such flows.
    """
    by_source: dict[ProceduralNode, list[ProceduralFlow]] = {}
    for flow in partner.flows:
        if flow.sort == sort:
            by_source.setdefault(flow.source, []).append(flow)
    flows = [flow for flow in scored.flows if flow.sort == sort]
    return fsum(_score(flow, by_source, matches) for flow in flows), len(flows)


def _score(flow: ProceduralFlow, by_source: dict[ProceduralNode, list[ProceduralFlow]], matches: Matches) -> float:
    conditioned = flow.sort == "condition"
    best = 0.0
    for source in matches[flow.source]:
        for other in by_source.get(source, ()):
            if other.target in matches[flow.target]:
                best = max(best, bleu1(flow.condition, other.condition) if conditioned else 1.0)
    return best
