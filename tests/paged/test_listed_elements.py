"""The elements that rules list of a document: their order and cue phrases, and what can be built of them again."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pytest_taskgraph.families.paged.document_sets import load
from pytest_taskgraph.families.paged.extraction_rules.document_elements import (
    graph_of_elements,
    list_elements,
    read_elements,
    write_elements,
)
from pytest_taskgraph.families.paged.paged_settings import PagedSettings
from pytest_taskgraph.scoring.procedural_graphs.graph_scores import pool_counts, score_procedure


def element_lines(document: str) -> list[str]:
    return write_elements(list_elements(document)).splitlines()


@pytest.mark.parametrize(
    ("document", "lines"),
    [
        ("", []),
        ("The sky is blue.", []),
        (
            "The clerk must open the parcel, then check the goods. “Check the goods” requires access to the list.",
            [
                "activity: open the parcel | clerk",
                "gateway: then",
                "activity: check the goods | clerk",
                "needs: list",
            ],
        ),
        (
            "If it is dusty, then wax the car. Otherwise, the procedure ends.",
            ["condition: it is dusty", "activity: wax the car", "gateway: otherwise", "end"],
        ),
        (
            "Mash the potatoes; at the same time, whisk the dressing. When both are done, serve the soup.",
            [
                "activity: mash the potatoes",
                "gateway: at the same time",
                "activity: whisk the dressing",
                "gateway: once all are done",
                "activity: serve the soup",
            ],
        ),
    ],
)
def test_list_elements_of_document_lists_them_in_order(document: str, lines: list[str]) -> None:
    assert element_lines(document) == lines


def test_list_elements_puts_constraint_behind_the_activity_it_names() -> None:
    lines = element_lines("Stew the beef. Peel the potatoes. To stew the beef, note that the liquid must not boil.")
    assert lines == ["activity: stew the beef", "notice: the liquid must not boil", "activity: peel the potatoes"]


def test_list_elements_of_generated_documents_keeps_texts_and_most_logic() -> None:
    counts = []
    for pair in load(PagedSettings(instances=30)).test:
        read = read_elements(write_elements(list_elements(pair.document)))
        assert not read.unread
        scores = score_procedure(graph_of_elements(read.elements), pair.graph)
        assert all(scores[sort].gold[0] == scores[sort].gold[1] for sort in ("actor", "action", "data", "notice"))
        counts.append(pool_counts(scores.values()))
    assert sum(count.gold[0] for count in counts) > 0.95 * sum(count.gold[1] for count in counts)


@given(st.lists(st.sampled_from([
    "If it rains,", "otherwise,", "when all are done,", "one or more of", "either", "wash the car", "or", "and", ".",
    "then", "at the same time,", "go back to", "the clerk must", "nothing has to be done", "the procedure ends",
])).map(" ".join))  # fmt: skip
def test_list_elements_of_any_text_is_read_back(document: str) -> None:
    elements = list_elements(document)
    read = read_elements(write_elements(elements))
    assert (list(read.elements), read.unread) == (elements, ())
