"""The answer form of procedural graphs: one flow per line, as `notations.procedural_text` writes and reads them.

An answer is `{"flows": [[source, target, condition], ...]}` as `ProceduralGraph.to_json` writes them, in the order in
which their text lists them: by actor. It may hold `unread`, the lines of the reply that could not be parsed.

What is wrong with the nodes and flows of a procedural graph.

Each node of the answer is compared with its counterpart (`procedural_counterparts`).
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Sequence
from typing import Final

from ...errors import UnparseableError
from ...notations.procedural_text import read_procedural_graph, write_procedural_graph
from ...trial import Json, Parsing
from ...workflow.procedural_graph import GATEWAY_NAMES, ProceduralFlow, ProceduralGraph, ProceduralNode
from ..explanations.value_differences import cut, write_name
from ..name_lists import quote_start, unknown_name
from ..procedural_graphs.answered_graphs import answered_procedure, gold_procedure, unread_lines
from ..procedural_graphs.node_matches import MATCHED, Counterparts, bleu1, procedural_counterparts
from .form import Form, collapse_spaces, show_value

MOST_NODES: Final = 200
"""Largest number of nodes of one graph, because all pairs are compared."""
_MOST_FLOWS: Final = 2_000
_WITH_TEXT: Final = ("action", "data", "notice")
_WORDS: Final = {"action": "the action", "data": "the data constraint", "notice": "the action constraint"}
_Conditions = dict[tuple[ProceduralNode, ProceduralNode], list[str]]
MOST_FLOWS: Final = 500
"""Largest number of flows of an answer, because scoring takes longer with each; further flows count as unread."""
MOST_UNREAD: Final = 50  # lines that an answer states
_UNREAD: Final = re.compile(r"Unread: (\[.*\])")
_MOST_PASSES: Final = 8


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


def write_procedure(answer: Json) -> str:
    """Return the text of an answer, without empty lines; unread lines are its last line, as a JSON list."""
    text = write_procedural_graph(answered_procedure(answer))
    lines = [line for line in text.splitlines() if line.strip()]
    if unread := unread_lines(answer):
        lines.append(f"Unread: {json.dumps(unread)}")
    return "\n".join(lines)


def read_procedure(text: str, parsing: Parsing) -> dict[str, Json]:
    """Return the answer that a text holds.

    Raises:
        UnparseableError: if there is no flow; strictly, also if there is any other line.
    """
    stated, listed_unread = _cut_unread(text.rstrip())
    read = read_procedural_graph(stated, lenient=parsing == "lenient")
    if not read.graph.flows:
        raise UnparseableError(f"expected flows, one a line, such as Start -> check, found {quote_start(text)}")
    if parsing == "strict" and read.unread:
        raise UnparseableError(f"expected flows alone, one a line, found {quote_start(read.unread[0])}")
    graph = _in_order_of_text(ProceduralGraph.of(read.graph.flows[:MOST_FLOWS]))
    left_out = map(_show_flow, read.graph.flows[MOST_FLOWS : MOST_FLOWS + MOST_UNREAD])
    unread = [*read.unread, *left_out, *listed_unread][:MOST_UNREAD]
    return {"flows": [*graph.to_json()], **({"unread": [*unread]} if unread else {})}


def _cut_unread(text: str) -> tuple[str, list[str]]:
    """Return the text without a last line that lists unread lines, and these lines."""
    before, _, last = text.rpartition("\n")
    if match := _UNREAD.fullmatch(last.strip()):
        try:
            return before, [*unread_lines({"unread": json.loads(match[1])})]
        except (ValueError, RecursionError):
            pass
    return text, []


def _in_order_of_text(graph: ProceduralGraph) -> ProceduralGraph:
    """Return the graph with its flows in the order of its text, so that the written text reads back as the answer."""
    for _ in range(_MOST_PASSES):  # one pass mostly suffices: writing groups flows by actor, in the order of the actors
        again = read_procedural_graph(write_procedural_graph(graph)).graph
        if again.flows == graph.flows:
            break
        graph = again
    return graph


def _ask(names: Sequence[str]) -> str:
    return (
        'The answer has one line a flow, such as "check the order -> XOR1" or "XOR1 -> (it is paid) ship the goods". '
        "The ends of a flow are actions, Start, End, gateways (XOR1, OR1, AND1), DataConstraint(text) and "
        'ActionConstraint(text). A line "For X:" names the actor of the actions below it.'
    )


def _read(text: str, names: Sequence[str], parsing: Parsing) -> Json:
    return read_procedure(text, parsing)


def _write(answer: Json, names: Sequence[str]) -> str:
    return write_procedure(answer)


def _other_action(reference: Json, names: Sequence[str]) -> Json:
    """Return a graph of one action that shares no word with the reference."""
    action = ProceduralNode("action", unknown_name([show_value(reference)]))
    return {"flows": [*ProceduralGraph.of([ProceduralFlow(ProceduralNode("start"), action)]).to_json()]}


def _show(answer: Json) -> str:
    """Return the flows in one line, an actor before each action."""
    flows = answered_procedure(answer).flows
    return "; ".join(map(_show_flow, flows)) if flows else show_value(answer)


def _show_flow(flow: ProceduralFlow) -> str:
    condition = f"({collapse_spaces(flow.condition)}) " if flow.condition else ""
    return f"{_show_node(flow.source)} → {condition}{_show_node(flow.target)}"


def _show_node(node: ProceduralNode) -> str:
    text = collapse_spaces(node.text)
    match node.sort:
        case "start" | "end":
            return node.sort.capitalize()
        case "data" | "notice":
            return f"{'DataConstraint' if node.sort == 'data' else 'ActionConstraint'}({text})"
    return f"{collapse_spaces(node.actor)}: {text}" if node.actor else text


def _takes_lines(names: Sequence[str]) -> bool:
    return True


PROCEDURAL_GRAPH = Form(
    "procedural-graph", _ask, _read, _write, "procedural_f1", pass_threshold=0.0, wrong=_other_action, show=_show,
    takes_lines=_takes_lines, self_delimiting=True, open=True, explain=explain_procedure,
)  # fmt: skip
