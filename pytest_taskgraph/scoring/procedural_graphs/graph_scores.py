"""The scores of the elements of one procedural graph against those of another, as numerators and counts.

They are summed over graphs before they are divided into precision and recall.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from math import fsum
from typing import Final

from ...workflow.procedural_graph import GATEWAYS, FlowSort, NodeSort, ProceduralFlow, ProceduralGraph, ProceduralNode
from .node_matches import Matches, Similarities, bleu1, node_matches, node_similarities

Part = tuple[float, int]
"""The sum of the scores of the elements of one side, each 0.0 to 1.0, and their number."""
_TEXTS: Final[tuple[NodeSort, ...]] = ("action", "data", "notice")
_FLOWS: Final[tuple[FlowSort, ...]] = ("sequence", "condition", "constraint")
ELEMENTS: Final[tuple[str, ...]] = ("actor", *_TEXTS, *GATEWAYS, *_FLOWS)
"""The elements that are scored, in the order of Du et al. (2024), Table 2; "data" and "notice" are the constraints."""


@dataclass(frozen=True, slots=True)
class ElementCounts:
    """The scores of extracted elements against gold elements (precision), and the reverse (recall).

    A ratio whose count is 0 is undefined.
    """

    extracted: Part
    gold: Part

    @property
    def precision(self) -> float | None:
        """Return the mean score of the extracted elements."""
        return _ratio(self.extracted)

    @property
    def recall(self) -> float | None:
        """Return the mean score of the gold elements."""
        return _ratio(self.gold)

    @property
    def f1(self) -> float | None:
        """Return the harmonic mean of precision and recall; 0.0 if only one side has elements, None if neither has."""
        if self.precision is None and self.recall is None:
            return None
        precision, recall = self.precision or 0.0, self.recall or 0.0
        return 2 * precision * recall / (precision + recall) if precision + recall else 0.0


def pool_counts(counts: Iterable[ElementCounts]) -> ElementCounts:
    """Return the sums of several counts: of the types of one graph, or of one type over graphs."""
    all_counts = list(counts)
    return ElementCounts(
        _sum_parts(count.extracted for count in all_counts), _sum_parts(count.gold for count in all_counts)
    )


def _sum_parts(parts: Iterable[Part]) -> Part:
    all_parts = list(parts)
    return fsum(score for score, _ in all_parts), sum(count for _, count in all_parts)


def _ratio(part: Part) -> float | None:
    return part[0] / part[1] if part[1] else None


def text_scores(similarities: Similarities, sort: NodeSort) -> Part:
    """Return the sum of the best BLEU of each node of that sort with a node of the partner, and their number."""
    best = [max(others.values(), default=0.0) for node, others in similarities.items() if node.sort == sort]
    return fsum(best), len(best)


def actor_scores(similarities: Similarities) -> Part:
    """Return the sum of the scores of the actors of actions, and the number of actions that have an actor.

    An actor is compared by BLEU with the actor of the partner's most similar action: the first of those, but among
    equal texts an action with an equal actor. So a graph in which two actors do the same thing scores 1 against itself.
    """
    scores = [_actor_score(node, others) for node, others in similarities.items() if node.actor]
    return fsum(scores), len(scores)


def _actor_score(node: ProceduralNode, others: Mapping[ProceduralNode, float]) -> float:
    most = max(others.values(), default=0.0)
    actors = [other.actor for other, value in others.items() if value == most]
    if most == 1.0 and any(bleu1(node.actor, actor) == 1.0 for actor in actors):
        return 1.0
    return bleu1(node.actor, actors[0]) if actors else 0.0


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
