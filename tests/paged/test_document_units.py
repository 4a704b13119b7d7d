from __future__ import annotations

from collections.abc import Iterable

import pytest
from document_graphs import graph_of, nested_graphs, untidy_graphs
from hypothesis import given
from hypothesis import strategies as st
from procedural_graphs import graphs

from pytest_taskgraph.families.paged.document_sets.generated_documents import generate_graph
from pytest_taskgraph.families.paged.documents import LINKING, SPOKEN, Unit, decompose, is_split
from pytest_taskgraph.workflow.procedural_graph import ProceduralGraph, ProceduralNode


def kinds(text: str) -> list[str]:
    return [unit.kind for unit in decompose(graph_of(text))]


def describe_unit(unit: Unit) -> str:
    names = [node.text or node.sort for node in unit.nodes]
    return f"{unit.kind}: {', '.join(names)}" + (f" ({unit.condition})" if unit.condition else "")


EVERY_SPOKEN_KIND = """
Start -> XOR1
XOR1 -> (none) End
XOR1 -> (skip) XOR2
XOR1 -> (one) one
XOR1 -> (all) AND1
AND1 -> a1
AND1 -> a2
AND1 -> OR1
a1 -> AND2
a2 -> AND2
OR1 -> (none) End
OR1 -> (skip) OR2
OR1 -> (one) o1
OR1 -> (all) AND3
AND3 -> b1
AND3 -> b2
b1 -> AND4
b2 -> AND4
AND4 -> OR2
o1 -> OR2
OR2 -> o2
o2 -> AND2
AND2 -> XOR2
one -> data(result)
data(list) -> one
one -> notice(be quick)
one -> XOR2
XOR2 -> two
two -> three
three -> AND5
AND5 -> c1
AND5 -> c2
c1 -> AND6
c2 -> AND6
AND6 -> End
"""


def test_decompose_graph_with_all_that_table_3_lists_gives_every_kind() -> None:
    assert set(SPOKEN) - set(kinds(EVERY_SPOKEN_KIND)) == {"start-action", "action-end"}
    assert kinds("Start -> a\na -> End") == ["start-action", "action-end"]
    assert len(SPOKEN) == 19


def test_decompose_choice_of_drinks_walks_breadth_first() -> None:
    graph = graph_of(
        """
        Start -> enter
        enter -> OR1
        OR1 -> (need drinks) order drinks
        order drinks -> specify the size
        OR1 -> (need dishes) choose dishes
        specify the size -> OR2
        choose dishes -> OR2
        OR2 -> pay
        data(menu) -> choose dishes
        pay -> End
        """
    )
    assert [*map(describe_unit, decompose(graph))] == [
        "start-action: start, enter",
        "action-split: enter, OR1",
        "inclusive-action: OR1, order drinks (need drinks)",
        "inclusive-action: OR1, choose dishes (need dishes)",
        "action-action: order drinks, specify the size",
        "data-action: menu, choose dishes",
        "action-join: choose dishes, OR2",
        "action-join: specify the size, OR2",
        "join-action: OR2, pay",
        "action-end: pay, end",
    ]


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        ("AND1 -> a\nAND1 -> b\nAND1 -> c\nAND1 -> d", "parallel-many"),
        ("XOR2 -> OR2\na -> OR2\nb -> XOR2\nc -> XOR2", "join-join"),
        ("a -> XOR2\nb -> XOR2\nXOR2 -> AND1\nAND1 -> c\nAND1 -> d", "join-split"),
        ("XOR1 -> (x) XOR2\nXOR1 -> (y) a\na -> XOR2\nXOR2 -> End", "exclusive-join"),
        ("OR1 -> (x) OR2\nOR1 -> (y) a\na -> OR2\nOR2 -> End", "inclusive-join"),
        ("Start -> a\na -> (it rains) b", "other-flow"),
        ("Start -> End", "other-flow"),
        ("AND1 -> a\nAND1 -> b\nAND1 -> (late) c", "other-flow"),
        ("notice(careful) -> a", "other-flow"),
    ],
)
def test_decompose_what_table_3_lacks_gives_linking_unit(text: str, kind: str) -> None:
    units = [unit for unit in decompose(graph_of(text)) if unit.kind == kind]
    assert units
    assert kind in LINKING


def test_decompose_action_between_two_others_stands_in_both_units() -> None:
    units = decompose(graph_of("Start -> a\na -> b\nb -> c\nc -> End"))
    assert [unit.kind for unit in units if ProceduralNode("action", "b") in unit.nodes] == ["action-action"] * 2


@pytest.mark.parametrize(
    ("text", "split"),
    [
        ("XOR1 -> (yes) a\nXOR1 -> (no) b", True),
        ("XOR1 -> (yes) a", True),
        ("AND1 -> a\nAND1 -> b", True),
        ("a -> XOR1\nb -> XOR1\nXOR1 -> c", False),
        ("a -> XOR1\nXOR1 -> c", False),  # a join whose other branches ended
        ("a -> XOR1", False),
    ],
)
def test_is_split_gateway_counts_its_ways_out(text: str, split: bool) -> None:
    graph = graph_of(text)
    assert is_split(graph, graph.nodes_of("exclusive", "parallel")[0]) is split


def recompose(units: Iterable[Unit]) -> ProceduralGraph:
    """Return the graph that has the flows of some units: the inverse of `decompose`."""
    return ProceduralGraph.of(flow for unit in units for flow in unit.flows)


@given(nested_graphs())
def test_recompose_units_of_nested_graph_is_the_graph(graph: ProceduralGraph) -> None:
    walked = recompose(decompose(graph))
    assert walked == graph
    assert recompose(decompose(walked)).flows == walked.flows


@given(untidy_graphs())
def test_recompose_units_of_untidy_graph_has_its_flows(graph: ProceduralGraph) -> None:
    assert recompose(decompose(graph)) == graph


@given(graphs())
def test_recompose_units_of_any_texts_and_flows_is_the_graph(graph: ProceduralGraph) -> None:
    assert recompose(decompose(graph)) == graph


@given(st.integers(0, 10**6), st.integers(0, 200))
def test_recompose_units_of_generated_graph_is_the_graph(seed: int, number: int) -> None:
    graph = generate_graph(seed, number).graph
    units = decompose(graph)
    assert recompose(units) == graph
    assert "other-flow" not in {unit.kind for unit in units}


@given(nested_graphs())
def test_decompose_nested_graph_needs_no_unit_of_other_flows(graph: ProceduralGraph) -> None:
    units = decompose(graph)
    assert "other-flow" not in {unit.kind for unit in units}
    assert len({*units}) == len(units)
