"""The scores of the actions, constraints and actors of one procedural graph against those of another."""

from __future__ import annotations

from collections.abc import Mapping
from math import fsum

from ...workflow.procedural_graph import NodeSort, ProceduralNode
from .bleu import bleu1
from .element_counts import Part
from .node_matches import Similarities


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
