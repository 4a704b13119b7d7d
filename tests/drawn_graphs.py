"""Procedural graphs as tests draw them: a flow a line, and equality whatever the numbers of the gateways are.

A node is "Start", "End", a gateway such as "XOR1", "data: text", "notice: text", "actor: text" or "text".
"""

from __future__ import annotations

import re

import networkx

from pytest_taskgraph.workflow.procedural_graph import NodeSort, ProceduralFlow, ProceduralGraph, ProceduralNode

_SORTS: dict[str, NodeSort] = {"XOR": "exclusive", "OR": "inclusive", "AND": "parallel"}
_FLOW = re.compile(r"(.+?) -> (?:\((.+?)\) )?(.+)")


def graph_of_lines(text: str) -> ProceduralGraph:
    """Return the graph of the lines."""
    flows = []
    for line in filter(None, map(str.strip, text.splitlines())):
        match = _FLOW.fullmatch(line)
        assert match is not None, line
        flows.append(ProceduralFlow(_node(match[1]), _node(match[3]), match[2] or ""))
    return ProceduralGraph.of(flows)


def same(first: ProceduralGraph, second: ProceduralGraph) -> bool:
    """Return True if two graphs differ in nothing but the names of gateways."""
    matching = networkx.isomorphism.DiGraphMatcher(
        _network(first), _network(second), lambda a, b: a["label"] == b["label"], lambda a, b: a == b
    )
    return bool(matching.is_isomorphic())


def _node(text: str) -> ProceduralNode:
    if text in ("Start", "End"):
        return ProceduralNode("start" if text == "Start" else "end")
    gateway = re.fullmatch(r"(XOR|OR|AND)\d+", text)
    if gateway:
        return ProceduralNode(_SORTS[gateway[1]], text)
    head, colon, rest = text.partition(": ")
    if head in ("data", "notice"):
        return ProceduralNode("data" if head == "data" else "notice", rest)
    return ProceduralNode("action", rest, head) if colon else ProceduralNode("action", text)


def _network(graph: ProceduralGraph) -> networkx.DiGraph[int]:
    numbers = {node: number for number, node in enumerate(graph.nodes)}
    network: networkx.DiGraph[int] = networkx.DiGraph()
    for node, number in numbers.items():
        network.add_node(number, label=(node.sort, "" if node.is_gateway else node.text, node.actor))
    for flow in graph.flows:
        source, target = numbers[flow.source], numbers[flow.target]
        conditions = {flow.condition}
        if network.has_edge(source, target):
            conditions |= network.edges[source, target]["conditions"]
        network.add_edge(source, target, conditions=conditions)
    return network
