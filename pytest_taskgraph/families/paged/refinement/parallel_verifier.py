"""The parallel verifier of Du et al. (2024), section 4.3: what acts on one object does not run in parallel.

Actions of different objects that follow each other could, which is the milder half of the feedback.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice
from typing import Final

from ....workflow.procedural_graph import ProceduralGraph, ProceduralNode
from .action_objects import find_objects
from .verifier_feedback import Slab, VerifierFeedback, find_slabs, gateway_feedback

MOST_SEQUENTIAL: Final = 2  # pairs of actions that might run in parallel, of a graph
MOST_OBJECTS: Final = 2  # of a gateway that feedback names


def verify_parallel(graph: ProceduralGraph) -> list[VerifierFeedback]:
    """Return feedback on parallel gateways whose branches act on one object, the smallest first.

    The actions of one branch run in sequence, and may have the same object.
    """
    slabs = [slab for slab in find_slabs(graph) if slab.part.split.sort == "parallel"]
    return [gateway_feedback("parallel", slab, shared) for slab in slabs for shared in _sharing(slab)]


def verify_sequences(graph: ProceduralGraph) -> list[VerifierFeedback]:
    """Return feedback on the first pairs of actions in sequence that act on different objects.

    Not on those that pass data on, or speak of what the action before them acts on. An action stands in one pair.
    """
    hints: list[VerifierFeedback] = []
    paired: set[ProceduralNode] = set()
    for first, second in _adjacent(graph):
        if len(hints) >= MOST_SEQUENTIAL:
            break
        if paired.isdisjoint((first, second)) and _are_independent(graph, first, second):
            paired.update((first, second))
            hints.append(VerifierFeedback("sequential", "", "", (first.text, second.text)))
    return hints


def _sharing(slab: Slab) -> Iterator[tuple[str, ...]]:
    """Yield the actions of different branches that act on one object, for the first objects."""
    by_object: dict[str, dict[ProceduralNode, int]] = {}
    for number, actions in enumerate(slab.actions):
        for action in actions:
            for object_name in sorted(find_objects(action.text)):
                by_object.setdefault(object_name, {}).setdefault(action, number)
    shared = (actions for actions in by_object.values() if len({*actions.values()}) > 1)
    texts = dict.fromkeys(tuple(dict.fromkeys(action.text for action in actions)) for actions in shared)
    yield from islice(texts, MOST_OBJECTS)


def _adjacent(graph: ProceduralGraph) -> Iterator[tuple[ProceduralNode, ProceduralNode]]:
    """Yield the actions of which one follows directly on the other and on nothing else, in the order of the flows."""
    for flow in graph.flows:
        if flow.sort != "sequence" or (flow.source.sort, flow.target.sort) != ("action", "action"):
            continue
        ways = [way for way in graph.outgoing(flow.source) if way.sort != "constraint"]
        back = [way for way in graph.incoming(flow.target) if way.sort != "constraint"]
        if len(ways) == len(back) == 1 and flow.source != flow.target:
            yield flow.source, flow.target


def _are_independent(graph: ProceduralGraph, first: ProceduralNode, second: ProceduralNode) -> bool:
    """Return True if two actions have objects, none in common, and the second does not need what the first makes."""
    objects, others = find_objects(first.text), find_objects(second.text)
    if not objects or not others or not objects.isdisjoint(others):
        return False
    words = set(second.text.lower().split())
    if any(word in words for object_name in objects for word in object_name.split()):
        return False
    produced = {flow.target for flow in graph.outgoing(first) if flow.target.sort == "data"}
    return produced.isdisjoint(flow.source for flow in graph.incoming(second))
