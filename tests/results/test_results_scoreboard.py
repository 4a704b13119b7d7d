"""The scoreboard as data: which rows it has, and that its numbers are those of the tables."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

import pytest
from described_tables import CLAIMS, STEPS, claim, step

from pytest_taskgraph.family_description import Column, FamilyDescription, TableSpec
from pytest_taskgraph.results.descriptions import Descriptions
from pytest_taskgraph.results.scoreboard import ScoreboardBlock, scoreboard
from pytest_taskgraph.results.tables import family_tables, table_of
from pytest_taskgraph.results.tally import Tally
from pytest_taskgraph.trial import PROMPT, Failure, Reply, Score, Trial
from pytest_taskgraph.usage import Usage

PLAIN = replace(CLAIMS, tables=())
POOLED = replace(CLAIMS, tables=(replace(CLAIMS.tables[0], headline="g_mean"),))


def tally_of_trials(trials: Iterable[Trial], *families: FamilyDescription) -> Tally:
    tally = Tally(Descriptions(families or (PLAIN, STEPS)))
    for trial in trials:
        tally.add(trial)
    return tally


def blocks_of(trials: Iterable[Trial], *families: FamilyDescription) -> list[ScoreboardBlock]:
    return scoreboard(tally_of_trials(trials, *families))


def claims(model: str, right: int, of: int = 12, **labels: str) -> list[Trial]:
    return [claim(at, yes=at % 2 == 0, right=at < right, model=model, **labels) for at in range(of)]


def with_reply(trial: Trial, **fields: float | None) -> Trial:
    return replace(trial, reply=Reply("yes", **fields))  # type: ignore[arg-type]


def test_scoreboard_sorts_models_by_score_and_marks_highest() -> None:
    (block,) = blocks_of([*claims("low", 3), *claims("top", 9), *claims("mid", 6)])
    assert [(row.model, row.score.value, row.highest) for row in block.rows] == [
        ("top", 0.75, True),
        ("mid", 0.5, False),
        ("low", 0.25, False),
    ]


def test_scoreboard_baselines_follow_models_and_are_never_highest() -> None:
    trials = [*claims("low", 3), *claims("baseline:rules", 12), *claims("top", 9), *claims("baseline:random", 1)]
    (block,) = blocks_of(trials)
    assert [(row.model, row.highest) for row in block.rows] == [
        ("top", True), ("low", False), ("baseline:rules", False), ("baseline:random", False),
    ]  # fmt: skip


def test_scoreboard_single_model_above_baseline_is_not_highest() -> None:
    (block,) = blocks_of([*claims("m", 9), *claims("baseline", 1)])
    assert [(row.model, row.highest) for row in block.rows] == [("m", False), ("baseline", False)]


@pytest.mark.parametrize("models", [("a",), ("a", "b")])
def test_scoreboard_of_equal_scores_marks_none(models: tuple[str, ...]) -> None:
    (block,) = blocks_of([trial for model in models for trial in claims(model, 6)])
    assert [(row.model, row.highest) for row in block.rows] == [(model, False) for model in models]


def test_scoreboard_numbers_equal_those_of_tables() -> None:
    tally = tally_of_trials(claims("a", 7))
    (block,), (table,) = scoreboard(tally), family_tables(tally)
    (row,), total = block.rows, table.lines[-1].entries[0]
    assert total is not None
    assert row.rate is not None
    assert (row.rate.value, row.rate.ends) == (total.cells["rate"].value, total.cells["interval"].ends)
    assert row.score.value == total.cells["mean"].value
    assert (row.answered, row.questions, row.errors) == (total.count("n"), 12, total.count("errors"))


def test_scoreboard_graded_interval_equals_that_of_table() -> None:
    tally = tally_of_trials([step(at, "bread", 0.2 * at) for at in range(5)])
    (block,), (table,) = scoreboard(tally), family_tables(tally)
    entry = table.lines[-1].entries[0]
    assert entry is not None
    assert block.rows[0].score.ends == entry.cells["interval"].ends
    assert block.graded
    assert block.rows[0].rate is None


def test_scoreboard_interval_of_partial_scores_is_that_of_mean() -> None:
    trials = [replace(claim(at), outcome="wrong", score=Score(at / 12, given="yes")) for at in range(12)]
    tally = tally_of_trials(trials)
    (row,) = scoreboard(tally)[0].rows
    assert row.rate is not None
    assert row.score.ends == tally.total_group().mean_interval != row.rate.ends


def test_scoreboard_headline_is_aggregate_of_table() -> None:
    tally = tally_of_trials(claims("a", 7), POOLED)
    (block,), (row,) = scoreboard(tally), scoreboard(tally)[0].rows
    total = table_of(tally, POOLED, POOLED.tables[0]).lines[-1].entries[0]
    assert total is not None
    assert (block.part, block.value, block.title) == ("method", "g_mean", "G-mean")
    assert (row.score.value, row.score.ends) == (total.cells["g_mean"].value, total.cells["g_mean"].ends)
    assert row.above_chance is None


def test_scoreboard_headline_leaves_other_groups_to_family() -> None:
    spec = TableSpec("pairs", "pairs", (Column("rate", "accuracy"),), groups=("pairs",), headline="rate")
    blocks = blocks_of([*claims("a", 6), claim(0, "whole", model="a")], replace(CLAIMS, tables=(spec,)))
    assert [(block.family, block.part, block.value, block.rows[0].questions) for block in blocks] == [
        ("", "", "mean", 13),
        ("claims", "pairs", "rate", 12),
        ("claims", "", "mean", 1),
    ]


def test_scoreboard_of_families_begins_with_all_questions() -> None:
    graded = [step(at, "bread", 0.2) for at in range(4)]
    tally = tally_of_trials([*claims("m", 6), step(0), step(1), *graded])
    blocks = scoreboard(tally)
    assert [(block.family, block.part, block.graded) for block in blocks] == [
        ("", "", False), ("claims", "", False), ("steps", "", False), ("steps", "graded", True),
    ]  # fmt: skip
    (row,) = blocks[0].rows
    assert row.score.value == tally.total().mean == 8 / 14  # graded questions are in no total
    assert (row.answered, row.effort.usage.replies) == (18, 18)


def test_scoreboard_of_several_prompts_has_row_for_each() -> None:
    trials = [*claims("m", 3, 6, **{PROMPT: "a"}), *claims("m", 6, 12, **{PROMPT: "b"})[6:]]
    (block,) = blocks_of(trials)
    assert [(row.prompt, row.score.value, row.questions) for row in block.rows] == [("a", 0.5, 6), ("b", 0.0, 6)]


def test_scoreboard_pools_prompts_that_families_do_not_share() -> None:
    trials = [*claims("m", 3, 6, **{PROMPT: "a"}), *claims("m", 6, 12, **{PROMPT: "b"})[6:], step(0)]
    whole, of_claims, of_steps = blocks_of(trials)
    assert [[row.prompt for row in block.rows] for block in (whole, of_claims, of_steps)] == [[""], ["a", "b"], [""]]
    assert whole.rows[0].questions == 13


def test_scoreboard_sums_only_what_replies_report() -> None:
    trials = [
        with_reply(claim(0), tokens_in=10, tokens_out=2, cost=0.5, latency=1.0),
        with_reply(claim(1), tokens_in=20, tokens_out=3, cost=0.25, latency=3.0),
        with_reply(claim(2)),
    ]
    effort = blocks_of(trials)[0].rows[0].effort
    assert effort.usage == Usage(3, 0, 30, 5, cost=0.75, latency=4.0, untold=1, unpriced=1)
    assert (effort.median, effort.untimed) == (2.0, 1)


def test_scoreboard_of_model_without_reply_has_no_score() -> None:
    failed = replace(claim(0), outcome="error", reply=None, score=None, failure=Failure("timeout", "late"))
    (block,) = blocks_of([failed])
    (row,) = block.rows
    assert (row.score.value, row.score.ends, row.highest, row.errors) == (None, None, False, 1)
    assert row.effort.usage == Usage()


def test_scoreboard_counts_variations_only_in_effort() -> None:
    varied = claim(1)
    varied = replace(varied, question=replace(varied.question, relation="renamed", twin=claim(0).question.id))
    (block,) = blocks_of([claim(0), varied])
    assert (block.rows[0].questions, block.rows[0].effort.usage.replies) == (1, 2)


def test_scoreboard_is_empty_without_trials() -> None:
    assert blocks_of([]) == []
