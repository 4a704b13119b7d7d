from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from itertools import pairwise, product
from random import Random

import pytest
from situation_families import read_situation
from workflow_simulation import a_level, simulated

from pytest_taskgraph.families.understanding.patterns.behaviour.conditional_links import (
    MOST_SITUATIONS,
    mutually_exclusive,
    next_task_in_situation,
    sample_situations,
)
from pytest_taskgraph.families.understanding.patterns.pattern import Case, Pattern
from pytest_taskgraph.families.understanding.questions.sample import draw
from pytest_taskgraph.workflow.guards.cells import Constant
from pytest_taskgraph.workflow.guards.solver import comparisons, covers, evaluate_guards, read_guard
from pytest_taskgraph.workflow.model import END, START, Domain, Link, Parameter, Task, Workflow

OURS = (mutually_exclusive, next_task_in_situation)


def choice(guards: Mapping[str, str | None], *parameters: Parameter) -> Workflow:
    """Return a workflow in which Weigh leads to tasks, each under its guard, and these to Serve."""
    links = [Link("Weigh", name, guard) for name, guard in guards.items()] + [Link(name, "Serve") for name in guards]
    tasks = tuple(map(Task, ("Weigh", *guards, "Serve")))
    return Workflow(
        "Soup", tasks=tasks, links=(Link(START, "Weigh"), *links, Link("Serve", END)), parameters=parameters
    )


def list_cases(pattern: Pattern, workflow: Workflow) -> list[Case]:
    return list(pattern.cases(workflow))


OVERLAP = {"Salt": "n > 1", "Stir": "n < 3"}


@pytest.mark.parametrize(
    ("guards", "domain", "answers"),
    [
        (OVERLAP, None, ["no"]),
        ({"Salt": "n >= 2", "Stir": "n < 2"}, None, ["yes"]),
        ({"Salt": "n > 1", "Stir": "n < 2"}, Domain("integer"), ["yes"]),
        ({"Salt": "n > 1", "Stir": "n < 2"}, Domain("real"), ["no"]),
        ({"Salt": "n >= 2", "Stir": "n < 2", "Wait": "otherwise"}, None, ["yes"]),
        ({"Salt": "n > 1", "Stir": "n < 3", "Wait": "otherwise"}, None, ["no"]),
        ({"Salt": "n > 2", "Stir": "n < 3.5"}, None, ["no"]),
        ({"Salt": "n > 1", "Stir": "n < 2"}, None, []),  # exclusive for integers, not for reals
        ({"Salt": "it is warm", "Stir": "it is late"}, None, []),
        ({"Salt": "n > 1"}, None, []),
    ],
)
def test_mutually_exclusive_depends_on_domain(
    guards: Mapping[str, str], domain: Domain | None, answers: list[str]
) -> None:
    workflow = choice(guards, Parameter("n", domain=domain))
    assert [case.answer for case in list_cases(mutually_exclusive, workflow)] == answers


def test_mutually_exclusive_otherwise_pair_ranks_last() -> None:
    easy = list_cases(mutually_exclusive, choice({"Salt": "n > 1", "Stir": "Otherwise"}))
    hard = list_cases(mutually_exclusive, choice(OVERLAP))
    assert (easy[0].rank, hard[0].rank) == (1, 0)


@pytest.mark.parametrize("ordinal", range(6))
def test_mutually_exclusive_drawn_guards_agree_with_grid(ordinal: int) -> None:
    drawn_case = draw(mutually_exclusive, 12, 5, ordinal)
    level, task = drawn_case.scope.workflow, drawn_case.case.fields["task"]
    guards = [read_guard(link.guard) for link in level.links if link.source == task and link.guard]
    domains = {parameter.name: parameter.domain for parameter in level.parameters}
    compared: dict[str, set[Constant]] = {}
    for comparison in (each for guard in guards for each in comparisons(guard)):
        compared.setdefault(comparison.parameter, set()).add(comparison.value)
    columns = [_grid(constants, domains.get(name)) for name, constants in compared.items()]
    rows = [dict(zip(compared, row, strict=True)) for row in product(*columns)]
    assert any(sum(evaluate_guards(guards, row)) > 1 for row in rows) == (drawn_case.case.answer == "no")


def _grid(constants: set[Constant], domain: Domain | None) -> list[float | str]:
    """Return values of a parameter compared with these constants: all words, or halves within the domain."""
    words = sorted(constant for constant in constants if isinstance(constant, str))
    if words:
        return [*words, *(domain.words if domain else ["something else"])]
    halves = [i / 2 for i in range(-4, 100)]
    values = [value for value in halves if domain is None or (domain.low or 0) <= value <= (domain.high or 0)]
    return [value for value in values if domain is None or domain.kind == "real" or value % 1 == 0]


def test_mutually_exclusive_signs_occur_with_either_answer() -> None:
    signs: dict[object, set[str]] = {"yes": set(), "no": set()}
    for ordinal in range(60):
        drawn_case = draw(mutually_exclusive, 12, 5, ordinal)
        guards = [
            link.guard or ""
            for link in drawn_case.scope.workflow.links
            if link.source == drawn_case.case.fields["task"]
        ]
        signs[drawn_case.case.answer] |= {word for guard in guards for word in guard.split() if not word[-1].isdigit()}
    assert signs["yes"] & signs["no"] >= {"<", "<=", ">", ">=", "=", "!=", "and", "or"}


def test_mutually_exclusive_gaps_occur_with_either_answer() -> None:
    combinations = set()
    for ordinal in range(40):
        drawn_case = draw(mutually_exclusive, 12, 6, ordinal)
        level = drawn_case.scope.workflow
        guards = [link.guard for link in level.links if link.source == drawn_case.case.fields["task"] and link.guard]
        combinations.add((drawn_case.case.answer, covers(guards, level.parameters)))
    assert combinations >= {("yes", True), ("yes", False), ("no", True), ("no", False)}


def test_next_task_depends_on_situation() -> None:
    workflow = choice({"Salt": "n > 1", "Stir": "otherwise"})
    for case in list_cases(next_task_in_situation, workflow):
        value = read_situation(case.fields["situation"])["n"]
        assert not isinstance(value, str)
        assert (case.fields["task"], case.answer) == ("Weigh", "Salt" if value > 1 else "Stir")
    assert {case.stratum for case in list_cases(next_task_in_situation, workflow)} == {"condition", "otherwise"}


def test_next_task_ambiguous_situation_left_out() -> None:
    workflow = choice(OVERLAP)
    values = [read_situation(case.fields["situation"])["n"] for case in list_cases(next_task_in_situation, workflow)]
    assert values
    assert all(not isinstance(value, str) and not 1 < value < 3 for value in values)
    assert list_cases(next_task_in_situation, choice({"Salt": None, "Stir": None})) == []


def test_next_task_follows_in_simulated_runs() -> None:
    seen = 0
    for seed in range(60):
        level = a_level(Random(f"next {seed}"))
        for case in list_cases(next_task_in_situation, level)[:4]:
            traces = simulated(level, read_situation(case.fields["situation"]), 12)
            if traces is not None and len(traces) == 1:
                (trace,) = traces
                after = {b for a, b in pairwise((*trace, END)) if a == case.fields["task"]}
                assert after == {case.answer}, (level, case)
                seen += 1
    assert seen > 5


def test_situations_independent_of_names_and_order() -> None:
    guards = {"Salt": "n > 1", "Stir": "n <= 1"}
    more = {"Salt": "zeta > 1", "Stir": "zeta <= 1"}
    first = [list(situation.values()) for situation in sample_situations(choice(guards))]
    reversed_renamed = choice(dict(reversed(more.items())))
    assert first == [list(situation.values()) for situation in sample_situations(reversed_renamed)]
    assert list(sample_situations(choice({"Salt": None}))) == []


def test_situations_unnamed_word_is_readable() -> None:
    workflow = choice({"Salt": "mode = fast", "Stir": "mode = other", "Wait": "otherwise"})
    assert {situation["mode"] for situation in sample_situations(workflow)} == {"fast", "other", "other2"}


def test_situations_are_bounded_and_distinct() -> None:
    workflow = choice({f"T{i}": f"n{i} > {i}" for i in range(8)})
    situations = list(sample_situations(replace(workflow)))
    assert len(situations) == MOST_SITUATIONS
    assert not any(a == b for (i, a), (j, b) in product(enumerate(situations), repeat=2) if i < j)
