from __future__ import annotations

from dataclasses import replace
from random import Random

import pytest
from described_runs import described
from hypothesis import given
from hypothesis import strategies as st

from pytest_taskgraph.results.tally import Tally
from pytest_taskgraph.trial import Failure, Outcome, Question, Reply, Score, Trial

OUTCOMES: list[Outcome] = ["right", "wrong", "unparseable", "refused", "error", "skipped"]


def made(
    name: str,
    outcome: Outcome = "right",
    value: float | None = None,
    *,
    group: str = "next_tasks",
    section: str = "structure",
    model: str = "m",
    metrics: dict[str, float | None] | None = None,
    **labels: str | int,
) -> Trial:
    question = Question(
        name,
        "understanding",
        group,
        section,
        "Which?",
        "prompt",
        "task-set",
        ["A"],
        "jaccard",
        ["recall"],
        labels=labels,
    )
    if outcome in ("error", "skipped"):
        return Trial(question, model, outcome, failure=Failure("timeout", "none"))
    mark = (1.0 if outcome == "right" else 0.0) if value is None else value
    return Trial(question, model, outcome, Reply("Final answer: A"), Score(mark, metrics or {}))


def tallied(*trials: Trial, order: tuple[str, ...] = ()) -> Tally:
    tally = Tally(described(*order))
    for trial in trials:
        tally.add(trial)
    return tally


trials = st.lists(
    st.builds(
        made,
        st.sampled_from([f"q{i}" for i in range(9)]),
        st.sampled_from(OUTCOMES),
        st.floats(0, 1),
        group=st.sampled_from(["chain", "next_tasks", "zoo"]),
        section=st.sampled_from(["behaviour", "structure", "custom"]),
        model=st.sampled_from(["m", "n"]),
        metrics=st.dictionaries(st.sampled_from(["recall", "other"]), st.none() | st.floats(0, 1)),
        size=st.integers(8, 12),
    ),
    max_size=25,
    unique_by=lambda trial: (trial.question.id, trial.model),
)


@given(trials, st.randoms(use_true_random=False))
def test_nothing_depends_on_the_order_of_arrival(ones: list[Trial], rng: Random) -> None:
    shuffled = list(ones)
    rng.shuffle(shuffled)
    a, b = tallied(*ones), tallied(*shuffled)
    assert list(a) == list(b)
    for by in ("group", "section", "family", "model", "size"):
        assert a.rows(by) == b.rows(by)
    assert a.total() == b.total()


@given(trials)
def test_every_trial_is_counted_once_in_every_grouping(ones: list[Trial]) -> None:
    tally = tallied(*ones)
    for by in ("group", "section", "family", "model", "size"):
        rows = tally.rows(by)
        assert sum(row.questions for row in rows) == len(ones)
        assert all(row.n == row.right + row.wrong + row.unparseable + row.refused for row in rows)
    assert tally.total().questions == len(ones)


def test_errors_and_skipped_are_in_no_mean() -> None:
    row = tallied(made("a"), made("b", "wrong", 0.5), made("c", "error"), made("d", "skipped")).total()
    assert (row.n, row.right, row.wrong, row.errors, row.skipped) == (2, 1, 1, 1, 1)
    assert (row.rate, row.mean) == (0.5, 0.75)
    assert row.deviation == pytest.approx(0.125**0.5)


def test_unparseable_and_refused_are_answered_and_worth_nothing() -> None:
    row = tallied(
        made("a"), made("b", "unparseable"), made("c", "refused"), replace(made("d", "refused"), score=None)
    ).total()
    assert (row.n, row.unparseable, row.refused, row.rate, row.mean) == (4, 1, 2, 0.25, 0.25)


def test_where_nothing_was_answered_there_is_no_rate_and_no_mean() -> None:
    row = tallied(made("a", "error"), made("b", "skipped")).total()
    assert (row.n, row.rate, row.mean, row.deviation, row.metrics) == (0, None, None, None, {})
    assert tallied().rows() == []
    assert tallied().total().questions == 0


def test_a_rerun_replaces_the_former_trial_and_is_counted() -> None:
    tally = tallied(made("a", "error"), made("a", "wrong"), made("a"), made("b"))
    assert (tally.total().right, tally.total().errors, tally.total().questions, tally.total().attempts) == (2, 0, 2, 4)
    assert [tally.attempts(trial) for trial in tally] == [3, 1]


def test_models_are_kept_apart() -> None:
    tally = tallied(made("a", model="n"), made("a", "wrong", model="m"))
    assert tally.models == ("m", "n")
    assert [(row.model, row.name, row.rate) for row in tally.rows()] == [("m", "next_tasks", 0), ("n", "next_tasks", 1)]
    assert [row.model for row in tally.rows("section", "n")] == ["n"]
    assert (tally.total().model, tally.total().n, tally.total("n").model, tally.total("n").n) == ("", 2, "n", 1)


def test_categories_stand_in_their_order_and_patterns_in_that_of_the_catalogue() -> None:
    ones = [("zoo", "custom"), ("b", "functionality"), ("c", "behaviour"), ("later", "structure"), ("a", "structure")]
    mine = [made(str(at), group=name, section=category) for at, (name, category) in enumerate(ones)]
    assert [row.name for row in tallied(*mine).rows()] == ["a", "later", "c", "b", "zoo"]
    assert [row.name for row in tallied(*mine, order=("c", "later", "a")).rows()] == ["later", "a", "c", "b", "zoo"]
    categories = ["structure", "behaviour", "functionality", "custom"]
    assert [row.name for row in tallied(*mine).rows("section")] == categories
    assert [row.section for row in tallied(*mine).rows()] == ["structure", *categories]


def test_a_pattern_that_the_catalogue_does_not_know_stands_after_those_it_knows() -> None:
    mine = [made("1", group="apart"), made("2", group="next_tasks")]
    assert [row.name for row in tallied(*mine, order=("next_tasks",)).rows()] == ["next_tasks", "apart"]


def test_a_label_s_values_stand_by_size_then_by_name() -> None:
    sizes: list[str | int] = [100, 9, "large", 12, "any"]
    mine = [made(str(at), size=size) for at, size in enumerate(sizes)]
    tally = tallied(*mine, made("x"))
    assert [row.name for row in tally.rows("size")] == ["9", "12", "100", "any", "large"]
    assert tally.rows("nowhere") == []


def test_labels_of_one_value_are_not_told() -> None:
    assert tallied(made("a", size=8, notation="wadl"), made("b", size=12, notation="wadl")).labels() == ("size",)


def test_a_metric_that_is_undefined_is_left_out_and_counted() -> None:
    row = tallied(
        made("a", metrics={"recall": 1.0}), made("b", metrics={"recall": 0.5}), made("c", metrics={"recall": None})
    ).total()
    assert row.metrics == {"jaccard": 1.0, "recall": 0.75}
    assert row.undefined == {"recall": 1}


def test_a_reply_without_an_answer_is_worth_nothing_in_further_metrics_too() -> None:
    row = tallied(made("a", metrics={"recall": 1.0}), made("b", "unparseable")).total()
    assert row.metrics == {"jaccard": 0.5, "recall": 0.5}


def test_chance_is_the_mean_over_the_answered_whose_chance_is_known() -> None:
    def with_chance(trial: Trial, chance: float | None) -> Trial:
        return replace(trial, question=replace(trial.question, chance=chance))

    known = [with_chance(made("a", "right"), 0.5), with_chance(made("b", "wrong", 0.6), 0.1)]
    others = [with_chance(made("c", "wrong"), None), with_chance(made("d", "error"), 0.9)]
    row = tallied(*known, *others).total()
    assert row.chance == pytest.approx(0.3)
    assert row.above_chance == pytest.approx((0.8 - 0.3) / 0.7)
    assert row.mean == pytest.approx(1.6 / 3)
    assert tallied(*others).total().chance is None
    assert tallied(*others).total().above_chance is None
    assert tallied(with_chance(made("a"), 1.0)).total().above_chance is None


def varied(trial: Trial, relation: str, twin: str) -> Trial:
    return replace(trial, question=replace(trial.question, relation=relation, twin=twin))


def test_relations_count_the_pairs_with_the_same_verdict() -> None:
    plain = [made("a"), made("b", "wrong"), made("c"), made("d", "error"), made("a", model="n")]
    again = [
        varied(made("a-n"), "names", "a"),
        varied(made("b-n", "unparseable"), "names", "b"),
        varied(made("c-n", "wrong"), "names", "c"),
        varied(made("d-n"), "names", "d"),
        varied(made("e-n"), "names", "gone"),
        varied(made("a-o", "skipped"), "order", "a"),
        varied(made("a-n", "wrong", model="n"), "names", "a"),
    ]
    tally = tallied(*again, *plain)
    found = [(one.model, one.name, one.pairs, one.same, one.share) for one in tally.relations()]
    assert found == [("m", "names", 3, 2, 2 / 3), ("m", "order", 0, 0, None), ("n", "names", 1, 0, 0.0)]
    assert [one.model for one in tally.relations("n")] == ["n"]


@given(trials, trials)
def test_varied_questions_are_in_no_row_no_total_and_no_label(ones: list[Trial], more: list[Trial]) -> None:
    again = [
        varied(replace(one, question=replace(one.question, id=f"{one.question.id}-v")), "order", "x") for one in more
    ]
    with_them, without = tallied(*ones, *again), tallied(*ones)
    assert with_them.labels() == without.labels()
    for by in ("group", "section", "family", "size"):
        assert with_them.rows(by) == without.rows(by)
    assert [with_them.total(name) for name in without.models] == [without.total(name) for name in without.models]
    assert len(with_them) == len({(one.question.id, one.model) for one in (*ones, *again)})
