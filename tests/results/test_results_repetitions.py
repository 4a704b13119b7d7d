"""Reducers agree with all subsets counted one by one; spread within and between stand for what they say."""

from __future__ import annotations

from dataclasses import replace
from itertools import combinations
from random import Random

import numpy as np
import pytest
from described_runs import described
from hypothesis import given
from hypothesis import strategies as st

from pytest_taskgraph.results.repetitions import (
    RepetitionRow,
    most_repetitions,
    pass_at_k,
    pass_hat_k,
    reduce_repetitions,
    repetition_rows,
)
from pytest_taskgraph.results.tally import Tally
from pytest_taskgraph.trial import Outcome, Question, Reply, Score, Trial

NEAR = 1e-9
passes = st.lists(st.booleans(), min_size=1, max_size=8)
questions = st.lists(st.tuples(passes, st.sampled_from(["v", "w", "x"])), min_size=1, max_size=6)


def asked(once: str, repetition: int, outcome: Outcome, value: float | None = None, cluster: str = "") -> Trial:
    name = once if repetition == 1 else f"{once}-r{repetition}"
    question = Question(name, "u", "p", "structure", "?", "p", "task", "A", "jaccard", cluster=cluster)
    question = replace(question, repetition=repetition)
    if outcome in ("error", "skipped"):
        return Trial(question, "m", outcome)
    return Trial(question, "m", outcome, Reply("A"), Score(float(outcome == "right") if value is None else value))


def tallied(*trials: Trial) -> Tally:
    tally = Tally(described())
    for trial in trials:
        tally.add(trial)
    return tally


def of(ones: list[tuple[list[bool], str]]) -> Tally:
    return tallied(
        *(
            asked(f"q{at}", repetition, "right" if right else "wrong", cluster=cluster)
            for at, (rights, cluster) in enumerate(ones)
            for repetition, right in enumerate(rights, 1)
        )
    )


def row(tally: Tally) -> RepetitionRow:
    return reduce_repetitions(tally.total_group())


@given(passes)
def test_both_estimators_are_the_share_of_the_subsets(rights: list[bool]) -> None:
    for k in range(1, len(rights) + 1):
        subsets = list(combinations(rights, k))
        n, passed = len(rights), sum(rights)
        assert pass_at_k(n, passed, k) == pytest.approx(sum(map(any, subsets)) / len(subsets), abs=NEAR)
        assert pass_hat_k(n, passed, k) == pytest.approx(sum(map(all, subsets)) / len(subsets), abs=NEAR)


@given(questions)
def test_reducers_are_taken_of_one_question_and_averaged_over_questions(ones: list[tuple[list[bool], str]]) -> None:
    found = row(of(ones))
    rights = [one for one, _ in ones]
    most = max(map(len, rights))
    assert (found.repetitions, found.questions) == (most, len(ones))
    assert found.mean == pytest.approx(np.mean([np.mean(one) for one in rights]))
    assert found.majority == pytest.approx(np.mean([2 * sum(one) > len(one) for one in rights]))
    assert list(found.pass_at) == list(found.pass_hat) == list(range(1, most + 1))
    for k in range(1, most + 1):
        long = [list(combinations(one, k)) for one in rights if len(one) >= k]
        assert found.left_out[k] == len(ones) - len(long)
        assert found.pass_at[k] == pytest.approx(np.mean([np.mean([any(some) for some in one]) for one in long]))
        assert found.pass_hat[k] == pytest.approx(np.mean([np.mean([all(some) for some in one]) for one in long]))


@given(questions)
def test_within_is_pooled_over_questions_and_between_is_over_workflows(ones: list[tuple[list[bool], str]]) -> None:
    found = row(of(ones))
    freedom = sum(len(one) - 1 for one, _ in ones)
    squares = sum(float(np.var(one, ddof=1)) * (len(one) - 1) for one, _ in ones if len(one) > 1)
    expected = (squares / freedom) ** 0.5 if freedom else None
    assert found.within == (None if expected is None else pytest.approx(expected, abs=NEAR))
    means = [np.mean([np.mean(one) for one, at in ones if at == name]) for name in {at for _, at in ones}]
    assert found.between == (pytest.approx(float(np.std(means, ddof=1)), abs=NEAR) if len(means) > 1 else None)


@given(questions, st.randoms(use_true_random=False))
def test_nothing_depends_on_the_order_of_arrival(ones: list[tuple[list[bool], str]], rng: Random) -> None:
    trials = list(of(ones))
    rng.shuffle(trials)
    assert row(tallied(*trials)) == row(of(ones))


def test_a_tie_is_no_majority() -> None:
    assert row(of([([True, False], "w")])).majority == 0.0
    assert row(of([([True, True, False], "w")])).majority == 1.0


def test_replies_that_did_not_come_are_in_no_reducer_and_such_questions_are_left_out_and_counted() -> None:
    found = row(
        tallied(
            asked("a", 1, "right"), asked("a", 2, "error"), asked("a", 3, "right"),
            asked("b", 1, "error"), asked("b", 2, "skipped"), asked("b", 3, "error"),
            asked("c", 1, "refused"), asked("c", 2, "right"), asked("c", 3, "unparseable"),
        )
    )  # fmt: skip
    assert (found.repetitions, found.questions, found.left_out) == (3, 2, {1: 1, 2: 1, 3: 2})
    assert found.mean == pytest.approx(2 / 3)
    assert found.majority == 0.5
    assert found.pass_at == {1: pytest.approx(2 / 3), 2: pytest.approx((1 + 2 / 3) / 2), 3: 1.0}
    assert found.pass_hat == {1: pytest.approx(2 / 3), 2: 0.5, 3: 0.0}


def test_where_nothing_was_answered_nothing_is_defined() -> None:
    found = row(tallied(asked("a", 1, "error"), asked("a", 2, "error")))
    assert (found.mean, found.majority, found.within, found.between) == (None, None, None, None)
    assert found.pass_at == found.pass_hat == {1: None, 2: None}
    assert row(tallied()).repetitions == 0


def test_scores_between_0_and_1_keep_their_spread() -> None:
    found = row(tallied(asked("a", 1, "wrong", 0.2), asked("a", 2, "wrong", 0.6)))
    assert found.mean == pytest.approx(0.4)
    assert found.within == pytest.approx(0.08**0.5)
    assert found.between is None


def test_rows_stand_as_in_the_tally_and_models_are_kept_apart() -> None:
    tally = of([([True, False], "w")])
    for trial in list(tally):
        tally.add(replace(trial, model="n"))
    assert [(one.name, one.model, one.repetitions) for one in repetition_rows(tally)] == [("p", "m", 2), ("p", "n", 2)]
    assert [one.section for one in repetition_rows(tally)] == [one.section for one in tally.rows()]
    assert most_repetitions(tally) == 2


def test_the_interval_of_a_rate_takes_repetitions_for_one_question() -> None:
    once = of([([True], "v"), ([False], "w"), ([True], "x")])
    often = of([([True] * 50, "v"), ([False] * 50, "w"), ([True] * 50, "x")])
    single, many = once.total_group().interval, often.total_group().interval
    assert single is not None
    assert many is not None
    assert many[1] - many[0] > 0.8
    assert often.total_group().questions == 3
    assert of([([True, False], "v")]).total_group().interval is None
