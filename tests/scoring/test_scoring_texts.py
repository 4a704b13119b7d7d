"""ROUGE as rouge-score gives it."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rouge_reference import rouge_reference

from pytest_taskgraph.scoring.metrics import metric
from pytest_taskgraph.scoring.metrics.texts import rouge1, rouge1_recall, rouge2, rouge_l

WORDS = st.lists(
    st.sampled_from(["add", "salt", "Sea", "some", "don't", "10,000", "and/or", "ß", "Ünder", "2"]), max_size=12
)
TEXTS = st.one_of(st.text(max_size=60), WORDS.map(" ".join))


@given(TEXTS, TEXTS)
def test_rouge_values_are_those_of_rouge_score(text: str, reference: str) -> None:
    peer = rouge_reference().score(reference, text)
    assert rouge1(text, reference) == pytest.approx(peer["rouge1"].fmeasure)
    assert rouge1_recall(text, reference) == pytest.approx(peer["rouge1"].recall)
    assert rouge2(text, reference) == pytest.approx(peer["rouge2"].fmeasure)
    assert rouge_l(text, reference) == pytest.approx(peer["rougeL"].fmeasure)


@pytest.mark.parametrize(
    ("text", "reference", "expected"),
    [
        ("add some sea salt", "add salt", (2 / 3, 0.0, 2 / 3)),
        ("peel onion slice onion", "slice onion peel onion", (1.0, 2 / 3, 1 / 2)),
        ("mix a stir b", "stir b mix a", (1.0, 2 / 3, 1 / 2)),
    ],
)
def test_rouge_values_of_worked_examples(text: str, reference: str, expected: tuple[float, float, float]) -> None:
    assert (rouge1(text, reference), rouge2(text, reference), rouge_l(text, reference)) == pytest.approx(expected)


@pytest.mark.parametrize("name", ["rouge1", "rouge1_recall", "rouge2", "rouge_l"])
def test_rouge_metrics_of_other_json_are_0(name: str) -> None:
    assert metric(name)("stir well", "stir well") == 1.0
    assert metric(name)(None, "stir well") == 0.0
