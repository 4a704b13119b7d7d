"""The answer form of procedural graphs: one flow per line, as `notations.procedural_text` writes and reads them.

An answer is `{"flows": [[source, target, condition], ...]}` as `ProceduralGraph.to_json` writes them, in the order in
which their text lists them: by actor. It may hold `unread`, the lines of the reply that could not be parsed.
"""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from typing import Final

from ...errors import UnparseableError
from ...notations.procedural_text import read_procedural_graph, write_procedural_graph
from ...trial import Json, Parsing
from ...workflow.procedural_graph import ProceduralFlow, ProceduralGraph, ProceduralNode
from ..explanations.procedure_differences import explain_procedure
from ..name_lists import quote_start, unknown_name
from ..procedural_graphs.answered_graphs import answered_procedure, unread_lines
from .form import Form, collapse_spaces, show_value

MOST_FLOWS: Final = 500
"""Largest number of flows of an answer, because scoring takes longer with each; further flows count as unread."""
MOST_UNREAD: Final = 50  # lines that an answer states
_UNREAD: Final = re.compile(r"Unread: (\[.*\])")
_MOST_PASSES: Final = 8


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
