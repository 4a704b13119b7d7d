"""What the actions, constraints and actors of one procedural graph score against those of another."""

from __future__ import annotations

from collections.abc import Sequence
from math import fsum

from ...workflow.procedural_graph import NodeSort, ProceduralGraph, ProceduralNode
from .bleu import bleu1
from .element_counts import Part


def text_scores(scored: ProceduralGraph, partner: ProceduralGraph, sort: NodeSort) -> Part:
    """Return the best BLEU of each node of that sort with one of the partner, summed, and how many nodes there are."""
    nodes, others = scored.nodes_of(sort), partner.nodes_of(sort)
    best = (max((bleu1(node.text, other.text) for other in others), default=0.0) for node in nodes)
    return fsum(best), len(nodes)


def actor_scores(scored: ProceduralGraph, partner: ProceduralGraph) -> Part:
    """Return what the actors of actions score, summed, and how many actions have one.

    An actor is compared by BLEU with the actor of the partner's most similar action: the first of those, but where
    texts are equal one with an equal actor. So a graph in which two actors do the same thing scores 1 against itself.
    """
    nodes = [node for node in scored.nodes_of("action") if node.actor]
    others = partner.nodes_of("action")
    return fsum(_actor_score(node, others) for node in nodes), len(nodes)


def _actor_score(node: ProceduralNode, others: Sequence[ProceduralNode]) -> float:
    alike = [(bleu1(node.text, other.text), bleu1(node.actor, other.actor)) for other in others]
    return max(alike, key=lambda one: (one[0], one == (1.0, 1.0)), default=(0.0, 0.0))[1]
