"""The coverage of a graph's names by a document (ESA)."""

from __future__ import annotations

import pytest
from document_graphs import graph_of, nested_graphs
from hypothesis import given

from pytest_taskgraph.families.paged.document_quality.quality_metrics import (
    GraphName,
    coverage_of,
    graph_names,
    name_coverage,
)
from pytest_taskgraph.families.paged.documents import QUALITIES, DocumentQuality, write_document
from pytest_taskgraph.workflow.procedural_graph import ProceduralGraph

RETURN = """
Start -> inspect the goods
data(delivery note) -> inspect the goods
inspect the goods -> pay the refund
pay the refund -> notice(within two days)
pay the refund -> End
"""


def return_graph() -> ProceduralGraph:
    return graph_of(RETURN, inspect="clerk", pay="accountant")


def covers(name: str, document: str) -> bool:
    return not coverage_of([GraphName("action", name)], document).lost


def test_graph_names_are_actions_actors_and_data() -> None:
    assert [(name.sort, name.text) for name in graph_names(return_graph())] == [
        ("action", "inspect the goods"),
        ("action", "pay the refund"),
        ("actor", "clerk"),
        ("actor", "accountant"),
        ("data", "delivery note"),
    ]


def test_graph_names_same_words_count_once() -> None:
    graph = graph_of("Start -> pay\nPay -> pay\npay -> data(pay)\npay -> End")
    assert graph_names(graph) == (GraphName("action", "pay"), GraphName("data", "pay"))


def test_name_coverage_counts_each_sort() -> None:
    text = "With the delivery note, the clerk must inspect the goods. Then the refund is paid."
    coverage = name_coverage(return_graph(), text)
    assert coverage.lost == (GraphName("action", "pay the refund"), GraphName("actor", "accountant"))
    assert coverage.ratio() == (3, 5)
    assert coverage.share() == 0.6
    assert (coverage.ratio("action"), coverage.ratio("actor", "data")) == ((1, 2), (2, 3))


def test_name_coverage_graph_without_names_has_no_share() -> None:
    coverage = name_coverage(graph_of("Start -> End"), "Nothing happens.")
    assert (coverage.ratio(), coverage.share(), coverage.share("actor")) == ((0, 0), None, None)


@pytest.mark.parametrize(
    ("name", "document", "expected"),
    [
        ("pay the bill", "PAY  the\nbill.", True),
        ("Pay (the bill)", "First, pay the bill!", True),
        ("X-ray", "take an X-ray.", True),
        ("order", "The recorder is on.", False),
        ("order", "The orders are in.", False),
        ("pay bill", "pay the bill", False),
        ("the bill pay", "pay the bill", False),
        ("check the store's list", "check the store\u2019s list", True),
        ("Größe prüfen", "Dann GRÖSSE PRÜFEN.", True),
        ("Größe", "Gro\u0308ße", True),
        ("注文する", "客は注文するとき", True),
        ("?!", "What?!", True),
        ("?!", "What? No!", False),
        ("pay", "", False),
    ],
)
def test_coverage_of_name_needs_its_words_in_a_row(name: str, document: str, expected: bool) -> None:
    assert covers(name, document) is expected


def test_coverage_of_long_hostile_texts_ends() -> None:
    assert not covers("a " * 5_000 + "b", "a " * 100_000)


@pytest.mark.parametrize("quality", QUALITIES)
@given(graph=nested_graphs())
def test_name_coverage_written_document_covers_every_name(quality: DocumentQuality, graph: ProceduralGraph) -> None:
    assert name_coverage(graph, write_document(graph, quality).text).lost == ()
