from __future__ import annotations

from collections import Counter
from dataclasses import replace
from random import Random

import pytest
from workflow_simulation import a_level, simulated

from pytest_taskgraph.benchmarks.understanding.patterns.behaviour.loop_ends import (
    MOST_COUNTED,
    loop_count,
    loop_ends,
    loop_exit_condition,
)
from pytest_taskgraph.benchmarks.understanding.patterns.pattern import Case, Pattern
from pytest_taskgraph.benchmarks.understanding.questions.sample import draw
from pytest_taskgraph.workflow.model import END, START, Domain, Effect, Link, Parameter, Task, Workflow
from pytest_taskgraph.workflow.semantics.situations import read_situation

OURS = (loop_ends, loop_exit_condition, loop_count)


def stirring(step: str, back: str = "n < 5", on: str = "otherwise", domain: Domain | None = None) -> Workflow:
    """A workflow in which Stir and Taste repeat; Stir changes n by the step."""
    effects = (Effect("n", f"n {step}"),) if step else ()
    links = (Link(START, "Boil"), Link("Boil", "Stir"), Link("Stir", "Taste"), Link("Taste", "Stir", back),
             Link("Taste", "Serve", on), Link("Serve", END))  # fmt: skip
    tasks = (Task("Boil"), Task("Stir", effects=effects), Task("Taste"), Task("Serve"))
    return Workflow("Soup", tasks=tasks, links=links, parameters=(Parameter("n", domain=domain),))


def asked(pattern: Pattern, workflow: Workflow) -> list[Case]:
    return list(pattern.cases(workflow))


def told(case: Case) -> float:
    """The value of n in the situation that the case is about."""
    return float(read_situation(case.fields["situation"])["n"])


@pytest.mark.parametrize("step", [1, 2, 3, -1, -2])
def test_a_loop_ends_where_the_change_moves_towards_the_exit(step: int) -> None:
    found = asked(loop_ends, stirring(f"+ {step}" if step > 0 else f"- {-step}"))
    assert {case.fields["task"] for case in found} == {"Stir", "Taste"}
    assert {case.answer for case in found} == ({"yes"} if step > 0 else {"yes", "no"})
    for case in found:
        assert case.answer == ("yes" if step > 0 or told(case) + step >= 5 else "no")
        at_once = "at once" if told(case) + step >= 5 else "repeated"
        assert case.stratum == ("" if case.answer == "no" else at_once)


@pytest.mark.parametrize("step", [1, 2, 3])
def test_tasks_of_a_loop_are_counted_as_by_hand(step: int) -> None:
    found = asked(loop_count, stirring(f"+ {step}"))
    assert len({case.answer for case in found}) > 2
    for case in found:
        value, passes = told(case) + step, 1
        while value < 5:
            value, passes = value + step, passes + 1
        assert (case.answer, case.stratum) == (passes, str(passes))
        assert passes <= MOST_COUNTED


def test_loop_count_loop_that_is_never_repeated_and_left_is_not_asked() -> None:
    assert asked(loop_count, stirring("- 1")) == []


def test_loop_count_loop_on_branch_not_taken_is_zero() -> None:
    soup = stirring("+ 1")
    links = (
        *soup.links[2:],
        Link(START, "Boil"),
        Link("Boil", "Stir", "salty = no"),
        Link("Boil", "Serve", "otherwise"),
    )
    answers = {
        (case.fields["task"], "salty = no" in case.fields["situation"]): {0} | {case.answer}
        for case in asked(loop_count, replace(soup, links=links))
        if case.answer == 0
    }
    assert answers == {("Stir", False): {0}, ("Taste", False): {0}}


def test_loop_count_drawn_answers_are_even() -> None:
    counts = Counter(draw(loop_count, 12, 5, ordinal).case.answer for ordinal in range(260))
    assert set(counts) == set(range(MOST_COUNTED + 1))
    assert max(counts.values()) <= 0.15 * 260


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
def test_a_loop_ends_under_what_is_equal_to_its_way_out(
    back: str, on: str, domain: Domain | None, right: str, wrong: str, rank: int
) -> None:
    found = asked(loop_exit_condition, stirring("", back, on, domain))
    assert [case.fields["task"] for case in found] == ["Stir", "Taste"]
    for case in found:
        values = [_equal(answer, case) for answer in (right, wrong)]
        assert (values, case.rank) == ([1.0, 0.0], rank)


def _equal(answer: str, case: Case) -> float | None:
    from pytest_taskgraph.scoring.metrics.agreement import equivalence

    return equivalence(answer, case.answer)


def test_of_a_level_without_loops_nothing_is_asked() -> None:
    straight = Workflow("Soup", tasks=(Task("Boil"),), links=(Link(START, "Boil"), Link("Boil", END)))
    assert [asked(pattern, straight) for pattern in OURS] == [[], [], []]


def test_prose_is_no_condition_to_ask_for() -> None:
    assert asked(loop_exit_condition, stirring("", "it is bland", "otherwise")) == []


def test_loop_ends_no_is_endless_in_simulation() -> None:
    endless = 0
    for seed in range(80):
        level = a_level(Random(f"loops {seed}"))
        for case in [one for one in asked(loop_ends, level) if one.answer == "no"][:2]:
            assert simulated(level, read_situation(case.fields["situation"]), 25) is None
            endless += 1
    assert endless > 3


@pytest.mark.parametrize("ordinal", range(6))
def test_drawn_loops_run_in_the_simulation_as_often_as_is_said(ordinal: int) -> None:
    drawn = draw(loop_count, 12, 5, ordinal)
    situation = read_situation(drawn.case.fields["situation"])
    found = simulated(drawn.scope.workflow, situation, 60)
    assert found
    assert {trace.count(drawn.case.fields["task"]) for trace in found} == {drawn.case.answer}


def test_both_answers_come_up() -> None:
    assert [draw(loop_ends, 12, 5, ordinal).case.answer for ordinal in range(4)] == ["yes", "no", "yes", "no"]
