from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from pytest_taskgraph.results.tally import SharedParts
from pytest_taskgraph.trial import Failure, Question, Reply, Score, Trial

small = st.text("ab", max_size=2)
scalars = st.none() | st.booleans() | st.integers(0, 1) | st.sampled_from([0.0, 1.0]) | small
values = st.recursive(scalars, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(small, inner, max_size=3))


def make_trial(reference: Any = "A", **labels: Any) -> Trial:  # noqa: ANN401
    question = Question("q", "u", "p", "structure", "?", "a long prompt", "task", reference, "jaccard", labels=labels)
    return Trial(
        question, "m", "right", Reply("A"), Score(1.0, {"recall": 1.0}, {"recall": [1.0, 1.0]}, given=reference)
    )


@given(st.lists(st.tuples(values, st.dictionaries(small, scalars, max_size=3)), max_size=6))
def test_shared_parts_trial_equals_argument(trials: list[tuple[Any, dict[str, Any]]]) -> None:
    shared = SharedParts()
    for reference, labels in trials:
        trial = make_trial(reference)
        trial = replace(
            trial, question=replace(trial.question, labels=labels), exchanges=[{"role": reference, "messages": []}]
        )
        assert json.dumps(shared.trial(trial).to_json()) == json.dumps(trial.to_json())


def test_shared_parts_equal_parts_are_identical() -> None:
    shared = SharedParts()
    first, other = (
        shared.trial(Trial.from_json(json.loads(json.dumps(make_trial(["A", "B"], size=8).to_json())))) for _ in "ab"
    )
    assert first.question.prompt is other.question.prompt
    assert first.question.labels is other.question.labels
    assert first.question.reference is other.question.reference


def test_shared_parts_trial_without_reply_has_none() -> None:
    bare = replace(make_trial(), reply=None, score=None)
    assert SharedParts().trial(bare) == bare


@given(values, st.dictionaries(small, scalars, max_size=3))
def test_trial_text_is_that_of_its_json(reference: Any, labels: dict[str, Any]) -> None:  # noqa: ANN401
    trial = replace(make_trial(reference, **labels), failure=Failure("timeout", "late"))
    assert trial.to_json_text() == json.dumps(trial.to_json())
    assert Trial.from_json(json.loads(trial.to_json_text())) == trial
