"""Gates, on made-up trials."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from math import comb, fsum

import pytest
from hypothesis import example, given, settings
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
    """A trial of the question number `at`, each about a workflow of its own."""
    question = Question(
        f"q-{at:03d}", "understanding", "next_tasks", "structure", "?", "?", "task-set", ["A"], "correctness",
        pass_threshold=mark, labels={"size": 12}, cluster=f"w{at}",
    )  # fmt: skip
    score = Score(float(outcome == "right") if value is None else value, {"jaccard": 0.25})
    answered = outcome in ("right", "wrong", "graded")
    failure = None if answered else Failure("server", "oops")
    return Trial(question, "m", outcome, score=score if answered else None, failure=failure)


def declared(at: int) -> DeclaredQuestion:
    """What is known of that question before it is built."""
    return DeclaredQuestion(f"q-{at:03d}", "understanding", "next_tasks", "structure", {"size": 12, "prompt": "own"})


def answered_all(answered: Iterable[Trial]) -> Population:
    """Return a population of which all were answered."""
    return Population(tuple(answered), (), {}, 0, noun="workflow")


def rate(right: int, n: int) -> Population:
    """A whole population with that many right answers."""
    return answered_all(trial(at, "right" if at < right else "wrong") for at in range(n))


def counts_up_to(most: int) -> st.SearchStrategy[tuple[int, int]]:
    """How many are right, and of how many."""
    return st.integers(1, most).flatmap(lambda n: st.tuples(st.integers(0, n), st.just(n)))


def verdict(expression: str, asked: Population, max_errors: float = 0.0) -> RunCase:
    """What the gate comes to."""
    gate = parse_gate(expression, METRICS)
    return evaluate_gate(gate, gate.name, "m", asked, max_errors)


def test_a_gate_is_read_as_it_is_documented() -> None:
    assert parse_gate("structure>=0.8", METRICS) == Gate("structure>=0.8", ("structure",), "", 0.8, None)
    assert parse_gate(" structure.next_tasks.jaccard >= 0.7 ", METRICS).parts == ("structure", "next_tasks")
    assert parse_gate("a.jaccard>=0.7", METRICS).metric == "jaccard"
    assert parse_gate("jaccard>=0.7", METRICS).parts == ("jaccard",)
    assert parse_gate("size=20>=0.6@90%", METRICS) == Gate("size=20>=0.6@90%", ("size=20",), "", 0.6, 0.9)


@pytest.mark.parametrize(
    ("written", "parts"),
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
def test_quotes_hold_what_would_end_a_name(written: str, parts: list[str]) -> None:
    gate = parse_gate(f"{written}>=0.5@95%", METRICS)
    assert (list(gate.parts), gate.metric, gate.threshold, gate.confidence) == (parts, "", 0.5, 0.95)
    assert parse_gate(f"{gate.name}>=0.5", METRICS).parts == gate.parts, "a name is written as it is read"


@given(st.text(min_size=1))
@example("0 =")
@example("a= b")
def test_each_value_can_be_written(value: str) -> None:
    part = f"label={value}"
    gate = parse_gate(f"{quote_part(part)}.structure.jaccard>=0.5", METRICS)
    assert (gate.parts, gate.metric) == ((part, "structure"), "jaccard")


@given(st.text("ab.=<>@\"' ", max_size=12))
def test_whatever_is_written_is_a_gate_or_a_mistake_of_usage(text: str) -> None:
    try:
        gate = parse_gate(f"{text}>=0.5", METRICS)
    except UsageError:
        return
    assert parse_gate(f"{gate.name}>=0.5", METRICS).parts == gate.parts


@pytest.mark.parametrize(
    "text",
    ["structure", "structure>0.8", ">=0.8", "a..b>=0.8", "a>=x", "a>=1.1", "a>=nan", "a>=-0.1", "a>=0.8@95",
     "a>=0.8@100%", "a>=0.8@50%", "a>=1@95%", "a>=0@95%", "a>=0.5>=0.6", "",
     "a>b>=0.5", 'a="b>c"d>=0.5', "a.>=0.5"],
)  # fmt: skip
def test_anything_else_is_a_mistake_that_repeats_what_was_written(text: str) -> None:
    with pytest.raises(UsageError, match=r"expected|takes") as error:
        parse_gate(text, METRICS)
    assert repr(text) in str(error.value)


def test_gates_about_the_same_are_told_apart() -> None:
    gates = [parse_gate(text, METRICS) for text in ("a>=0.5", "a>=0.8@95%", "b>=1")]
    assert gate_titles(gates) == ["a>=0.5", "a>=0.8@95%", "b"]


def test_a_plain_gate_compares_the_estimate() -> None:
    held = verdict("structure>=0.725", rate(29, 40))
    assert (held.outcome, held.estimate) == ("passed", 0.725)
    assert held.reason == "pass rate 0.725 of 40 answered (95% 0.572-0.839), threshold 0.725"
    assert verdict("structure>=0.73", rate(29, 40)).outcome == "failed"


@settings(max_examples=40)
@given(
    st.integers(1, 100).flatmap(lambda n: st.tuples(st.integers(0, n), st.just(n))), st.sampled_from([0.5, 0.8, 0.9])
)
def test_one_that_asks_for_certainty_goes_by_the_interval(counts: tuple[int, int], threshold: float) -> None:
    found = verdict(f"structure>={threshold}@95%", rate(*counts))
    low, high = wilson(*counts)
    assert (found.low, found.high) == (low, high)
    assert found.outcome == ("passed" if low >= threshold else "failed")
    assert found.reason.startswith("inconclusive: ") == (low < threshold <= high)


@settings(max_examples=40)
@given(counts_up_to(60))
def test_gate_without_decision_names_more_questions(counts: tuple[int, int]) -> None:
    found = verdict("structure>=0.81@95%", rate(*counts))
    if "questions needed for a decision" not in found.reason or "more questions than" in found.reason:
        return
    need = int(found.reason.rpartition("about ")[2].partition(" ")[0].replace(",", ""))
    assert need > counts[1]
    low, high = wilson(counts[0] / counts[1] * need, need)
    assert low >= 0.81 or high < 0.81, "where the rate stays what it is, most runs decide"


def test_graded_questions_count_by_their_score_and_metrics_by_their_mean() -> None:
    graded = answered_all(trial(at, "graded", 0.4 + 0.1 * (at % 3), mark=0.0) for at in range(9))
    assert verdict("structure>=0.5", graded).estimate == pytest.approx(0.5)
    assert verdict("structure.score>=0.5", graded).reason.startswith("mean score 0.500 of 9 answered")
    assert verdict("structure.jaccard>=0.3", graded).outcome == "failed"


def test_scores_of_graded_questions_have_no_interval_of_rates() -> None:
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
def test_gates_leave_graded_questions_out_beside_others(gate: str, trials: int, questions: int, apart: int) -> None:
    graded = [trial(at, "graded", 0.5, mark=0.0) for at in range(4)]
    binary = [trial(at, "right" if at % 3 else "wrong") for at in range(4, 18)]
    unasked = [*(declared(at) for at in range(18, 21)), replace(declared(21), graded=True)]
    came, known, left_out = comparable_questions(parse_gate(gate, METRICS), [*graded, *binary], unasked)
    assert (len(came), len(known), left_out) == (trials, questions, apart)
    assert comparable_questions(parse_gate(gate, METRICS), graded, unasked[3:]) == (graded, unasked[3:], 0)


def test_a_gate_counts_the_graded_questions_it_leaves_out() -> None:
    told = verdict("structure>=0.5", replace(rate(10, 14), graded_left_out=4)).reason
    assert told.startswith("pass rate 0.714 of 14 answered (")
    assert told.endswith(", threshold 0.5; 4 graded left out")


@pytest.mark.parametrize(("workflows", "repeats"), [(1, 1), (1, 2), (5, 1), (5, 3)])
def test_an_interval_over_questions_that_share_workflows_says_so(workflows: int, repeats: int) -> None:
    def about(one: Trial) -> Trial:
        at = int(one.question.id[2:]) % workflows
        return replace(one, question=replace(one.question, cluster=f"w{at}"))

    asked = [about(trial(at, "right" if at % 4 else "wrong")) for at in range(60) for _ in range(repeats)]
    found = verdict("structure>=0.5@95%", answered_all(asked))
    only = "this 1 workflow" if workflows == 1 else f"these {workflows} workflows"
    assert f" over {only} only), threshold" in found.reason
    assert found.outcome == "passed"


@pytest.mark.parametrize("repeats", [1, 2])
def test_gate_over_six_workflows_is_as_certain_as_these_agree(repeats: int) -> None:
    asked = [
        replace(one, question=replace(one.question, cluster=f"w{at % 6}"))
        for at in range(60)
        for one in [trial(at, "right" if at % 6 else "wrong")] * repeats
    ]
    found = verdict("structure>=0.5@95%", answered_all(asked))
    clusters = [[[bool(workflow)] * repeats] * 10 for workflow in range(6)]
    assert (found.low, found.high) == pytest.approx(dependent_rate_interval(clusters, 0.95))
    assert found.low is not None
    assert found.low < wilson(50, 60)[0] - 0.2, "six workflows, one of which fails, say far less than 60 questions"
    assert found.reason.startswith("inconclusive: pass rate 0.833 of 60 answered (95% 0.4")
    assert found.reason.endswith(" workflows needed for a decision")


def test_a_mean_of_one_question_has_no_interval() -> None:
    found = verdict("structure.score>=0.5@95%", rate(1, 1))
    assert found.reason == (
        "inconclusive: mean score 1.000 of 1 answered (no 95% interval: a single question), threshold 0.5; "
        "ask more questions"
    )


@pytest.mark.parametrize("n", [10, 11, 17, 40, 100, 300])
def test_a_rate_just_below_the_threshold_passes_at_most_one_time_in_twenty_as_documented(n: int) -> None:
    for least in range(1, n):
        threshold = wilson(least, n)[0]  # the highest that so many right answers pass
        if threshold >= 0.5:
            passes = fsum(comb(n, k) * threshold**k * (1 - threshold) ** (n - k) for k in range(least, n + 1))
            assert 0.02 < passes < 1 / 20


def test_repetitions_of_a_question_are_one_question() -> None:
    again = [trial(at, "right" if at % 2 else "wrong") for at in range(10) for _ in range(3)]
    found = verdict("structure>=0.5", answered_all(again))
    assert "0.500 of 10 answered" in found.reason


def test_a_metric_that_no_question_has_fails() -> None:
    gate = parse_gate("structure.score>=0.1", METRICS)
    found = evaluate_gate(Gate(gate.text, gate.parts, "recall", 0.1, None), "g", "m", rate(3, 3))
    assert (found.outcome, found.reason) == ("failed", "not decided: no question has the metric 'recall'")


def whole(trials: list[Trial], where: AbsenceReasons, n: int = 4) -> Population:
    """The population of the first `n` questions, of which these were tried."""
    ids = {one.question.id for one in trials}
    return build_population(trials, [declared(at) for at in range(n)], where, ids.__contains__)


def test_questions_that_the_user_left_out_skip_a_gate() -> None:
    found = verdict("structure>=0.8", whole([trial(0)], AbsenceReasons(selected_by=("-k",))))
    assert (found.outcome, found.reason) == ("skipped", "not decided: 3 of 4 questions left out by -k")


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
def test_questions_missing_for_any_other_reason_fail_it(where: AbsenceReasons, reason: str) -> None:
    found = verdict("structure>=0.1", whole([trial(0)], where))
    assert (found.outcome, found.reason) == ("failed", f"not decided: {reason}")


def test_missing_replies_fail_a_gate_beyond_what_is_allowed() -> None:
    asked = whole([trial(0), trial(1), trial(2), trial(3, "error")], AbsenceReasons())
    assert verdict("structure>=0.8", asked).reason == "not decided: 1 of 4 replies missing (server 1)"
    assert verdict("structure>=0.8", asked, 0.2).outcome == "failed"
    assert verdict("structure>=0.8", asked, 0.25).outcome == "passed"


def test_questions_that_a_budget_stopped_are_told_in_one() -> None:
    stopped = [trial(at, "skipped") for at in range(4)]
    for at, one in enumerate(stopped):
        object.__setattr__(one, "failure", Failure("budget::calls", f"{at} left"))
    found = verdict("structure>=0.8", whole(stopped, AbsenceReasons()))
    assert found.reason == "not decided: 4 of 4 questions were not asked: budget::calls is spent"


KNOWN = GateVocabulary(
    ("understanding", "structure", "next_tasks", "behaviour", "reachable"),
    frozenset({"structure", "next_tasks", "behaviour", "reachable"}),
    ("jaccard", "score"),
    {"size": ("12", "20"), "depth": (), "prompt": ("direct", "ask.v2")},
    closed_labels=frozenset({"size"}),
)


def test_names_are_looked_for_among_what_was_declared() -> None:
    names = ("structure", "next_tasks", "understanding", "size=12", "structure.size=12", "depth=3", "structure.jaccard")
    for name in names:
        assert find_gate_mistake(parse_gate(f"{name}>=0.8", METRICS).parts, [declared(0)], KNOWN) is None


@pytest.mark.parametrize(
    ("name", "kind", "text"),
    [
        ("behaviour", "absent", "no question of 'behaviour' was collected; collected: "),
        ("structur", "wrong", "did you mean 'structure'? known: structure, "),
        ("handover", "unknown", "no question matches 'handover'; known: "),
        ("structure.handover", "wrong", "no question matches 'handover', and there is no metric of that name"),
        ("next_tasks.jacard", "wrong", "did you mean 'jaccard'?"),
        ("jaccard", "wrong", "stands after a name: understanding.jaccard"),
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
def test_a_name_that_nothing_has_is_absent_unknown_or_wrong(name: str, kind: str, text: str) -> None:
    found = find_gate_mistake(parse_gate(f"{name}>=0.8", METRICS).parts, [declared(0)], KNOWN)
    assert found is not None
    assert (found.kind, text in found.text) == (kind, True), found.text


def test_labels_of_a_pattern_of_the_user_may_be_found_later() -> None:
    own = DeclaredQuestion("q", "understanding", "handover", "custom", {"size": 12})
    assert find_gate_mistake(["colour=red"], [own], KNOWN) is None
    assert find_gate_mistake(["sizes=12"], [own, declared(0)], KNOWN) is None, "it may be a label of that pattern"
    assert find_gate_mistake(["structure", "sizes=12"], [own, declared(0)], KNOWN) is not None, "of ours it is none"
    assert find_gate_mistake(["custom", "sizes=12"], [own, declared(0)], KNOWN) is None


def test_a_metric_that_marks_none_of_the_questions_is_known_before() -> None:
    ours = [replace(declared(at), metrics=("jaccard", "recall")) for at in range(2)]
    other = replace(declared(2), group="flow_start", metrics=("correctness",))
    assert find_gate_mistake(["structure"], [*ours, other], KNOWN, "recall") is None
    assert find_gate_mistake(["flow_start"], [*ours, declared(3)], KNOWN, "recall") is not None
    assert find_gate_mistake(["next_tasks"], [declared(0)], KNOWN, "recall") is None, "nothing is known of its metrics"
    found = find_gate_mistake(["next_tasks", "size=12"], [*ours, other], KNOWN, "correctness")
    assert found is not None
    assert (found.kind, found.text) == (
        "absent", "no question of 'next_tasks.size=12' has the metric 'correctness'; available: recall, jaccard"
    )  # fmt: skip


@pytest.mark.parametrize("value", ["12", "None"])
def test_a_label_that_a_question_will_not_have_is_known_before(value: str) -> None:
    known = [DeclaredQuestion(f"q{at}", "understanding", "next_tasks", "structure", {"size": at}) for at in (None, 8)]
    assert find_gate_mistake(["size=8"], known, GateVocabulary()) is None
    found = find_gate_mistake([f"size={value}"], known, GateVocabulary())
    assert found is not None
    assert found.text.endswith("known values of size: 8")


def test_no_more_names_are_told_than_fit_a_line() -> None:
    found = find_gate_mistake(["pattern_3x"], [declared(0)], GateVocabulary([f"pattern_{at}" for at in range(99)]))
    assert found is not None
    assert found.text.count("pattern_") == 11 + 1  # the one in question, the one that is meant, and ten
    assert found.text.endswith(" and 92 more")


def test_what_ended_a_run_comes_first() -> None:
    where = AbsenceReasons(default="did not run", stop_reason="authentication: no more is sent")
    asked = whole([trial(0), trial(1, "error")], where)
    assert verdict("structure>=0.8", asked).reason == (
        "not decided: authentication: no more is sent; 1 of 2 replies missing (server 1); 2 of 4 questions did not run"
    )
    assert verdict("structure>=0", whole([trial(at) for at in range(4)], where)).outcome == "passed"
