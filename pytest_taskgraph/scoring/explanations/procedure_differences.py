"""What is wrong with the nodes and flows of a procedural graph.

Nodes are matched one-to-one: actions and constraints by their texts (pairs of at least MATCHED), start and end with
each other, and gateways by the nodes around them, since their names are free.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Final

from ...trial import Json
from ...workflow.procedural_graph import GATEWAY_NAMES, GATEWAYS, ProceduralGraph, ProceduralNode
from ..procedural_graphs.answered_graphs import answered_procedure, gold_procedure
from ..procedural_graphs.bleu import MATCHED, bleu1
from ..procedural_graphs.node_matches import node_similarities
from .sentence_parts import cut, write_name

MOST_NODES: Final = 200
"""Largest number of nodes of one graph, because all pairs are compared."""
_MOST_FLOWS: Final = 2_000
_PASSES: Final = 3  # over gateways, some of which stand between gateways
_SAME_SORT: Final = 0.01  # makes a gateway of the same sort the better of two counterparts
_WITH_TEXT: Final = ("action", "data", "notice")
_WORDS: Final = {"action": "the action", "data": "the data constraint", "notice": "the action constraint"}

_Nodes = Mapping[ProceduralNode, ProceduralNode]  # given node -> gold node
_Conditions = dict[tuple[ProceduralNode, ProceduralNode], list[str]]


def explain_procedure(reference: Json, given: Json) -> list[str]:
    """Name wrong actors and gateways, and the nodes and flows that are missing or extra.

    Raises:
        UsageError: if the reference is no procedural graph.
    """
    flows = given.get("flows") if isinstance(given, dict) else None
    if not isinstance(flows, list) or len(flows) > _MOST_FLOWS:
        return []
    gold, answer = gold_procedure(reference), answered_procedure(given)
    if gold == answer or not answer.flows or len(gold.flows) > _MOST_FLOWS:
        return []
    if max(len(gold.nodes), len(answer.nodes)) > MOST_NODES:
        return []
    counterparts = _counterparts(gold, answer)
    return [
        *cut([*_actor_sentences(counterparts)], "actor"),
        *cut([*_gateway_sentences(counterparts)], "gateway"),
        *_flow_sentences(gold, answer, counterparts),
        *_node_sentences(gold, answer, counterparts),
    ]


def _counterparts(gold: ProceduralGraph, answer: ProceduralGraph) -> dict[ProceduralNode, ProceduralNode]:
    similarities = node_similarities(answer, gold)
    ours, theirs = ([node for node in graph.nodes if not node.is_gateway] for graph in (answer, gold))
    node_pairs = _match(
        ours, theirs, [[_text_value(node, other, similarities[node]) for other in theirs] for node in ours]
    )
    gateways, others = answer.nodes_of(*GATEWAYS), gold.nodes_of(*GATEWAYS)
    around = [_around(gold, other, None) for other in others]
    paired: _Nodes = {}
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
    if not ours or not theirs:
        return {}
    from scipy.optimize import linear_sum_assignment

    rows, columns = linear_sum_assignment(gain, maximize=True)
    pairs = zip(rows.tolist(), columns.tolist(), strict=True)
    return {ours[row]: theirs[column] for row, column in pairs if gain[row][column] > 0}


def _text_value(node: ProceduralNode, other: ProceduralNode, similarities: Mapping[ProceduralNode, float]) -> float:
    """Return the similarity of two nodes, and a little more if their actors agree; 0.0 if they cannot match."""
    similarity = similarities.get(other, 0.0)
    return similarity + _SAME_SORT * bleu1(node.actor, other.actor) if similarity >= MATCHED else 0.0


def _around(graph: ProceduralGraph, node: ProceduralNode, counterparts: _Nodes | None) -> set[tuple[str, object]]:
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


def _actor_sentences(counterparts: _Nodes) -> Iterator[str]:
    for node, right in counterparts.items():
        if " ".join(node.actor.lower().split()) != " ".join(right.actor.lower().split()):
            expected = write_name(right.actor) if right.actor else "no one by name"
            actual = write_name(node.actor) if node.actor else "no one by name"
            yield f"{write_name(right.text)} is done by {expected}, and the answer says {actual}"


def _gateway_sentences(counterparts: _Nodes) -> Iterator[str]:
    for node, right in counterparts.items():
        if node.sort != right.sort:
            yield f"{write_name(node.text)} is {_kind(node)}, but has to be {_kind(right)}"


def _kind(node: ProceduralNode) -> str:
    return f"{'a' if node.sort == 'parallel' else 'an'} {node.sort} gateway ({GATEWAY_NAMES[node.sort]})"


def _flow_sentences(gold: ProceduralGraph, answer: ProceduralGraph, counterparts: _Nodes) -> list[str]:
    """Return sentences about flows between nodes that both graphs have, named as in the gold graph."""
    right = _conditions((flow.source, flow.target, flow.condition) for flow in gold.flows)
    stated = _conditions(
        (counterparts[flow.source], counterparts[flow.target], flow.condition)
        for flow in answer.flows
        if flow.source in counterparts and flow.target in counterparts
    )
    nodes_of_both = {*counterparts.values()}
    missing = [pair for pair in right if nodes_of_both.issuperset(pair) and pair not in stated]
    extra = [pair for pair in stated if pair not in right]
    turned = {(a, b) for a, b in extra if (b, a) in right and (b, a) not in stated}
    return [
        *cut([f"the flow {_flow(b, a)} is turned round" for a, b in extra if (a, b) in turned], "flow"),
        *cut([f"the flow {_flow(a, b)} is missing" for a, b in missing if (b, a) not in turned], "flow"),
        *cut([f"the flow {_flow(a, b)} is extra" for a, b in extra if (a, b) not in turned], "flow"),
        *cut([*_condition_sentences(right, stated)], "condition"),
    ]


def _conditions(flows: Iterable[tuple[ProceduralNode, ProceduralNode, str]]) -> _Conditions:
    """Return the conditions of the flows from one node to another."""
    conditions: _Conditions = {}
    for source, target, condition in flows:
        conditions.setdefault((source, target), []).append(condition)
    return conditions


def _condition_sentences(right: _Conditions, stated: _Conditions) -> Iterator[str]:
    for pair, conditions in stated.items():
        expected = right.get(pair, conditions)
        for condition in conditions:
            if not any(condition == other or bleu1(condition, other) >= MATCHED for other in expected):
                says = write_name(condition) if condition else "none"
                yield f"the flow {_flow(*pair)} has {_condition(expected[0])}, and the answer says {says}"


def _condition(text: str) -> str:
    return f"the condition {write_name(text)}" if text else "no condition"


def _flow(source: ProceduralNode, target: ProceduralNode) -> str:
    return f"{_title(source)} → {_title(target)}"


def _title(node: ProceduralNode) -> str:
    return node.sort.capitalize() if node.sort in ("start", "end") else write_name(node.text)


def _node_sentences(gold: ProceduralGraph, answer: ProceduralGraph, counterparts: _Nodes) -> list[str]:
    nodes_of_both = {*counterparts.values()}
    return [
        *cut([f"{_described(node)} is missing" for node in gold.nodes if node not in nodes_of_both], "node"),
        *cut([f"{_described(node)} is extra" for node in answer.nodes if node not in counterparts], "node"),
    ]


def _described(node: ProceduralNode) -> str:
    if node.is_gateway:
        return f"the gateway {write_name(node.text)}"
    return f"{_WORDS[node.sort]} {write_name(node.text)}" if node.sort in _WITH_TEXT else _title(node)
