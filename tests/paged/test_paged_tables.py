"""The tables of PAGED: the numbers of the paper's Table 2, and which values stand beside them."""

from __future__ import annotations

import pytest
from document_graphs import graph_of

from pytest_taskgraph.families.paged.paged_tables import AGGREGATES, ELEMENTS, MOST_ROUNDS, TABLES
from pytest_taskgraph.family_description import ReferenceValue
from pytest_taskgraph.results.aggregates import estimate_aggregate
from pytest_taskgraph.scoring.grade import grade
from pytest_taskgraph.trial import Question, Reply, Trial

REFERENCES: tuple[ReferenceValue, ...] = next(table for table in TABLES if table.name == "elements").references


def published(row: str) -> dict[str, float]:
    return {value.column: value.value for value in REFERENCES if value.row == row}


def test_paper_values_of_table_2_stand_under_their_elements() -> None:
    llama = published("Llama2, fine-tuned")
    assert [llama[f"{element}_f1"] for element in ELEMENTS] == [
        0.674, 0.744, 0.779, 0.499, 0.554, 0.090, 0.398, 0.478, 0.319, 0.467,
    ]  # fmt: skip
    assert published("Sholiq et al. (2022)") == {
        "action_f1": 0.387, "exclusive_f1": 0.463, "parallel_f1": 0.198, "sequence_f1": 0.091, "condition_f1": 0.022,
    }  # fmt: skip
    assert published("PET, Bellan et al. 2023")["constraint_f1"] == 0.0


def test_paper_values_all_say_that_they_are_not_directly_comparable() -> None:
    assert len({value.row for value in REFERENCES}) == 10
    assert {"not directly comparable" in value.source for value in REFERENCES} == {True}


def test_aggregates_of_each_element_are_two_ratios_and_a_harmonic_mean() -> None:
    kinds = {aggregate.name: (aggregate.kind, aggregate.of) for aggregate in AGGREGATES}
    for element in (*ELEMENTS, *(f"round_{at}_gateway" for at in range(MOST_ROUNDS + 1))):
        rates = f"{element}_precision", f"{element}_recall"
        assert [kinds[rate] for rate in rates] == [("ratio", (rate,)) for rate in rates]
        assert kinds[f"{element}_f1"] == ("harmonic-mean", rates)


def test_aggregate_of_unread_lines_alone_is_neutral_in_comparisons() -> None:
    assert [aggregate.name for aggregate in AGGREGATES if aggregate.neutral] == ["unread_lines"]


def scored(name: str, gold: str, reply: str) -> Trial:
    """Return the trial of a document of which a model gave that graph."""
    question = Question(
        name, "paged", "extract", "extraction", "?", "?", "procedural-graph", {"flows": [*graph_of(gold).to_json()]},
        "procedural_f1", pass_threshold=0.0, place="whole", cluster=name,
    )  # fmt: skip
    return Trial(question, "m", "graded", Reply(reply), grade(question, Reply(reply)))


def test_aggregates_over_documents_are_summed_before_they_are_divided() -> None:
    trials = [
        scored("one", "Start -> boil rice\nboil rice -> End", "Start -> boil rice\nboil rice -> End"),
        scored("two", "a1 -> b2\nb2 -> c3\nc3 -> d4\nd4 -> e5", "a1 -> x\n-> y"),
    ]
    aggregates = {aggregate.name: aggregate for aggregate in AGGREGATES}
    values = {name: estimate_aggregate(aggregates[name], aggregates, trials).value for name in aggregates}
    # the means of the two documents would be .75, .6 and .643
    assert values["action_precision"] == pytest.approx(2 / 3)
    assert values["action_recall"] == pytest.approx(2 / 6)
    assert values["action_f1"] == pytest.approx(4 / 9)
    assert values["sequence_f1"] == pytest.approx(2 * (2 / 3) * (2 / 6) / (2 / 3 + 2 / 6))
    assert values["notice_f1"] is None
    assert values["unread_lines"] == pytest.approx(1 / 4)
