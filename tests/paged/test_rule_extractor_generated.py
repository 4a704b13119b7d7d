"""The rule-based extractor on documents that the family writes from generated graphs: what it recovers."""

from __future__ import annotations

import re
from collections import Counter

import pytest

from pytest_taskgraph.families.paged.document_sets.generated_documents import generate_graph
from pytest_taskgraph.families.paged.documents.written_document import write_document
from pytest_taskgraph.families.paged.extraction_rules.tree_builder import extract_graph
from pytest_taskgraph.families.paged.paged_options import DocumentQuality
from pytest_taskgraph.workflow.procedural_graph import ProceduralGraph

DOCUMENTS = 40
# Gateways of documents in the order of a breadth-first walk are told ambiguously: which branch goes on is left open.
LEAST: dict[DocumentQuality, dict[str, float]] = {
    "pipeline": {"action": 0.97, "actor": 0.97, "data": 0.95, "notice": 0.95, "condition": 0.95, "gateways": 0.9},
    "concatenated": {"action": 0.97, "actor": 0.97, "data": 0.95, "notice": 0.95, "condition": 0.9, "gateways": 0.75},
}


def words(text: str) -> str:
    return " ".join(word for word in re.findall(r"\w+", text.lower()) if word not in ("the", "a", "an"))


def count_texts(graph: ProceduralGraph) -> Counter[tuple[str, ...]]:
    """Return what a graph states, flows aside: texts with their kinds, actors, conditions and gateways by sort."""
    counts: Counter[tuple[str, ...]] = Counter()
    for node in graph.nodes:
        if node.is_gateway:
            counts[("gateways", node.sort)] += 1
        elif node.text:
            counts[(node.sort, words(node.text))] += 1
        if node.actor:
            counts[("actor", words(node.text), words(node.actor))] += 1
    counts.update(("condition", words(flow.condition)) for flow in graph.flows if flow.condition)
    return counts


@pytest.mark.parametrize("quality", LEAST)
def test_extract_graph_recovers_what_generated_documents_tell(quality: DocumentQuality) -> None:
    gold, right = Counter[str](), Counter[str]()
    for number in range(DOCUMENTS):
        graph = generate_graph(3, number).graph
        expected = count_texts(graph)
        graph_read = count_texts(extract_graph(write_document(graph, quality, seed=number).text))
        for element, count in expected.items():
            gold[element[0]] += count
            right[element[0]] += min(count, graph_read[element])
    assert min(gold[kind] for kind in LEAST[quality]) >= 20
    recall = {kind: right[kind] / gold[kind] for kind in LEAST[quality]}
    assert {kind: share for kind, share in recall.items() if share < LEAST[quality][kind]} == {}
