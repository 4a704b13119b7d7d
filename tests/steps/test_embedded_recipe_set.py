"""The recipes that come with the package, as the loader reads them."""

from __future__ import annotations

from pytest_taskgraph.families.steps.construction import build_choices, build_classification
from pytest_taskgraph.families.steps.recipe_sets.recipe_set import read_embedded_recipes


def test_embedded_recipes_are_all_read_and_kept() -> None:
    recipe_set = read_embedded_recipes()
    assert not recipe_set.problems
    assert [len(recipe_set.train), len(recipe_set.dev), len(recipe_set.test)] == [150, 23, 58]
    recipes = [*recipe_set.train, *recipe_set.dev, *recipe_set.test]
    assert len({recipe.id for recipe in recipes}) == len(recipes)
    assert read_embedded_recipes() is recipe_set


def test_embedded_test_recipes_give_the_questions_of_the_formulas() -> None:
    recipes = read_embedded_recipes().test
    lengths = [len(recipe.steps) for recipe in recipes]
    labels = [sample.label for sample in build_classification(recipes)]
    assert labels.count(True) == sum(n - 2 for n in lengths)
    assert labels.count(False) == sum((n - 2) * (n - 1) // 2 for n in lengths)
    assert len(list(build_choices(recipes, seed=0))) == labels.count(True)
