from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import pytest
from described_runs import about_run

from pytest_taskgraph.results.adjusted_rates import AdjustedRates, adjusted_rates
from pytest_taskgraph.results.record import build, tally_of
from pytest_taskgraph.results.statistics.intervals import wilson
from pytest_taskgraph.results.tally import Tally
from pytest_taskgraph.trial import Question, Reply, Score, Trial


def make_trials(group: str, tasks: int, marks: str, model: str = "m") -> list[Trial]:
    """Return a trial for each letter: "+" right, "-" wrong, "h" wrong with half of the score."""
    trials = []
    for at, mark in enumerate(marks):
        name = f"{group}-{tasks}-{at}"
        question = Question(
            name, "understanding", group, "structure", "Which?", "p", "task", "A", "jaccard", labels={"tasks": tasks},
            cluster=name,
        )  # fmt: skip
        score = Score({"+": 1.0, "-": 0.0, "h": 0.5}[mark])
        trials.append(Trial(question, model, "right" if mark == "+" else "wrong", Reply("x"), score))
    return trials


def tally(*trials: Sequence[Trial]) -> Tally:
    flat = [trial for some in trials for trial in some]
    return tally_of(build(flat, about_run("0.1.0", tuple({trial.model: None for trial in flat}))))


def rates(adjusted: AdjustedRates, model: str = "m") -> list[float | None]:
    return [None if rate is None else rate.rate for rate in adjusted.models[model]]


PARADOX = (
    *make_trials("easy", 8, "+" * 16 + "-" * 4), *make_trials("hard", 8, "+----"),
    *make_trials("easy", 20, "++++-"), *make_trials("hard", 20, "+" * 4 + "-" * 16),
)  # fmt: skip


def test_adjusted_rates_other_mix_of_groups_is_flat() -> None:
    run = tally(PARADOX)
    assert [row.rate for row in run.rows("tasks")] == [0.68, 0.32]
    adjusted = adjusted_rates(run, "tasks", 6)
    assert (adjusted.adjustment, adjusted.groups, adjusted.all_groups) == ("direct", 2, 2)
    assert rates(adjusted) == pytest.approx([0.5, 0.5])


def test_adjusted_rates_single_group_is_not_adjusted() -> None:
    adjusted = adjusted_rates(tally(make_trials("a", 8, "++-"), make_trials("a", 9, "+--")), "tasks", 6)
    assert (adjusted.adjustment, adjusted.models) == ("none", {})


def test_adjusted_rates_most_groups_incomplete_compares_within() -> None:
    adjusted = adjusted_rates(
        tally(make_trials("a", 8, "+" * 10), make_trials("b", 8, "++--"), make_trials("b", 20, "++--")), "tasks", 6
    )
    assert adjusted.adjustment == "within"
    # b does not change, so nothing does: a weighs 10 at a rate of 1, b weighs 8 at a rate of 0.5.
    assert rates(adjusted) == pytest.approx([14 / 18, 14 / 18])


def test_adjusted_rates_group_of_single_question_a_value_is_left_out() -> None:
    complete = [make_trials("a", 8, "++--"), make_trials("a", 20, "+---")]
    adjusted = adjusted_rates(tally(*complete, make_trials("b", 8, "+"), make_trials("b", 20, "+")), "tasks", 6)
    assert (adjusted.adjustment, adjusted.groups, adjusted.all_groups) == ("direct", 1, 2)
    assert rates(adjusted) == pytest.approx([0.5, 0.25])
    assert [rate.questions for rate in adjusted.models["m"] if rate] == [4, 4]


def test_adjusted_rates_value_without_shared_group_has_no_rate() -> None:
    adjusted = adjusted_rates(
        tally(make_trials("a", 8, "++--"), make_trials("a", 9, "+---"), make_trials("b", 20, "+++-")), "tasks", 6
    )
    assert rates(adjusted) == [*(pytest.approx(rate) for rate in (0.5, 0.25)), None]


def test_adjusted_rates_models_share_weights() -> None:
    own = [replace(trial, model="n") for trial in PARADOX]
    adjusted = adjusted_rates(tally(PARADOX, own[:-15]), "tasks", 6)
    assert adjusted.alike
    # n answered five questions of the hard group at 20, all of them but one right: 0.8 instead of 0.2.
    assert rates(adjusted, "n")[0] == pytest.approx(rates(adjusted, "m")[0])


def test_adjusted_rates_models_without_common_group_differ() -> None:
    run = tally(PARADOX, make_trials("x", 8, "++", "n"), make_trials("x", 20, "+-", "n"))
    adjusted = adjusted_rates(run, "tasks", 6)
    assert not adjusted.alike
    assert rates(adjusted, "n") == pytest.approx([1.0, 0.5])


def test_adjusted_rates_repetitions_count_as_one_question() -> None:
    once = [*make_trials("a", 8, "++--"), *make_trials("a", 9, "+---"), *make_trials("b", 8, "++")]
    again = [
        replace(trial, question=replace(trial.question, id=f"{trial.question.id}-r2", repetition=2)) for trial in once
    ]
    adjusted = [adjusted_rates(tally(some), "tasks", 6).models["m"] for some in (once, [*once, *again])]
    assert adjusted[0] == adjusted[1]


def test_adjusted_rates_means_take_partial_scores() -> None:
    adjusted = adjusted_rates(
        tally(
            make_trials("a", 8, "hh"), make_trials("a", 9, "+h"), make_trials("b", 8, "h-"), make_trials("b", 9, "--")
        ),
        "tasks",
        6,
    )
    assert rates(adjusted) == pytest.approx([0.0, 0.25])
    assert [rate.mean for rate in adjusted.models["m"] if rate] == pytest.approx([0.375, 0.375])


def test_adjusted_rates_same_mix_interval_contains_that_of_wilson() -> None:
    run = tally(*(make_trials(group, tasks, "+++-") for group in "ab" for tasks in (8, 9)))
    for rate in adjusted_rates(run, "tasks", 6).models["m"]:
        assert rate is not None
        assert rate.interval is not None
        low, high = wilson(6, 8)
        assert rate.interval[0] <= low
        assert rate.interval[1] >= high
