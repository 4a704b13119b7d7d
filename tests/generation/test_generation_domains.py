"""Workflows of a domain: everything is described and classified, and tasks stand in an order that makes sense."""

from __future__ import annotations

from random import Random

import pytest

from pytest_taskgraph.generation.build import generate
from pytest_taskgraph.generation.recipe import Recipe
from pytest_taskgraph.generation.sensible_order import arranged
from pytest_taskgraph.generation.vocabularies import Entry, domain_names, vocabulary
from pytest_taskgraph.workflow.graph import ancestors
from pytest_taskgraph.workflow.model import Workflow
from pytest_taskgraph.workflow.references import expand, levels

BEFORE = [0b0, 0b1, 0b1, 0b111]  # one step, two side by side, one


def entries(**after: str) -> list[Entry]:
    return [Entry(name, "", "", after=tuple(told.split())) for name, told in after.items()]


def sensible(workflow: Workflow) -> bool:
    names = set(workflow.task_names)
    after = {name: vocabulary(workflow.package).entry(name) for name in names}
    return all(told and set(told.after) & names <= set(ancestors(workflow, name)) for name, told in after.items())


@pytest.mark.parametrize("name", domain_names())
def test_all_is_described_and_all_atomic_tasks_have_a_kind(name: str) -> None:
    features = frozenset({"descriptions", "kinds", "data", "schemas", "hierarchy"})
    for seed in range(4):
        whole = generate(Recipe(tasks=10, features=features, vocabulary=name), seed)
        assert (whole.name, whole.description) in vocabulary(name).workflows
        for _, level in levels(expand(whole)):
            assert level.description
            assert all(task.description for task in level.tasks)
            assert all(task.kind for task in level.tasks if not task.composite)
            assert all(one.description for one in level.data)
        schemas = dict(vocabulary(name).schemas)
        told = {one.name: one.schema for _, level in levels(whole) for one in level.data if one.schema}
        assert told
        assert all(schemas.get(one, told[one]) == told[one] for one in told)


def test_each_name_of_a_whole_workflow_is_drawn() -> None:
    drawn = {generate(Recipe(tasks=5, vocabulary="kitchen"), seed).name for seed in range(30)}
    assert drawn == {name for name, _ in vocabulary("kitchen").workflows}


def test_tasks_side_by_side_are_those_that_may_be() -> None:
    found = arranged(entries(A="", B="A", C="A", D="A B C"), BEFORE, Random(1))
    assert found is not None
    assert (found[0].name, found[3].name) == ("A", "D")


def test_there_is_no_order_of_a_chain_for_steps_side_by_side() -> None:
    assert arranged(entries(A="", B="A", C="A B", D="A B C"), BEFORE, Random(1)) is None


def test_a_larger_choice_of_tasks_finds_an_order_and_leaves_out_what_does_not_fit() -> None:
    found = arranged(entries(A="", B="A", C="A B", D="A B C", E="A"), BEFORE, Random(1))
    assert found is not None
    names = [one.name for one in found]
    assert all(not set(one.after) & set(names[i + 1 :]) for i, one in enumerate(found))
    assert "E" in names


def test_most_small_workflows_of_a_domain_make_sense() -> None:
    recipes = [
        Recipe(tasks=8, features=frozenset({"parallel", "exclusive"}), vocabulary=name) for name in domain_names()
    ]
    found = [sensible(generate(recipe, seed)) for recipe in recipes for seed in range(6)]
    assert sum(found) >= 0.9 * len(found)


@pytest.mark.parametrize("name", ["ChopVegetables", "ChopVegetables2", "ChopVegetables1", "Chop", "ChopVegetables02"])
def test_an_entry_is_found_by_its_name_with_its_number(name: str) -> None:
    found = vocabulary("kitchen").entry(name)
    if name in ("ChopVegetables", "ChopVegetables2"):
        assert found is not None
        assert found.name == name
        assert f"WashVegetables{name.removeprefix('ChopVegetables')}" in found.after
    else:
        assert found is None
