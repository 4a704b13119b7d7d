from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from itertools import pairwise

import pytest

from pytest_taskgraph.families.understanding.patterns.pattern import Case, Pattern
from pytest_taskgraph.families.understanding.patterns.scope import Scope, sentence
from pytest_taskgraph.families.understanding.patterns.structure.operators import (
    all_parallel_tasks,
    operator_block,
    operator_existence,
    parallel_block,
    parallel_pair,
    parallel_to_task,
)
from pytest_taskgraph.families.understanding.questions.sample import draw
from pytest_taskgraph.workflow.model import END, START, Link, Task, Workflow

PATTERNS = (operator_existence, parallel_pair, parallel_block, parallel_to_task, all_parallel_tasks, operator_block)


def level(chains: Mapping[str, str | None]) -> Workflow:
    """Return a workflow of chains "A B C", with an optional guard on the last link of each."""
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


def list_cases(pattern: Pattern, workflow: Workflow = COOK) -> list[Case]:
    return list(pattern.cases(workflow))


def test_operator_existence_ambiguous_operator_left_out() -> None:
    answers = {case.fields["operator"]: case.answer for case in list_cases(operator_existence)}
    assert answers == {"parallel block": "yes", "exclusive choice": "yes", "inclusive choice": "no", "loop": "yes"}
    alone = level({"START Stir Taste": None, "Taste Stir": "taste < 3", "Taste END": "otherwise"})
    assert "exclusive choice" not in [case.fields["operator"] for case in list_cases(operator_existence, alone)]


def test_parallel_pair_alternatives_hard_distant_easy() -> None:
    cases_by_pair = {(case.fields["a"], case.fields["b"]): case for case in list_cases(parallel_pair)}
    kinds = {pair: (case.answer, case.labels["pair"], case.rank) for pair, case in cases_by_pair.items()}
    assert len(cases_by_pair) == 9 * 8 / 2
    assert kinds["Chop", "Salt"] == ("yes", "parallel", 0)
    assert kinds["Salt", "Pepper"] == ("no", "alternative", 0)
    assert kinds["Boil", "Salt"] == ("no", "ordered", 0)
    assert kinds["Wash", "Serve"] == ("no", "ordered", 1)


def test_parallel_pair_undecided_left_out() -> None:
    vague = level({"START A B": "it rains", "A C": "it pours", "B END": None, "C END": None})
    assert [(case.fields["a"], case.fields["b"]) for case in list_cases(parallel_pair, vague)] == [
        ("A", "B"),
        ("A", "C"),
    ]
    assert [case.fields["task"] for case in list_cases(parallel_to_task, vague)] == ["A"]


def test_blocks_identified_by_task_before() -> None:
    fork = [(case.fields["task"], case.answer) for case in list_cases(parallel_block)]
    assert fork == [("Wash", ["Boil", "Chop", "Pepper", "Salt"])]
    others = [(case.fields["operator"], case.fields["task"], case.answer) for case in list_cases(operator_block)]
    assert others == [("exclusive choice", "Boil", ["Pepper", "Salt"]), ("loop", "Mix", ["Stir", "Taste"])]


def test_parallel_to_task_empty_answer_ranks_last() -> None:
    cases_by_task = {case.fields["task"]: (case.answer, case.rank) for case in list_cases(parallel_to_task)}
    assert cases_by_task["Chop"] == (["Boil", "Pepper", "Salt"], 0)
    assert cases_by_task["Serve"] == ([], 1)


def test_all_parallel_tasks_answer_is_groups() -> None:
    assert [case.answer for case in list_cases(all_parallel_tasks)] == [[["Boil", "Chop", "Pepper", "Salt"]]]
    assert list_cases(all_parallel_tasks, level({"START A B END": None})) == []


@pytest.mark.parametrize("pattern", PATTERNS, ids=lambda pattern: pattern.name)
def test_operator_phrasings_name_place_and_tasks(pattern: Pattern) -> None:
    case = list_cases(pattern)[0]
    texts = [sentence(pattern, i, Scope(COOK, "workflow 'Soup'", True), case) for i in range(len(pattern.templates))]
    assert len(set(texts)) >= 2
    for text in texts:
        assert "workflow 'Soup'" in text
        assert all(f"'{case.fields[name]}'" in text for name in ("task", "a", "b") if name in case.fields)
        assert "composite" not in text


@pytest.mark.parametrize("pattern", [p for p in PATTERNS if p is not parallel_pair], ids=lambda pattern: pattern.name)
def test_operator_question_excludes_nested_tasks(pattern: Pattern) -> None:
    nested = replace(COOK, tasks=(replace(COOK.tasks[0], subworkflow=Workflow("Inner")), *COOK.tasks[1:]))
    text = sentence(pattern, 0, Scope(nested, "workflow 'Soup'", True), list_cases(pattern, nested)[0])
    assert text.endswith("Leave out what lies inside its composite tasks.")


@pytest.mark.parametrize("pattern", PATTERNS, ids=lambda pattern: pattern.name)
def test_operator_draw_always_finds_case(pattern: Pattern) -> None:
    drawn_cases = [draw(pattern, 12, 5, ordinal) for ordinal in range(6)]
    answers = [drawn_case.case.answer for drawn_case in drawn_cases]
    assert answers == ["yes", "no"] * 3 if pattern.yes_no else all(answers)
    assert [drawn_case.phrasing for drawn_case in drawn_cases] == [0, 0, 1, 1, 0, 0]
