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


def asked(once: str, repetition: int, right: bool, model: str = "m", category: str = "structure") -> Trial:
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
        asked(f"{category}{at}", repetition, (at + repetition) % 3 > 0, model, category)
        for category in ("structure", "behaviour")
        for at in range(2)
        for repetition in range(1, repeats + 1)
    ]


def text(tally: Tally, verbosity: int = 0, width: int = 80, about: About = ABOUT) -> str:
    return "\n".join(line for line, _ in terminal.lines(tally, about, verbosity, width))


def told(expected: str) -> str:
    return dedent(expected).strip("\n")


def test_repetitions_have_a_table_below_and_notes_that_tell_how_to_read_it() -> None:
    found = text(tallied(*some()))
    assert (
        told("""
        3 repetitions  questions   mean  majority  pass@3  pass^3  within  between
        structure              2  0.667     1.000   1.000   0.000   0.577    0.000
        behaviour              2  0.667     1.000   1.000   0.000   0.577    0.000
        total                  4  0.667     1.000   1.000   0.000   0.577    0.000
    """)
        in found
    )
    assert "n counts replies: a question asked 3 times is 3 of them" in found
    assert "* fewer than 10 questions answered" in found
    assert "\ntotal         12* " in found


def test_verbosely_each_pattern_has_its_line() -> None:
    table = text(tallied(*some()), 1).partition("3 repetitions")[2].partition("\n\n")[0]
    names = [line.split()[0] for line in table.splitlines()[1:6]]
    assert names == ["structure", "next_tasks", "behaviour", "traces", "total"]


def test_without_repetitions_nothing_is_said_of_them() -> None:
    found = text(tallied(*some(repeats=1)))
    assert "repetitions" not in found
    assert "n counts" not in found
    assert "within" not in found


def test_the_mark_of_few_counts_questions_and_not_replies() -> None:
    few = tallied(*(asked("q1", repetition, True) for repetition in range(1, 21)))
    many = tallied(*(asked(f"q{at}", 1, True) for at in range(20)))
    assert "20* " in text(few)
    assert "20* " not in text(many)


def test_questions_with_too_few_replies_are_told() -> None:
    ones = some()
    ones[2] = replace(ones[2], outcome="error", reply=None, score=None)
    assert "1 question with fewer than 3 replies has no part in pass@3 and pass^3" in " ".join(
        text(tallied(*ones)).split()
    )


def test_varied_repetitions_count_once_a_question_in_their_interval() -> None:
    plain = [asked(f"q{at}", repetition, True) for at in range(2) for repetition in range(1, 21)]
    varied = [
        replace(one, question=replace(one.question, id=f"{one.question.id}-vary-o", relation="o", twin=one.question.id))
        for one in plain
    ]
    (relation,) = tallied(*plain, *varied).relations()
    assert (relation.pairs, relation.same) == (40, 40)
    assert relation.interval is not None
    assert relation.interval[0] < 0.5


def test_models_stand_side_by_side_first() -> None:
    wrong = replace(some("m", 1)[0], outcome="wrong", score=Score(0.0))
    ones = [
        wrong,
        *some("m", 1)[1:],
        *(replace(one, outcome="error", reply=None, score=None) for one in some("n", 1)[:1]),
    ]
    found = text(tallied(*ones, *some("n", 1)[1:]))
    assert (
        told("""
        pass rate/mean            m             n
        structure       0.500/0.500*  1.000/1.000*
          next_tasks    0.500/0.500*  1.000/1.000*
        behaviour       1.000/1.000*  1.000/1.000*
          traces        1.000/1.000*  1.000/1.000*
        total           0.750/0.750*  1.000/1.000*
        answered                  4             3
        errors                    0             1
    """)
        in found
    )
    assert "model m" not in found.partition("pass rate")[2]


def test_long_names_of_models_are_numbered_with_a_legend() -> None:
    names = [f"a-provider/a-model-with-quite-a-long-name-{at}" for at in range(3)]
    found = text(tallied(*(one for name in names for one in some(name))))
    assert "pass rate/mean          [1]           [2]           [3]\n" in found
    assert [f"[{at}] {name}" in found for at, name in enumerate(names, 1)] == [True] * 3
    assert "\n[2]                    4  0.667 " in found


def test_a_provider_before_a_name_is_left_out_where_there_is_no_room() -> None:
    names = [f"a-provider-of-many-models/model-{at}" for at in range(4)]
    found = text(tallied(*(one for name in names for one in some(name))))
    assert "  model-3" in found
    assert "[1]" not in found


def test_more_models_than_fit_follow_in_further_tables() -> None:
    found = text(tallied(*(one for at in range(20) for one in some(f"model-number-{at:02}", 1))))
    assert found.count("\npass rate ") == 3
    assert "[20]" in found


def test_more_repetitions_of_many_models_fit() -> None:
    found = text(tallied(*(one for at in range(20) for one in some(f"model-number-{at:02}", 2))), 0, 40)
    assert max(map(columns, found.splitlines())) <= 40


def test_what_a_run_took_is_told_in_a_line() -> None:
    told = "replies took: 12 requests, 1,200 tokens in, 120 out, cost $0.0120"
    assert replies_line(some()) == told
    assert told in text(tallied(*some())).replace("\n", " ")
    assert "cost" not in text(tallied(*some()), -1)


@pytest.mark.parametrize(
    ("reply", "expected"),
    [
        (Reply("A", 10, 2), "2 requests, 110 tokens in, 12 out, cost $0.0010 and 1 of unknown cost"),
        (Reply("A", 10, None, 0.0), "2 requests, at least 110 tokens in, 10 out, cost $0.0010"),
    ],
)
def test_what_is_unknown_is_told_as_unknown(reply: Reply, expected: str) -> None:
    one = some()[0]
    assert replies_line([one, replace(one, reply=reply)]) == f"replies took: {expected}"


def test_cost_and_tokens_are_never_0_for_unknown() -> None:
    one = replace(some()[0], retries=1)
    assert replies_line([replace(one, reply=Reply("A", 10, 2))]).endswith(
        "1 request, 1 retry, 10 tokens in, 2 out, cost unknown"
    )
    assert replies_line([replace(one, reply=Reply("A", cost=0.5))]).endswith("1 retry, tokens unknown, cost $0.5000")
    assert replies_line([replace(one, reply=Reply("A", 1, 1, 0.00001))]).endswith("cost under $0.0001")


def test_where_nobody_was_paid_nothing_is_told_of_it() -> None:
    assert replies_line([replace(one, reply=Reply("A")) for one in some()]) == ""
    assert "asked:" not in text(tallied(*(replace(one, reply=Reply("A")) for one in some())))


def test_times_are_nowhere_and_a_record_tells_the_same() -> None:
    slow = tallied(*(replace(one, reply=Reply("A", 100, 10, 0.001, latency=9.0)) for one in some()))
    record = build(slow, ABOUT)
    for verbosity in (-1, 0, 1):
        assert text(slow, verbosity) == text(tallied(*some()), verbosity)
        assert text(tally_of(record), verbosity, about=about_of(record)) == text(slow, verbosity)


nasty = st.text(st.characters(), max_size=50)


@given(st.lists(nasty, min_size=1, max_size=5, unique=True), st.integers(-1, 1), st.sampled_from([40, 60, 80]))
def test_every_line_fits_and_prints_whatever_models_are_called(names: list[str], verbosity: int, width: int) -> None:
    tally = tallied(*(one for name in names for one in some(name, 2)))
    for line in text(tally, verbosity, width, replace(ABOUT, models=tuple(names))).split("\n"):
        assert columns(line) <= width
        assert line.isprintable()
