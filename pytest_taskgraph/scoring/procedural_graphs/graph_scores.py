"""The numerators and counts of all elements of an extracted procedural graph against the gold one."""

from __future__ import annotations

from typing import Final

from ...workflow.procedural_graph import GATEWAYS, FlowSort, NodeSort, ProceduralGraph
from .element_counts import ElementCounts, Part
from .element_texts import actor_scores, text_scores
from .flow_scores import flow_scores
from .gateway_scores import gateway_scores
from .node_matches import node_matches, node_similarities

_TEXTS: Final[tuple[NodeSort, ...]] = ("action", "data", "notice")
_FLOWS: Final[tuple[FlowSort, ...]] = ("sequence", "condition", "constraint")
ELEMENTS: Final[tuple[str, ...]] = ("actor", *_TEXTS, *GATEWAYS, *_FLOWS)
"""The elements that are scored, in the order of Du et al. (2024), Table 2; "data" and "notice" are the constraints."""


def score_procedure(extracted: ProceduralGraph, gold: ProceduralGraph) -> dict[str, ElementCounts]:
    """Return numerators and counts for each of ELEMENTS; swapping the graphs swaps precision and recall."""
    precision, recall = _one_way(extracted, gold), _one_way(gold, extracted)
    return {element: ElementCounts(precision[element], recall[element]) for element in ELEMENTS}


def _one_way(scored: ProceduralGraph, partner: ProceduralGraph) -> dict[str, Part]:
    """Return the scores of the elements of one graph against those of the other, whose texts are the references."""
    similarities = node_similarities(scored, partner)
    matches = node_matches(similarities)
    return {
        "actor": actor_scores(similarities),
        **{sort: text_scores(similarities, sort) for sort in _TEXTS},
        **{sort: gateway_scores(scored, partner, sort, matches) for sort in GATEWAYS},
        **{sort: flow_scores(scored, partner, sort, matches) for sort in _FLOWS},
    }
