"""The rule-based extractor on any text: it returns, the graph can be written and read, the work is bounded."""

from __future__ import annotations

import string
from collections.abc import Callable, Mapping

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pytest_taskgraph.families.paged.extraction_rules.document_sentences import (
    MOST_READ_CHARACTERS,
    MOST_SENTENCES,
    read_sentences,
)
from pytest_taskgraph.families.paged.extraction_rules.tree_builder import extract_graph
from pytest_taskgraph.notations.procedural_text import read_procedural_graph, write_procedural_graph
from pytest_taskgraph.workflow.procedural_graph import ProceduralGraph

CUES = (
    *("if", "If the order is late,", "otherwise", "Otherwise,", "when", "then", ", then", "at the same time", "while"),
    *(
        "meanwhile,",
        "in parallel",
        "either",
        "or",
        "one or more of",
        "and",
        ", and",
        "the procedure ends",
        "in any case",
    ),
    *(
        "after",
        "before",
        "note that",
        "requires access to",
        "produces",
        "For the clerk:",
        "again",
        "go back to",
        "unless",
    ),
    *("the clerk", "checks", "check", "packed", "is", "the order", "it", "she", "by", "to", "not", "on the one hand"),
    *("in this case", "first", "Finally,", "for", "XOR1", "Start", "End", "-> ", "(", ")", ",", ".", ";", ":", '"'),
    *("\n", "- ", "1. "),
)
LONG: Mapping[str, Callable[[], str]] = {
    "words": lambda: "check the order " * 700_000,
    "letters": lambda: "a" * 10_000_000,
    "commas": lambda: "if " + "a, " * 3_000_000,
    "ifs": lambda: "if it is late, " * 700_000,
    "conditions": lambda: "If it is late, call Ada. " * 400_000,
    "nested": lambda: "If a, if b. " * 800_000,
    "alternatives": lambda: "either " + "check it or " * 800_000,
    "constraints": lambda: "to " + "for x, y needs z is required and produces " * 200_000,
    "parallel": lambda: "Meanwhile, check it. Check that. " * 300_000,
    "marks": lambda: "*_`#>" * 2_000_000,
    "quotes": lambda: '"” and “' * 1_000_000,
    "headings": lambda: "For the clerk:\n" * 600_000,
    "numbers": lambda: "".join(f"Check the order {number}. " for number in range(400_000)),
    "branches": lambda: "".join(f"If a{number} is b{number}, call c{number}. " for number in range(250_000)),
    "choices": lambda: "".join(f"If x{number} is late, then if y{number} is old, go. " for number in range(150_000)),
    "blanks": lambda: " \n\t" * 3_000_000,
    "colons": lambda: "a: " * 3_000_000,
    "Chinese": lambda: "如果库存不足，就订货。" * 800_000,
    "controls": lambda: "\x00\x1b\ufeff\u202e\ud800" * 2_000_000,
}


def is_proper(graph: ProceduralGraph) -> bool:
    """Return True if every gateway is reached and left, and nothing leaves the end."""
    gateways = graph.nodes_of("exclusive", "inclusive", "parallel")
    left = [node for node in graph.nodes_of("end") if graph.outgoing(node)]
    return not left and all(graph.incoming(node) and graph.outgoing(node) for node in gateways)


@given(st.lists(st.sampled_from(CUES), max_size=60).map(" ".join))
def test_extract_graph_of_any_cues_is_proper_and_can_be_written(document: str) -> None:
    graph = extract_graph(document)
    assert is_proper(graph)
    read = read_procedural_graph(write_procedural_graph(graph))
    assert read.unread == ()
    assert len(read.graph.flows) == len(graph.flows)


@given(st.text(max_size=400) | st.text(string.printable, max_size=400))
def test_extract_graph_of_any_text_is_the_same_each_time(document: str) -> None:
    graph = extract_graph(document)
    assert graph == extract_graph(document)
    assert is_proper(graph)


@pytest.mark.parametrize("kind", LONG)
def test_extract_graph_of_any_repetition_can_be_written(kind: str) -> None:
    graph = extract_graph(LONG[kind]()[:10_000])
    assert read_procedural_graph(write_procedural_graph(graph)).unread == ()


@pytest.mark.parametrize(
    "kind",
    [
        *("words", "conditions"),
        *(pytest.param(kind, marks=pytest.mark.exhaustive) for kind in LONG if kind not in ("words", "conditions")),
    ],
)
def test_extract_graph_of_ten_megabytes_reads_the_beginning(kind: str) -> None:
    document = LONG[kind]()
    assert len(document) > 6_000_000
    assert extract_graph(document) == extract_graph(document[:MOST_READ_CHARACTERS])


def test_read_sentences_of_many_stops_at_the_limit() -> None:
    assert len(read_sentences("Go on. " * 5_000)) == MOST_SENTENCES
