"""Metrics of several values and with parts."""

from __future__ import annotations

from collections.abc import Iterator
from math import inf, nan

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pytest_taskgraph.catalog import Registrations, registrations
from pytest_taskgraph.errors import UsageError
from pytest_taskgraph.scoring.grade import grade
from pytest_taskgraph.scoring.measurement import (
    DeclaredMetric,
    Measurement,
    Metric,
    declares,
    episode_measurement,
    measure_answer,
    measure_unparseable,
)
from pytest_taskgraph.scoring.metrics import METRICS, measured_names
from pytest_taskgraph.trial import Json, Question, Reply, Score


def question(reference: Json = "yes", metric: str = "classified", further: tuple[str, ...] = ()) -> Question:
    return Question("q", "tests", "p", "c", "?", "?", "yes-no", reference, metric, list(further), place="whole")


def of_class(given: Json, reference: Json) -> Measurement:
    """The parts of sensitivity and specificity: a question counts for its class, whatever was answered."""
    hit = float(given == reference)
    return Measurement(hit, parts={"sensitivity" if reference == "yes" else "specificity": (hit, 1)})


classified = declares(unparseable=lambda reference: of_class(None, reference))(of_class)


@declares("steps_precision", "steps_recall")
def steps(given: Json, reference: Json) -> Measurement:
    return Measurement(0.5, {"steps_precision": 0.25, "steps_recall": None}, {"steps": (3, 7)})


@pytest.fixture(autouse=True)
def registered_metrics() -> Iterator[Registrations]:
    with registrations() as registered:
        registered.add(METRICS.kind, "classified", classified, "tests")
        registered.add(METRICS.kind, "steps", steps, "tests")
        yield registered


@pytest.mark.parametrize(
    ("reply", "reference", "parts"),
    [
        ("yes", "yes", {"sensitivity": [1.0, 1.0]}),
        ("no", "yes", {"sensitivity": [0.0, 1.0]}),
        ("no", "no", {"specificity": [1.0, 1.0]}),
        ("Perhaps on a sunny day.", "yes", {"sensitivity": [0.0, 1.0]}),
        ("Perhaps on a sunny day.", "no", {"specificity": [0.0, 1.0]}),
        ("I'm sorry, but I can't help with that.", "no", {"specificity": [0.0, 1.0]}),
    ],
)
def test_grade_answer_without_yes_or_no_is_wrong_for_its_class(
    reply: str, reference: Json, parts: dict[str, list[float]]
) -> None:
    assert grade(question(reference), Reply(reply)).parts == parts


def test_grade_named_values_stand_among_metrics_with_parts_beside() -> None:
    score = grade(question(metric="steps", further=("classified",)), Reply("yes"))
    assert score.value == 0.5
    assert score.metrics == {"classified": 1.0, "steps_precision": 0.25, "steps_recall": None}
    assert score.parts == {"steps": [3.0, 7.0], "sensitivity": [1.0, 1.0]}
    assert measured_names(("steps", "classified", "judge")) == (
        "steps", "steps_precision", "steps_recall", "classified", "judge",
    )  # fmt: skip


def test_grade_unparseable_reply_is_0_in_each_declared_value() -> None:
    score = grade(question(metric="classified", further=("steps",)), Reply("Perhaps."))
    assert (score.status, score.value) == ("unparseable", 0.0)
    assert score.metrics == {"steps": 0.0, "steps_precision": 0.0, "steps_recall": 0.0}
    assert score.parts == {"sensitivity": [0.0, 1.0]}, "steps states none"


@pytest.mark.parametrize(
    ("result", "message"),
    [
        (1.5, r"metric steps: returned 1\.5; expected a number from 0 to 1"),
        (nan, "metric steps: returned nan"),
        (Measurement(1.0, {"steps_recall": -0.1}), r"metric steps, value 'steps_recall': returned -0\.1"),
        (Measurement(1.0, {"other": 1.0}), r"metric 'steps': .* 'other', which it does not declare"),
        (Measurement(1.0, parts={"p": (1, -1)}), r"metric 'steps', part 'p': returned \(1, -1\); expected"),
        (Measurement(1.0, parts={"p": (nan, 1)}), "expected a finite numerator"),
        (Measurement(1.0, parts={"p": (1, inf)}), "finite denominator of at least 0"),
    ],
)
def test_measurement_out_of_range_is_usage_error(result: float | Measurement, message: str) -> None:
    metric = DeclaredMetric(lambda *_: result, ("steps_recall",), lambda _: result)
    with pytest.raises(UsageError, match=message):
        measure_answer("steps", metric, 1, 1)
    with pytest.raises(UsageError, match=message):
        measure_unparseable("steps", metric, 1)


@pytest.mark.parametrize(
    ("metrics", "parts", "message"),
    [
        ({"read": 2.0}, {}, r"metric 'read' of the episode 'agent': returned 2\.0; expected a number from 0 to 1"),
        ({}, {"read": [1.0]}, r"episode 'agent', part 'read': returned \[1\.0\]; expected a finite numerator"),
        ({}, {"read": [1.0, nan]}, "finite denominator"),
    ],
)
def test_episode_measurement_out_of_range_names_the_episode(
    metrics: dict[str, float | None], parts: dict[str, list[float]], message: str
) -> None:
    assert episode_measurement("agent", {"read": None}, {"read": [3, 4]}).parts == {"read": (3.0, 4.0)}
    with pytest.raises(UsageError, match=message):
        episode_measurement("agent", metrics, parts)


def test_measurement_rounding_beyond_the_range_is_clipped() -> None:
    assert measure_answer("m", lambda *_: 1.0000000001, 1, 1).value == 1.0
    assert measure_answer("m", lambda *_: -1e-12, 1, 1).value == 0.0


@pytest.mark.parametrize(
    ("name", "other", "message"),
    [
        ("steps_recall", "", "value 'steps_recall' of the metric 'other' has the same name as the value 'steps_recall' "
         "of the metric 'steps'"),
        ("recall", "", "value 'recall' of the metric 'other' has the same name as the metric 'recall'"),
        ("free", "steps", "part 'steps' of the metric 'other' has the same name as the part 'steps' of the metric "
         "'steps'"),
    ],
)  # fmt: skip
def test_grade_clashing_names_raise_error_with_both_metrics(
    name: str, other: str, message: str, registered_metrics: Registrations
) -> None:
    parts = {other: (1.0, 1.0)} if other else {}
    clashing: Metric = declares(name)(lambda *_: Measurement(1.0, {name: 1.0}, parts))
    registered_metrics.add(METRICS.kind, "other", clashing, "tests")
    with pytest.raises(UsageError, match=message):
        grade(question(metric="steps", further=("other",)), Reply("yes"))


@given(st.sampled_from(["yes", "no"]), st.text(max_size=30))
def test_grade_any_reply_counts_once_in_part_of_its_class(reference: Json, reply: str) -> None:
    score: Score = grade(question(reference), Reply(reply))
    name = "sensitivity" if reference == "yes" else "specificity"
    assert score.parts == {name: [score.value, 1.0]}
