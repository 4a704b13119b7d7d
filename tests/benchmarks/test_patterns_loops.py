from __future__ import annotations

from collections import Counter
from dataclasses import replace
from random import Random

import pytest
from situation_families import read_situation
from surface_rules import drawn_questions
from workflow_simulation import a_level, simulated

from pytest_taskgraph.families.understanding.patterns.behaviour.loop_ends import (
    MOST_COUNTED,
    loop_count,
    loop_ends,
    loop_exit_condition,
)
from pytest_taskgraph.families.understanding.patterns.pattern import Case, Pattern
from pytest_taskgraph.families.understanding.question_soundness.answer_giveaways import SEED
from pytest_taskgraph.families.understanding.questions.sample import draw
from pytest_taskgraph.workflow.model import END, START, Domain, Effect, Link, Parameter, Task, Workflow

OURS = (loop_ends, loop_exit_condition, loop_count)


def loop_workflow(step: str, back: str = "n < 5", on: str = "otherwise", domain: Domain | None = None) -> Workflow:
    """Return a workflow in which Stir and Taste repeat; Stir changes n by the step."""
    effects = (Effect("n", f"n {step}"),) if step else ()
    links = (Link(START, "Boil"), Link("Boil", "Stir"), Link("Stir", "Taste"), Link("Taste", "Stir", back),
             Link("Taste", "Serve", on), Link("Serve", END))  # fmt: skip
    tasks = (Task("Boil"), Task("Stir", effects=effects), Task("Taste"), Task("Serve"))
    return Workflow("Soup", tasks=tasks, links=links, parameters=(Parameter("n", domain=domain),))


def list_cases(pattern: Pattern, workflow: Workflow) -> list[Case]:
    return list(pattern.cases(workflow))


def value_of_n(case: Case) -> float:
    """Return the value of n in the situation of the case."""
    return float(read_situation(case.fields["situation"])["n"])


@pytest.mark.parametrize("step", [1, 2, 3, -1, -2])
def test_loop_ends_if_change_moves_towards_exit(step: int) -> None:
    loop_cases = list_cases(loop_ends, loop_workflow(f"+ {step}" if step > 0 else f"- {-step}"))
    assert {case.fields["task"] for case in loop_cases} == {"Stir", "Taste"}
    assert {case.answer for case in loop_cases} == ({"yes"} if step > 0 else {"yes", "no"})
    for case in loop_cases:
        assert case.answer == ("yes" if step > 0 or value_of_n(case) + step >= 5 else "no")
        at_once = "at once" if value_of_n(case) + step >= 5 else "repeated"
        assert case.stratum == ("" if case.answer == "no" else at_once)


@pytest.mark.parametrize("step", [1, 2, 3])
def test_loop_count_by_hand(step: int) -> None:
    loop_cases = list_cases(loop_count, loop_workflow(f"+ {step}"))
    assert len({case.answer for case in loop_cases}) > 2
    for case in loop_cases:
        value, passes = value_of_n(case) + step, 1
        while value < 5:
            value, passes = value + step, passes + 1
        assert (case.answer, case.stratum) == (passes, str(passes))
        assert passes <= MOST_COUNTED


def test_loop_count_never_left_loop_left_out() -> None:
    assert list_cases(loop_count, loop_workflow("- 1")) == []


def test_loop_count_loop_on_branch_not_taken_is_zero() -> None:
    soup = loop_workflow("+ 1")
    links = (
        *soup.links[2:],
        Link(START, "Boil"),
        Link("Boil", "Stir", "salty = no"),
        Link("Boil", "Serve", "otherwise"),
    )
    answers = {
        (case.fields["task"], "salty = no" in case.fields["situation"]): {0} | {case.answer}
        for case in list_cases(loop_count, replace(soup, links=links))
        if case.answer == 0
    }
    assert answers == {("Stir", False): {0}, ("Taste", False): {0}}


def test_loop_count_drawn_answers_are_even() -> None:
    counts = Counter(drawn.case.answer for drawn in drawn_questions(loop_count, 100, 12, "", SEED))
    assert set(counts) == set(range(MOST_COUNTED + 1))
    assert max(counts.values()) <= 0.15 * 100


@pytest.mark.parametrize(
    ("back", "on", "domain", "right", "wrong", "rank"),
    [
        ("n < 5", "otherwise", None, "n >= 5", "n > 5", 0),
        ("n < 5", "n >= 5", None, "n >= 5", "n < 5", 1),
        ("n < 5", "otherwise", Domain("integer"), "n > 4", "n > 5", 0),
        ("n < 5", "otherwise", Domain("real"), "not n < 5", "n > 4", 0),
        ("n < 5 and n > 1", "otherwise", None, "n <= 1 or n >= 5", "n >= 5", 0),
    ],
)
def test_loop_exit_condition_accepts_equivalent_answers(
    back: str, on: str, domain: Domain | None, right: str, wrong: str, rank: int
) -> None:
    loop_cases = list_cases(loop_exit_condition, loop_workflow("", back, on, domain))
    assert [case.fields["task"] for case in loop_cases] == ["Stir", "Taste"]
    for case in loop_cases:
        values = [_equivalence(answer, case) for answer in (right, wrong)]
        assert (values, case.rank) == ([1.0, 0.0], rank)


def _equivalence(answer: str, case: Case) -> float | None:
    from pytest_taskgraph.scoring.metrics.agreement import equivalence

    return equivalence(answer, case.answer)


def test_loop_patterns_without_loop_have_no_case() -> None:
    straight = Workflow("Soup", tasks=(Task("Boil"),), links=(Link(START, "Boil"), Link("Boil", END)))
    assert [list_cases(pattern, straight) for pattern in OURS] == [[], [], []]


def test_loop_exit_condition_prose_left_out() -> None:
    assert list_cases(loop_exit_condition, loop_workflow("", "it is bland", "otherwise")) == []


def test_loop_ends_no_is_endless_in_simulation() -> None:
    endless = 0
    for seed in range(80):
        level = a_level(Random(f"loops {seed}"))
        for case in [endless_case for endless_case in list_cases(loop_ends, level) if endless_case.answer == "no"][:2]:
            assert simulated(level, read_situation(case.fields["situation"]), 25) is None
            endless += 1
    assert endless > 3


@pytest.mark.parametrize("ordinal", range(6))
def test_loop_count_drawn_answer_equals_simulation(ordinal: int) -> None:
    drawn_case = draw(loop_count, 12, 5, ordinal)
    situation = read_situation(drawn_case.case.fields["situation"])
    traces = simulated(drawn_case.scope.workflow, situation, 60)
    assert traces
    assert {trace.count(drawn_case.case.fields["task"]) for trace in traces} == {drawn_case.case.answer}


def test_loop_ends_draws_both_answers() -> None:
    assert [draw(loop_ends, 12, 5, ordinal).case.answer for ordinal in range(4)] == ["yes", "no", "yes", "no"]
