"""Recipes and workflows for property tests: within what was asked, and they shrink."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import find, given
from hypothesis import strategies as st

import pytest_taskgraph
from pytest_taskgraph.errors import UsageError
from pytest_taskgraph.generation.flaws import MUTATIONS
from pytest_taskgraph.generation.recipe import Recipe, demanded_features, least_tasks
from pytest_taskgraph.generation.strategies import recipes, workflows
from pytest_taskgraph.workflow.features import FEATURES, features
from pytest_taskgraph.workflow.graph import shortest_cycle, task_graph
from pytest_taskgraph.workflow.model import Workflow
from pytest_taskgraph.workflow.project import every_level


@given(st.data(), st.sampled_from(sorted(FEATURES)))
def test_recipes_have_features_and_none_avoided(data: st.DataObject, avoided: str) -> None:
    recipe = data.draw(recipes(5, 15, avoid=[avoided], vocabularies=["kitchen"], max_cross_links=2))
    assert avoided not in demanded_features(recipe)
    assert max(5, least_tasks(recipe)) <= recipe.tasks <= max(15, least_tasks(recipe))
    assert recipe.vocabulary == "kitchen"
    assert recipe.cross_links <= 2
    assert avoided not in features(data.draw(workflows(recipe)))


def test_recipes_contradiction_raises_at_creation() -> None:
    with pytest.raises(UsageError, match="exclusive"):
        recipes(features=["exclusive"], avoid=["exclusive"])


def test_recipes_many_tasks_shrink_to_bound_without_features() -> None:
    smallest = find(recipes(max_tasks=20), lambda recipe: recipe.tasks >= 5)
    assert smallest == Recipe(tasks=5, width=2, depth=1)


@pytest.mark.exhaustive
def test_workflows_with_fork_shrink_to_smallest() -> None:
    smallest = find(
        workflows(recipes(max_tasks=6, among=["parallel"])),
        lambda one: any(len(after) > 1 for after in task_graph(one).values()),
    )
    assert len(smallest.tasks) == 3
    assert len(smallest.data) == len(smallest.parameters) == 0
    assert not smallest.others


@pytest.mark.exhaustive
def test_workflows_long_chain_shrinks_to_bound() -> None:
    def long(one: Workflow) -> bool:
        return len(one.tasks) >= 5

    assert len(find(workflows(recipes(max_tasks=6)), long).tasks) == 5


@given(workflows(recipes(max_tasks=10, among=["parallel"]), mutation=MUTATIONS["back-link"]))
def test_workflows_can_be_mutated(workflow: Workflow) -> None:
    assert shortest_cycle(workflow)


@given(workflows(Recipe(tasks=6, features=frozenset({"data"}))))
def test_workflows_of_one_recipe_are_all_of_that_recipe(workflow: Workflow) -> None:
    assert len(workflow.tasks) == 6
    assert "data" in features(workflow)


@given(pytest_taskgraph.workflows(features=["parallel"], avoid=["loop", "data"], tasks=(4, 6)))
def test_workflows_with_features_have_them_and_none_avoided(workflow: Workflow) -> None:
    present = features(workflow)
    assert "parallel" in present
    assert not {"loop", "data"} & present
    assert sum(len(level.tasks) for level in every_level(workflow)) >= 4


@given(workflows(features=["exclusive"], avoid=FEATURES - {"exclusive", "guards"}, tasks=5))
def test_workflows_of_a_number_of_tasks_have_it(workflow: Workflow) -> None:
    assert len(workflow.tasks) == 5


@given(workflows(avoid=["hierarchy", "derivation"], tasks=(3, 6)))
def test_workflows_of_one_level_hold_all_their_tasks(workflow: Workflow) -> None:
    assert len(workflow.tasks) >= 3
    assert not workflow.others


@pytest.mark.parametrize("tasks", [0, 201, (5, 4), (1, 3), "5", (3,), (3, 4, 5), 3.5, {3: 4}, True])
def test_workflows_with_impossible_tasks_are_refused(tasks: Any) -> None:  # noqa: ANN401 - as users may write it
    with pytest.raises(UsageError, match="expected a number from 3 to 200"):
        workflows(tasks=tasks)


def test_workflows_with_a_name_in_place_of_names_are_refused() -> None:
    with pytest.raises(UsageError, match=r"features is 'parallel'; expected a list of names, such as \['parallel'\]"):
        workflows(features="parallel")


def test_workflows_with_unknown_feature_are_refused() -> None:
    with pytest.raises(UsageError, match="paralel"):
        workflows(features=["paralel"])


def test_workflows_of_a_recipe_and_features_are_refused() -> None:
    with pytest.raises(UsageError, match="recipe beside features"):
        workflows(Recipe(tasks=6), features=["parallel"])
