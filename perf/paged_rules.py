"""Share of generated procedural graphs that the rule-based extractor recovers from their documents, by element.

    python perf/paged_rules.py            about 10 seconds: 300 documents of each quality, seed 0
    python perf/paged_rules.py 100 7      100 documents and seed 7

An element is correct if its words are, except for case and articles, a flow if its ends and its condition are, a
gateway if its kind and all its neighbours are: stricter than the metrics of the family, which compare words by BLEU.
"""

from __future__ import annotations

import re
import sys
import time
from collections import Counter
from typing import get_args

from pytest_taskgraph.families.paged.document_sets.generated_documents import generate_graph
from pytest_taskgraph.families.paged.documents.written_document import write_document
from pytest_taskgraph.families.paged.extraction_rules.tree_builder import extract_graph
from pytest_taskgraph.families.paged.paged_options import DocumentQuality
from pytest_taskgraph.workflow.procedural_graph import ProceduralGraph, ProceduralNode

KINDS = (
    "actor",
    "action",
    "data",
    "notice",
    "exclusive",
    "inclusive",
    "parallel",
    "sequence",
    "condition",
    "constraint",
)
Element = tuple[str, ...]


def words(text: str) -> str:
    return " ".join(word for word in re.findall(r"\w+", text.lower()) if word not in ("the", "a", "an"))


def name(node: ProceduralNode) -> str:
    return node.sort if node.is_gateway else f"{node.sort} {words(node.text)}"


def elements(graph: ProceduralGraph) -> Counter[Element]:
    """Return the elements of a graph, each preceded by its kind."""
    counted: Counter[Element] = Counter()
    for node in graph.nodes:
        if node.is_gateway:
            targets = sorted(name(flow.target) for flow in graph.outgoing(node))
            sources = sorted(name(flow.source) for flow in graph.incoming(node))
            counted[(node.sort, *sources, "->", *targets)] += 1
        elif node.sort not in ("start", "end"):
            counted[(node.sort, words(node.text))] += 1
        if node.actor:
            counted[("actor", words(node.text), words(node.actor))] += 1
    for flow in graph.flows:
        counted[(flow.sort, name(flow.source), name(flow.target), words(flow.condition))] += 1
    return counted


def measure(quality: DocumentQuality, documents: int, seed: int) -> None:
    right, stated, gold = Counter[str](), Counter[str](), Counter[str]()
    entire, seconds = 0, 0.0
    for number in range(documents):
        graph = generate_graph(seed, number).graph
        text = write_document(graph, quality, seed=number).text
        start = time.perf_counter()
        extracted = elements(extract_graph(text))
        seconds += time.perf_counter() - start
        expected = elements(graph)
        entire += extracted == expected
        for counts, elements_found in ((gold, expected), (stated, extracted), (right, expected & extracted)):
            for element, count in elements_found.items():
                counts[element[0]] += count
    print(
        f"{quality}: {documents} documents, {entire / documents:.1%} entirely right, {seconds / documents:.4f} s each"
    )
    for kind in KINDS:
        precision, recall = right[kind] / max(1, stated[kind]), right[kind] / max(1, gold[kind])
        print(f"  {kind:<11}{gold[kind]:>6}  precision {precision:.3f}  recall {recall:.3f}")


def main() -> None:
    documents = int(sys.argv[1]) if len(sys.argv) > 1 else 300
    seed = int(sys.argv[2]) if len(sys.argv) > 2 else 0
    for quality in get_args(DocumentQuality):
        measure(quality, documents, seed)


if __name__ == "__main__":
    main()
