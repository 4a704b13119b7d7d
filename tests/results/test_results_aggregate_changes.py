"""Aggregates over paired questions, on made-up trials."""

from __future__ import annotations

from collections.abc import Sequence
from random import Random

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

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


def change(rows: Sequence[Row], name: str = "g_mean") -> AggregateChange:
    found = aggregate_changes(pairs_of(rows), [STEPS], 0.025)
    return next(one for one in found if one.name == name)


def rows_of(seed: int, before: float, after: float, count: int = 120, clusters: int = 15) -> list[Row]:
    rng = Random(seed)
    return [
        (rng.choice(["yes", "no"]), int(rng.random() < before), int(rng.random() < after), f"c-{at % clusters}")
        for at in range(count)
    ]


def test_change_holds_both_values_over_the_paired_questions() -> None:
    rows: list[Row] = [("yes", 1, 1, "a"), ("yes", 1, 0, "b"), ("no", 1, 1, "c"), ("no", 0, 1, "d")]
    found = change(rows)
    assert [found.before, found.after] == pytest.approx([0.5**0.5, 0.5**0.5])
    assert (found.change, found.n, found.clusters, found.model) == (0.0, 4, 4, "")


@pytest.mark.parametrize("name", ["sensitivity", "g_mean"])
@pytest.mark.parametrize("seed", range(4))
def test_change_is_tested_by_the_jackknife_of_the_difference(name: str, seed: int) -> None:
    rows = rows_of(seed, 0.8, 0.7)
    known = {one.name: one for one in STEPS.aggregates}
    clusters = sorted({one[3] for one in rows})

    def value(side: int, gone: str) -> float:
        kept = [trial(at, of, (b, a)[side], c) for at, (of, b, a, c) in enumerate(rows) if c != gone]
        found = AggregateSums(known[name], known, [ObservedQuestion(one.question.id, [one]) for one in kept]).value()
        assert found is not None
        return found

    differences = np.array([value(1, gone) - value(0, gone) for gone in clusters])
    error = float(np.sqrt((len(clusters) - 1) * np.var(differences)))
    moved = value(1, "") - value(0, "")
    found, freedom = change(rows, name), len(clusters) - 1
    assert found.p == pytest.approx(float(stats.t.cdf(moved / error, freedom)))
    reached = float(stats.t.ppf(0.975, freedom)) * error
    assert found.low == pytest.approx(moved - reached)
    assert found.high == pytest.approx(moved + reached)


def test_change_loss_in_every_cluster_is_no_surer_than_their_number() -> None:
    found = change([("yes", 1, 0, f"c-{at}") for at in range(7)], "sensitivity")
    assert (found.p, found.verdict) == (2**-7, "worse")
    fewer = change([("yes", 1, 0, f"c-{at}") for at in range(5)], "sensitivity")
    assert (fewer.p, fewer.verdict) == (2**-5, "inconclusive")


def test_change_without_a_difference_is_inconclusive_with_an_interval() -> None:
    found = change([("yes", 1, 1, f"c-{at}") for at in range(20)], "sensitivity")
    assert (found.p, found.adjusted_p, found.verdict) == (1.0, 1.0, "inconclusive")
    assert found.high == pytest.approx(3.8415 / (20 + 3.8415), abs=1e-4)
    assert found.low == pytest.approx(-3.8415 / (20 + 3.8415), abs=1e-4)


def test_changes_are_adjusted_over_all_aggregates_of_the_comparison() -> None:
    found = aggregate_changes(pairs_of(rows_of(5, 0.9, 0.7)), [STEPS], 0.025)
    ps = sorted(one.p for one in found if one.p is not None)
    smallest = min((one for one in found if one.p is not None), key=lambda one: one.p or 0.0)
    assert smallest.adjusted_p == pytest.approx(min(1.0, 3 * ps[0]))
    assert all(one.adjusted_p is not None and one.p is not None and one.adjusted_p >= one.p for one in found)


def test_changes_are_those_of_each_model_and_family() -> None:
    other = FamilyDescription("other", aggregates=(SENSITIVITY,))
    pairs = (*pairs_of(rows_of(1, 0.8, 0.8), ["a", "b"]), *pairs_of(rows_of(2, 0.8, 0.8), family="other"))
    found = aggregate_changes(pairs, [STEPS, other, FamilyDescription("absent", aggregates=(G_MEAN,))], 0.025)
    names = [(one.family, one.model, one.name) for one in found]
    each = ["sensitivity", "specificity", "g_mean"]
    assert names == [*(("steps", model, name) for model in "ab" for name in each), ("other", "", "sensitivity")]


def test_changes_leave_out_the_mean_score_and_do_not_test_deviations() -> None:
    described = FamilyDescription(
        "steps", aggregates=(Aggregate("overall"), SENSITIVITY, Aggregate("spread", "seed-deviation", ("sensitivity",)))
    )
    found = aggregate_changes(pairs_of(rows_of(1, 0.8, 0.6)), [described], 0.025)
    assert [one.name for one in found] == ["sensitivity", "spread"]
    assert found[1].change is not None
    assert (found[1].p, found[1].low, found[1].verdict) == (None, None, "")


def test_change_of_a_class_without_questions_is_undefined() -> None:
    found = change([("yes", 1, 0, f"c-{at}") for at in range(8)])
    assert (found.before, found.after, found.change, found.p, found.verdict) == (None, None, None, None, "")


def test_changes_leave_out_an_aggregate_of_no_paired_question() -> None:
    never = Aggregate("round_five", "ratio", ("round_five",))
    found = aggregate_changes(
        pairs_of(rows_of(1, 0.8, 0.6)), [FamilyDescription("steps", aggregates=(never, SENSITIVITY))], 0.025
    )
    assert [one.name for one in found] == ["sensitivity"]


def test_changes_without_aggregates_are_none() -> None:
    assert aggregate_changes(pairs_of(rows_of(1, 0.8, 0.6)), [FamilyDescription("steps")], 0.025) == ()
    assert aggregate_changes((), [STEPS], 0.025) == ()


@settings(max_examples=60)
@given(ROWS, st.randoms(use_true_random=False))
def test_change_turned_round_is_the_opposite_and_order_does_not_matter(rows: Sequence[Row], rng: Random) -> None:
    found, turned = change(rows), change([(of, after, before, c) for of, before, after, c in rows])
    assert (found.before, found.after) == (turned.after, turned.before)
    if found.low is not None and found.high is not None and found.change is not None:
        assert [turned.low, turned.high] == pytest.approx([-found.high, -found.low])
        assert -1.0 <= found.low <= found.change <= found.high <= 1.0
        assert found.p is not None
        assert 0.0 < found.p <= 1.0
    pairs = list(pairs_of(rows))
    rng.shuffle(pairs)
    assert aggregate_changes(pairs, [STEPS], 0.025) == aggregate_changes(pairs_of(rows), [STEPS], 0.025)
