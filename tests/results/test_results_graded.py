"""Graded questions: a mean and a chance level, no pass rate, and no part in other counts."""

from __future__ import annotations

from dataclasses import replace

import pytest
from described_runs import about_run, described
from hypothesis import given
from hypothesis import strategies as st

from pytest_taskgraph.results.record import build, tally_of
from pytest_taskgraph.results.repetitions import reduce_repetitions
from pytest_taskgraph.results.statistics.intervals import clustered_interval
from pytest_taskgraph.results.tally import Tally
from pytest_taskgraph.scoring.grade import score_reply
from pytest_taskgraph.trial import Outcome, Question, Reply, Score, Trial, WrongAnswerError

TEXT = Question(
    "d0", "understanding", "describe_task", "functionality", "?", "?", "text", "It bakes.", "rouge1",
    pass_threshold=0.0, chance=0.25, cluster="w0", labels={"size": 12},
)  # fmt: skip
ODD = replace(TEXT, id="o0", group="odd_task", form="yes-no", reference="yes", metric="correctness", pass_threshold=1.0)


def graded(at: int, score: float, model: str = "m", workflow: int | None = None) -> Trial:
    question = replace(TEXT, id=f"d{at}", cluster=f"w{at if workflow is None else workflow}")
    return Trial(question, model, "graded", Reply("x"), Score(score))


def binary(at: int, right: bool, model: str = "m") -> Trial:
    outcome: Outcome = "right" if right else "wrong"
    return Trial(replace(ODD, id=f"o{at}", cluster=f"w{at}"), model, outcome, Reply("x"), Score(float(right)))


def tally_of_trials(*trials: Trial) -> Tally:
    tally = Tally(described())
    for trial in trials:
        tally.add(trial)
    return tally


def test_check_graded_answer_passes_with_any_score() -> None:
    trial, _ = score_reply(TEXT, Reply("Final answer: nonsense"), "m")
    assert (trial.outcome, trial.passed, trial.accepted) == ("graded", False, True)
    assert trial.score == Score(0.0, given="nonsense")
    trial.check()


@pytest.mark.parametrize("reply", ["", "Final answer: ...", "I'm sorry, but I can't help with that."])
def test_check_graded_without_answer_fails(reply: str) -> None:
    trial, _ = score_reply(TEXT, Reply(reply), "m")
    assert trial.outcome in ("unparseable", "refused")
    with pytest.raises(WrongAnswerError):
        trial.check()


def test_tally_rows_count_graded_separately() -> None:
    tally = tally_of_trials(*(graded(at, 0.5) for at in range(3)), binary(0, True), binary(1, False))
    for row in (tally.total(), *tally.rows("section"), *tally.rows("family"), *tally.rows("size")):
        assert (row.n, row.right, row.rate, row.mean, row.graded) == (2, 1, 0.5, 0.5, 3), row.name
    assert [row.name for row in tally.rows()] == ["odd_task"]
    assert tally.total().chance == 0.25


def test_tally_graded_row_has_mean_and_chance_level() -> None:
    tally = tally_of_trials(*(graded(at, score) for at, score in enumerate((0.2, 0.4, 0.9))), binary(0, True))
    (row,) = tally.rows(graded=True)
    assert (row.name, row.n, row.rate, row.right, row.chance) == ("describe_task", 3, None, 0, 0.25)
    assert row.mean == pytest.approx(0.5)
    assert row.above_chance == pytest.approx((0.5 - 0.25) / 0.75)
    assert tally.total(graded=True) == replace(row, name="total", section="")


@given(st.lists(st.tuples(st.integers(0, 7), st.floats(0, 1)), min_size=1, max_size=12))
def test_tally_graded_interval_is_clustered(answers: list[tuple[int, float]]) -> None:
    tally = tally_of_trials(*(graded(at, score, workflow=workflow) for at, (workflow, score) in enumerate(answers)))
    by_workflow = len({workflow for workflow, _ in answers}) >= 6
    clusters: dict[str, list[float]] = {}
    for at, (workflow, score) in enumerate(answers):
        clusters.setdefault(str(workflow if by_workflow else -at), []).append(score)
    (group,) = tally.groups(graded=True)
    expected = clustered_interval(clusters)
    assert (group.interval is None) == (expected is None)
    assert expected is None or group.interval == pytest.approx(expected)


def test_tally_graded_repetitions_count_once_in_interval() -> None:
    once = [graded(at, at / 10) for at in range(8)]
    again = [
        replace(trial, question=replace(trial.question, id=f"{trial.question.id}-r2", repetition=2)) for trial in once
    ]
    (group,), (repeated,) = (tally_of_trials(*trials).groups(graded=True) for trials in (once, [*once, *again]))
    assert repeated.interval == pytest.approx(group.interval)
    row = reduce_repetitions(repeated)
    assert (row.majority, row.pass_at, row.pass_hat) == (None, {1: None, 2: None}, {1: None, 2: None})
    assert row.mean == pytest.approx(0.35)
    assert row.within == pytest.approx(0.0)


def test_tally_graded_variations_in_no_relation() -> None:
    varied = replace(graded(1, 0.1), question=replace(TEXT, id="d0-x", relation="order", twin="d0"))
    other = replace(binary(1, True), question=replace(ODD, id="o0-x", relation="order", twin="o0"))
    (row,) = tally_of_trials(graded(0, 0.9), varied, binary(0, True), other).relations()
    assert (row.pairs, row.same) == (1, 1)


def test_record_graded_means_beside_totals() -> None:
    data = build([graded(0, 0.2), graded(1, 0.4), binary(0, True)], about_run("0.1.0", ("m",)))
    (total,), (row,) = data["totals"], data["graded"]
    assert (total["n"], total["graded"], total["rate"]) == (1, 2, 1.0)
    assert (row["name"], row["rate"], row["mean"], row["chance"]) == ("describe_task", None, pytest.approx(0.3), 0.25)
    assert row["interval"][0] == 0.0
    assert row["interval"][1] == 1.0
    assert build(tally_of(data), about_run("0.1.0", ("m",))) == data
