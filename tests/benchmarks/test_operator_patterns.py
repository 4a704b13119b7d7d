from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from itertools import pairwise

import pytest

from pytest_taskgraph.benchmarks.understanding.patterns.pattern import Case, Pattern
from pytest_taskgraph.benchmarks.understanding.patterns.scope import Scope, sentence
from pytest_taskgraph.benchmarks.understanding.patterns.structure.operators import (
    all_parallel_tasks,
    operator_block,
    operator_existence,
    parallel_block,
    parallel_pair,
    parallel_to_task,
)
from pytest_taskgraph.benchmarks.understanding.questions.sample import draw
from pytest_taskgraph.workflow.model import END, START, Link, Task, Workflow

ALL = (operator_existence, parallel_pair, parallel_block, parallel_to_task, all_parallel_tasks, operator_block)


def level(chains: Mapping[str, str | None]) -> Workflow:
    """A workflow of chains "A B C", the last link of each under a guard or none."""
    links = []
    for chain, guard in chains.items():
        names = chain.split()
        links += [Link(a, b) for a, b in pairwise(names[:-1])]
        links.append(Link(names[-2], names[-1], guard))
    tasks = dict.fromkeys(name for link in links for name in (link.source, link.target) if name not in (START, END))
    return Workflow("Soup", tasks=tuple(map(Task, tasks)), links=tuple(links))


COOK = level(
    {
        "START Wash Chop Mix": None,  # Wash forks into Chop and Boil; Mix joins
        "Wash Boil": None,
        "Boil Salt": "water = hard",  # then Salt or Pepper
        "Boil Pepper": "otherwise",
        "Salt Mix": None,
        "Pepper Mix": None,
        "Mix Stir": None,
        "Stir Taste": None,
        "Taste Stir": "taste < 3",
        "Taste Serve": "otherwise",
        "Serve END": None,
    }
)


def asked(pattern: Pattern, workflow: Workflow = COOK) -> list[Case]:
    return list(pattern.cases(workflow))


def test_an_operator_that_can_be_read_two_ways_is_not_asked_about() -> None:
    answers = {case.fields["operator"]: case.answer for case in asked(operator_existence)}
    assert answers == {"parallel block": "yes", "exclusive choice": "yes", "inclusive choice": "no", "loop": "yes"}
    alone = level({"START Stir Taste": None, "Taste Stir": "taste < 3", "Taste END": "otherwise"})
    assert "exclusive choice" not in [case.fields["operator"] for case in asked(operator_existence, alone)]


def test_pairs_on_two_branches_of_a_choice_are_hard_and_far_apart_ones_are_not() -> None:
    found = {(case.fields["a"], case.fields["b"]): case for case in asked(parallel_pair)}
    kinds = {pair: (case.answer, case.labels["pair"], case.rank) for pair, case in found.items()}
    assert len(found) == 9 * 8 / 2
    assert kinds["Chop", "Salt"] == ("yes", "parallel", 0)
    assert kinds["Salt", "Pepper"] == ("no", "alternative", 0)
    assert kinds["Boil", "Salt"] == ("no", "ordered", 0)
    assert kinds["Wash", "Serve"] == ("no", "ordered", 1)


def test_an_undecided_pair_is_not_asked_about() -> None:
    vague = level({"START A B": "it rains", "A C": "it pours", "B END": None, "C END": None})
    assert [(case.fields["a"], case.fields["b"]) for case in asked(parallel_pair, vague)] == [("A", "B"), ("A", "C")]
    assert [case.fields["task"] for case in asked(parallel_to_task, vague)] == ["A"]


def test_blocks_are_asked_about_by_the_task_before_them() -> None:
    fork = [(case.fields["task"], case.answer) for case in asked(parallel_block)]
    assert fork == [("Wash", ["Boil", "Chop", "Pepper", "Salt"])]
    others = [(case.fields["operator"], case.fields["task"], case.answer) for case in asked(operator_block)]
    assert others == [("exclusive choice", "Boil", ["Pepper", "Salt"]), ("loop", "Mix", ["Stir", "Taste"])]


def test_tasks_without_a_parallel_one_come_last() -> None:
    found = {case.fields["task"]: (case.answer, case.rank) for case in asked(parallel_to_task)}
    assert found["Chop"] == (["Boil", "Pepper", "Salt"], 0)
    assert found["Serve"] == ([], 1)


def test_all_parallel_tasks_are_groups() -> None:
    assert [case.answer for case in asked(all_parallel_tasks)] == [[["Boil", "Chop", "Pepper", "Salt"]]]
    assert asked(all_parallel_tasks, level({"START A B END": None})) == []


@pytest.mark.parametrize("pattern", ALL, ids=lambda pattern: pattern.name)
def test_every_phrasing_names_the_place_and_what_is_asked(pattern: Pattern) -> None:
    case = asked(pattern)[0]
    texts = [sentence(pattern, i, Scope(COOK, "workflow 'Soup'", True), case) for i in range(len(pattern.templates))]
    assert len(set(texts)) >= 2
    for text in texts:
        assert "workflow 'Soup'" in text
        assert all(f"'{case.fields[name]}'" in text for name in ("task", "a", "b") if name in case.fields)
        assert "composite" not in text


@pytest.mark.parametrize("pattern", [p for p in ALL if p is not parallel_pair], ids=lambda pattern: pattern.name)
def test_what_lies_inside_composite_tasks_is_ruled_out_where_there_are_any(pattern: Pattern) -> None:
    nested = replace(COOK, tasks=(replace(COOK.tasks[0], subworkflow=Workflow("Inner")), *COOK.tasks[1:]))
    text = sentence(pattern, 0, Scope(nested, "workflow 'Soup'", True), asked(pattern, nested)[0])
    assert text.endswith("Leave out what lies inside its composite tasks.")


@pytest.mark.parametrize("pattern", ALL, ids=lambda pattern: pattern.name)
def test_a_case_is_found_for_every_draw(pattern: Pattern) -> None:
    drawn = [draw(pattern, 12, 5, ordinal) for ordinal in range(6)]
    answers = [found.case.answer for found in drawn]
    assert answers == ["yes", "no"] * 3 if pattern.yes_no else all(answers)
    assert [found.phrasing for found in drawn] == [0, 0, 1, 1, 0, 0]
