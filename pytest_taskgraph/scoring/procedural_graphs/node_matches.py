"""The similarity of the nodes of two procedural graphs, which of them may stand for each other, and which do.

Texts are compared by BLEU-1: the share of a text's words that another text holds, with a penalty for brevity. Du et al.
(2024) call nltk's `sentence_bleu` with one reference and the weights (1, 0, 0, 0), rounded to four places, over
lower-cased tokens without punctuation and articles. The same is computed here; their tokens are those of spaCy.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from functools import lru_cache
from math import exp
from typing import Final

from ...workflow.procedural_graph import GATEWAYS, ProceduralGraph, ProceduralNode
from ..assignment import gainful_pairs

MATCHED: Final = 0.5
"""The least BLEU at which two texts stand for the same thing (Du et al. 2024, appendix C.3)."""
_PLACES = 4
_TOKEN = re.compile(r"\w+|[^\w\s]")
_DROPPED = frozenset([*",.?;:!()[]{}'\"-_", "a", "an", "the"])
Similarities = Mapping[ProceduralNode, Mapping[ProceduralNode, float]]
Matches = Mapping[ProceduralNode, frozenset[ProceduralNode]]
Counterparts = Mapping[ProceduralNode, ProceduralNode]
_WITH_TEXT = ("action", "data", "notice")
_PASSES: Final = 3  # over gateways, some of which stand between gateways
_SAME_SORT: Final = 0.01  # makes a gateway of the same sort the better of two counterparts


def bleu_tokens(text: str) -> list[str]:
    """Return the words and signs of a text in lower case, without articles and the usual punctuation."""
    return [token for token in _TOKEN.findall(text.lower()) if token not in _DROPPED]


def bleu1(candidate: str, reference: str) -> float:
    """Return the BLEU-1 of a candidate against one reference, 0.0 to 1.0, rounded to four places.

    It is the share of the candidate's tokens that the reference holds, each at most as often as there, times the
    brevity penalty: exp(1 - r / c) for a candidate of c tokens that is shorter than a reference of r. A text without
    tokens scores 0.0, but for texts that are equal up to case and white space: these score 1.0.
    """
    if candidate == reference or _plain(candidate) == _plain(reference):
        return 1.0
    ours, theirs = _count_tokens(candidate), _count_tokens(reference)
    length, reference_length = ours.total(), theirs.total()
    if not length or not reference_length:
        return 0.0
    shared = sum(min(count, theirs[token]) for token, count in ours.items())
    penalty = 1.0 if length > reference_length else exp(1 - reference_length / length)
    return round(penalty * shared / length, _PLACES)


@lru_cache(maxsize=4096)
def _count_tokens(text: str) -> Counter[str]:
    return Counter(bleu_tokens(text))


@lru_cache(maxsize=4096)
def _plain(text: str) -> str:
    return " ".join(text.lower().split())


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
