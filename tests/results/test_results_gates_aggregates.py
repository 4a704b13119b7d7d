"""Gates on aggregates, on constructed trials."""

from __future__ import annotations

import re
from collections.abc import Sequence

import pytest

from pytest_taskgraph.family_description import Aggregate
from pytest_taskgraph.results.aggregates import estimate_aggregate
from pytest_taskgraph.results.case import RunCase
from pytest_taskgraph.results.gates import Gate, aggregate_refusal, comparable_questions, evaluate_gate, parse_gate
from pytest_taskgraph.results.population import DeclaredQuestion, GateVocabulary, Population, find_gate_mistake
from pytest_taskgraph.trial import Question, Score, Trial

AGGREGATES = (
    Aggregate("sensitivity", "ratio", ("yes",)),
    Aggregate("specificity", "ratio", ("no",)),
    Aggregate("g_mean", "geometric-mean", ("sensitivity", "specificity")),
    Aggregate("g_deviation", "seed-deviation", ("g_mean",)),
    Aggregate("depth_mean", "mean", ("depth",)),
    Aggregate("overall"),
)
AGGREGATES_BY_NAME = {aggregate.name: aggregate for aggregate in AGGREGATES}
METRICS = {"score", "depth"}


def trial(at: int, of: str, hit: int, cluster: str = "", pass_threshold: float = 1.0) -> Trial:
    question = Question(
        f"q-{at:03d}", "steps", "next_step", "", "?", "?", "yes-no", of, "correctness", cluster=cluster or f"c-{at}",
        pass_threshold=pass_threshold,
    )  # fmt: skip
    score = Score(float(hit), {"depth": hit / 2}, {of: [hit, 1]})
    return Trial(question, "m", "right" if hit else "wrong", score=score)


def classes(yes: Sequence[int], no: Sequence[int]) -> list[Trial]:
    return [
        trial(at, *answer) for at, answer in enumerate([*(("yes", hit) for hit in yes), *(("no", hit) for hit in no)])
    ]


def verdict(expression: str, trials: Sequence[Trial]) -> RunCase:
    gate = parse_gate(expression, METRICS, AGGREGATES_BY_NAME)
    return evaluate_gate(gate, gate.name, "m", Population(tuple(trials), (), {}, 0), aggregates=AGGREGATES_BY_NAME)


def test_parse_gate_aggregate_needs_a_name() -> None:
    gate = parse_gate("next_step.g_mean>=0.5@95%", METRICS, AGGREGATES_BY_NAME)
    assert gate == Gate("next_step.g_mean>=0.5@95%", ("next_step",), "", 0.5, 0.95, "g_mean")
    assert gate.name == "next_step.g_mean"
    assert parse_gate("g_mean>=0.5", METRICS, AGGREGATES_BY_NAME).parts == ("g_mean",)
    assert parse_gate("next_step.g_mean>=0.5", METRICS).parts == ("next_step", "g_mean"), "no family has it"
    assert parse_gate("next_step.depth>=0.5", METRICS, AGGREGATES_BY_NAME).metric == "depth"


def test_gate_aggregate_is_over_pooled_questions() -> None:
    trials = classes([1, 1, 1, 0], [1, 1, 0, 0, 0])
    passed, failed = verdict("steps.g_mean>=0.5", trials), verdict("steps.g_mean>=0.6", trials)
    assert (passed.outcome, failed.outcome) == ("passed", "failed")
    assert passed.estimate == pytest.approx(0.5477, abs=5e-5)
    ends = estimate_aggregate(AGGREGATES_BY_NAME["g_mean"], AGGREGATES_BY_NAME, trials).ends
    assert (passed.low, passed.high) == ends
    assert ends is not None
    assert passed.reason == f"g_mean 0.548 of 9 answered (95% {ends[0]:.3f}-{ends[1]:.3f}), threshold 0.5"


def test_gate_aggregate_with_level_decides_by_interval() -> None:
    trials = classes([1] * 30 + [0] * 10, [1] * 30 + [0] * 10)
    assert verdict("steps.g_mean>=0.6@95%", trials).outcome == "passed"
    below = verdict("steps.g_mean>=0.9@95%", trials)
    assert (below.outcome, "inconclusive" in below.reason) == ("failed", False)
    near = verdict("steps.g_mean>=0.7@95%", trials)
    assert near.outcome == "failed"
    assert re.fullmatch(
        r"inconclusive: g_mean 0\.750 of 80 answered \(95% 0\.640-0\.848\), threshold 0\.7; about [\d,]+ questions "
        r"needed for a decision if the value stays the same", near.reason,
    )  # fmt: skip


def test_gate_aggregate_inconclusive_names_clusters() -> None:
    trials = [trial(at, ("yes", "no")[at % 2], int(at % 5 > 0), f"c-{at % 8}") for at in range(64)]
    assert " on " in verdict("steps.g_mean>=0.75@95%", trials).reason.rpartition(";")[2]
    few = [trial(at, ("yes", "no")[at // 3 % 2], int(at % 5 > 0), f"c-{at % 3}") for at in range(60)]
    assert "these 3" in verdict("steps.g_mean>=0.7@95%", few).reason


def test_gate_aggregate_undefined_is_not_decided() -> None:
    case = verdict("steps.g_mean>=0.5", classes([1, 1], []))
    reason = "not decided: g_mean is undefined over 2 answered: a part of it has no question"
    assert (case.outcome, case.reason) == ("failed", reason)
    assert verdict("steps.g_mean>=0.5", []).reason == "not decided: no question was answered"


def test_gate_aggregate_without_interval_is_inconclusive() -> None:
    case = verdict("steps.g_mean>=0.5@95%", classes([1, 1, 1], [1]))
    reason = "inconclusive: g_mean 1.000 of 4 answered (no 95% interval), threshold 0.5; ask more questions"
    assert (case.outcome, case.reason) == ("failed", reason)
    assert verdict("steps.g_mean>=0.5", classes([1, 1, 1], [1])).outcome == "passed"


def test_gate_mean_aggregate_equals_metric() -> None:
    trials = classes([1, 1, 1, 0], [1, 1, 0, 0, 0])
    case, metric = verdict("steps.depth_mean>=0.2", trials), verdict("steps.depth>=0.2", trials)
    assert case.reason == metric.reason.replace("mean depth", "depth_mean")
    assert (case.estimate, case.low, case.high) == (metric.estimate, metric.low, metric.high)
    assert verdict("steps.overall>=0.2", trials).reason.startswith("overall 0.556 of 9 answered")


def test_comparable_questions_graded_left_out_of_main_score() -> None:
    trials = [*classes([1, 1], [0]), trial(9, "no", 1, pass_threshold=0.0)]
    for name, apart in (("g_mean", 0), ("depth_mean", 0), ("overall", 1)):
        gate = parse_gate(f"steps.{name}>=0.5", METRICS, AGGREGATES_BY_NAME)
        compared, _, left = comparable_questions(gate, trials, (), AGGREGATES_BY_NAME)
        assert (len(compared), left) == (4 - apart, apart), name


@pytest.mark.parametrize(
    ("name", "names", "message"),
    [
        ("g_mean", list(AGGREGATES_BY_NAME), ""),
        ("", [], ""),
        ("g_mean", ["sensitivity"], "no question of 'next_step' has the aggregate 'g_mean'; available: sensitivity"),
        ("g_deviation", list(AGGREGATES_BY_NAME), "'g_deviation' is a deviation, .* set the gate on a mean"),
    ],
)
def test_aggregate_refusal_states_reason(name: str, names: Sequence[str], message: str) -> None:
    gate = Gate("", ("next_step",), "", 0.5, None, name)
    assert re.fullmatch(message, aggregate_refusal(gate, {name: AGGREGATES_BY_NAME[name] for name in names}))


def test_find_gate_mistake_suggests_aggregates() -> None:
    declared = [DeclaredQuestion("q-001", "steps", "next_step", "")]
    vocabulary = GateVocabulary(("steps",), frozenset(), ("score", "depth"), aggregates=sorted(AGGREGATES_BY_NAME))
    alone = find_gate_mistake(("g_mean",), declared, vocabulary)
    assert alone is not None
    assert (alone.text, alone.kind) == ("'g_mean' is an aggregate; write it after a name: steps.g_mean", "wrong")
    typo = find_gate_mistake(("steps", "g_man"), declared, vocabulary)
    assert typo is not None
    assert "no metric or aggregate of that name; did you mean 'g_mean'?" in typo.text
