from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator

import pytest
from drawn_workflows import generate
from situation_families import situations
from workflow_builders import level
from workflow_simulation import simulated

from pytest_taskgraph.families.understanding.patterns.behaviour.run_beginnings import (
    MOST_BEGINNINGS,
    next_step_choice,
    next_step_possible,
)
from pytest_taskgraph.families.understanding.patterns.pattern import Case
from pytest_taskgraph.families.understanding.patterns.scope import cases, scopes
from pytest_taskgraph.families.understanding.questions.sample import draw
from pytest_taskgraph.generation.recipe import Recipe
from pytest_taskgraph.workflow.model import Domain, Effect, Parameter, Task, Workflow

LONGEST = 60  # executions of a trace
SIZE = 9  # small enough to simulate every interleaving
N = (Parameter("n", domain=Domain("integer", 0, 9)),)
CHOICE = level(
    "START -> A\nA -> B [n > 4]\nA -> C [n <= 4]\nB -> D\nC -> D\nD -> E\nD -> F\nE -> G\nF -> G\nG -> END",
    parameters=N,
)
ROW = level("START -> A\nA -> B\nB -> C\nC -> END")


def looping_level() -> Workflow:
    workflow = level("START -> A\nA -> B\nB -> C\nC -> A [n < 3]\nC -> D [otherwise]\nD -> END", parameters=N)
    tasks = (Task("A", effects=(Effect("n", "n + 1"),)), *map(Task, "BCD"))
    return Workflow("W", tasks=tasks, links=workflow.links, parameters=N)


def done_of(case: Case) -> tuple[str, ...]:
    return tuple(re.findall(r"'([^']*)'", case.fields["done"]))


def asked(workflow: Workflow, hardest: bool = False) -> dict[tuple[str, str], tuple[object, int, object]]:
    """Return answer, rank and kind of the candidate of each case, by what has run and the task asked about."""
    return {
        ("".join(done_of(case)), case.fields["task"]): (case.answer, case.rank, case.labels["candidate"])
        for case in next_step_possible.cases(workflow, hardest=hardest)
    }


def drawn_cases(pattern_name: str) -> Iterator[tuple[set[tuple[str, ...]], Case]]:
    """Yield the cases of drawn workflows, with all traces of their level."""
    pattern = {"possible": next_step_possible, "choice": next_step_choice}[pattern_name]
    for ordinal in range(6):
        for scope in scopes(draw(pattern, SIZE, 5, ordinal).project):
            found = [simulated(scope.workflow, situation, LONGEST) or set() for situation in situations(scope.workflow)]
            traces = set[tuple[str, ...]]().union(*found)
            for case in cases(pattern, scope):
                yield traces, case


def can_follow(traces: set[tuple[str, ...]], done: tuple[str, ...], task: str) -> bool:
    return any(trace[: len(done) + 1] == (*done, task) for trace in traces)


def test_next_step_possible_equals_simulation() -> None:
    kinds = Counter[tuple[object, int]]()
    for traces, case in drawn_cases("possible"):
        assert case.answer == ("yes" if can_follow(traces, done_of(case), case.fields["task"]) else "no")
        kinds[case.labels["candidate"], case.rank] += 1
    assert {kind for kind, _ in kinds} == {"next", "later", "excluded", "done"}
    assert all(kinds[kind, 0] for kind in ("next", "later", "excluded"))


def test_next_step_choice_equals_simulation() -> None:
    for traces, case in drawn_cases("choice"):
        options = {case.fields["first"], case.fields["second"]}
        assert {task for task in options if can_follow(traces, done_of(case), task)} == {case.answer}


def test_next_step_possible_of_choice_and_fork_asks_all_kinds() -> None:
    answers = asked(CHOICE)
    assert answers["AB", "D"] == ("yes", 0, "next")
    assert answers["AB", "C"] == ("no", 0, "excluded")
    assert answers["ABD", "E"] == answers["ABD", "F"] == ("yes", 0, "next")
    assert answers["ABDE", "F"] == ("yes", 0, "next")
    assert answers["ABDE", "G"] == ("no", 0, "later")
    assert answers["ABDE", "E"] == ("no", 1, "done")
    assert answers["A", "D"] == ("no", 1, "later")  # no task directly before it has run


def test_next_step_possible_in_loop_asks_about_task_that_has_run() -> None:
    answers = asked(looping_level())
    assert answers["ABC", "A"] == ("yes", 0, "next")
    assert answers["AB", "B"] == ("no", 0, "done")
    assert {done for done, _ in answers} == {"A", "AB", "ABC"}  # no task twice


def test_next_step_possible_hardest_leaves_out_easy_cases() -> None:
    hard = {key: value for key, value in asked(CHOICE).items() if value[1] == 0}
    assert asked(CHOICE, hardest=True) == hard


def test_next_step_without_condition_is_asked_about_single_run() -> None:
    assert asked(ROW) == {
        ("A", "B"): ("yes", 0, "next"), ("A", "A"): ("no", 1, "done"), ("A", "C"): ("no", 1, "later"),
        ("AB", "C"): ("yes", 0, "next"), ("AB", "A"): ("no", 1, "done"), ("AB", "B"): ("no", 1, "done"),
    }  # fmt: skip


@pytest.mark.parametrize(
    "text",
    ["START -> A\nA -> B [it is late]\nA -> C [otherwise]\nB -> END\nC -> END", "START -> A\nA -> END"],
    ids=["prose", "one task"],
)
def test_next_step_without_known_run_or_beginning_is_not_asked(text: str) -> None:
    assert asked(level(text)) == {}
    assert list(next_step_choice.cases(level(text))) == []


def test_next_step_choice_asks_each_pair_in_both_orders() -> None:
    pairs = Counter(
        (case.fields["done"], frozenset({case.fields["first"], case.fields["second"]}))
        for case in next_step_choice.cases(CHOICE)
    )
    assert set(pairs.values()) == {2}


def test_next_step_choice_ranks_right_task_behind_last_one_second() -> None:
    ranks = {
        ("".join(done_of(case)), frozenset({case.fields["first"], case.fields["second"]})): case.rank
        for case in next_step_choice.cases(CHOICE)
    }
    assert ranks["AB", frozenset("DC")] == 1  # a link leads from B to D
    assert ranks["ABDE", frozenset("FG")] == 0
    assert ranks["ABDE", frozenset("FD")] == 2


def test_next_step_large_level_is_sampled() -> None:
    workflow = generate(Recipe(tasks=90, features=frozenset({"parallel", "exclusive", "inclusive"})), 1)
    assert 20 < len({case.fields["done"] for case in next_step_possible.cases(workflow)}) <= MOST_BEGINNINGS
