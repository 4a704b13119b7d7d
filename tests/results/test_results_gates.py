"""Gates on constructed trials."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from math import comb, fsum

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from pytest_taskgraph.errors import UsageError
from pytest_taskgraph.results.case import RunCase
from pytest_taskgraph.results.gates import Gate, comparable_questions, evaluate_gate, gate_titles, parse_gate
from pytest_taskgraph.results.population import (
    AbsenceReasons,
    DeclaredQuestion,
    GateVocabulary,
    Population,
    build_population,
    find_gate_mistake,
    quote_part,
)
from pytest_taskgraph.results.statistics.intervals import clustered_interval, dependent_rate_interval, wilson
from pytest_taskgraph.trial import Failure, Outcome, Question, Score, Trial

METRICS = {"score", "jaccard"}


def trial(at: int, outcome: Outcome = "right", value: float | None = None, mark: float = 1.0) -> Trial:
    """Return a trial of question number `at`, each about a workflow of its own."""
    question = Question(
        f"q-{at:03d}", "understanding", "next_tasks", "structure", "?", "?", "task-set", ["A"], "correctness",
        pass_threshold=mark, labels={"size": 12}, cluster=f"w{at}",
    )  # fmt: skip
    score = Score(float(outcome == "right") if value is None else value, {"jaccard": 0.25})
    answered = outcome in ("right", "wrong", "graded")
    failure = None if answered else Failure("server", "oops")
    return Trial(question, "m", outcome, score=score if answered else None, failure=failure)


def declared(at: int) -> DeclaredQuestion:
    """Return the declaration of question number `at`."""
    return DeclaredQuestion(f"q-{at:03d}", "understanding", "next_tasks", "structure", {"size": 12, "prompt": "own"})


def answered_all(answered: Iterable[Trial]) -> Population:
    """Return a population of answered questions."""
    return Population(tuple(answered), (), {}, 0, noun="workflow")


def rate(right: int, n: int) -> Population:
    """Return an answered population with that many right answers."""
    return answered_all(trial(at, "right" if at < right else "wrong") for at in range(n))


def counts_up_to(most: int) -> st.SearchStrategy[tuple[int, int]]:
    """Draw a number of right answers and of answers."""
    return st.integers(1, most).flatmap(lambda n: st.tuples(st.integers(0, n), st.just(n)))


def verdict(expression: str, population: Population, max_errors: float = 0.0) -> RunCase:
    """Return the verdict of the gate."""
    gate = parse_gate(expression, METRICS)
    return evaluate_gate(gate, gate.name, "m", population, max_errors)


def test_parse_gate_documented_forms() -> None:
    assert parse_gate("structure>=0.8", METRICS) == Gate("structure>=0.8", ("structure",), "", 0.8, None)
    assert parse_gate(" structure.next_tasks.jaccard >= 0.7 ", METRICS).parts == ("structure", "next_tasks")
    assert parse_gate("a.jaccard>=0.7", METRICS).metric == "jaccard"
    assert parse_gate("jaccard>=0.7", METRICS).parts == ("jaccard",)
    assert parse_gate("size=20>=0.6@90%", METRICS) == Gate("size=20>=0.6@90%", ("size=20",), "", 0.6, 0.9)


@pytest.mark.parametrize(
    ("quoted_text", "parts"),
    [
        ('prompt="ask.v2"', ["prompt=ask.v2"]),
        ("prompt='ask.v2'.structure", ["prompt=ask.v2", "structure"]),
        ('more="a>=b@c" . size=12', ["more=a>=b@c", "size=12"]),
        ('"odd=1.5"', ["odd=1.5"]),
        ('"my.label" = "x y"', ["my.label=x y"]),
        ('said="a ""b"" c"', ['said=a "b" c']),
        ("said='it''s'", ["said=it's"]),
        ("said=it's", ["said=it's"]),
        ('said="a"b', ['said="a"b']),
        ("a=b=c", ["a=b=c"]),
        ("said=", ["said="]),
    ],
)
def test_parse_gate_quoted_names_hold_special_characters(quoted_text: str, parts: list[str]) -> None:
    gate = parse_gate(f"{quoted_text}>=0.5@95%", METRICS)
    assert (list(gate.parts), gate.metric, gate.threshold, gate.confidence) == (parts, "", 0.5, 0.95)
    assert parse_gate(f"{gate.name}>=0.5", METRICS).parts == gate.parts, "a name is written as it is read"


@given(st.text(min_size=1))
@example("0 =")
@example("a= b")
def test_quote_part_any_value_round_trips(value: str) -> None:
    part = f"label={value}"
    gate = parse_gate(f"{quote_part(part)}.structure.jaccard>=0.5", METRICS)
    assert (gate.parts, gate.metric) == ((part, "structure"), "jaccard")


def test_parse_gate_any_text_parses_or_raises_usage_error() -> None:
    parsed: list[bool] = []

    @given(st.text("ab.=<>@\"' ", max_size=12))
    def parse_twice(text: str) -> None:
        try:
            gate = parse_gate(f"{text}>=0.5", METRICS)
        except UsageError:
            parsed.append(False)
            return
        parsed.append(True)
        assert parse_gate(f"{gate.name}>=0.5", METRICS).parts == gate.parts

    parse_twice()
    assert sum(parsed) > len(parsed) / 10


@pytest.mark.parametrize(
    "text",
    ["structure", "structure>0.8", ">=0.8", "a..b>=0.8", "a>=x", "a>=1.1", "a>=nan", "a>=-0.1", "a>=0.8@95",
     "a>=0.8@100%", "a>=0.8@50%", "a>=1@95%", "a>=0@95%", "a>=0.5>=0.6", "",
     "a>b>=0.5", 'a="b>c"d>=0.5', "a.>=0.5"],
)  # fmt: skip
def test_parse_gate_invalid_text_is_quoted_in_error(text: str) -> None:
    with pytest.raises(UsageError, match=r"expected|takes") as error:
        parse_gate(text, METRICS)
    assert repr(text) in str(error.value)


def test_gate_titles_are_unique() -> None:
    gates = [parse_gate(text, METRICS) for text in ("a>=0.5", "a>=0.8@95%", "b>=1")]
    assert gate_titles(gates) == ["a>=0.5", "a>=0.8@95%", "b"]


def test_gate_without_level_compares_estimate() -> None:
    held = verdict("structure>=0.725", rate(29, 40))
    assert (held.outcome, held.estimate) == ("passed", 0.725)
    assert held.reason == "pass rate 0.725 of 40 answered (95% 0.572-0.839), threshold 0.725"
    assert verdict("structure>=0.73", rate(29, 40)).outcome == "failed"


@given(
    st.integers(1, 100).flatmap(lambda n: st.tuples(st.integers(0, n), st.just(n))), st.sampled_from([0.5, 0.8, 0.9])
)
def test_gate_with_level_decides_by_interval(counts: tuple[int, int], threshold: float) -> None:
    case = verdict(f"structure>={threshold}@95%", rate(*counts))
    low, high = wilson(*counts)
    assert (case.low, case.high) == (low, high)
    assert case.outcome == ("passed" if low >= threshold else "failed")
    assert case.reason.startswith("inconclusive: ") == (low < threshold <= high)


@given(counts_up_to(60))
def test_gate_inconclusive_names_number_needed(counts: tuple[int, int]) -> None:
    case = verdict("structure>=0.81@95%", rate(*counts))
    if "questions needed for a decision" not in case.reason or "more questions than" in case.reason:
        return
    need = int(case.reason.rpartition("about ")[2].partition(" ")[0].replace(",", ""))
    assert need > counts[1]
    low, high = wilson(counts[0] / counts[1] * need, need)
    assert low >= 0.81 or high < 0.81, "where the rate stays what it is, most runs decide"


def test_gate_graded_by_score_and_metrics_by_mean() -> None:
    graded = answered_all(trial(at, "graded", 0.4 + 0.1 * (at % 3), mark=0.0) for at in range(9))
    assert verdict("structure>=0.5", graded).estimate == pytest.approx(0.5)
    assert verdict("structure.score>=0.5", graded).reason.startswith("mean score 0.500 of 9 answered")
    assert verdict("structure.jaccard>=0.3", graded).outcome == "failed"


def test_gate_graded_scores_have_interval_of_mean() -> None:
    graded = answered_all(trial(at, "graded", float(at < 6), mark=0.0) for at in range(9))
    low, high = clustered_interval({str(at): [float(at < 6)] for at in range(9)}) or (0.0, 1.0)
    assert (verdict("structure>=0.5", graded).low, verdict("structure>=0.5", graded).high) == (low, high)


@pytest.mark.parametrize(
    ("gate", "trials", "questions", "apart"),
    [
        ("structure>=0.5", 14, 3, 5),
        ("structure.score>=0.5", 14, 3, 5),
        ("structure.jaccard>=0.5", 18, 4, 0),  # one and the same measure in all of them
    ],
)
def test_gate_graded_beside_others_left_out(gate: str, trials: int, questions: int, apart: int) -> None:
    graded = [trial(at, "graded", 0.5, mark=0.0) for at in range(4)]
    binary = [trial(at, "right" if at % 3 else "wrong") for at in range(4, 18)]
    unasked = [*(declared(at) for at in range(18, 21)), replace(declared(21), graded=True)]
    compared, declared_questions, left_out = comparable_questions(
        parse_gate(gate, METRICS), [*graded, *binary], unasked
    )
    assert (len(compared), len(declared_questions), left_out) == (trials, questions, apart)
    assert comparable_questions(parse_gate(gate, METRICS), graded, unasked[3:]) == (graded, unasked[3:], 0)


def test_gate_states_number_of_graded_left_out() -> None:
    reason = verdict("structure>=0.5", replace(rate(10, 14), graded_left_out=4)).reason
    assert reason.startswith("pass rate 0.714 of 14 answered (")
    assert reason.endswith(", threshold 0.5; 4 graded left out")


@pytest.mark.parametrize(("workflows", "repeats"), [(1, 1), (1, 2), (5, 1), (5, 3)])
def test_gate_few_workflows_restricts_interval_to_them(workflows: int, repeats: int) -> None:
    def about(unclustered: Trial) -> Trial:
        at = int(unclustered.question.id[2:]) % workflows
        return replace(unclustered, question=replace(unclustered.question, cluster=f"w{at}"))

    trials = [about(trial(at, "right" if at % 4 else "wrong")) for at in range(60) for _ in range(repeats)]
    case = verdict("structure>=0.5@95%", answered_all(trials))
    only = "this 1 workflow" if workflows == 1 else f"these {workflows} workflows"
    assert f" over {only} only), threshold" in case.reason
    assert case.outcome == "passed"


@pytest.mark.parametrize("repeats", [1, 2])
def test_gate_six_workflows_has_clustered_interval(repeats: int) -> None:
    trials = [
        replace(answered_trial, question=replace(answered_trial.question, cluster=f"w{at % 6}"))
        for at in range(60)
        for answered_trial in [trial(at, "right" if at % 6 else "wrong")] * repeats
    ]
    case = verdict("structure>=0.5@95%", answered_all(trials))
    clusters = [[[bool(workflow)] * repeats] * 10 for workflow in range(6)]
    assert (case.low, case.high) == pytest.approx(dependent_rate_interval(clusters, 0.95))
    assert case.low is not None
    assert case.low < wilson(50, 60)[0] - 0.2, "six workflows, one of which fails, say far less than 60 questions"
    assert case.reason.startswith("inconclusive: pass rate 0.833 of 60 answered (95% 0.4")
    assert case.reason.endswith(" workflows needed for a decision if the rate stays the same")


def test_gate_mean_of_single_question_has_no_interval() -> None:
    case = verdict("structure.score>=0.5@95%", rate(1, 1))
    assert case.reason == (
        "inconclusive: mean score 1.000 of 1 answered (no 95% interval: a single question), threshold 0.5; "
        "ask more questions"
    )


@pytest.mark.parametrize("n", [10, 11, 17, 40, 100, 300])
def test_gate_false_pass_rate_is_as_documented(n: int) -> None:
    for least in range(1, n):
        threshold = wilson(least, n)[0]  # the highest that so many right answers pass
        if threshold >= 0.5:
            passes = fsum(comb(n, k) * threshold**k * (1 - threshold) ** (n - k) for k in range(least, n + 1))
            assert 0.02 < passes < 1 / 20


def test_gate_repetitions_count_as_one_question() -> None:
    again = [trial(at, "right" if at % 2 else "wrong") for at in range(10) for _ in range(3)]
    case = verdict("structure>=0.5", answered_all(again))
    assert "0.500 of 10 answered" in case.reason


def test_gate_metric_of_no_question_fails() -> None:
    gate = parse_gate("structure.score>=0.1", METRICS)
    case = evaluate_gate(Gate(gate.text, gate.parts, "recall", 0.1, None), "g", "m", rate(3, 3))
    assert (case.outcome, case.reason) == ("failed", "not decided: no question has the metric 'recall'")


def whole(trials: list[Trial], where: AbsenceReasons, n: int = 4) -> Population:
    """Return the population of the first `n` questions with these trials."""
    ids = {trial.question.id for trial in trials}
    return build_population(trials, [declared(at) for at in range(n)], where, ids.__contains__)


def test_gate_left_out_questions_skip() -> None:
    case = verdict("structure>=0.8", whole([trial(0)], AbsenceReasons(selected_by=("-k",))))
    assert (case.outcome, case.reason) == ("skipped", "not decided: 3 of 4 questions left out by -k")


@pytest.mark.parametrize(
    ("where", "reason"),
    [
        (AbsenceReasons(), "3 of 4 questions did not run, though nothing on the command line left them out"),
        (AbsenceReasons({f"q-{at:03d}": "were skipped: no" for at in (1, 2, 3)}), "3 of 4 questions were skipped: no"),
        (
            AbsenceReasons({"q-001": "were skipped: no"}, selected_by=("-k",)),
            "1 of 4 questions were skipped: no; 2 of 4 questions left out by -k",
        ),
        (
            AbsenceReasons(lost=frozenset({"q-000", "q-001"}), selected_by=("-k",)),
            "1 of 4 questions were lost with their worker; 2 of 4 questions left out by -k",
        ),
    ],
)
def test_gate_missing_questions_fail(where: AbsenceReasons, reason: str) -> None:
    case = verdict("structure>=0.1", whole([trial(0)], where))
    assert (case.outcome, case.reason) == ("failed", f"not decided: {reason}")


def test_gate_errors_above_limit_fail() -> None:
    population = whole([trial(0), trial(1), trial(2), trial(3, "error")], AbsenceReasons())
    assert verdict("structure>=0.8", population).reason == "not decided: 1 of 4 replies missing (server 1)"
    assert verdict("structure>=0.8", population, 0.2).outcome == "failed"
    assert verdict("structure>=0.8", population, 0.25).outcome == "passed"


def test_gate_budget_stop_is_one_reason() -> None:
    stopped = [trial(at, "skipped") for at in range(4)]
    for at, stopped_trial in enumerate(stopped):
        object.__setattr__(stopped_trial, "failure", Failure("budget::calls", f"{at} left"))
    case = verdict("structure>=0.8", whole(stopped, AbsenceReasons()))
    assert case.reason == "not decided: 4 of 4 questions were not asked: budget::calls is spent"


VOCABULARY = GateVocabulary(
    ("understanding", "structure", "next_tasks", "behaviour", "reachable"),
    frozenset({"structure", "next_tasks", "behaviour", "reachable"}),
    ("jaccard", "score"),
    {"size": ("12", "20"), "depth": (), "prompt": ("direct", "ask.v2")},
    closed_labels=frozenset({"size"}),
)


def test_find_gate_mistake_declared_names_have_none() -> None:
    names = ("structure", "next_tasks", "understanding", "size=12", "structure.size=12", "depth=3", "structure.jaccard")
    for name in names:
        assert find_gate_mistake(parse_gate(f"{name}>=0.8", METRICS).parts, [declared(0)], VOCABULARY) is None


@pytest.mark.parametrize(
    ("name", "kind", "text"),
    [
        ("behaviour", "absent", "no question of 'behaviour' was collected; collected: "),
        ("structur", "wrong", "did you mean 'structure'? known: structure, "),
        ("handover", "unknown", "no question matches 'handover'; known: "),
        ("structure.handover", "wrong", "no question matches 'handover', and there is no metric of that name"),
        ("next_tasks.jacard", "wrong", "did you mean 'jaccard'?"),
        ("jaccard", "wrong", "write it after a name: understanding.jaccard"),
        ("structure.behaviour", "absent", "'behaviour' was collected"),
        ("size=20", "absent", "known values of size: 12"),
        ("size=21", "wrong", "known values of size: 12"),
        ("prompt=direct", "absent", "known values of prompt: own"),
        ("prompt=dirct", "wrong", "known values of prompt: own"),
        ("prompt=mine", "unknown", "known values of prompt: own"),
        ("prompt=ask.v2", "wrong", 'quote a value with a dot: prompt="ask.v2")'),
        ('prompt="ask.v2"', "absent", "no question matches 'prompt=ask.v2'; known values of prompt: own"),
        ("depth=1.5", "unknown", 'quote a value with a dot: depth="1.5")'),
        ("sizes=12", "wrong", "'sizes' is not a label; did you mean 'size'?"),
        ("colour=red", "unknown", "'colour' is not a label; known labels: "),
        ("structure.colour=red", "wrong", "'colour' is not a label; known labels: "),
    ],
)
def test_find_gate_mistake_kind_absent_unknown_or_wrong(name: str, kind: str, text: str) -> None:
    case = find_gate_mistake(parse_gate(f"{name}>=0.8", METRICS).parts, [declared(0)], VOCABULARY)
    assert case is not None
    assert (case.kind, text in case.text) == (kind, True), case.text


def test_find_gate_mistake_label_of_user_pattern_is_possible() -> None:
    own = DeclaredQuestion("q", "understanding", "handover", "custom", {"size": 12})
    assert find_gate_mistake(["colour=red"], [own], VOCABULARY) is None
    assert find_gate_mistake(["sizes=12"], [own, declared(0)], VOCABULARY) is None, "it may be a label of that pattern"
    assert find_gate_mistake(["structure", "sizes=12"], [own, declared(0)], VOCABULARY) is not None, (
        "of ours it is none"
    )
    assert find_gate_mistake(["custom", "sizes=12"], [own, declared(0)], VOCABULARY) is None


def test_find_gate_mistake_metric_of_no_question_is_absent() -> None:
    ours = [replace(declared(at), metrics=("jaccard", "recall")) for at in range(2)]
    other = replace(declared(2), group="flow_start", metrics=("correctness",))
    assert find_gate_mistake(["structure"], [*ours, other], VOCABULARY, "recall") is None
    assert find_gate_mistake(["flow_start"], [*ours, declared(3)], VOCABULARY, "recall") is not None
    assert find_gate_mistake(["next_tasks"], [declared(0)], VOCABULARY, "recall") is None, (
        "nothing is known of its metrics"
    )
    case = find_gate_mistake(["next_tasks", "size=12"], [*ours, other], VOCABULARY, "correctness")
    assert case is not None
    assert (case.kind, case.text) == (
        "absent", "no question of 'next_tasks.size=12' has the metric 'correctness'; available: recall, jaccard"
    )  # fmt: skip


@pytest.mark.parametrize("value", ["12", "None"])
def test_find_gate_mistake_label_declared_none_has_no_value(value: str) -> None:
    declared_questions = [
        DeclaredQuestion(f"q{at}", "understanding", "next_tasks", "structure", {"size": at}) for at in (None, 8)
    ]
    assert find_gate_mistake(["size=8"], declared_questions, GateVocabulary()) is None
    case = find_gate_mistake([f"size={value}"], declared_questions, GateVocabulary())
    assert case is not None
    assert case.text.endswith("known values of size: 8")


def test_find_gate_mistake_lists_limited_names() -> None:
    case = find_gate_mistake(["pattern_3x"], [declared(0)], GateVocabulary([f"pattern_{at}" for at in range(99)]))
    assert case is not None
    assert case.text.count("pattern_") == 11 + 1  # the one in question, the one that is meant, and ten
    assert case.text.endswith(" and 92 more")


def test_describe_missing_stop_reason_comes_first() -> None:
    where = AbsenceReasons(default="did not run", stop_reason="authentication: no more is sent")
    population = whole([trial(0), trial(1, "error")], where)
    assert verdict("structure>=0.8", population).reason == (
        "not decided: authentication: no more is sent; 1 of 2 replies missing (server 1); 2 of 4 questions did not run"
    )
    assert verdict("structure>=0", whole([trial(at) for at in range(4)], where)).outcome == "passed"
