"""Workflows of a domain: tasks stand where they make sense, at any depth, or mislead where they are to."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass
from random import Random

import domain_oracle
import pytest
from drawn_workflows import generate
from hypothesis import given
from hypothesis import strategies as st

from pytest_taskgraph.errors import NoCaseError, UsageError
from pytest_taskgraph.generation.builder import build
from pytest_taskgraph.generation.recipe import Recipe
from pytest_taskgraph.generation.strategies import recipes, workflows
from pytest_taskgraph.generation.vocabularies import domain_names, most_tasks, vocabulary
from pytest_taskgraph.workflow.model import Workflow
from pytest_taskgraph.workflow.references import expand, levels

AMONG = frozenset({"parallel", "exclusive", "inclusive", "loop", "mixed", "data", "hierarchy"})


@dataclass(frozen=True)
class Built:
    recipe: Recipe
    workflow: Workflow


def built(features: frozenset[str], tasks: int, draws: int = 3, **more: bool) -> Iterator[Built]:
    """Yield some workflows of each domain; a seed in whose structures no tasks make sense is passed over."""
    for name in domain_names():
        recipe = Recipe(tasks=tasks, features=features, vocabulary=name, **more)  # type: ignore[arg-type]
        count = 0
        for seed in range(3 * draws):
            with suppress(NoCaseError):
                yield Built(recipe, generate(recipe, seed))
                count += 1
            if count == draws:
                break
        assert count, recipe


@pytest.mark.parametrize(
    "tasks", [pytest.param(8, marks=pytest.mark.exhaustive), 20, pytest.param(40, marks=pytest.mark.exhaustive)]
)
@pytest.mark.parametrize("features", [{"parallel"}, {"parallel", "exclusive", "loop"}, {"parallel", "hierarchy"}])
def test_generated_domain_has_no_task_out_of_order(features: set[str], tasks: int) -> None:
    for project in built(frozenset(features), tasks):
        assert domain_oracle.out_of_order(project.workflow) == []


@given(st.data())
def test_any_recipe_of_domain_has_no_task_out_of_order(data: st.DataObject) -> None:
    chosen = recipes(max_tasks=15, among=AMONG, vocabularies=domain_names())
    assert domain_oracle.out_of_order(data.draw(workflows(chosen))) == []


@pytest.mark.parametrize("tasks", [8, 20])
def test_misleading_workflow_reverses_most_ordered_pairs(tasks: int) -> None:
    shares = []
    for project in built(frozenset({"parallel", "exclusive"}), tasks, misleading=True):
        right, wrong = domain_oracle.ordered_pairs(project.workflow)
        assert not right
        shares.append(len(wrong) / (tasks * (tasks - 1) / 2))
    assert sum(shares) / len(shares) > 0.3


@pytest.mark.parametrize("name", domain_names())
def test_domain_tasks_are_unique_and_not_numbered(name: str) -> None:
    vocabulary_names = {task.name for task in vocabulary(name).tasks}
    composites = {composite.name for composite in vocabulary(name).composites}
    for seed in range(4):
        recipe = Recipe(tasks=30, features=frozenset({"parallel", "hierarchy"}), vocabulary=name)
        tasks = [task for _, level in levels(expand(generate(recipe, seed))) for task in level.tasks]
        atomic = [task.name for task in tasks if not task.composite]
        assert len(set(atomic)) == len(atomic)
        assert set(atomic) <= vocabulary_names
        assert {task.name for task in tasks if task.composite} <= composites


@pytest.mark.parametrize("name", domain_names())
def test_task_inside_composite_is_one_of_its_tasks(name: str) -> None:
    inside = {composite.name: set(composite.tasks) for composite in vocabulary(name).composites}
    recipe = Recipe(tasks=16, features=frozenset({"hierarchy"}), vocabulary=name)
    for seed in range(4):
        for path, level in levels(generate(recipe, seed)):
            if path:
                assert {task.name for task in level.tasks if not task.composite} <= inside[path[-1]]


@pytest.mark.parametrize("name", domain_names())
def test_complete_workflow_has_all_descriptions_and_kinds(name: str) -> None:
    features = frozenset({"descriptions", "kinds", "data", "schemas", "hierarchy"})
    for seed in range(4):
        whole = generate(Recipe(tasks=10, features=features, vocabulary=name, complete=True), seed)
        assert (whole.name, whole.description) in vocabulary(name).workflows
        for _, level in levels(expand(whole)):
            assert level.description
            assert all(task.description for task in level.tasks)
            assert all(task.kind for task in level.tasks if not task.composite)
            assert all(data_object.description for data_object in level.data)
        schemas = dict(vocabulary(name).schemas)
        schemas_by_name = {
            data_object.name: data_object.schema
            for _, level in levels(whole)
            for data_object in level.data
            if data_object.schema
        }
        assert schemas_by_name
        assert all(schemas.get(datum, schema) == schema for datum, schema in schemas_by_name.items())


def test_workflow_with_goal_excludes_and_serves() -> None:
    for project in built(frozenset({"descriptions"}), 12, goal=True, complete=True):
        [goal] = [g for g in vocabulary(project.recipe.vocabulary).goals if g.name == project.workflow.name]
        assert project.workflow.description == goal.description
        assert not set(goal.excludes) & set(project.workflow.task_names)
        for way in goal.alternatives:
            for task in project.workflow.tasks:
                if task.name == way.task and way.parameter:
                    assert (way.parameter, way.fits) in [(p.name, p.value) for p in task.parameters]
                elif task.name == way.task:
                    assert task.description == way.fits


def test_kind_is_omitted_where_recipe_says_so() -> None:
    missing: Mapping[str, set[str]] = {name: set() for name in domain_names()}
    for project in built(frozenset({"kinds"}), 30, draws=6, omit_kind=True, complete=True):
        lacking = set(vocabulary(project.recipe.vocabulary).kinds) - {task.kind for task in project.workflow.tasks}
        assert lacking
        missing[project.recipe.vocabulary].update(lacking)
    assert all(len(kinds) > 1 for kinds in missing.values())


def test_each_name_of_whole_workflow_is_drawn() -> None:
    drawn_names = {generate(Recipe(tasks=5, vocabulary="kitchen"), seed).name for seed in range(30)}
    assert drawn_names == {name for name, _ in vocabulary("kitchen").workflows}


def test_more_tasks_than_domain_has_are_refused() -> None:
    count = len(vocabulary("kitchen").tasks)
    assert most_tasks() <= count
    with pytest.raises(UsageError, match=f"the vocabulary 'kitchen' has {count}; ask for fewer"):
        Recipe(tasks=count + 1, vocabulary="kitchen")


def test_structure_that_no_tasks_fit_ends_with_what_to_do() -> None:
    deep = Recipe(tasks=40, features=frozenset({"parallel", "hierarchy", "references"}), vocabulary="travel")

    def build_all() -> None:
        for seed in range(20):
            build(deep, Random(seed))

    with pytest.raises(NoCaseError, match=r"no 40 tasks of the vocabulary 'travel' found .*; ask for fewer tasks"):
        build_all()
