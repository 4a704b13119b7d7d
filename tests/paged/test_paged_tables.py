"""The tables of PAGED: the numbers of the paper's Table 2, and which values stand beside them."""

from __future__ import annotations

from pytest_taskgraph.benchmarks.paged.paged_tables import AGGREGATES, ELEMENTS, MOST_ROUNDS, TABLES
from pytest_taskgraph.family_description import ReferenceValue

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


def test_aggregates_of_every_element_are_two_ratios_and_their_harmonic_mean() -> None:
    kinds = {aggregate.name: (aggregate.kind, aggregate.of) for aggregate in AGGREGATES}
    for element in (*ELEMENTS, *(f"round_{at}_gateway" for at in range(MOST_ROUNDS + 1))):
        rates = f"{element}_precision", f"{element}_recall"
        assert [kinds[rate] for rate in rates] == [("ratio", (rate,)) for rate in rates]
        assert kinds[f"{element}_f1"] == ("harmonic-mean", rates)
