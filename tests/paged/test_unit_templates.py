"""The words of each unit by itself, beside the templates of Du et al. (2024), Table 3."""

from __future__ import annotations

import pytest
from document_graphs import graph_of

from pytest_taskgraph.families.paged.documents import SPOKEN, decompose, fragment_text
from pytest_taskgraph.families.paged.documents.units import SpokenKind

CHOICE = "Start -> {0}1\n{0}1 -> (dry) {1}\n{0}1 -> (wet) End"
PAIR = "b -> {0}2\n{0}1 -> (wet) b\n{0}1 -> (dry) {0}2\n{0}2 -> boil rice"
TEMPLATES: dict[SpokenKind, tuple[str, str]] = {
    "start-action": ("Start -> boil rice", "In the beginning, boil rice."),
    "start-split": ("Start -> AND1\nAND1 -> a\nAND1 -> b", "In the beginning,"),
    "action-action": ("boil rice -> rinse it", "Boil rice, then rinse it."),
    "action-end": ("boil rice -> End", "Boil rice, and the procedure ends."),
    "exclusive-action": (CHOICE.format("XOR", "boil rice"), "If dry, then boil rice."),
    "exclusive-split": (CHOICE.format("XOR", "AND1\nAND1 -> a\nAND1 -> b"), "If dry,"),
    "exclusive-join-action": (PAIR.format("XOR"), "If dry, then boil rice."),
    "exclusive-end": (CHOICE.format("XOR", "boil rice"), "If wet, then the procedure ends."),
    "inclusive-action": (CHOICE.format("OR", "boil rice"), "If dry, then boil rice."),
    "inclusive-split": (CHOICE.format("OR", "AND1\nAND1 -> a\nAND1 -> b"), "If dry,"),
    "inclusive-join-action": (PAIR.format("OR"), "If dry, then boil rice."),
    "inclusive-end": (CHOICE.format("OR", "boil rice"), "If wet, then the procedure ends."),
    "parallel-two": ("AND1 -> boil rice\nAND1 -> sing", "Boil rice, at the same time, sing."),
    "parallel-three": (
        "AND1 -> boil rice\nAND1 -> sing\nAND1 -> wait",
        "Boil rice, at the same time, sing, meanwhile, wait.",
    ),
    "join-action": ("a -> OR2\nb -> OR2\nOR2 -> boil rice", "Boil rice."),
    "join-end": ("a -> OR2\nb -> OR2\nOR2 -> End", "The procedure ends."),
    "action-data": ("boil rice -> data(soft rice)\nboil rice -> End", "“Boil rice” produces the soft rice."),
    "data-action": ("data(pot) -> boil rice\nboil rice -> End", "“Boil rice” requires access to the pot."),
    "action-notice": ("boil rice -> notice(it is hot)\nboil rice -> End", "To boil rice, note that it is hot."),
}


def test_templates_of_table_3_are_all_told_here() -> None:
    assert sorted(TEMPLATES) == sorted(SPOKEN)


@pytest.mark.parametrize("kind", SPOKEN)
def test_fragment_text_of_a_spoken_unit_follows_its_template(kind: SpokenKind) -> None:
    text, words = TEMPLATES[kind]
    graph = graph_of(text)
    assert {fragment_text(graph, unit) for unit in decompose(graph) if unit.kind == kind} == {words}
