from __future__ import annotations

import re
from collections import Counter
from random import Random

import pytest

from pytest_taskgraph.benchmarks.understanding.patterns.pattern import Case, Pattern
from pytest_taskgraph.benchmarks.understanding.patterns.scope import Scope, cases, scopes, sentence
from pytest_taskgraph.benchmarks.understanding.patterns.structure.tasks import task_list, task_list_with_property
from pytest_taskgraph.benchmarks.understanding.questions.sample import draw
from pytest_taskgraph.generation.builder import build
from pytest_taskgraph.generation.recipe import Recipe
from pytest_taskgraph.workflow.model import Data, DataLink, Parameter, QualifiedName, Task, Workflow

SAYING = task_list_with_property.needs
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


def expected(workflow: Workflow, said: str) -> list[str]:
    """The tasks of which the words hold, from the words alone."""
    quoted = re.findall(r"'(\w+)'", said)
    found = []
    for task in workflow.tasks:
        holds = {
            "have a parameter": len(task.parameters) > 0,
            "have an implem": task.implementation != "",
            "have a sub-wor": task.subworkflow is not None or task.reference is not None,
            "have a descrip": task.description != "",
            "are of kind": [task.kind] == quoted,
            "read data": any([x.source] == quoted and x.target == task.name for x in workflow.data_links),
            "write data": any([x.target] == quoted and x.source == task.name for x in workflow.data_links),
        }
        if next(value for start, value in holds.items() if said.startswith(start)):
            found.append(task.name)
    return sorted(found)


def by_words(workflow: Workflow) -> dict[str, Case]:
    return {case.fields["plural"]: case for case in task_list_with_property.cases(workflow)}


def levels(seed: int, features: frozenset[str] = SAYING, tasks: int = 14) -> list[Scope]:
    return list(scopes(build(Recipe(tasks=tasks, features=features), Random(seed))))


@pytest.mark.parametrize("seed", range(4))
def test_a_list_holds_the_tasks_of_the_level_and_none_inside_them(seed: int) -> None:
    for scope in levels(seed, frozenset({"hierarchy"})):
        (found,) = cases(task_list, scope)
        assert found.answer == sorted(task.name for task in scope.workflow.tasks)
        assert found.rank == int(len(scope.workflow.tasks) < 3)
    assert [found.rank for found in task_list.cases(EMPTY)] == [1]


@pytest.mark.parametrize("seed", range(6))
def test_the_tasks_with_a_property_are_those_of_which_its_words_hold(seed: int) -> None:
    for scope in levels(seed):
        found = by_words(scope.workflow)
        for said, case in found.items():
            assert case.answer == expected(scope.workflow, said), said
        kinds = {task.kind for task in scope.workflow.tasks} - {""}
        assert len(found) == 4 + len(kinds) + 2 * len(scope.workflow.data)


def test_every_property_is_told_from_the_others() -> None:
    answers = {said[:22]: case.answer for said, case in by_words(BREW).items()}
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


def test_each_property_has_one_hard_case_in_a_level() -> None:
    hard = [case for case in by_words(BREW).values() if case.rank == 0]
    assert Counter(str(case.labels["property"]) for case in hard) == Counter(
        ["parameter", "implementation", "sub-workflow", "description", "kind", "reads", "writes"]
    )
    assert [case.fields["plural"] for case in hard if not case.answer] == ["write data 'water'"]
    assert {case.rank for case in task_list_with_property.cases(EMPTY)} == {1}


def test_whether_the_tasks_to_list_are_all_there_are_is_left_to_chance() -> None:
    drawn = [draw(task_list, 12, 2, ordinal) for ordinal in range(20)]
    assert 4 <= sum(any(task.composite for task in one.project.tasks) for one in drawn) <= 16


def test_knowing_how_many_tasks_there_are_does_not_tell_their_names() -> None:
    answers = {str(draw(task_list, 12, 2, ordinal).case.answer) for ordinal in range(20)}
    assert len(answers) == 20


def test_questions_for_nothing_are_drawn_but_seldom() -> None:
    drawn = [draw(task_list_with_property, 14, 2, ordinal).case for ordinal in range(60)]
    assert 1 <= sum(not case.answer for case in drawn) <= 20
    assert len({case.labels["property"] for case in drawn}) == 7


@pytest.mark.parametrize("pattern", [task_list, task_list_with_property], ids=lambda pattern: pattern.name)
def test_both_phrasings_of_every_case_name_the_place_and_rule_out_nested_tasks(pattern: Pattern) -> None:
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
def test_a_case_is_found_for_every_draw(pattern: Pattern) -> None:
    drawn = [draw(pattern, 12, 1, ordinal) for ordinal in range(8)]
    assert [one.phrasing for one in drawn] == [0, 0, 1, 1, 0, 0, 1, 1]
    assert all("{" not in sentence(pattern, one.phrasing, one.scope, one.case) for one in drawn)
