"""Documents written from generated graphs, and what the settings load."""

from __future__ import annotations

import hashlib
import os
import sys
from pathlib import Path

import bounded_process
import pytest

from pytest_taskgraph.benchmarks.option import Split
from pytest_taskgraph.errors import UsageError
from pytest_taskgraph.families.paged.document_sets import load
from pytest_taskgraph.families.paged.document_sets.document_set import PAPER_COUNTS, DocumentCounts
from pytest_taskgraph.families.paged.document_sets.generated_documents import (
    MOST_DOCUMENTS,
    generate_documents,
    generate_graph,
)
from pytest_taskgraph.families.paged.paged_settings import PagedSettings

PRINT_DIGEST = """
import hashlib
from pytest_taskgraph.families.paged.document_sets.generated_documents import generate_documents
print(hashlib.sha256(repr(generate_documents(4, 1).pairs).encode()).hexdigest())
"""


def test_generate_documents_same_seed_returns_same_documents() -> None:
    assert generate_documents(4, 3) is generate_documents(4, 12)
    assert generate_documents(5, 3).test != generate_documents(4, 3).test


def test_generate_documents_other_hash_seed_returns_same_documents() -> None:
    digest = hashlib.sha256(repr(generate_documents(4, 1).pairs).encode()).hexdigest()
    environment = os.environ | {"PYTHONHASHSEED": "77", "PYTHONPATH": str(Path(__file__).parents[2])}
    process = bounded_process.run([sys.executable, "-c", PRINT_DIGEST], env=environment)
    assert process.stdout.strip() == digest, process.stderr


def test_generate_documents_splits_are_three_to_one_to_two() -> None:
    documents = generate_documents(4, 1)
    assert [len(documents.split(split)) for split in ("train", "validation", "test")] == [18, 6, 12]
    assert (documents.source, documents.problems) == ("generated", ())


@pytest.mark.parametrize("split", ["train", "validation", "test"])
def test_generate_documents_more_of_a_split_begin_with_the_fewer(split: Split) -> None:
    few, many = (generate_documents(4, least, split).split(split) for least in (1, 40))
    assert len(many) >= 40
    assert many[: len(few)] == few


def test_generated_document_belongs_to_its_graph() -> None:
    documents = generate_documents(4, 1)
    assert len({pair.id for pair in documents.pairs}) == len(documents.pairs) == 36
    for pair in documents.pairs:
        number = int(pair.id.rpartition("-")[2]) - 1
        assert pair.graph == generate_graph(4, number).graph
        for node in pair.graph.nodes:
            texts = [node.actor] if node.is_gateway else [node.text, node.actor]
            assert [text for text in texts if text.casefold() not in pair.document.casefold()] == []


def test_generate_documents_concatenated_has_other_texts_of_same_graphs() -> None:
    whole, joined = generate_documents(4, 1), generate_documents(4, 1, quality="concatenated")
    assert [pair.graph for pair in whole.test] == [pair.graph for pair in joined.test]
    assert all(first.document != other.document for first, other in zip(whole.test, joined.test, strict=True))


def test_generate_documents_too_many_says_the_most() -> None:
    with pytest.raises(UsageError, match=r"expected at most 10000 \(--taskgraph-instances\)"):
        generate_documents(4, MOST_DOCUMENTS + 1)


@pytest.mark.parametrize(("name", "tolerance"), [("sentences", 0.2), ("tokens", 0.15), ("actors", 0.2)])
def test_generated_documents_are_about_as_long_as_the_papers(name: str, tolerance: float) -> None:
    numbers = DocumentCounts.of(generate_documents(4, 60).pairs).numbers
    expected = PAPER_COUNTS[name] / PAPER_COUNTS["documents"]
    assert numbers[name] / numbers["documents"] == pytest.approx(expected, rel=tolerance)


def test_load_generated_source_has_instances_in_asked_split() -> None:
    documents = load(PagedSettings(seed=4, instances=20, split="validation"))
    assert documents.source == "generated"
    assert len(documents.validation) == 20


def test_load_own_source_reads_the_stated_path(tmp_path: Path) -> None:
    (tmp_path / "tea.graph.txt").write_text("Start -> boil water\n", encoding="utf-8")
    (tmp_path / "tea.document.txt").write_text("Boil water.", encoding="utf-8")
    documents = load(PagedSettings(source="own", data={"paged": str(tmp_path)}))
    assert [pair.id for pair in documents.test] == ["tea"]


def test_load_own_source_without_path_names_the_option() -> None:
    with pytest.raises(UsageError, match="--taskgraph-data: the data set 'paged' is missing"):
        load(PagedSettings(source="own"))
