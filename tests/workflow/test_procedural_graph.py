"""Procedural graphs as plain data: nodes and flows, equality, gateway names, JSON."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from procedural_graphs import graphs

from pytest_taskgraph.workflow.procedural_graph import (
    NodeSort,
    ProceduralFlow,
    ProceduralGraph,
    ProceduralNode,
    gateway_sort,
    name_gateways,
)

START, END = ProceduralNode("start"), ProceduralNode("end")
CHECK, PAY = ProceduralNode("action", "check", "clerk"), ProceduralNode("action", "pay", "customer")
SPLIT = ProceduralNode("exclusive", "XOR1")
LIST = ProceduralNode("data", "price list")
FLOWS = (
    ProceduralFlow(START, CHECK),
    ProceduralFlow(CHECK, SPLIT),
    ProceduralFlow(SPLIT, PAY, "it fits"),
    ProceduralFlow(SPLIT, END, "it does not"),
    ProceduralFlow(LIST, PAY),
)
GRAPH = ProceduralGraph.of(FLOWS)


def test_nodes_in_the_order_of_flows_are_each_once() -> None:
    assert GRAPH.nodes == (START, CHECK, SPLIT, PAY, END, LIST)
    assert GRAPH.nodes_of("action", "data") == (CHECK, PAY, LIST)
    assert GRAPH.actors == ("clerk", "customer")


def test_of_repeated_flows_keeps_one() -> None:
    assert ProceduralGraph.of(FLOWS + FLOWS[:2]).flows == FLOWS


def test_outgoing_and_incoming_of_a_node_are_its_flows() -> None:
    assert GRAPH.outgoing(SPLIT) == FLOWS[2:4]
    assert GRAPH.incoming(PAY) == (FLOWS[2], FLOWS[4])
    assert GRAPH.outgoing(END) == GRAPH.incoming(START) == ()


@pytest.mark.parametrize(
    ("flow", "sort"),
    [
        (ProceduralFlow(CHECK, PAY), "sequence"),
        (ProceduralFlow(SPLIT, PAY, "it fits"), "condition"),
        (ProceduralFlow(LIST, PAY), "constraint"),
        (ProceduralFlow(PAY, ProceduralNode("notice", "in cash"), "it fits"), "constraint"),
    ],
)
def test_flow_sort_follows_from_ends_and_condition(flow: ProceduralFlow, sort: str) -> None:
    assert flow.sort == sort


def test_nodes_of_two_actors_with_one_text_differ() -> None:
    assert ProceduralNode("action", "check", "clerk") != ProceduralNode("action", "check")
    assert ProceduralNode("action", "check") != ProceduralNode("notice", "check")


def test_graphs_of_the_same_flows_in_another_order_are_equal() -> None:
    other = ProceduralGraph.of(reversed(FLOWS))
    assert other == GRAPH
    assert hash(other) == hash(GRAPH)
    assert ProceduralGraph.of(FLOWS[1:]) != GRAPH


@pytest.mark.parametrize(
    ("sort", "text", "actor", "message"),
    [
        ("start", "now", "", "found the text 'now' of a node of the sort start"),
        ("action", " ", "", "found a node of the sort action without a text"),
        ("exclusive", "", "", "found a node of the sort exclusive without a text"),
        ("data", "list", "clerk", "found the actor 'clerk' of data 'list'"),
        ("end", "", "clerk", "found the actor 'clerk' of end"),
        ("action", "pay", "  ", "expected the name of one"),
    ],
)
def test_node_that_cannot_be_raises_value_error(sort: NodeSort, text: str, actor: str, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        ProceduralNode(sort, text, actor)


def test_with_nodes_that_become_the_same_merges_their_flows() -> None:
    other = ProceduralNode("action", "check", "manager")
    twice = ProceduralGraph.of([*FLOWS, ProceduralFlow(START, other)])
    assert twice.with_nodes({other: CHECK}).flows == FLOWS


@pytest.mark.parametrize(
    ("name", "sort"),
    [("XOR1", "exclusive"), ("OR", "inclusive"), ("AND12", "parallel"), ("xor1", None), ("XORs", None), ("AND²", None)],
)
def test_gateway_sort_of_a_name_is_stated_by_its_beginning(name: str, sort: str | None) -> None:
    assert gateway_sort(name) == sort


def test_name_gateways_renames_only_names_that_do_not_fit() -> None:
    fitting = ProceduralNode("exclusive", "XOR2")
    odd = [ProceduralNode("exclusive", "OR1"), ProceduralNode("exclusive", "merge"), ProceduralNode("parallel", "fork")]
    flows = [ProceduralFlow(START, fitting), *(ProceduralFlow(fitting, node) for node in odd)]
    graph = name_gateways(ProceduralGraph.of(flows))
    assert [(node.sort, node.text) for node in graph.nodes[1:]] == [
        ("exclusive", "XOR2"), ("exclusive", "XOR1"), ("exclusive", "XOR3"), ("parallel", "AND1"),
    ]  # fmt: skip
    assert name_gateways(graph) == graph


@given(graph=graphs())
def test_from_json_of_what_to_json_wrote_is_the_graph(graph: ProceduralGraph) -> None:
    assert ProceduralGraph.from_json(json.loads(json.dumps(graph.to_json()))).flows == graph.flows


@pytest.mark.parametrize(
    ("data", "message"),
    [
        ({"flows": []}, "a procedural graph is a list of flows, not dict"),
        ([["Start", "End"]], "a flow is a source, a target and a condition"),
        ([[["start", "", ""], ["stop", "", ""], ""]], "a node is a sort, a text and an actor"),
        ([[["start", "", ""], ["action", "", ""], ""]], "without a text"),
        ([[["start", "", ""], ["end", 0, ""], ""]], "a node is a sort, a text and an actor"),
    ],
)
def test_from_json_of_another_value_raises_value_error(data: object, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        ProceduralGraph.from_json(data)
