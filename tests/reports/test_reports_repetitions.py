"""Repetitions, several models and what a run took, in the terminal."""

from __future__ import annotations

from dataclasses import replace
from textwrap import dedent

import pytest
from described_runs import about_run, described
from hypothesis import given
from hypothesis import strategies as st

from pytest_taskgraph.reports import terminal
from pytest_taskgraph.reports.escape import columns
from pytest_taskgraph.reports.spending_line import replies_line
from pytest_taskgraph.results.record import About, about_of, build, tally_of
from pytest_taskgraph.results.tally import Tally
from pytest_taskgraph.trial import Question, Reply, Score, Trial

ABOUT = about_run("0.1.0", ("m",), 7, ("wadl",), "chain-of-thought")


def make_trial(once: str, repetition: int, right: bool, model: str = "m", category: str = "structure") -> Trial:
    name = once if repetition == 1 else f"{once}-r{repetition}"
    pattern = "next_tasks" if category == "structure" else "traces"
    question = Question(name, "understanding", pattern, category, "?", "p", "task", "A", "jaccard", cluster=once[-1])
    question = replace(question, repetition=repetition)
    reply = Reply("A", 100, 10, 0.001, latency=float(repetition))
    return Trial(question, model, "right" if right else "wrong", reply, Score(float(right)), requests=1)


def tallied(*trials: Trial) -> Tally:
    tally = Tally(described())
    for trial in trials:
        tally.add(trial)
    return tally


def some(model: str = "m", repeats: int = 3) -> list[Trial]:
    return [
        make_trial(f"{category}{at}", repetition, (at + repetition) % 3 > 0, model, category)
        for category in ("structure", "behaviour")
        for at in range(2)
        for repetition in range(1, repeats + 1)
    ]


def text(tally: Tally, verbosity: int = 0, width: int = 80, about: About = ABOUT) -> str:
    return "\n".join(line for line, _ in terminal.lines(tally, about, verbosity, width))


def dedented(expected: str) -> str:
    return dedent(expected).strip("\n")


def test_repetitions_have_table_and_notes() -> None:
    output = text(tallied(*some()))
    assert (
        dedented("""
        3 repetitions  questions   mean  majority  pass@3  pass^3  within  between
        structure              2  0.667     1.000   1.000   0.000   0.577    0.000
        behaviour              2  0.667     1.000   1.000   0.000   0.577    0.000
        total                  4  0.667     1.000   1.000   0.000   0.577    0.000
    """)
        in output
    )
    assert "n counts replies: a question asked 3 times is 3 of them" in output
    assert "* fewer than 10 questions answered" in output
    assert "\ntotal          12* " in output


def test_repetitions_verbose_has_line_for_each_pattern() -> None:
    table = text(tallied(*some()), 1).partition("3 repetitions")[2].partition("\n\n")[0]
    names = [line.split()[0] for line in table.splitlines()[1:6]]
    assert names == ["structure", "next_tasks", "behaviour", "traces", "total"]


def test_terminal_without_repetitions_omits_table_and_notes() -> None:
    output = text(tallied(*some(repeats=1)))
    assert "repetitions" not in output
    assert "n counts" not in output
    assert "within" not in output


def test_few_mark_counts_questions_not_replies() -> None:
    few = tallied(*(make_trial("q1", repetition, True) for repetition in range(1, 21)))
    many = tallied(*(make_trial(f"q{at}", 1, True) for at in range(20)))
    assert "20* " in text(few)
    assert "20* " not in text(many)


def test_repetitions_too_few_replies_are_noted() -> None:
    trials = some()
    trials[2] = replace(trials[2], outcome="error", reply=None, score=None)
    assert "1 question with fewer than 3 replies has no part in pass@3 and pass^3" in " ".join(
        text(tallied(*trials)).split()
    )


def test_relations_repetitions_count_once_in_interval() -> None:
    plain = [make_trial(f"q{at}", repetition, True) for at in range(2) for repetition in range(1, 21)]
    varied = [
        replace(
            trial,
            question=replace(trial.question, id=f"{trial.question.id}-vary-o", relation="o", twin=trial.question.id),
        )
        for trial in plain
    ]
    (relation,) = tallied(*plain, *varied).relations()
    assert (relation.pairs, relation.same) == (40, 40)
    assert relation.interval is not None
    assert relation.interval[0] < 0.5


def test_terminal_models_stand_side_by_side_first() -> None:
    wrong = replace(some("m", 1)[0], outcome="wrong", score=Score(0.0))
    trials = [
        wrong,
        *some("m", 1)[1:],
        *(replace(trial, outcome="error", reply=None, score=None) for trial in some("n", 1)[:1]),
    ]
    output = text(tallied(*trials, *some("n", 1)[1:]), 1)
    assert (
        dedented("""
        pass rate/mean            m             n
        structure       0.500/0.500*  1.000/1.000*
          next_tasks    0.500/0.500*  1.000/1.000*
        behaviour       1.000/1.000*  1.000/1.000*
          traces        1.000/1.000*  1.000/1.000*
        total           0.750/0.750*  1.000/1.000*
        answered                  4             3
        errors                    0             1
    """)
        in output
    )


def test_terminal_long_model_names_have_legend() -> None:
    names = [f"a-provider/a-model-with-quite-a-long-name-{at}" for at in range(3)]
    output = text(tallied(*(trial for name in names for trial in some(name))), 1)
    assert "pass rate/mean          [1]           [2]           [3]\n" in output
    assert [f"[{at}] {name}" in output for at, name in enumerate(names, 1)] == [True] * 3
    assert "\n[2]                    4  0.667 " in output


def test_terminal_provider_is_omitted_without_room() -> None:
    names = [f"a-provider-of-many-models/model-{at}" for at in range(4)]
    output = text(tallied(*(trial for name in names for trial in some(name))))
    assert "  model-3" in output
    assert "[1]" not in output


def test_terminal_too_many_models_are_split_into_tables() -> None:
    output = text(tallied(*(trial for at in range(20) for trial in some(f"model-number-{at:02}", 1))), 1)
    assert output.count("\npass rate ") >= 3
    assert "[20]" in output


def test_repetitions_of_many_models_fit_width() -> None:
    output = text(tallied(*(trial for at in range(20) for trial in some(f"model-number-{at:02}", 2))), 1, 40)
    assert max(map(columns, output.splitlines())) <= 40


def test_replies_line_sums_requests_tokens_and_cost() -> None:
    expected = "replies took: 12 requests, 1,200 tokens in, 120 out, cost $0.0120"
    assert replies_line(some()) == expected
    assert expected in text(tallied(*some())).replace("\n", " ")
    assert "cost" not in text(tallied(*some()), -1)


@pytest.mark.parametrize(
    ("reply", "expected"),
    [
        (Reply("A", 10, 2), "2 requests, 110 tokens in, 12 out, cost $0.0010 and 1 of unknown cost"),
        (Reply("A", 10, None, 0.0), "2 requests, at least 110 tokens in, 10 out, cost $0.0010"),
    ],
)
def test_replies_line_states_unknown_cost(reply: Reply, expected: str) -> None:
    trial = some()[0]
    assert replies_line([trial, replace(trial, reply=reply)]) == f"replies took: {expected}"


def test_replies_line_unknown_is_not_zero() -> None:
    trial = replace(some()[0], retries=1)
    assert replies_line([replace(trial, reply=Reply("A", 10, 2))]).endswith(
        "1 request, 1 retry, 10 tokens in, 2 out, cost unknown"
    )
    assert replies_line([replace(trial, reply=Reply("A", cost=0.5))]).endswith("1 retry, tokens unknown, cost $0.5000")
    assert replies_line([replace(trial, reply=Reply("A", 1, 1, 0.00001))]).endswith("cost under $0.0001")


def test_replies_line_without_cost_is_empty() -> None:
    assert replies_line([replace(trial, reply=Reply("A")) for trial in some()]) == ""
    assert "asked:" not in text(tallied(*(replace(trial, reply=Reply("A")) for trial in some())))


def test_terminal_shows_no_times_and_equals_record() -> None:
    slow = tallied(*(replace(trial, reply=Reply("A", 100, 10, 0.001, latency=9.0)) for trial in some()))
    record = build(slow, ABOUT)
    for verbosity in (-1, 0, 1):
        assert text(slow, verbosity) == text(tallied(*some()), verbosity)
        assert text(tally_of(record), verbosity, about=about_of(record)) == text(slow, verbosity)


nasty = st.text(st.characters(), max_size=50)


@given(st.lists(nasty, min_size=1, max_size=5, unique=True), st.integers(-1, 1), st.sampled_from([40, 60, 80]))
def test_terminal_any_model_names_fit_and_print(names: list[str], verbosity: int, width: int) -> None:
    tally = tallied(*(trial for name in names for trial in some(name, 2)))
    for line in text(tally, verbosity, width, replace(ABOUT, models=tuple(names))).split("\n"):
        assert columns(line) <= width
        assert line.isprintable()
