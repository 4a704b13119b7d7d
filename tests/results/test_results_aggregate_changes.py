"""Aggregates over paired questions, on constructed trials."""

from __future__ import annotations

from collections.abc import Sequence
from random import Random

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pytest_taskgraph.family_description import Aggregate, FamilyDescription
from pytest_taskgraph.results.aggregates import AggregateSums, ObservedQuestion
from pytest_taskgraph.results.comparison.aggregate_changes import AggregateChange, aggregate_changes
from pytest_taskgraph.results.comparison.pairing import QuestionPair, pair_questions
from pytest_taskgraph.results.tally import Tally
from pytest_taskgraph.trial import Question, Score, Trial

SENSITIVITY = Aggregate("sensitivity", "ratio", ("yes",))
SPECIFICITY = Aggregate("specificity", "ratio", ("no",))
G_MEAN = Aggregate("g_mean", "geometric-mean", ("sensitivity", "specificity"))
STEPS = FamilyDescription("steps", aggregates=(SENSITIVITY, SPECIFICITY, G_MEAN))
Row = tuple[str, int, int, str]  # class, answers before and after, cluster
ROWS = st.lists(
    st.tuples(st.sampled_from(["yes", "no"]), st.booleans(), st.booleans(), st.integers(0, 9).map("c-{}".format)),
    min_size=1, max_size=30,
)  # fmt: skip


def trial(at: int, of: str, hit: int, cluster: str, model: str = "m", family: str = "steps") -> Trial:
    question = Question(
        f"q-{at:03d}", family, "next_step", "", "?", "?", "yes-no", of, "correctness", cluster=cluster,
        labels={"seed": at % 3},
    )  # fmt: skip
    score = Score(float(hit), {"depth": hit / 2}, {of: [hit, 1]})
    return Trial(question, model, "right" if hit else "wrong", score=score)


def pairs_of(rows: Sequence[Row], models: Sequence[str] = ("m",), family: str = "steps") -> tuple[QuestionPair, ...]:
    runs = [Tally(), Tally()]
    for model in models:
        for at, (of, before, after, cluster) in enumerate(rows):
            for run, hit in zip(runs, (before, after), strict=True):
                run.add(trial(at, of, hit, cluster, model, family))
    return pair_questions(*runs).pairs


def change_of(rows: Sequence[Row], name: str = "g_mean") -> AggregateChange:
    changes = aggregate_changes(pairs_of(rows), [STEPS], 0.025)
    return next(aggregate_change for aggregate_change in changes if aggregate_change.name == name)


def rows_of(seed: int, before: float, after: float, count: int = 120, clusters: int = 15) -> list[Row]:
    rng = Random(seed)
    return [
        (rng.choice(["yes", "no"]), int(rng.random() < before), int(rng.random() < after), f"c-{at % clusters}")
        for at in range(count)
    ]


def test_change_paired_questions_has_both_values() -> None:
    rows: list[Row] = [("yes", 1, 1, "a"), ("yes", 1, 0, "b"), ("no", 1, 1, "c"), ("no", 0, 1, "d")]
    aggregate_change = change_of(rows)
    assert [aggregate_change.before, aggregate_change.after] == pytest.approx([0.5**0.5, 0.5**0.5])
    assert (aggregate_change.change, aggregate_change.n, aggregate_change.clusters, aggregate_change.model) == (
        0.0,
        4,
        4,
        "",
    )


@pytest.mark.parametrize("name", ["sensitivity", "g_mean"])
@pytest.mark.parametrize("seed", [0, 1, *(pytest.param(seed, marks=pytest.mark.exhaustive) for seed in (2, 3))])
def test_change_interval_and_p_value_are_of_the_jackknife(name: str, seed: int) -> None:
    from scipy import stats

    rows = rows_of(seed, 0.8, 0.7)
    aggregates = {aggregate.name: aggregate for aggregate in STEPS.aggregates}
    clusters = sorted({row[3] for row in rows})

    def value(side: int, without: str) -> float:
        trials = [trial(at, of, (b, a)[side], c) for at, (of, b, a, c) in enumerate(rows) if c != without]
        result = AggregateSums(
            aggregates[name], aggregates, [ObservedQuestion(trial.question.id, [trial]) for trial in trials]
        ).value()
        assert result is not None
        return result

    differences = np.array([value(1, cluster) - value(0, cluster) for cluster in clusters])
    error = float(np.sqrt((len(clusters) - 1) * np.var(differences)))
    moved = value(1, "") - value(0, "")
    aggregate_change, freedom = change_of(rows, name), len(clusters) - 1
    assert aggregate_change.p == pytest.approx(float(stats.t.cdf(moved / error, freedom)))
    reached = float(stats.t.ppf(0.975, freedom)) * error
    assert aggregate_change.low == pytest.approx(moved - reached)
    assert aggregate_change.high == pytest.approx(moved + reached)


def test_change_loss_in_every_cluster_has_p_of_flips() -> None:
    aggregate_change = change_of([("yes", 1, 0, f"c-{at}") for at in range(7)], "sensitivity")
    assert (aggregate_change.p, aggregate_change.verdict) == (2**-7, "worse")
    fewer = change_of([("yes", 1, 0, f"c-{at}") for at in range(5)], "sensitivity")
    assert (fewer.p, fewer.verdict) == (2**-5, "inconclusive")


def test_change_without_difference_is_inconclusive_with_interval() -> None:
    aggregate_change = change_of([("yes", 1, 1, f"c-{at}") for at in range(20)], "sensitivity")
    assert (aggregate_change.p, aggregate_change.adjusted_p, aggregate_change.verdict) == (1.0, 1.0, "inconclusive")
    assert aggregate_change.high == pytest.approx(3.8415 / (20 + 3.8415), abs=1e-4)
    assert aggregate_change.low == pytest.approx(-3.8415 / (20 + 3.8415), abs=1e-4)


def test_changes_several_aggregates_are_adjusted_together() -> None:
    changes = aggregate_changes(pairs_of(rows_of(5, 0.9, 0.7)), [STEPS], 0.025)
    ps = sorted(change.p for change in changes if change.p is not None)
    smallest = min((change for change in changes if change.p is not None), key=lambda change: change.p or 0.0)
    assert smallest.adjusted_p == pytest.approx(min(1.0, 3 * ps[0]))
    assert all(
        change.adjusted_p is not None and change.p is not None and change.adjusted_p >= change.p for change in changes
    )


def test_changes_per_model_and_family() -> None:
    other = FamilyDescription("other", aggregates=(SENSITIVITY,))
    pairs = (*pairs_of(rows_of(1, 0.8, 0.8), ["a", "b"]), *pairs_of(rows_of(2, 0.8, 0.8), family="other"))
    changes = aggregate_changes(pairs, [STEPS, other, FamilyDescription("absent", aggregates=(G_MEAN,))], 0.025)
    names = [(change.family, change.model, change.name) for change in changes]
    each = ["sensitivity", "specificity", "g_mean"]
    assert names == [*(("steps", model, name) for model in "ab" for name in each), ("other", "", "sensitivity")]


def test_changes_mean_score_left_out_deviation_untested() -> None:
    described = FamilyDescription(
        "steps", aggregates=(Aggregate("overall"), SENSITIVITY, Aggregate("spread", "seed-deviation", ("sensitivity",)))
    )
    changes = aggregate_changes(pairs_of(rows_of(1, 0.8, 0.6)), [described], 0.025)
    assert [change.name for change in changes] == ["sensitivity", "spread"]
    assert changes[1].change is not None
    assert (changes[1].p, changes[1].low, changes[1].verdict) == (None, None, "")


def test_change_class_without_questions_is_undefined() -> None:
    aggregate_change = change_of([("yes", 1, 0, f"c-{at}") for at in range(8)])
    assert (
        aggregate_change.before,
        aggregate_change.after,
        aggregate_change.change,
        aggregate_change.p,
        aggregate_change.verdict,
    ) == (None, None, None, None, "")


def test_changes_aggregate_without_pairs_left_out() -> None:
    never = Aggregate("round_five", "ratio", ("round_five",))
    changes = aggregate_changes(
        pairs_of(rows_of(1, 0.8, 0.6)), [FamilyDescription("steps", aggregates=(never, SENSITIVITY))], 0.025
    )
    assert [change.name for change in changes] == ["sensitivity"]


def test_changes_without_aggregates_are_none() -> None:
    assert aggregate_changes(pairs_of(rows_of(1, 0.8, 0.6)), [FamilyDescription("steps")], 0.025) == ()
    assert aggregate_changes((), [STEPS], 0.025) == ()


@given(ROWS, st.randoms(use_true_random=False))
def test_change_swapped_runs_is_opposite_in_any_order(rows: Sequence[Row], rng: Random) -> None:
    aggregate_change, turned = change_of(rows), change_of([(of, after, before, c) for of, before, after, c in rows])
    assert (aggregate_change.before, aggregate_change.after) == (turned.after, turned.before)
    if aggregate_change.low is not None and aggregate_change.high is not None and aggregate_change.change is not None:
        assert [turned.low, turned.high] == pytest.approx([-aggregate_change.high, -aggregate_change.low])
        assert -1.0 <= aggregate_change.low <= aggregate_change.change <= aggregate_change.high <= 1.0
        assert aggregate_change.p is not None
        assert 0.0 < aggregate_change.p <= 1.0
    pairs = list(pairs_of(rows))
    rng.shuffle(pairs)
    assert aggregate_changes(pairs, [STEPS], 0.025) == aggregate_changes(pairs_of(rows), [STEPS], 0.025)
