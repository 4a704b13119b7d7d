"""Documents and graphs that strangers wrote, made fit for use, or what is wrong with them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final

from ....benchmarks.data_sets.data_problems import clean_text, excerpt, kind_of_value
from ....notations.procedural_text import read_procedural_graph
from ....scoring.forms.procedural_graph_form import MOST_FLOWS
from ....workflow.procedural_graph import ProceduralFlow, ProceduralGraph, ProceduralNode

LONGEST_DOCUMENT: Final = 50_000  # characters
LONGEST_GRAPH: Final = 200_000  # characters of its text
LONGEST_TEXT: Final = 1_000  # characters of an action, an actor, a condition or a constraint


class UnusableTextError(ValueError):
    """A document or a graph that cannot be used.

    Args:
        fault: What is wrong with it.
        line: The line of the text in which it is; 0 if it is the whole.
    """

    def __init__(self, fault: str, line: int = 0) -> None:
        super().__init__(fault)
        self.fault = fault
        self.line = line


def read_document_text(text: str) -> str:
    """Return a document with single spaces, and at most one empty line in a row.

    Raises:
        UnusableTextError: if it is empty or too long.
    """
    if len(text) > LONGEST_DOCUMENT:
        raise UnusableTextError(f"the document has {len(text)} characters, more than {LONGEST_DOCUMENT}")
    lines = [clean_text(line) for line in text.split("\n")]
    single_spaced = [line for line, before in zip(lines, ["", *lines], strict=False) if line or before]
    document = "\n".join(single_spaced).strip()
    if not document:
        raise UnusableTextError("the document is empty")
    return document


def read_graph_text(text: str) -> ProceduralGraph:
    """Return the graph of a text in the text form, read strictly.

    Raises:
        UnusableTextError: if a line of it is no flow, or the graph cannot be used.
    """
    if len(text) > LONGEST_GRAPH:
        raise UnusableTextError(f"the graph has {len(text)} characters, more than {LONGEST_GRAPH}")
    lines = [clean_text(line) for line in text.split("\n")]
    read = read_procedural_graph("\n".join(lines))
    if read.unread:
        line = next((number for number, line in enumerate(lines, 1) if line == read.unread[0]), 0)
        more = f" ({len(read.unread)} such lines)" if len(read.unread) > 1 else ""
        raise UnusableTextError(f'"{excerpt(read.unread[0])}" is no flow{more}; expected "Node -> Node"', line)
    return _usable(read.graph)


def read_graph_json(value: object) -> ProceduralGraph:
    """Return the graph of a JSON value: the text form, a list of flows, or an object with these as "flows".

    Raises:
        UnusableTextError: if it is none of these, or the graph cannot be used.
    """
    if isinstance(value, dict):
        value = value.get("flows")
    if isinstance(value, str):
        return read_graph_text(value)
    if not isinstance(value, list):
        raise UnusableTextError(f"the graph is {kind_of_value(value)}; expected its text, or a list of flows")
    try:
        return _usable(ProceduralGraph.of(map(_clean_flow, ProceduralGraph.from_json(value).flows)))
    except UnusableTextError:
        raise
    except ValueError as error:
        raise UnusableTextError(f"the graph cannot be read ({excerpt(str(error), 160)})") from None


def parted_actions(graph: ProceduralGraph) -> Iterator[str]:
    """Yield a note on each text of two actions that seem to be the same: flows end at the first and leave the second.

    An action below "For X:" is X's unless the line says otherwise: `pack -> inspect` below "For customer:" and
    `inspect -> pay` below "For clerk:" have two actions "inspect".
    """
    moving = [flow for flow in graph.flows if flow.sort != "constraint"]
    sources, targets = {flow.source for flow in moving}, {flow.target for flow in moving}
    ends = {node.text: node.actor for node in graph.nodes_of("action") if node in targets - sources}
    for node in graph.nodes_of("action"):
        if node.actor and node.text in ends and node in sources - targets:
            here = f"of {excerpt(ends[node.text])}" if ends[node.text] else "without an actor"
            yield (
                f'no flow leaves the action "{excerpt(node.text)}" {here}, and none leads to that of '
                f'{excerpt(node.actor)}; if they are the same, write "{excerpt(node.actor)}: {excerpt(node.text)}" in '
                "the other flows"
            )


def _clean_flow(flow: ProceduralFlow) -> ProceduralFlow:
    source, target = (
        ProceduralNode(node.sort, clean_text(node.text), clean_text(node.actor)) for node in (flow.source, flow.target)
    )
    return ProceduralFlow(source, target, clean_text(flow.condition))


def _usable(graph: ProceduralGraph) -> ProceduralGraph:
    if not graph.nodes_of("action"):
        raise UnusableTextError("the graph has no action")
    if len(graph.flows) > MOST_FLOWS:
        raise UnusableTextError(f"the graph has {len(graph.flows)} flows, more than the {MOST_FLOWS} of an answer")
    if (longest := max(map(len, _texts(graph.flows)))) > LONGEST_TEXT:
        raise UnusableTextError(f"the graph has a text of {longest} characters, more than {LONGEST_TEXT}")
    return graph


def _texts(flows: Sequence[ProceduralFlow]) -> Iterator[str]:
    for flow in flows:
        for node in (flow.source, flow.target):
            yield from (node.text, node.actor)
        yield flow.condition
