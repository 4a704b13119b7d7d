"""The metrics class_accuracy and choice_accuracy, and their parts, for answers and for replies without one."""

from __future__ import annotations

import pytest

from pytest_taskgraph.scoring.grade import grade
from pytest_taskgraph.trial import Json, Question, Reply, Score


def scored(form: str, metric: str, reference: Json, text: str) -> Score:
    names = ["A", "B", "tie"] if form == "letter" else []
    return grade(
        Question("q", "tests", "g", "s", "?", "?", form, reference, metric, names=names, place="whole"), Reply(text)
    )


@pytest.mark.parametrize(
    ("reference", "text", "value", "parts"),
    [
        ("yes", "yes", 1.0, {"sensitivity": [1, 1]}),
        ("yes", "no", 0.0, {"sensitivity": [0, 1]}),
        ("no", "no", 1.0, {"specificity": [1, 1]}),
        ("no", "yes", 0.0, {"specificity": [0, 1]}),
        ("yes", "perhaps", 0.0, {"sensitivity": [0, 1]}),
        ("no", "tie", 0.0, {"specificity": [0, 1]}),
        ("no", "I'm sorry, but I can't help with that.", 0.0, {"specificity": [0, 1]}),
    ],
)
def test_class_accuracy_counts_the_class_of_the_reference(
    reference: str, text: str, value: float, parts: dict[str, list[float]]
) -> None:
    score = scored("yes-no", "class_accuracy", reference, text)
    assert (score.value, score.parts) == (value, parts)


@pytest.mark.parametrize(
    ("reference", "text", "value", "parts"),
    [
        ("A", "A", 1.0, {"ties": [0, 1], "right_a": [1, 1], "chosen_a": [1, 1], "accuracy_a": [1, 1]}),
        ("A", "B", 0.0, {"ties": [0, 1], "right_a": [1, 1], "chosen_a": [0, 1], "accuracy_a": [0, 1]}),
        ("B", "B", 1.0, {"ties": [0, 1], "right_a": [0, 1], "chosen_a": [0, 1], "accuracy_b": [1, 1]}),
        ("B", "A", 0.0, {"ties": [0, 1], "right_a": [0, 1], "chosen_a": [1, 1], "accuracy_b": [0, 1]}),
        ("A", "tie", 0.0, {"ties": [1, 1], "right_a": [1, 1], "accuracy_a": [0, 1]}),
        ("B", "who knows", 0.0, {"ties": [0, 1], "right_a": [0, 1], "accuracy_b": [0, 1]}),
    ],
)
def test_choice_accuracy_counts_ties_and_positions(
    reference: str, text: str, value: float, parts: dict[str, list[float]]
) -> None:
    score = scored("letter", "choice_accuracy", reference, text)
    assert (score.value, score.parts) == (value, parts)
