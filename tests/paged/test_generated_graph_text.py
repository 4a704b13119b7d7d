"""Generated graphs as text: nothing is lost."""

from __future__ import annotations

import pytest

from pytest_taskgraph.families.paged.document_sets.generated_documents import generate_graph
from pytest_taskgraph.notations.procedural_text import ReadGraph, read_procedural_graph, write_procedural_graph


@pytest.mark.parametrize("number", range(12))
def test_text_of_a_generated_graph_is_read_back(number: int) -> None:
    graph = generate_graph(11, number).graph
    text = write_procedural_graph(graph)
    assert read_procedural_graph(text) == ReadGraph(graph)
    assert read_procedural_graph(f"Here it is:\n```\n{text}\n```\nDone.", lenient=True) == ReadGraph(graph)
