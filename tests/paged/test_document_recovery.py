from __future__ import annotations

import pytest
from document_graphs import graph_of, nested_graphs
from document_reader import DocumentReader, comparable_graph, same
from hypothesis import given

from pytest_taskgraph.families.paged.documents import write_document
from pytest_taskgraph.workflow.procedural_graph import ProceduralGraph


def recovers(graph: ProceduralGraph) -> bool:
    sentences = [sentence.text for sentence in write_document(graph).sentences]
    return same(DocumentReader().read(sentences), comparable_graph(graph))


@given(nested_graphs(depth=3))
def test_write_document_nested_graph_can_be_read_back(graph: ProceduralGraph) -> None:
    assert recovers(graph)


INNER_SPLIT = """
Start -> XOR1
XOR1 -> (x) a
XOR1 -> (y) {inner}
{inner} -> (p) b
{inner} -> (q) c
b -> {join}
c -> {join}
{between}
a -> XOR2
XOR2 -> d
d -> End
"""


@pytest.mark.parametrize(
    ("inner", "join", "between"),
    [
        ("XOR3", "XOR2", ""),
        ("XOR3", "XOR4", "XOR4 -> XOR2"),
        ("OR3", "OR4", "OR4 -> XOR2"),
        ("XOR3", "XOR4", "XOR4 -> e\ne -> XOR2"),
    ],
)
def test_write_document_inner_choice_can_be_read_back(inner: str, join: str, between: str) -> None:
    assert recovers(graph_of(INNER_SPLIT.format(inner=inner, join=join, between=between), a="clerk", c="cook"))


def test_same_graphs_of_other_gateways_are_told_apart() -> None:
    graph = graph_of(INNER_SPLIT.format(inner="XOR3", join="XOR4", between="XOR4 -> XOR2"))
    other = graph_of(INNER_SPLIT.format(inner="OR3", join="OR4", between="OR4 -> XOR2"))
    assert not same(comparable_graph(graph), comparable_graph(other))
