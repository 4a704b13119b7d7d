from __future__ import annotations

from dataclasses import replace

import pytest

from pytest_taskgraph.benchmarks.understanding.patterns.pattern import Pattern, case
from pytest_taskgraph.benchmarks.understanding.patterns.scope import (
    all_scopes,
    cases,
    rotations,
    scopes,
    sentence,
    use_own_name,
)
from pytest_taskgraph.errors import UsageError
from pytest_taskgraph.workflow.model import END, START, Link, QualifiedName, Task, Workflow

HEAT = Workflow("Heat", "kitchen", tasks=(Task("Light"),), links=(Link(START, "Light"), Link("Light", END)))
WASH = Workflow("Wash", tasks=(Task("Rinse", subworkflow=Workflow("Deep", tasks=(Task("Rub"),))),))
SOUP = Workflow(
    "Soup",
    "kitchen",
    tasks=(Task("Clean", subworkflow=WASH), Task("Cook", reference=QualifiedName("Heat"))),
    links=(Link(START, "Clean"), Link("Clean", "Cook"), Link("Cook", END)),
    others=(HEAT,),
)
LIST = Pattern(
    "list",
    "",
    ("What is in {{ place }}?{% if nested %} Not below.{% endif %}",),
    "task-set",
    lambda w: [case(w.task_names)],
)


def test_a_level_is_the_workflow_or_the_inside_of_a_composite_task() -> None:
    assert [(scope.place, scope.workflow.task_names, scope.whole) for scope in scopes(SOUP)] == [
        ("workflow 'Soup'", ("Clean", "Cook"), True),
        ("composite task 'Clean' of workflow 'Soup'", ("Rinse",), False),
        ("composite task 'Clean.Rinse' of workflow 'Soup'", ("Rub",), False),
    ]


def test_entered_levels_are_also_those_written_elsewhere_unless_they_come_back() -> None:
    found = {scope.place: scope.workflow.task_names for scope in scopes(SOUP, entered=True)}
    assert found["composite task 'Cook' of workflow 'Soup'"] == ("Light",)
    endless = replace(SOUP, others=(replace(HEAT, tasks=(Task("Light", reference=QualifiedName("Soup")),)),))
    assert [scope.place for scope in scopes(endless, entered=True)] == [scope.place for scope in scopes(endless)]


def test_all_levels_are_those_of_every_workflow_of_the_project() -> None:
    assert [scope.place for scope in all_scopes(SOUP)][-1] == "workflow 'Heat'"
    assert [one.name for one in rotations(SOUP)] == ["Soup", "Heat"]
    assert [[other.name for other in one.others] for one in rotations(SOUP)] == [["Heat"], ["Soup"]]


def test_a_name_of_two_workflows_is_told_with_its_package() -> None:
    twice = replace(SOUP, others=(HEAT, replace(HEAT, package="garden")))
    places = [scope.place for scope in all_scopes(twice)]
    assert places[0] == "workflow 'Soup'"
    assert places[-2:] == ["workflow 'kitchen.Heat'", "workflow 'garden.Heat'"]


def test_patterns_about_whole_workflows_are_not_asked_about_levels_inside() -> None:
    whole = replace(LIST, levels="workflow")
    asked = [scope for scope in scopes(SOUP) if list(cases(whole, scope))]
    assert [scope.whole for scope in asked] == [True]
    assert all(list(cases(LIST, scope)) for scope in scopes(SOUP))


def test_a_sentence_tells_whether_there_is_something_below() -> None:
    texts = [sentence(LIST, 5, scope, next(cases(LIST, scope))) for scope in scopes(SOUP)]
    assert texts[0] == "What is in workflow 'Soup'? Not below."
    assert texts[2] == "What is in composite task 'Clean.Rinse' of workflow 'Soup'?"


def test_a_template_that_fails_names_the_pattern() -> None:
    broken = replace(LIST, templates=("What is in {{ here }}?",))
    with pytest.raises(
        UsageError, match="pattern list: 'here' is undefined; the template sees: nested, place, workflow"
    ):
        sentence(broken, 0, scopes(SOUP)[0], case([]))


def test_by_own_name_name_in_the_text_calls_the_level_by_it() -> None:
    root, wash, deep = scopes(SOUP)
    named = use_own_name(wash, SOUP, "task Clean { subworkflow Wash; }")
    assert named.designation == "sub-workflow 'Wash'"
    assert sentence(LIST, 0, named, case([])) == "What is in sub-workflow 'Wash'? Not below."
    assert use_own_name(deep, SOUP, "Deeper").designation == deep.place
    assert use_own_name(root, SOUP, "workflow Soup").designation == root.place


def test_by_own_name_name_of_something_else_calls_the_level_by_its_place() -> None:
    twice = replace(SOUP, others=(HEAT, replace(WASH, package="garden")))
    assert use_own_name(scopes(twice)[1], twice, "Wash Wash").designation == scopes(twice)[1].place
    task = replace(SOUP, tasks=(*SOUP.tasks, Task("Wash")))
    assert use_own_name(scopes(task)[1], task, "Wash Wash").designation == scopes(task)[1].place
