"""What is wrong with the nodes and flows of a procedural graph.

Each node of the answer is compared with its counterpart (`procedural_counterparts`).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Final

from ...trial import Json
from ...workflow.procedural_graph import GATEWAY_NAMES, ProceduralGraph, ProceduralNode
from ..procedural_graphs.answered_graphs import answered_procedure, gold_procedure
from ..procedural_graphs.node_matches import MATCHED, Counterparts, bleu1, procedural_counterparts
from .sentence_parts import cut, write_name

MOST_NODES: Final = 200
"""Largest number of nodes of one graph, because all pairs are compared."""
_MOST_FLOWS: Final = 2_000
_WITH_TEXT: Final = ("action", "data", "notice")
_WORDS: Final = {"action": "the action", "data": "the data constraint", "notice": "the action constraint"}

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
    counterparts = procedural_counterparts(answer, gold)
    return [
        *cut([*_actor_sentences(counterparts)], "actor"),
        *cut([*_gateway_sentences(counterparts)], "gateway"),
        *_flow_sentences(gold, answer, counterparts),
        *_node_sentences(gold, answer, counterparts),
    ]


def _actor_sentences(counterparts: Counterparts) -> Iterator[str]:
    for node, right in counterparts.items():
        if " ".join(node.actor.lower().split()) != " ".join(right.actor.lower().split()):
            expected = write_name(right.actor) if right.actor else "no one by name"
            actual = write_name(node.actor) if node.actor else "no one by name"
            yield f"{write_name(right.text)} is done by {expected}, and the answer says {actual}"


def _gateway_sentences(counterparts: Counterparts) -> Iterator[str]:
    for node, right in counterparts.items():
        if node.sort != right.sort:
            yield f"{write_name(node.text)} is {_kind(node)}, but has to be {_kind(right)}"


def _kind(node: ProceduralNode) -> str:
    return f"{'a' if node.sort == 'parallel' else 'an'} {node.sort} gateway ({GATEWAY_NAMES[node.sort]})"


def _flow_sentences(gold: ProceduralGraph, answer: ProceduralGraph, counterparts: Counterparts) -> list[str]:
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


def _node_sentences(gold: ProceduralGraph, answer: ProceduralGraph, counterparts: Counterparts) -> list[str]:
    nodes_of_both = {*counterparts.values()}
    return [
        *cut([f"{_described(node)} is missing" for node in gold.nodes if node not in nodes_of_both], "node"),
        *cut([f"{_described(node)} is extra" for node in answer.nodes if node not in counterparts], "node"),
    ]


def _described(node: ProceduralNode) -> str:
    if node.is_gateway:
        return f"the gateway {write_name(node.text)}"
    return f"{_WORDS[node.sort]} {write_name(node.text)}" if node.sort in _WITH_TEXT else _title(node)
