"""Generated graphs as text and as workflows: nothing is lost, and the notations and patterns can use them."""

from __future__ import annotations

import pytest

from pytest_taskgraph.benchmarks.paged.document_sets.generated_graphs import generate_graph
from pytest_taskgraph.benchmarks.understanding.patterns import select
from pytest_taskgraph.notations import NOTATIONS
from pytest_taskgraph.notations.procedural_text import ReadGraph, read_procedural_graph, write_procedural_graph
from pytest_taskgraph.workflow.canonical import canonical
from pytest_taskgraph.workflow.check import check
from pytest_taskgraph.workflow.procedural_conversion import procedural_graph_of, workflow_of, workflow_part

numbers = pytest.mark.parametrize("number", range(12))


@numbers
def test_text_of_a_generated_graph_is_read_back(number: int) -> None:
    graph = generate_graph(11, number).graph
    text = write_procedural_graph(graph)
    assert read_procedural_graph(text) == ReadGraph(graph)
    assert read_procedural_graph(f"Here it is:\n```\n{text}\n```\nDone.", lenient=True) == ReadGraph(graph)


@numbers
def test_workflow_of_a_generated_graph_loses_nothing(number: int) -> None:
    graph = generate_graph(11, number).graph
    workflow = workflow_of(graph, "W")
    check(workflow)
    assert workflow_part(graph).losses == ()
    assert procedural_graph_of(workflow) == graph
    assert all(list(pattern.cases(workflow)) for pattern in select(["next_tasks", "conditional_links", "flow_start"]))


@pytest.mark.parametrize("name", NOTATIONS)
def test_notation_of_a_generated_graph_is_read_back(name: str) -> None:
    for number in range(6):
        workflow = workflow_of(generate_graph(11, number).graph, "W")
        assert canonical(NOTATIONS[name].read(NOTATIONS[name].write(workflow))) == canonical(workflow)
