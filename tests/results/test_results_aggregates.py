"""Aggregates on constructed trials: numbers computed by hand, and an oracle that enumerates the remaining samples."""

from __future__ import annotations

import re
from collections.abc import Sequence
from math import sqrt
from random import Random

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pytest_taskgraph.errors import UsageError
from pytest_taskgraph.family_description import Aggregate, FamilyDescription
from pytest_taskgraph.results.aggregates import (
    aggregate_leaves,
    estimate_aggregate,
    find_aggregate_mistake,
    is_spread,
    merge_aggregates,
)
from pytest_taskgraph.results.statistics.intervals import clustered_interval, wilson
from pytest_taskgraph.trial import Outcome, Question, Score, Trial

STEPS = (
    Aggregate("sensitivity", "ratio", ("yes",)),
    Aggregate("specificity", "ratio", ("no",)),
    Aggregate("g_mean", "geometric-mean", ("sensitivity", "specificity")),
    Aggregate("g_mean_seeds", "seed-mean", ("g_mean",)),
    Aggregate("g_deviation", "seed-deviation", ("g_mean",)),
    Aggregate("f1", "harmonic-mean", ("sensitivity", "specificity")),
    Aggregate("score"),
    Aggregate("depth_mean", "mean", ("depth",)),
)
AGGREGATES_BY_NAME = {aggregate.name: aggregate for aggregate in STEPS}
DRAWS = st.lists(
    st.tuples(st.booleans(), st.booleans(), st.integers(0, 8), st.integers(1, 3)), min_size=1, max_size=24
)  # class, answer, cluster, seed


def trial(
    at: int, part: str, pair: tuple[float, float], cluster: str = "", seed: int = 1, outcome: Outcome = "right",
    repetition: int = 1, depth: float | None = None, text: str = "",
) -> Trial:  # fmt: skip
    """Return a trial of question number `at` whose score is the ratio of its part."""
    once = f"q-{at:03d}"
    question = Question(
        once if repetition == 1 else f"{once}-r{repetition}", "steps", "next_step", "", text or once, "?", "yes-no",
        "yes", "correctness", labels={"seed": seed}, cluster=cluster or f"c-{at}", repetition=repetition,
    )  # fmt: skip
    value = pair[0] / pair[1] if pair[1] and 0 <= pair[0] <= pair[1] else 0.0
    return Trial(question, "m", outcome, score=Score(value, {"depth": depth}, {part: list(pair)} if part else {}))


def classes(yes: Sequence[int], no: Sequence[int], seed: int = 1, first: int = 0) -> list[Trial]:
    """Return a trial for each 0 (wrong) or 1 (right)."""
    pairs = [("yes", hit) for hit in yes] + [("no", hit) for hit in no]
    return [trial(first + at, name, (hit, 1), seed=seed) for at, (name, hit) in enumerate(pairs)]


def value(name: str, trials: Sequence[Trial]) -> float | None:
    return estimate_aggregate(AGGREGATES_BY_NAME[name], AGGREGATES_BY_NAME, trials).value


def test_estimate_3_of_4_and_2_of_5_matches_hand_computation() -> None:
    trials = classes([1, 1, 1, 0], [1, 1, 0, 0, 0])
    assert value("sensitivity", trials) == 0.75
    assert value("specificity", trials) == 0.4
    assert value("g_mean", trials) == pytest.approx(0.5477, abs=5e-5)
    assert value("f1", trials) == pytest.approx(2 * 0.75 * 0.4 / 1.15)


def test_estimate_class_without_questions_is_undefined() -> None:
    trials = classes([1, 1, 0], [])
    estimates = [
        estimate_aggregate(AGGREGATES_BY_NAME[name], AGGREGATES_BY_NAME, trials)
        for name in ("specificity", "g_mean", "g_mean_seeds", "f1")
    ]
    assert [(estimate.value, estimate.low, estimate.high) for estimate in estimates] == [(None, None, None)] * 4
    assert value("sensitivity", trials) == pytest.approx(2 / 3)
    assert estimate_aggregate(AGGREGATES_BY_NAME["g_mean"], AGGREGATES_BY_NAME, []).n == 0


def test_estimate_f1_without_extracted_elements_is_zero() -> None:
    assert value("f1", classes([0, 0, 0], [])) == 0.0, "a recall of 0, and no precision"
    assert value("g_mean", classes([0, 0, 0], [])) is None


def test_estimate_over_seeds_is_mean_of_g_means() -> None:
    trials = classes([1, 1, 1, 1], [0, 0, 0, 0]) + classes([1, 0, 0, 0], [1, 1, 1, 1], seed=2, first=20)
    assert value("g_mean_seeds", trials) == pytest.approx(0.25), "0 and 0.5"
    assert value("g_deviation", trials) == pytest.approx(0.5 / sqrt(2)), "divided by n - 1"
    assert value("g_mean", trials) == pytest.approx(sqrt(5 / 8 * 4 / 8)), "all questions pooled"
    assert value("g_deviation", trials[:8]) is None, "one seed has no deviation"


def test_estimate_ratio_sums_before_dividing() -> None:
    trials = [trial(0, "pairs", (1, 10)), trial(1, "pairs", (2, 2))]
    pooled = Aggregate("accuracy", "ratio", ("pairs",))
    assert estimate_aggregate(pooled, {}, trials).value == pytest.approx(3 / 12)
    assert estimate_aggregate(AGGREGATES_BY_NAME["score"], {}, trials).value == pytest.approx((0.1 + 1) / 2)


def test_estimate_repetitions_count_once() -> None:
    once = [trial(at, "yes", (at % 2, 1)) for at in range(8)]
    often = [*once, *(trial(0, "yes", (1, 1), repetition=more) for more in (2, 3))]
    estimate = estimate_aggregate(AGGREGATES_BY_NAME["sensitivity"], AGGREGATES_BY_NAME, often)
    assert estimate.n == 8
    assert estimate.value == pytest.approx((2 / 3 + 4) / 8)


def test_estimate_unanswered_trials_left_out() -> None:
    trials = classes([1, 0], [1])
    errors = [trial(30, "", (0, 0), outcome="error"), trial(31, "", (0, 0), outcome="skipped")]
    assert estimate_aggregate(AGGREGATES_BY_NAME["score"], AGGREGATES_BY_NAME, [*trials, *errors]).n == 3


def test_estimate_unparseable_reply_counts_0() -> None:
    trials = [trial(0, "yes", (1, 1), depth=0.5), trial(1, "", (0, 0), outcome="unparseable", depth=0.0)]
    assert value("depth_mean", trials) == 0.25


def test_estimate_undefined_metric_left_out() -> None:
    trials = [trial(0, "yes", (1, 1), depth=0.5), trial(1, "yes", (1, 1), depth=None)]
    assert (
        value("depth_mean", trials),
        estimate_aggregate(AGGREGATES_BY_NAME["depth_mean"], AGGREGATES_BY_NAME, trials).n,
    ) == (0.5, 1)


def test_estimate_huge_parts_stays_finite_and_ordered() -> None:
    trials = [trial(at, "yes", (1e100 * (at % 2), 1e-9)) for at in range(12)]
    estimate = estimate_aggregate(AGGREGATES_BY_NAME["sensitivity"], AGGREGATES_BY_NAME, trials)
    assert estimate.ends is not None
    assert estimate.value is not None
    assert estimate.value == pytest.approx(5e108)
    assert 0.0 <= estimate.ends[0] <= estimate.value <= estimate.ends[1]


def test_estimate_mean_has_interval_of_sample() -> None:
    trials = [trial(at, "yes", (at % 3, 2), f"c-{at % 7}") for at in range(40)]
    by_cluster: dict[str, list[float]] = {}
    for at in range(40):
        by_cluster.setdefault(f"c-{at % 7}", []).append(at % 3 / 2)
    estimate = estimate_aggregate(AGGREGATES_BY_NAME["score"], AGGREGATES_BY_NAME, trials)
    assert (estimate.ends, estimate.clusters, estimate.n) == (clustered_interval(by_cluster), 7, 40)


def oracle(name: str, trials: Sequence[Trial], units: Sequence[str]) -> tuple[float, float]:
    """Return the jackknife interval, computed from every sample without one unit."""
    from scipy import special, stats

    names = sorted(set(units))
    left = [
        [trial for trial, unit in zip(trials, units, strict=True) if unit != left_out_unit] for left_out_unit in names
    ]
    without = np.array([value(name, remaining) for remaining in left], dtype=float)
    error = np.sqrt((len(names) - 1) * np.var(without))
    middle = value(name, trials)
    assert middle is not None
    reached = float(stats.t.ppf(0.975, len(names) - 1)) * float(error)
    if name == "g_deviation":
        return max(0.0, middle - reached), middle + reached
    ends = [special.expit(special.logit(middle) + sign * reached / (middle * (1 - middle))) for sign in (-1, 1)]
    return max(0.0, min(middle - reached, ends[0])), min(1.0, max(middle + reached, ends[1]))


@pytest.mark.parametrize("name", ["sensitivity", "g_mean", "f1", "g_mean_seeds", "g_deviation"])
@pytest.mark.parametrize("draw", range(5))
def test_estimate_many_clusters_matches_jackknife(name: str, draw: int) -> None:
    rng = Random(draw)
    trials = [
        trial(at, rng.choice(["yes", "no"]), (rng.randint(0, 3), 3), f"c-{rng.randrange(12)}", rng.randint(1, 3))
        for at in range(90)
    ]
    counted = [trial for trial in trials if name != "sensitivity" or (trial.score and "yes" in trial.score.parts)]
    low, high = oracle(name, counted, [trial.question.cluster for trial in counted])
    estimate = estimate_aggregate(AGGREGATES_BY_NAME[name], AGGREGATES_BY_NAME, trials)
    assert estimate.ends == pytest.approx((low, high))
    assert (estimate.clusters, estimate.about) == (len({trial.question.cluster for trial in counted}), "")


def test_estimate_few_clusters_leaves_out_single_questions() -> None:
    rng = Random(3)
    trials = [trial(at, rng.choice(["yes", "no"]), (rng.randint(0, 1), 1), f"c-{at % 3}") for at in range(60)]
    estimate = estimate_aggregate(AGGREGATES_BY_NAME["g_mean"], AGGREGATES_BY_NAME, trials)
    assert estimate.ends == pytest.approx(oracle("g_mean", trials, [trial.question.id for trial in trials]))
    assert (estimate.clusters, estimate.about.endswith("only"), "these 3" in estimate.about) == (3, True, True)


def asked_again(seeds: int, few: int = 4) -> list[Trial]:
    """Return 40 questions about `few` clusters, each with equal answers for all its demonstrations."""
    rng = Random(8)
    rows = [(rng.choice(["yes", "no"]), rng.randint(0, 1)) for _ in range(40)]
    return [
        trial(100 * seed + at, of, (hit, 1), f"c-{at % few}", seed, text=f"question {at}")
        for at, (of, hit) in enumerate(rows)
        for seed in range(1, seeds + 1)
    ]


@pytest.mark.parametrize("few", [3, 12])
@pytest.mark.parametrize(("pooled", "seeds"), [("g_mean", "g_mean_seeds"), ("sensitivity", "sensitivity")])
def test_estimate_equal_draws_do_not_narrow_interval(pooled: str, seeds: str, few: int) -> None:
    once, six = (
        estimate_aggregate(AGGREGATES_BY_NAME[pooled], AGGREGATES_BY_NAME, asked_again(1, few)),
        estimate_aggregate(AGGREGATES_BY_NAME[seeds], AGGREGATES_BY_NAME, asked_again(6, few)),
    )
    assert (once.low, once.value, once.high) == pytest.approx((six.low, six.value, six.high))
    assert six.n == 6 * once.n


def test_estimate_mean_equal_draws_do_not_narrow_interval() -> None:
    once, six = (
        estimate_aggregate(AGGREGATES_BY_NAME["score"], AGGREGATES_BY_NAME, asked_again(seeds)) for seeds in (1, 6)
    )
    assert once.ends == pytest.approx(six.ends)


@pytest.mark.parametrize("name", ["score", "sensitivity"])
def test_estimate_few_clusters_use_noun_of_family(name: str) -> None:
    trials = [trial(at, "yes", (at % 2, 1), f"c-{at % 4}") for at in range(20)]
    assert (
        estimate_aggregate(AGGREGATES_BY_NAME[name], AGGREGATES_BY_NAME, trials, noun="recipe").about
        == "over these 4 recipes only"
    )


@pytest.mark.parametrize("name", ["sensitivity", "g_mean", "score", "g_mean_seeds", "g_deviation"])
def test_estimate_single_question_has_no_interval(name: str) -> None:
    trials = [trial(0, "yes", (1, 1)), trial(0, "yes", (0, 1), repetition=2)]
    assert estimate_aggregate(AGGREGATES_BY_NAME[name], AGGREGATES_BY_NAME, trials).ends is None


def test_estimate_class_in_single_cluster_has_no_interval() -> None:
    trials = [trial(at, "yes" if at else "no", (1, 1)) for at in range(10)]
    estimate = estimate_aggregate(AGGREGATES_BY_NAME["g_mean"], AGGREGATES_BY_NAME, trials)
    assert (estimate.value, estimate.ends) == (1.0, None)


def test_estimate_without_difference_has_wilson_interval() -> None:
    trials = classes([1] * 10, [1] * 10)
    assert estimate_aggregate(AGGREGATES_BY_NAME["g_mean"], AGGREGATES_BY_NAME, trials).ends == wilson(20, 20)
    seeds = classes([1] * 10, [1] * 10) + classes([1] * 10, [1] * 10, seed=2, first=30)
    estimate = estimate_aggregate(AGGREGATES_BY_NAME["g_deviation"], AGGREGATES_BY_NAME, seeds)
    assert (estimate.value, estimate.ends) == (0.0, None), "questions without a difference say nothing of one"


def test_estimate_higher_confidence_is_wider() -> None:
    trials = classes([1, 0] * 10, [1, 1, 0] * 8)
    ends = [
        estimate_aggregate(AGGREGATES_BY_NAME["g_mean"], AGGREGATES_BY_NAME, trials, level).ends
        for level in (0.8, 0.99)
    ]
    assert ends[0] is not None
    assert ends[1] is not None
    assert ends[1][0] < ends[0][0] < ends[0][1] < ends[1][1]


def drawn_trials(rows: Sequence[tuple[bool, bool, int, int]]) -> list[Trial]:
    return [
        trial(at, "yes" if of else "no", (hit, 1), f"c-{cluster}", seed, depth=float(hit))
        for at, (of, hit, cluster, seed) in enumerate(rows)
    ]


@given(DRAWS, st.sampled_from(sorted(AGGREGATES_BY_NAME)), st.randoms(use_true_random=False))
def test_estimate_any_trials_in_range_and_order_independent(
    rows: Sequence[tuple[bool, bool, int, int]], name: str, rng: Random
) -> None:
    trials = drawn_trials(rows)
    estimate = estimate_aggregate(AGGREGATES_BY_NAME[name], AGGREGATES_BY_NAME, trials)
    if estimate.value is not None:
        assert 0.0 <= estimate.value <= 1.0
        assert estimate.ends is None or estimate.ends[0] <= estimate.value <= estimate.ends[1]
    shuffled = rng.sample(trials, len(trials))
    assert estimate_aggregate(AGGREGATES_BY_NAME[name], AGGREGATES_BY_NAME, shuffled) == estimate


@given(DRAWS, st.integers(1, 9))
def test_ratio_equal_denominators_is_mean(rows: Sequence[tuple[bool, bool, int, int]], size: int) -> None:
    trials = [trial(at, "yes", (size * hit, size), f"c-{cluster}") for at, (_, hit, cluster, _) in enumerate(rows)]
    ratio, middle = (
        estimate_aggregate(AGGREGATES_BY_NAME[name], AGGREGATES_BY_NAME, trials) for name in ("sensitivity", "score")
    )
    assert ratio.value == pytest.approx(middle.value)
    assert (ratio.n, ratio.clusters) == (middle.n, middle.clusters)
    assert (ratio.ends is None) == (middle.ends is None)


def test_aggregate_leaves_and_spread_of_each_kind() -> None:
    assert aggregate_leaves(AGGREGATES_BY_NAME["g_mean_seeds"], AGGREGATES_BY_NAME) == {
        ("ratio", "yes"),
        ("ratio", "no"),
    }
    assert [aggregate.name for aggregate in STEPS if is_spread(aggregate, AGGREGATES_BY_NAME)] == ["g_deviation"]


def test_merge_aggregates_shares_equal_and_refuses_different() -> None:
    first, other = FamilyDescription("one", aggregates=STEPS), FamilyDescription("other", aggregates=STEPS[:2])
    assert merge_aggregates([first, other]) == AGGREGATES_BY_NAME
    third = FamilyDescription("third", aggregates=(Aggregate("f1", "ratio", ("steps",)),))
    with pytest.raises(UsageError, match="families 'one' and 'third' define the aggregate 'f1'"):
        merge_aggregates([first, other, third])


@pytest.mark.parametrize(
    ("added", "message"),
    [
        (Aggregate("g_mean"), "aggregate 'g_mean': another aggregate has that name"),
        (Aggregate("depth"), "aggregate 'depth': a metric has that name"),
        (
            Aggregate("mean"),
            "aggregate 'mean': expected a name of letters, .*, except that of a statistic of every row",
        ),
        (Aggregate("f.1"), "aggregate 'f.1': expected a name of letters, digits, _ and -"),
        (Aggregate("x", "mean", ("none",)), "there is no metric 'none'; known: depth"),
        (Aggregate("x", "ratio"), "expected the name of a part"),
        (Aggregate("x", "geometric-mean", ("later",)), "there is no aggregate 'later' before it; known: sens"),
        (Aggregate("x", "geometric-mean"), "expected the names of others"),
        (Aggregate("x", "seed-mean", ("f1", "g_mean")), "expected the name of an aggregate"),
        (Aggregate("x", "seed-mean", ("g_deviation",)), "'g_deviation' is itself computed over the values of a label"),
    ],
)
def test_find_aggregate_mistake_names_aggregate_and_reason(added: Aggregate, message: str) -> None:
    assert find_aggregate_mistake(STEPS, {"depth"}) == ""
    assert re.search(message, find_aggregate_mistake([*STEPS, added], {"depth"}))
