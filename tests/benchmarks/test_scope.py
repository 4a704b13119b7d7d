from __future__ import annotations

from dataclasses import replace

import pytest

from pytest_taskgraph.errors import UsageError
from pytest_taskgraph.families.understanding.patterns.pattern import Pattern, case
from pytest_taskgraph.families.understanding.patterns.scope import (
    all_scopes,
    cases,
    rotations,
    scopes,
    sentence,
    use_own_name,
)
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


def test_scopes_are_workflow_and_composite_tasks() -> None:
    assert [(scope.place, scope.workflow.task_names, scope.whole) for scope in scopes(SOUP)] == [
        ("workflow 'Soup'", ("Clean", "Cook"), True),
        ("composite task 'Clean' of workflow 'Soup'", ("Rinse",), False),
        ("composite task 'Clean.Rinse' of workflow 'Soup'", ("Rub",), False),
    ]


def test_scopes_entered_follow_finite_references() -> None:
    tasks_by_place = {scope.place: scope.workflow.task_names for scope in scopes(SOUP, entered=True)}
    assert tasks_by_place["composite task 'Cook' of workflow 'Soup'"] == ("Light",)
    endless = replace(SOUP, others=(replace(HEAT, tasks=(Task("Light", reference=QualifiedName("Soup")),)),))
    assert [scope.place for scope in scopes(endless, entered=True)] == [scope.place for scope in scopes(endless)]


def test_all_scopes_cover_every_workflow() -> None:
    assert [scope.place for scope in all_scopes(SOUP)][-1] == "workflow 'Heat'"
    assert [workflow.name for workflow in rotations(SOUP)] == ["Soup", "Heat"]
    assert [[other.name for other in workflow.others] for workflow in rotations(SOUP)] == [["Heat"], ["Soup"]]


def test_scopes_ambiguous_name_includes_package() -> None:
    twice = replace(SOUP, others=(HEAT, replace(HEAT, package="garden")))
    places = [scope.place for scope in all_scopes(twice)]
    assert places[0] == "workflow 'Soup'"
    assert places[-2:] == ["workflow 'kitchen.Heat'", "workflow 'garden.Heat'"]


def test_cases_of_workflow_pattern_skip_inner_levels() -> None:
    whole = replace(LIST, levels="workflow")
    scopes_with_cases = [scope for scope in scopes(SOUP) if list(cases(whole, scope))]
    assert [scope.whole for scope in scopes_with_cases] == [True]
    assert all(list(cases(LIST, scope)) for scope in scopes(SOUP))


def test_sentence_excludes_nested_tasks_if_any() -> None:
    texts = [sentence(LIST, 5, scope, next(cases(LIST, scope))) for scope in scopes(SOUP)]
    assert texts[0] == "What is in workflow 'Soup'? Not below."
    assert texts[2] == "What is in composite task 'Clean.Rinse' of workflow 'Soup'?"


def test_sentence_failing_template_names_pattern() -> None:
    broken = replace(LIST, templates=("What is in {{ here }}?",))
    with pytest.raises(
        UsageError, match="pattern list: 'here' is undefined; the template sees: nested, place, workflow"
    ):
        sentence(broken, 0, scopes(SOUP)[0], case([]))


def test_use_own_name_in_text_is_used() -> None:
    root, wash, deep = scopes(SOUP)
    named_scope = use_own_name(wash, SOUP, "task Clean { subworkflow Wash; }")
    assert named_scope.designation == "sub-workflow 'Wash'"
    assert sentence(LIST, 0, named_scope, case([])) == "What is in sub-workflow 'Wash'? Not below."
    assert use_own_name(deep, SOUP, "Deeper").designation == deep.place
    assert use_own_name(root, SOUP, "workflow Soup").designation == root.place


def test_use_own_name_ambiguous_name_uses_place() -> None:
    twice = replace(SOUP, others=(HEAT, replace(WASH, package="garden")))
    assert use_own_name(scopes(twice)[1], twice, "Wash Wash").designation == scopes(twice)[1].place
    task = replace(SOUP, tasks=(*SOUP.tasks, Task("Wash")))
    assert use_own_name(scopes(task)[1], task, "Wash Wash").designation == scopes(task)[1].place
