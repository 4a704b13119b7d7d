from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from itertools import count
from pathlib import Path

import pytest
from steps import count_calls

from pytest_taskgraph.families.understanding.baselines import read_back
from pytest_taskgraph.families.understanding.own_files.choices import LONGEST, list_cases, names_in
from pytest_taskgraph.families.understanding.patterns import catalogue
from pytest_taskgraph.families.understanding.patterns.pattern import Case, case
from pytest_taskgraph.families.understanding.patterns.scope import (
    FULL_SIZE,
    MAX_WORK,
    MIN_CANDIDATES,
    MOST_CASES,
    limit_candidates,
)
from pytest_taskgraph.families.understanding.questions.assembly import notices
from pytest_taskgraph.families.understanding.understanding_family import understanding
from pytest_taskgraph.families.understanding.understanding_settings import UnderstandingSettings
from pytest_taskgraph.notations import notation
from pytest_taskgraph.trial import Json, Question
from pytest_taskgraph.workflow.model import END, START, Link, Task, Workflow


def chain(size: int, name: str = "Chain") -> Workflow:
    names = [f"T{i}" for i in range(size)]
    links = [Link(a, b) for a, b in zip((START, *names), (*names, END), strict=True)]
    return Workflow(name, tasks=tuple(map(Task, names)), links=tuple(links))


def write_file(workflow: Workflow, folder: Path) -> str:
    path = folder / f"{workflow.name}.xxp"
    path.write_text(notation("wadl-expanded").write(workflow))
    return str(path)


def questions(path: str, patterns: str, instances: int = 4) -> list[Question]:
    settings = UnderstandingSettings(workflows=(path,), instances=instances)
    references = understanding.references(settings, {"patterns": patterns})
    return [understanding.question(reference, settings) for reference in references]


def test_read_back_second_question_uses_cache(tmp_path: Path) -> None:
    first, *further = questions(write_file(chain(40, "ReadOnce"), tmp_path), "order_of_two")
    once = count_calls(lambda: read_back(first.prompt))
    again = count_calls(lambda: read_back(further[0].prompt))
    assert 3 * again < 2 * once
    assert [read_back(question.prompt)[1] for question in further] == [question.reference for question in further]


def fork(size: int, name: str = "Fork") -> Workflow:
    names = [f"T{i}" for i in range(size)]
    links = [link for name in names[1:-1] for link in (Link(names[0], name), Link(name, names[-1]))]
    ends = [Link(START, names[0]), Link(names[-1], END)]
    return Workflow(name, tasks=tuple(map(Task, names)), links=(*ends, *links))


def test_list_cases_wide_fork_is_sampled_with_notice(tmp_path: Path) -> None:
    small, large = write_file(fork(60, "Small"), tmp_path), write_file(fork(240, "Large"), tmp_path)
    pattern = catalogue()["order_of_two_conditional"]
    assert len(list_cases(pattern, small, "").cases) == 60 * 59
    assert list_cases(pattern, small, "").bounds == set()
    listing = list_cases(pattern, large, "")
    assert 200 < len(listing.cases) <= 4 * (MAX_WORK // 240)
    assert listing.bounds == {"cases"}
    (notice,) = [
        line
        for line in notices(UnderstandingSettings(workflows=(large,)), {"patterns": [pattern]})
        if "too large" in line
    ]
    assert notice == f"{large} is too large to ask about all of it; a sample is taken for order_of_two_conditional"


def test_list_cases_large_level_independent_of_order(tmp_path: Path) -> None:
    path, pattern = write_file(fork(100, "Twice"), tmp_path), catalogue()["parallel_pair"]
    first = list_cases(pattern, path, "")
    list_cases.cache_clear()
    list_cases(catalogue()["order_of_two"], path, "")
    assert list_cases(pattern, path, "") == first


def test_limit_candidates_many_is_ordered_sample() -> None:
    many = range(5000)
    assert limit_candidates(many, FULL_SIZE) is many
    chosen = limit_candidates(many, FULL_SIZE + 1, 50)
    assert list(chosen) == sorted(set(chosen)) == list(limit_candidates(many, FULL_SIZE + 1, 50))
    assert len(chosen) == 50
    assert chosen[0] < 1000 < 4000 < chosen[-1]
    assert len(limit_candidates(many, 10 * MAX_WORK)) == MIN_CANDIDATES


def test_list_cases_too_long_answer_left_out(tmp_path: Path) -> None:
    pattern = catalogue()["task_list"]
    allowed, refused = write_file(chain(LONGEST, "Forty"), tmp_path), write_file(chain(LONGEST + 1, "More"), tmp_path)
    assert [names_in(each.case.answer) for each in list_cases(pattern, allowed, "").cases] == [LONGEST]
    assert not list_cases(pattern, refused, "").cases
    (notice,) = [
        line
        for line in notices(UnderstandingSettings(workflows=(refused,)), {"patterns": [pattern]})
        if "names" in line
    ]
    assert notice == f"{refused}: answers of more than 40 names are not asked for: task_list"


@pytest.mark.parametrize(
    ("answer", "names"),
    [(["A", "B"], 2), ([["A"], ["B", "C"]], 3), ({"tasks": ["A", "B"], "before": []}, 2), ("A", 1), (3, 1), ([], 0)],
)
def test_names_in_answer_of_each_form_counts_names(answer: Json, names: int) -> None:
    assert names_in(answer) == names


@pytest.mark.parametrize("build", [pytest.param(chain, marks=pytest.mark.exhaustive), fork])
def test_list_cases_calls_grow_at_most_with_tasks(build: Callable[[int, str], Workflow], tmp_path: Path) -> None:
    def work(size: int) -> None:
        path = write_file(build(size, f"Of{size}"), tmp_path)
        for pattern in catalogue().values():
            list_cases(pattern, path, "")

    work(10)
    assert count_calls(lambda: work(4 * FULL_SIZE)) < 3 * count_calls(lambda: work(2 * FULL_SIZE))


def choice(size: int, guard: str) -> Workflow:
    names = [f"T{i}" for i in range(size)]
    ways = [Link(names[0], name, guard.format(i)) for i, name in enumerate(names[1:-1])]
    ends = [Link(START, names[0]), Link(names[-1], END)]
    back = [Link(name, names[-1]) for name in names[1:-1]]
    return Workflow("Choice", tasks=tuple(map(Task, names)), links=(*ends, *ways, *back))


def test_list_cases_choice_of_hundreds_is_exclusive(tmp_path: Path) -> None:
    path = write_file(choice(300, "mode = {}"), tmp_path)
    cases = list_cases(catalogue()["operator_existence"], path, "").cases
    assert {each.case.fields["operator"]: each.case.answer for each in cases}["exclusive choice"] == "yes"
    calls = count_calls(lambda: list_cases(catalogue()["mutually_exclusive"], path, ""))
    assert calls < 300 * 300  # pairs of guards
    assert [each.case.answer for each in list_cases(catalogue()["mutually_exclusive"], path, "").cases] == ["yes"]


def test_list_cases_too_many_guards_left_out_with_notice(tmp_path: Path) -> None:
    path, pattern = write_file(choice(300, "n > {}"), tmp_path), catalogue()["mutually_exclusive"]
    listing = list_cases(pattern, path, "")
    assert not listing.cases
    assert "steps" in listing.bounds
    lines = notices(UnderstandingSettings(workflows=(path,)), {"patterns": [pattern]})
    assert f"{path} is too large to work out all answers; some cases are left out for mutually_exclusive" in lines


def test_list_cases_endless_pattern_is_bounded(tmp_path: Path) -> None:
    def endless(workflow: Workflow) -> Iterator[Case]:
        return (case("yes", task=workflow.task_names[0], number=i) for i in count())

    original = catalogue()["task_list"]
    pattern = replace(original, name="endless", cases=endless)
    listing = list_cases(pattern, write_file(chain(5, "Five"), tmp_path), "")
    assert len(listing.cases) == MOST_CASES
    assert listing.bounds == {"cases"}
