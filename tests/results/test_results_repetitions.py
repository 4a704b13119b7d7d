"""Reducers match the enumeration of all subsets; spreads match their definitions."""

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
)
from pytest_taskgraph.results.tally import Tally
from pytest_taskgraph.trial import Outcome, Question, Reply, Score, Trial

NEAR = 1e-9
passes = st.lists(st.booleans(), min_size=1, max_size=8)
questions = st.lists(st.tuples(passes, st.sampled_from(["v", "w", "x"])), min_size=1, max_size=6)


def make_trial(once: str, repetition: int, outcome: Outcome, value: float | None = None, cluster: str = "") -> Trial:
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


def tally_of_rows(rows: list[tuple[list[bool], str]]) -> Tally:
    return tallied(
        *(
            make_trial(f"q{at}", repetition, "right" if right else "wrong", cluster=cluster)
            for at, (rights, cluster) in enumerate(rows)
            for repetition, right in enumerate(rights, 1)
        )
    )


def row(tally: Tally) -> RepetitionRow:
    return reduce_repetitions(tally.total_group())


@given(passes)
def test_pass_at_k_and_hat_k_match_enumerated_subsets(rights: list[bool]) -> None:
    for k in range(1, len(rights) + 1):
        subsets = list(combinations(rights, k))
        n, passed = len(rights), sum(rights)
        assert pass_at_k(n, passed, k) == pytest.approx(sum(map(any, subsets)) / len(subsets), abs=NEAR)
        assert pass_hat_k(n, passed, k) == pytest.approx(sum(map(all, subsets)) / len(subsets), abs=NEAR)


@given(questions)
def test_reduce_averages_reducers_over_questions(rows: list[tuple[list[bool], str]]) -> None:
    reduced = row(tally_of_rows(rows))
    rights = [subsets for subsets, _ in rows]
    most = max(map(len, rights))
    assert (reduced.repetitions, reduced.questions) == (most, len(rows))
    assert reduced.mean == pytest.approx(np.mean([np.mean(right) for right in rights]))
    assert reduced.majority == pytest.approx(np.mean([2 * sum(right) > len(right) for right in rights]))
    assert list(reduced.pass_at) == list(reduced.pass_hat) == list(range(1, most + 1))
    for k in range(1, most + 1):
        long = [list(combinations(right, k)) for right in rights if len(right) >= k]
        assert reduced.left_out[k] == len(rows) - len(long)
        assert reduced.pass_at[k] == pytest.approx(
            np.mean([np.mean([any(some) for some in subsets]) for subsets in long])
        )
        assert reduced.pass_hat[k] == pytest.approx(
            np.mean([np.mean([all(some) for some in subsets]) for subsets in long])
        )


@given(questions)
def test_reduce_within_pooled_and_between_over_workflows(rows: list[tuple[list[bool], str]]) -> None:
    reduced = row(tally_of_rows(rows))
    freedom = sum(len(scores) - 1 for scores, _ in rows)
    squares = sum(float(np.var(scores, ddof=1)) * (len(scores) - 1) for scores, _ in rows if len(scores) > 1)
    expected = (squares / freedom) ** 0.5 if freedom else None
    assert reduced.within == (None if expected is None else pytest.approx(expected, abs=NEAR))
    means = [np.mean([np.mean(scores) for scores, at in rows if at == name]) for name in {at for _, at in rows}]
    assert reduced.between == (pytest.approx(float(np.std(means, ddof=1)), abs=NEAR) if len(means) > 1 else None)


@given(questions, st.randoms(use_true_random=False))
def test_reduce_is_order_independent(rows: list[tuple[list[bool], str]], rng: Random) -> None:
    trials = list(tally_of_rows(rows))
    rng.shuffle(trials)
    assert row(tallied(*trials)) == row(tally_of_rows(rows))


def test_reduce_tie_is_no_majority() -> None:
    assert row(tally_of_rows([([True, False], "w")])).majority == 0.0
    assert row(tally_of_rows([([True, True, False], "w")])).majority == 1.0


def test_reduce_unanswered_left_out_and_counted() -> None:
    reduced = row(
        tallied(
            make_trial("a", 1, "right"), make_trial("a", 2, "error"), make_trial("a", 3, "right"),
            make_trial("b", 1, "error"), make_trial("b", 2, "skipped"), make_trial("b", 3, "error"),
            make_trial("c", 1, "refused"), make_trial("c", 2, "right"), make_trial("c", 3, "unparseable"),
        )
    )  # fmt: skip
    assert (reduced.repetitions, reduced.questions, reduced.left_out) == (3, 2, {1: 1, 2: 1, 3: 2})
    assert reduced.mean == pytest.approx(2 / 3)
    assert reduced.majority == 0.5
    assert reduced.pass_at == {1: pytest.approx(2 / 3), 2: pytest.approx((1 + 2 / 3) / 2), 3: 1.0}
    assert reduced.pass_hat == {1: pytest.approx(2 / 3), 2: 0.5, 3: 0.0}


def test_reduce_without_answers_is_undefined() -> None:
    reduced = row(tallied(make_trial("a", 1, "error"), make_trial("a", 2, "error")))
    assert (reduced.mean, reduced.majority, reduced.within, reduced.between) == (None, None, None, None)
    assert reduced.pass_at == reduced.pass_hat == {1: None, 2: None}
    assert row(tallied()).repetitions == 0


def test_reduce_fractional_scores_keep_spread() -> None:
    reduced = row(tallied(make_trial("a", 1, "wrong", 0.2), make_trial("a", 2, "wrong", 0.6)))
    assert reduced.mean == pytest.approx(0.4)
    assert reduced.within == pytest.approx(0.08**0.5)
    assert reduced.between is None


def test_repetition_rows_ordered_as_tally_by_model() -> None:
    tally = tally_of_rows([([True, False], "w")])
    for trial in list(tally):
        tally.add(replace(trial, model="n"))
    rows = [reduce_repetitions(group) for group in tally.groups("group")]
    assert [(row.name, row.model, row.repetitions) for row in rows] == [("p", "m", 2), ("p", "n", 2)]
    assert [row.section for row in rows] == [row.section for row in tally.rows()]
    assert most_repetitions(tally) == 2


def test_rate_interval_repetitions_count_as_one_question() -> None:
    once = tally_of_rows([([True], "v"), ([False], "w"), ([True], "x")])
    often = tally_of_rows([([True] * 50, "v"), ([False] * 50, "w"), ([True] * 50, "x")])
    single, many = once.total_group().interval, often.total_group().interval
    assert single is not None
    assert many is not None
    assert many[1] - many[0] > 0.8
    assert often.total_group().questions == 3
    assert tally_of_rows([([True, False], "v")]).total_group().interval is None
