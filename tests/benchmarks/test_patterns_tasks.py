from __future__ import annotations

import re
from collections import Counter
from random import Random

import pytest

from pytest_taskgraph.families.understanding.patterns.pattern import Case, Pattern
from pytest_taskgraph.families.understanding.patterns.scope import Scope, cases, scopes, sentence
from pytest_taskgraph.families.understanding.patterns.structure.tasks import task_list, task_list_with_property
from pytest_taskgraph.families.understanding.questions.sample import draw
from pytest_taskgraph.generation.builder import build
from pytest_taskgraph.generation.recipe import Recipe
from pytest_taskgraph.workflow.model import Data, DataLink, Parameter, QualifiedName, Task, Workflow

FEATURES_WITH_PROPERTIES = task_list_with_property.needs
BREW = Workflow(
    "Brew",
    parameters=(Parameter("strength", 3),),
    tasks=(
        Task("Grind", "Grinds beans.", "machine", parameters=(Parameter("size", "fine"),)),
        Task("Heat", kind="machine", implementation="kettle.sh"),
        Task("Pour", kind="hand", subworkflow=Workflow("Pour", tasks=(Task("Tilt", implementation="tilt.sh"),))),
        Task("Clean", reference=QualifiedName("Cleaning")),
    ),
    data=(Data("beans"), Data("powder"), Data("coffee"), Data("water")),
    data_links=(
        DataLink("beans", "Grind"),
        DataLink("Grind", "powder"),
        DataLink("powder", "Pour"),
        DataLink("water", "Heat"),
        DataLink("water", "Clean"),
        DataLink("Pour", "coffee"),
        DataLink("Heat", "coffee"),
    ),
    others=(Workflow("Cleaning", tasks=(Task("Rinse"),)),),
)
EMPTY = Workflow("Nothing")


def expected_tasks(workflow: Workflow, words: str) -> list[str]:
    """Return the tasks that the words apply to, from the words alone."""
    quoted = re.findall(r"'(\w+)'", words)
    names = []
    for task in workflow.tasks:
        applies = {
            "have a parameter": len(task.parameters) > 0,
            "have an implem": task.implementation != "",
            "have a sub-wor": task.subworkflow is not None or task.reference is not None,
            "have a descrip": task.description != "",
            "are of kind": [task.kind] == quoted,
            "read data": any([x.source] == quoted and x.target == task.name for x in workflow.data_links),
            "write data": any([x.target] == quoted and x.source == task.name for x in workflow.data_links),
        }
        if next(value for start, value in applies.items() if words.startswith(start)):
            names.append(task.name)
    return sorted(names)


def list_by_words(workflow: Workflow) -> dict[str, Case]:
    return {case.fields["plural"]: case for case in task_list_with_property.cases(workflow)}


def levels(seed: int, features: frozenset[str] = FEATURES_WITH_PROPERTIES, tasks: int = 14) -> list[Scope]:
    return list(scopes(build(Recipe(tasks=tasks, features=features), Random(seed))))


@pytest.mark.parametrize("seed", range(4))
def test_task_list_excludes_nested_tasks(seed: int) -> None:
    for scope in levels(seed, frozenset({"hierarchy"})):
        (case,) = cases(task_list, scope)
        assert case.answer == sorted(task.name for task in scope.workflow.tasks)
        assert case.rank == int(len(scope.workflow.tasks) < 3)
    assert [case.rank for case in task_list.cases(EMPTY)] == [1]


@pytest.mark.parametrize("seed", range(6))
def test_task_list_with_property_agrees_with_words(seed: int) -> None:
    for scope in levels(seed):
        cases_by_words = list_by_words(scope.workflow)
        for words, case in cases_by_words.items():
            assert case.answer == expected_tasks(scope.workflow, words), words
        kinds = {task.kind for task in scope.workflow.tasks} - {""}
        assert len(cases_by_words) == 4 + len(kinds) + 2 * len(scope.workflow.data)


def test_task_list_with_property_by_hand() -> None:
    answers = {words[:22]: case.answer for words, case in list_by_words(BREW).items()}
    assert answers == {
        "have a parameter of th": ["Grind"],
        "have an implementation": ["Heat"],
        "have a sub-workflow": ["Clean", "Pour"],
        "have a description": ["Grind"],
        "are of kind 'machine'": ["Grind", "Heat"],
        "are of kind 'hand'": ["Pour"],
        "read data 'beans'": ["Grind"],
        "write data 'beans'": [],
        "read data 'powder'": ["Pour"],
        "write data 'powder'": ["Grind"],
        "read data 'coffee'": [],
        "write data 'coffee'": ["Heat", "Pour"],
        "read data 'water'": ["Clean", "Heat"],
        "write data 'water'": [],
    }


def test_task_list_with_property_one_hard_case_each() -> None:
    hard = [case for case in list_by_words(BREW).values() if case.rank == 0]
    assert Counter(str(case.labels["property"]) for case in hard) == Counter(
        ["parameter", "implementation", "sub-workflow", "description", "kind", "reads", "writes"]
    )
    assert [case.fields["plural"] for case in hard if not case.answer] == ["write data 'water'"]
    assert {case.rank for case in task_list_with_property.cases(EMPTY)} == {1}


def test_task_list_draws_levels_with_and_without_nesting() -> None:
    drawn_cases = [draw(task_list, 12, 2, ordinal) for ordinal in range(20)]
    assert 4 <= sum(any(task.composite for task in each.project.tasks) for each in drawn_cases) <= 16


def test_task_list_draws_different_names() -> None:
    answers = {str(draw(task_list, 12, 2, ordinal).case.answer) for ordinal in range(20)}
    assert len(answers) == 20


def test_task_list_with_property_seldom_draws_empty_answer() -> None:
    drawn_cases = [draw(task_list_with_property, 14, 2, ordinal).case for ordinal in range(60)]
    assert 1 <= sum(not case.answer for case in drawn_cases) <= 20
    assert len({case.labels["property"] for case in drawn_cases}) == 7


@pytest.mark.parametrize("pattern", [task_list, task_list_with_property], ids=lambda pattern: pattern.name)
def test_task_phrasings_name_place_and_exclude_nested(pattern: Pattern) -> None:
    scope = scopes(BREW)[0]
    for case in cases(pattern, scope):
        first, second = (sentence(pattern, phrasing, scope, case) for phrasing in range(2))
        assert first != second
        assert "workflow 'Brew'" in first
        assert "workflow 'Brew'" in second
        assert first.endswith("Do not list tasks nested inside other tasks.")
        assert second.endswith("none that lies inside another task.")
    flat = Scope(EMPTY, "workflow 'Nothing'", True)
    assert not any("nested inside" in sentence(task_list, i, flat, next(cases(task_list, flat))) for i in range(2))


@pytest.mark.parametrize("pattern", [task_list, task_list_with_property], ids=lambda pattern: pattern.name)
def test_task_draw_always_finds_case(pattern: Pattern) -> None:
    drawn_cases = [draw(pattern, 12, 1, ordinal) for ordinal in range(8)]
    assert [each.phrasing for each in drawn_cases] == [0, 0, 1, 1, 0, 0, 1, 1]
    assert all("{" not in sentence(pattern, each.phrasing, each.scope, each.case) for each in drawn_cases)
