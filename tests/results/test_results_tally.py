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


def make_trial(
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
        make_trial,
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
def test_tally_is_order_independent(trials: list[Trial], rng: Random) -> None:
    shuffled = list(trials)
    rng.shuffle(shuffled)
    a, b = tallied(*trials), tallied(*shuffled)
    assert list(a) == list(b)
    for by in ("group", "section", "family", "model", "size"):
        assert a.rows(by) == b.rows(by)
    assert a.total() == b.total()


@given(trials)
def test_rows_every_trial_counted_once(trials: list[Trial]) -> None:
    tally = tallied(*trials)
    for by in ("group", "section", "family", "model", "size"):
        rows = tally.rows(by)
        assert sum(row.questions for row in rows) == len(trials)
        assert all(row.n == row.right + row.wrong + row.unparseable + row.refused for row in rows)
    assert tally.total().questions == len(trials)


def test_row_errors_and_skipped_not_in_mean() -> None:
    row = tallied(
        make_trial("a"), make_trial("b", "wrong", 0.5), make_trial("c", "error"), make_trial("d", "skipped")
    ).total()
    assert (row.n, row.right, row.wrong, row.errors, row.skipped) == (2, 1, 1, 1, 1)
    assert (row.rate, row.mean) == (0.5, 0.75)
    assert row.deviation == pytest.approx(0.125**0.5)


def test_row_unparseable_and_refused_score_0() -> None:
    row = tallied(
        make_trial("a"),
        make_trial("b", "unparseable"),
        make_trial("c", "refused"),
        replace(make_trial("d", "refused"), score=None),
    ).total()
    assert (row.n, row.unparseable, row.refused, row.rate, row.mean) == (4, 1, 2, 0.25, 0.25)


def test_row_without_answers_has_no_rate_or_mean() -> None:
    row = tallied(make_trial("a", "error"), make_trial("b", "skipped")).total()
    assert (row.n, row.rate, row.mean, row.deviation, row.metrics) == (0, None, None, None, {})
    assert tallied().rows() == []
    assert tallied().total().questions == 0


def test_add_rerun_replaces_trial_and_counts_attempt() -> None:
    tally = tallied(make_trial("a", "error"), make_trial("a", "wrong"), make_trial("a"), make_trial("b"))
    assert (tally.total().right, tally.total().errors, tally.total().questions, tally.total().attempts) == (2, 0, 2, 4)
    assert [tally.attempts(trial) for trial in tally] == [3, 1]


def test_rows_separate_models() -> None:
    tally = tallied(make_trial("a", model="n"), make_trial("a", "wrong", model="m"))
    assert tally.models == ("m", "n")
    assert [(row.model, row.name, row.rate) for row in tally.rows()] == [("m", "next_tasks", 0), ("n", "next_tasks", 1)]
    assert [row.model for row in tally.rows("section", "n")] == ["n"]
    assert (tally.total().model, tally.total().n, tally.total("n").model, tally.total("n").n) == ("", 2, "n", 1)


def test_rows_ordered_as_described() -> None:
    names = [("zoo", "custom"), ("b", "functionality"), ("c", "behaviour"), ("later", "structure"), ("a", "structure")]
    mine = [make_trial(str(at), group=name, section=category) for at, (name, category) in enumerate(names)]
    assert [row.name for row in tallied(*mine).rows()] == ["a", "later", "c", "b", "zoo"]
    assert [row.name for row in tallied(*mine, order=("c", "later", "a")).rows()] == ["later", "a", "c", "b", "zoo"]
    categories = ["structure", "behaviour", "functionality", "custom"]
    assert [row.name for row in tallied(*mine).rows("section")] == categories
    assert [row.section for row in tallied(*mine).rows()] == ["structure", *categories]


def test_rows_undescribed_pattern_is_last() -> None:
    mine = [make_trial("1", group="apart"), make_trial("2", group="next_tasks")]
    assert [row.name for row in tallied(*mine, order=("next_tasks",)).rows()] == ["next_tasks", "apart"]


def test_rows_label_values_sorted_by_size_then_name() -> None:
    sizes: list[str | int] = [100, 9, "large", 12, "any"]
    mine = [make_trial(str(at), size=size) for at, size in enumerate(sizes)]
    tally = tallied(*mine, make_trial("x"))
    assert [row.name for row in tally.rows("size")] == ["9", "12", "100", "any", "large"]
    assert tally.rows("nowhere") == []


def test_labels_single_value_left_out() -> None:
    assert tallied(make_trial("a", size=8, notation="wadl"), make_trial("b", size=12, notation="wadl")).labels() == (
        "size",
    )


def test_row_undefined_metric_left_out_and_counted() -> None:
    row = tallied(
        make_trial("a", metrics={"recall": 1.0}),
        make_trial("b", metrics={"recall": 0.5}),
        make_trial("c", metrics={"recall": None}),
    ).total()
    assert row.metrics == {"jaccard": 1.0, "recall": 0.75}
    assert row.undefined == {"recall": 1}


def test_row_unanswered_reply_scores_0_in_further_metrics() -> None:
    row = tallied(make_trial("a", metrics={"recall": 1.0}), make_trial("b", "unparseable")).total()
    assert row.metrics == {"jaccard": 0.5, "recall": 0.5}


def test_chance_levels_mean_over_known() -> None:
    def with_chance(trial: Trial, chance: float | None) -> Trial:
        return replace(trial, question=replace(trial.question, chance=chance))

    with_known_chance = [with_chance(make_trial("a", "right"), 0.5), with_chance(make_trial("b", "wrong", 0.6), 0.1)]
    others = [with_chance(make_trial("c", "wrong"), None), with_chance(make_trial("d", "error"), 0.9)]
    row = tallied(*with_known_chance, *others).total()
    assert row.chance == pytest.approx(0.3)
    assert row.above_chance == pytest.approx((0.8 - 0.3) / 0.7)
    assert row.mean == pytest.approx(1.6 / 3)
    assert tallied(*others).total().chance is None
    assert tallied(*others).total().above_chance is None
    assert tallied(with_chance(make_trial("a"), 1.0)).total().above_chance is None


def varied(trial: Trial, relation: str, twin: str) -> Trial:
    return replace(trial, question=replace(trial.question, relation=relation, twin=twin))


def test_relations_count_pairs_with_same_verdict() -> None:
    plain = [
        make_trial("a"),
        make_trial("b", "wrong"),
        make_trial("c"),
        make_trial("d", "error"),
        make_trial("a", model="n"),
    ]
    again = [
        varied(make_trial("a-n"), "names", "a"),
        varied(make_trial("b-n", "unparseable"), "names", "b"),
        varied(make_trial("c-n", "wrong"), "names", "c"),
        varied(make_trial("d-n"), "names", "d"),
        varied(make_trial("e-n"), "names", "gone"),
        varied(make_trial("a-o", "skipped"), "order", "a"),
        varied(make_trial("a-n", "wrong", model="n"), "names", "a"),
    ]
    tally = tallied(*again, *plain)
    relations = [
        (relation.model, relation.name, relation.pairs, relation.same, relation.share) for relation in tally.relations()
    ]
    assert relations == [("m", "names", 3, 2, 2 / 3), ("m", "order", 0, 0, None), ("n", "names", 1, 0, 0.0)]
    assert [relation.model for relation in tally.relations("n")] == ["n"]


@given(trials, trials)
def test_varied_questions_only_in_relations(trials: list[Trial], more: list[Trial]) -> None:
    again = [
        varied(replace(trial, question=replace(trial.question, id=f"{trial.question.id}-v")), "order", "x")
        for trial in more
    ]
    with_them, without = tallied(*trials, *again), tallied(*trials)
    assert with_them.labels() == without.labels()
    for by in ("group", "section", "family", "size"):
        assert with_them.rows(by) == without.rows(by)
    assert [with_them.total(name) for name in without.models] == [without.total(name) for name in without.models]
    assert len(with_them) == len({(trial.question.id, trial.model) for trial in (*trials, *again)})
