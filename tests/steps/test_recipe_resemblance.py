"""Which recipes may be the same, and sets of recipes without those of the published questions."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pytest_taskgraph.families.steps.next_step_samples import ChoiceSample, NextStepSample, StepRecipe
from pytest_taskgraph.families.steps.recipe_sets import RecipeSet
from pytest_taskgraph.families.steps.recipe_sets.published_files import PublishedSamples
from pytest_taskgraph.families.steps.recipe_sets.recipe_resemblance import (
    published_recipes,
    resemble,
    without_published,
)
from pytest_taskgraph.families.steps.recipe_sets.recipe_set import read_embedded_recipes

LONG = "Simmer everything for an hour until it is thick"
STEPS = ("boil the leeks", "serve hot", f"{LONG} .", "!", "?")


@pytest.mark.parametrize(
    ("title", "steps", "expected"),
    [
        ("rye bread", ["mix", "bake"], False),
        ("LEEK soup!", ["mix", "bake"], True),
        ("rye bread", ["Boil the leeks.", "bake"], False),  # a short step alone
        ("rye bread", ["Boil the leeks.", "boil THE leeks"], False),  # the same one twice
        ("rye bread", ["Boil the leeks.", "stir", "SERVE  hot"], True),
        ("rye bread", [LONG.upper(), "bake"], True),
        ("rye bread", [LONG.rpartition(" ")[0], "bake"], False),
        ("", ["!", "?"], False),
    ],
)
def test_resemble_goes_by_title_and_steps_in_common(title: str, steps: list[str], expected: bool) -> None:
    first = StepRecipe("a", "Leek soup", STEPS)
    second = StepRecipe("b", title, tuple(steps))

    assert resemble(first, second) is resemble(second, first) is expected
    assert resemble(first, replace(second, id="a"))


def test_resemble_of_recipes_without_titles_is_false() -> None:
    assert not resemble(StepRecipe("a", "", ("cut it",)), StepRecipe("b", "", ("boil it",)))


def test_embedded_recipes_to_learn_from_resemble_none_that_is_asked_about() -> None:
    recipes = read_embedded_recipes()

    assert not [
        (first.id, second.id)
        for first in (*recipes.train, *recipes.dev)
        for second in recipes.test
        if resemble(first, second)
    ]


def test_published_recipes_hold_all_steps_that_their_questions_show() -> None:
    samples = PublishedSamples(
        (NextStepSample(("a", "b"), "c", True, "n1", 3), NextStepSample(("a", "b"), "d", False, "n1", 3)),
        (ChoiceSample(("e",), "f", "g", "m1", 2),),
        (),
        (),
    )

    assert published_recipes(samples) == {
        "n1": StepRecipe("n1", "", ("a", "b", "c", "d")),
        "m1": StepRecipe("m1", "", ("e", "f", "g")),
    }


texts = st.lists(st.sampled_from([*"abcdef", "A", "b.", LONG, "!", ""]), min_size=1, max_size=3)


@given(st.lists(texts, max_size=6), st.lists(texts, min_size=1, max_size=4))
def test_recipes_without_published_are_those_that_resemble_none(mine: list[list[str]], theirs: list[list[str]]) -> None:
    recipes = [StepRecipe(str(at), "", tuple(steps)) for at, steps in enumerate(mine)]
    published_samples = [NextStepSample(tuple(steps), "z9", True, f"n{at}", 2) for at, steps in enumerate(theirs)]
    published = PublishedSamples(tuple(published_samples), (), (), ())
    recipe_set = without_published(RecipeSet.of("food.com", {"dev": recipes}, ["odd"]), published)
    remaining = [
        recipe
        for recipe in recipes
        if not any(resemble(recipe, other) for other in published_recipes(published).values())
    ]

    assert recipe_set.dev == tuple(remaining)
    assert recipe_set.problems[0] == "odd"
    assert len(recipe_set.problems) == 1 + (len(remaining) < len(recipes))
