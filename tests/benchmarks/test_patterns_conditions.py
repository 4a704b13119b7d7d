from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from itertools import pairwise, product
from random import Random

import pytest
from workflow_simulation import a_level, simulated

from pytest_taskgraph.benchmarks.understanding.patterns.behaviour.conditional_links import (
    MOST_SITUATIONS,
    mutually_exclusive,
    next_task_in_situation,
    sample_situations,
)
from pytest_taskgraph.benchmarks.understanding.patterns.pattern import Case, Pattern
from pytest_taskgraph.benchmarks.understanding.questions.sample import draw
from pytest_taskgraph.workflow.guards.cells import Constant
from pytest_taskgraph.workflow.guards.solver import comparisons, covers, evaluate_guards, read_guard
from pytest_taskgraph.workflow.model import END, START, Domain, Link, Parameter, Task, Workflow
from pytest_taskgraph.workflow.semantics.situations import read_situation

OURS = (mutually_exclusive, next_task_in_situation)


def choice(guards: Mapping[str, str | None], *parameters: Parameter) -> Workflow:
    """A workflow in which Weigh leads to tasks, each under its guard, and they to Serve."""
    links = [Link("Weigh", name, guard) for name, guard in guards.items()] + [Link(name, "Serve") for name in guards]
    tasks = tuple(map(Task, ("Weigh", *guards, "Serve")))
    return Workflow(
        "Soup", tasks=tasks, links=(Link(START, "Weigh"), *links, Link("Serve", END)), parameters=parameters
    )


def asked(pattern: Pattern, workflow: Workflow) -> list[Case]:
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
        ({"Salt": "n > 1", "Stir": "n < 2"}, None, []),  # among integers they exclude each other, among reals not
        ({"Salt": "it is warm", "Stir": "it is late"}, None, []),
        ({"Salt": "n > 1"}, None, []),
    ],
)
def test_conditions_exclude_each_other_over_the_domain(
    guards: Mapping[str, str], domain: Domain | None, answers: list[str]
) -> None:
    workflow = choice(guards, Parameter("n", domain=domain))
    assert [case.answer for case in asked(mutually_exclusive, workflow)] == answers


def test_otherwise_beside_one_condition_comes_last() -> None:
    easy = asked(mutually_exclusive, choice({"Salt": "n > 1", "Stir": "Otherwise"}))
    hard = asked(mutually_exclusive, choice(OVERLAP))
    assert (easy[0].rank, hard[0].rank) == (1, 0)


@pytest.mark.parametrize("ordinal", range(6))
def test_no_point_of_a_grid_contradicts_what_is_said_of_drawn_conditions(ordinal: int) -> None:
    drawn = draw(mutually_exclusive, 12, 5, ordinal)
    level, task = drawn.scope.workflow, drawn.case.fields["task"]
    guards = [read_guard(link.guard) for link in level.links if link.source == task and link.guard]
    domains = {one.name: one.domain for one in level.parameters}
    compared: dict[str, set[Constant]] = {}
    for one in (one for guard in guards for one in comparisons(guard)):
        compared.setdefault(one.parameter, set()).add(one.value)
    columns = [_grid(constants, domains.get(name)) for name, constants in compared.items()]
    rows = [dict(zip(compared, row, strict=True)) for row in product(*columns)]
    assert any(sum(evaluate_guards(guards, row)) > 1 for row in rows) == (drawn.case.answer == "no")


def _grid(constants: set[Constant], domain: Domain | None) -> list[float | str]:
    """Values of a parameter that is compared with these constants: all words, or halves within the domain."""
    words = sorted(one for one in constants if isinstance(one, str))
    if words:
        return [*words, *(domain.words if domain else ["something else"])]
    halves = [i / 2 for i in range(-4, 100)]
    within = [one for one in halves if domain is None or (domain.low or 0) <= one <= (domain.high or 0)]
    return [one for one in within if domain is None or domain.kind == "real" or one % 1 == 0]


def test_mutually_exclusive_drawn_guards_have_every_sign_with_either_answer() -> None:
    signs: dict[object, set[str]] = {"yes": set(), "no": set()}
    for ordinal in range(60):
        drawn = draw(mutually_exclusive, 12, 5, ordinal)
        guards = [link.guard or "" for link in drawn.scope.workflow.links if link.source == drawn.case.fields["task"]]
        signs[drawn.case.answer] |= {word for guard in guards for word in guard.split() if not word[-1].isdigit()}
    assert signs["yes"] & signs["no"] >= {"<", "<=", ">", ">=", "=", "!=", "and", "or"}


def test_mutually_exclusive_drawn_guards_leave_gaps_and_cover_with_either_answer() -> None:
    found = set()
    for ordinal in range(40):
        drawn = draw(mutually_exclusive, 12, 6, ordinal)
        level = drawn.scope.workflow
        guards = [link.guard for link in level.links if link.source == drawn.case.fields["task"] and link.guard]
        found.add((drawn.case.answer, covers(guards, level.parameters)))
    assert found >= {("yes", True), ("yes", False), ("no", True), ("no", False)}


def test_the_next_task_hangs_on_the_situation() -> None:
    workflow = choice({"Salt": "n > 1", "Stir": "otherwise"})
    for case in asked(next_task_in_situation, workflow):
        value = read_situation(case.fields["situation"])["n"]
        assert not isinstance(value, str)
        assert (case.fields["task"], case.answer) == ("Weigh", "Salt" if value > 1 else "Stir")
    assert {case.stratum for case in asked(next_task_in_situation, workflow)} == {"condition", "otherwise"}


def test_where_two_tasks_come_next_nothing_is_asked() -> None:
    workflow = choice(OVERLAP)
    values = [read_situation(case.fields["situation"])["n"] for case in asked(next_task_in_situation, workflow)]
    assert values
    assert all(not isinstance(value, str) and not 1 < value < 3 for value in values)
    assert asked(next_task_in_situation, choice({"Salt": None, "Stir": None})) == []


def test_the_next_task_is_next_in_every_simulated_run_that_nothing_runs_beside() -> None:
    seen = 0
    for seed in range(60):
        level = a_level(Random(f"next {seed}"))
        for case in asked(next_task_in_situation, level)[:4]:
            found = simulated(level, read_situation(case.fields["situation"]), 12)
            if found is not None and len(found) == 1:
                (trace,) = found
                after = {b for a, b in pairwise((*trace, END)) if a == case.fields["task"]}
                assert after == {case.answer}, (level, case)
                seen += 1
    assert seen > 5


def test_situations_do_not_hang_on_names_or_declaration() -> None:
    guards = {"Salt": "n > 1", "Stir": "n <= 1"}
    more = {"Salt": "zeta > 1", "Stir": "zeta <= 1"}
    one = [list(told.values()) for told in sample_situations(choice(guards))]
    other = [list(told.values()) for told in sample_situations(choice(dict(reversed(more.items()))))]
    assert one == other
    assert list(sample_situations(choice({"Salt": None}))) == []


def test_a_word_that_no_condition_names_is_one_to_be_read() -> None:
    workflow = choice({"Salt": "mode = fast", "Stir": "mode = other", "Wait": "otherwise"})
    assert {told["mode"] for told in sample_situations(workflow)} == {"fast", "other", "other2"}


def test_situations_are_few_and_different() -> None:
    workflow = choice({f"T{i}": f"n{i} > {i}" for i in range(8)})
    found = list(sample_situations(replace(workflow)))
    assert len(found) == MOST_SITUATIONS
    assert not any(a == b for (i, a), (j, b) in product(enumerate(found), repeat=2) if i < j)
