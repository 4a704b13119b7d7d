from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from itertools import count
from pathlib import Path

import pytest
from steps import count_calls

from pytest_taskgraph.benchmarks.understanding import understanding
from pytest_taskgraph.benchmarks.understanding.baselines import read_back
from pytest_taskgraph.benchmarks.understanding.family_options import UnderstandingSettings
from pytest_taskgraph.benchmarks.understanding.own_files.choices import LONGEST, list_cases, names_in
from pytest_taskgraph.benchmarks.understanding.patterns import catalogue
from pytest_taskgraph.benchmarks.understanding.patterns.pattern import Case, case
from pytest_taskgraph.benchmarks.understanding.patterns.scope import (
    FULL_SIZE,
    MAX_WORK,
    MIN_CANDIDATES,
    MOST_CASES,
    limit_candidates,
)
from pytest_taskgraph.benchmarks.understanding.questions.assembly import notices
from pytest_taskgraph.notations import notation
from pytest_taskgraph.trial import Json, Question
from pytest_taskgraph.workflow.model import END, START, Link, Task, Workflow


def chain(size: int, name: str = "Chain") -> Workflow:
    names = [f"T{i}" for i in range(size)]
    links = [Link(a, b) for a, b in zip((START, *names), (*names, END), strict=True)]
    return Workflow(name, tasks=tuple(map(Task, names)), links=tuple(links))


def written(workflow: Workflow, folder: Path) -> str:
    path = folder / f"{workflow.name}.xxp"
    path.write_text(notation("wadl-expanded").write(workflow))
    return str(path)


def questions(path: str, patterns: str, instances: int = 4) -> list[Question]:
    settings = UnderstandingSettings(workflows=(path,), instances=instances)
    found = understanding.references(settings, {"patterns": patterns})
    return [understanding.question(reference, settings) for reference in found]


def test_read_back_second_question_on_same_text_reads_it_no_more(tmp_path: Path) -> None:
    first, *further = questions(written(chain(40, "ReadOnce"), tmp_path), "order_of_two")
    once = count_calls(lambda: read_back(first.prompt))
    again = count_calls(lambda: read_back(further[0].prompt))
    assert 2 * again < once
    assert [read_back(one.prompt)[1] for one in further] == [one.reference for one in further]


def fork(size: int, name: str = "Fork") -> Workflow:
    names = [f"T{i}" for i in range(size)]
    links = [link for one in names[1:-1] for link in (Link(names[0], one), Link(one, names[-1]))]
    ends = [Link(START, names[0]), Link(names[-1], END)]
    return Workflow(name, tasks=tuple(map(Task, names)), links=(*ends, *links))


def test_list_cases_of_wide_fork_takes_sample_and_says_so(tmp_path: Path) -> None:
    small, large = written(fork(60, "Small"), tmp_path), written(fork(240, "Large"), tmp_path)
    pattern = catalogue()["order_of_two_conditional"]
    assert len(list_cases(pattern, small, "").cases) == 60 * 59
    assert list_cases(pattern, small, "").bounds == set()
    listed = list_cases(pattern, large, "")
    assert 200 < len(listed.cases) <= 4 * (MAX_WORK // 240)
    assert listed.bounds == {"cases"}
    (notice,) = [
        one for one in notices(UnderstandingSettings(workflows=(large,)), {"patterns": [pattern]}) if "too large" in one
    ]
    assert notice == f"{large} is too large to ask about all of it; a sample is taken for order_of_two_conditional"


def test_list_cases_of_large_level_same_in_any_order_of_asking(tmp_path: Path) -> None:
    path, pattern = written(fork(100, "Twice"), tmp_path), catalogue()["parallel_pair"]
    first = list_cases(pattern, path, "")
    list_cases.cache_clear()
    list_cases(catalogue()["order_of_two"], path, "")
    assert list_cases(pattern, path, "") == first


def test_spread_of_many_candidates_is_sample_in_order() -> None:
    many = range(5000)
    assert limit_candidates(many, FULL_SIZE) is many
    found = limit_candidates(many, FULL_SIZE + 1, 50)
    assert list(found) == sorted(set(found)) == list(limit_candidates(many, FULL_SIZE + 1, 50))
    assert len(found) == 50
    assert found[0] < 1000 < 4000 < found[-1]
    assert len(limit_candidates(many, 10 * MAX_WORK)) == MIN_CANDIDATES


def test_list_cases_answer_of_more_than_forty_names_not_asked_for(tmp_path: Path) -> None:
    pattern = catalogue()["task_list"]
    allowed, refused = written(chain(LONGEST, "Forty"), tmp_path), written(chain(LONGEST + 1, "More"), tmp_path)
    assert [names_in(one.case.answer) for one in list_cases(pattern, allowed, "").cases] == [LONGEST]
    assert not list_cases(pattern, refused, "").cases
    (notice,) = [
        one for one in notices(UnderstandingSettings(workflows=(refused,)), {"patterns": [pattern]}) if "names" in one
    ]
    assert notice == f"{refused}: answers of more than 40 names are not asked for: task_list"


@pytest.mark.parametrize(
    ("answer", "names"),
    [(["A", "B"], 2), ([["A"], ["B", "C"]], 3), ({"tasks": ["A", "B"], "before": []}, 2), ("A", 1), (3, 1), ([], 0)],
)
def test_names_in_answer_of_each_form_counts_names(answer: Json, names: int) -> None:
    assert names_in(answer) == names


@pytest.mark.parametrize("build", [chain, fork])
def test_list_cases_calls_grow_at_most_with_tasks(build: Callable[[int, str], Workflow], tmp_path: Path) -> None:
    def work(size: int) -> None:
        path = written(build(size, f"Of{size}"), tmp_path)
        for pattern in catalogue().values():
            list_cases(pattern, path, "")

    work(70)
    assert count_calls(lambda: work(800)) < 3 * count_calls(lambda: work(400))


def choice(size: int, guard: str) -> Workflow:
    names = [f"T{i}" for i in range(size)]
    ways = [Link(names[0], one, guard.format(i)) for i, one in enumerate(names[1:-1])]
    ends = [Link(START, names[0]), Link(names[-1], END)]
    back = [Link(one, names[-1]) for one in names[1:-1]]
    return Workflow("Choice", tasks=tuple(map(Task, names)), links=(*ends, *ways, *back))


def test_list_cases_of_choice_among_hundreds_knows_it_is_exclusive(tmp_path: Path) -> None:
    path = written(choice(300, "mode = {}"), tmp_path)
    cases = list_cases(catalogue()["operator_existence"], path, "").cases
    assert {one.case.fields["operator"]: one.case.answer for one in cases}["exclusive choice"] == "yes"
    calls = count_calls(lambda: list_cases(catalogue()["mutually_exclusive"], path, ""))
    assert calls < 300 * 300  # pairs of guards
    assert [one.case.answer for one in list_cases(catalogue()["mutually_exclusive"], path, "").cases] == ["yes"]


def test_list_cases_of_too_many_guards_gives_no_answer_and_says_so(tmp_path: Path) -> None:
    path, pattern = written(choice(300, "n > {}"), tmp_path), catalogue()["mutually_exclusive"]
    listed = list_cases(pattern, path, "")
    assert not listed.cases
    assert "steps" in listed.bounds
    found = notices(UnderstandingSettings(workflows=(path,)), {"patterns": [pattern]})
    assert f"{path} is too large to work out all answers; some cases are left out for mutually_exclusive" in found


def test_list_cases_of_pattern_without_bound_ends(tmp_path: Path) -> None:
    def endless(workflow: Workflow) -> Iterator[Case]:
        return (case("yes", task=workflow.task_names[0], number=i) for i in count())

    known = catalogue()["task_list"]
    pattern = replace(known, name="endless", cases=endless)
    listed = list_cases(pattern, written(chain(5, "Five"), tmp_path), "")
    assert len(listed.cases) == MOST_CASES
    assert listed.bounds == {"cases"}
