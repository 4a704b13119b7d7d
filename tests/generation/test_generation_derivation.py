"""A derived workflow comes to the same as the workflow that it was made of."""

from __future__ import annotations

from random import Random

from canonical_form import canonical
from drawn_workflows import generate
from hypothesis import given
from hypothesis import strategies as st

from pytest_taskgraph.generation.levels import derive
from pytest_taskgraph.generation.recipe import Recipe
from pytest_taskgraph.generation.strategies import recipes, workflows
from pytest_taskgraph.workflow.check import check
from pytest_taskgraph.workflow.features import FEATURES
from pytest_taskgraph.workflow.references import assemble

PLAIN = recipes(max_tasks=20, among=FEATURES - {"derivation"})


@given(st.data(), PLAIN)
def test_derive_assembles_to_original(data: st.DataObject, recipe: Recipe) -> None:
    workflow = data.draw(workflows(recipe))
    derived = derive(workflow, data.draw(st.randoms(use_true_random=False)))
    check(derived)
    assert derived.base is not None
    assert not derived.tasks
    assert canonical(derived) == canonical(workflow)
    assert assemble(derived).base is None


def test_derive_leaves_something_to_configure() -> None:
    for seed in range(30):
        workflow = generate(Recipe(tasks=5, features=frozenset({"kinds"})), seed)
        derived = derive(workflow, Random(seed))
        assert derived.configurations


def test_derive_has_one_or_two_steps() -> None:
    recipe = Recipe(features=frozenset({"derivation", "descriptions", "schemas"}))
    assert {len(generate(recipe, seed).others) for seed in range(40)} == {1, 2}


def test_configurations_reach_inside_composite_tasks() -> None:
    recipe = Recipe(features=frozenset({"derivation", "references", "implementations"}))
    projects = [generate(recipe, seed) for seed in range(20)]
    assert any(
        inner.implementation for project in projects for by in project.configurations for inner in by.configurations
    )
