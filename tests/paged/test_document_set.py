"""The splits of a set, and the numbers of Table 4."""

from __future__ import annotations

from collections import Counter

import pytest

from pytest_taskgraph.families.paged.document_sets import DocumentPair, DocumentSet
from pytest_taskgraph.families.paged.document_sets.document_set import (
    PAPER_COUNTS,
    DocumentCounts,
    count_sentences,
    deal_splits,
)
from pytest_taskgraph.notations.procedural_text import read_procedural_graph

GRAPH = read_procedural_graph(
    """For clerk:
Start -> check the form
DataConstraint(form) -> check the form
check the form -> ActionConstraint(it must be signed)
check the form -> XOR1
XOR1 -> (it is complete) file the form
XOR1 -> (it is not complete) End
file the form -> End
"""
).graph
DOCUMENT = "The clerk checks the form, e.g. at noon. Is it complete? Then they file it!\n\nNote: it must be signed"


def pairs(count: int) -> list[DocumentPair]:
    return [DocumentPair(f"p{number}", "P", GRAPH, DOCUMENT) for number in range(count)]


def test_deal_splits_sixty_pairs_are_dealt_three_to_one_to_two() -> None:
    dealt = list(deal_splits(pairs(60), 1))
    assert Counter(pair.split for pair in dealt) == {"train": 30, "validation": 10, "test": 20}
    assert [pair.id for pair in dealt] == [pair.id for pair in pairs(60)]


def test_deal_splits_further_pairs_change_nothing_for_full_rows() -> None:
    assert list(deal_splits(pairs(90), 1))[:60] == list(deal_splits(pairs(60), 1))


def test_deal_splits_other_seed_deals_otherwise() -> None:
    assert list(deal_splits(pairs(60), 1)) != list(deal_splits(pairs(60), 2))


@pytest.mark.parametrize(("count", "splits"), [(0, []), (1, ["train"]), (2, ["test", "train"])])
def test_deal_splits_few_pairs_train_first(count: int, splits: list[str]) -> None:
    assert sorted(pair.split for pair in deal_splits(pairs(count), 1)) == splits


def test_document_set_splits_hold_their_pairs_in_order() -> None:
    documents = DocumentSet.of_items("generated", deal_splits(pairs(12), 5), ["a problem"])
    assert [len(documents.split(name)) for name in ("train", "validation", "test")] == [6, 2, 4]
    assert documents.pairs == (*documents.train, *documents.validation, *documents.test)
    assert {pair.split for pair in documents.test} == {"test"}
    assert documents.problems == ("a problem",)


def test_document_counts_of_pairs_add_up() -> None:
    numbers = DocumentCounts.of(pairs(2)).numbers
    assert list(numbers) == list(PAPER_COUNTS)
    assert {name: number // 2 for name, number in numbers.items()} == {
        "documents": 1, "sentences": 4, "tokens": 28, "actors": 2, "actions": 2, "exclusive gateways": 1,
        "inclusive gateways": 0, "parallel gateways": 0, "data constraints": 1, "action constraints": 1,
        "sequence flows": 3, "condition flows": 2, "constraint flows": 2,
    }  # fmt: skip


def test_document_counts_lines_show_the_paper_beside() -> None:
    lines = DocumentCounts.of(pairs(2)).lines()
    assert lines[0].split() == ["number", "per", "document", "paper", "per", "document"]
    [row] = [line.split() for line in lines if line.startswith("actions")]
    assert row == ["actions", "4", "2.00", "36537", "10.77"]
    assert len({len(line) for line in lines}) == 1


def test_document_counts_of_nothing_has_no_shares() -> None:
    assert DocumentCounts.of([]).lines()[1].split() == ["documents", "0", "-", "3394", "1.00"]


@pytest.mark.parametrize(
    ("document", "sentences"),
    [
        ("", 0), ("One.", 1), ("One. Two", 2), ("It costs 3.50 a piece.", 1), ("# Heading\n\nOne. Two.", 3),
        ('He says "go." Then she goes.', 2), ("Wait... Then go!", 2),
        ("At noon, i.e. at twelve.", 1), ("For clerk:\nCheck.", 2),
    ],
)  # fmt: skip
def test_count_sentences_returns_ends_and_unended_lines(document: str, sentences: int) -> None:
    assert count_sentences(document) == sentences


def test_paper_counts_are_those_of_table_4() -> None:
    assert len(PAPER_COUNTS) == 13
    assert PAPER_COUNTS["data constraints"] + PAPER_COUNTS["action constraints"] == PAPER_COUNTS["constraint flows"]
    assert round(PAPER_COUNTS["tokens"] / PAPER_COUNTS["sentences"], 2) == 15.22
