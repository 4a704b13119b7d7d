"""Which recipes the settings name."""

from __future__ import annotations

from pathlib import Path

import pytest
from food_com_file import write_soups

from pytest_taskgraph.benchmarks.settings import Settings
from pytest_taskgraph.errors import UsageError
from pytest_taskgraph.families.steps import recipe_sets
from pytest_taskgraph.families.steps.recipe_sets import load
from pytest_taskgraph.families.steps.recipe_sets.recipe_set import read_embedded_recipes
from pytest_taskgraph.families.steps.steps_settings import StepsSettings


@pytest.fixture
def food_com(tmp_path: Path) -> str:
    """Return the path of a file as Food.com's, with 60 recipes."""
    return write_soups(tmp_path / "RAW_recipes.csv", 60)


def test_load_without_data_gives_the_embedded_recipes() -> None:
    assert load(StepsSettings.of(Settings())) is read_embedded_recipes()


def test_load_with_food_com_stated_gives_its_recipes(food_com: str) -> None:
    recipe_set = load(StepsSettings.of(Settings(data={"steps-recipes": food_com})))

    assert (recipe_set.source, recipe_set.problems) == ("food.com", ())
    assert len(recipe_set.train) + len(recipe_set.dev) + len(recipe_set.test) == 60


def test_load_again_gives_the_recipes_that_are_kept(food_com: str) -> None:
    settings = StepsSettings.of(Settings(data={"steps-recipes": food_com}))

    assert load(settings) is load(settings)


def test_load_with_another_seed_gives_the_same_splits(food_com: str) -> None:
    first, second = (load(StepsSettings.of(Settings(data={"steps-recipes": food_com}, seed=seed))) for seed in (1, 2))

    assert first == second


def test_load_of_food_com_that_is_not_stated_is_an_error() -> None:
    with pytest.raises(UsageError, match=r"the data set 'steps-recipes' is missing; add steps-recipes=PATH"):
        load(StepsSettings(source="food.com"))


def test_load_for_published_questions_gives_embedded_recipes_to_learn_from() -> None:
    assert load(StepsSettings.of(Settings(data={"steps": "questions.txt"}))) is read_embedded_recipes()


def test_load_for_published_questions_leaves_out_recipes_that_they_show(food_com: str, tmp_path: Path) -> None:
    whole = load(StepsSettings.of(Settings(data={"steps-recipes": food_com})))
    shown_recipes = [whole.train[0], whole.train[4], whole.test[0]]
    lines = [f"{recipe.steps[0].upper()} . {recipe.steps[1]}!\t{recipe.steps[2]}\tYes\n" for recipe in shown_recipes]
    (tmp_path / "next_step.txt").write_text("".join(lines), encoding="utf-8")
    settings = StepsSettings.of(Settings(data={"steps": str(tmp_path / "next_step.txt"), "steps-recipes": food_com}))
    recipe_set = load(settings)

    assert recipe_set.train == (*whole.train[1:4], *whole.train[5:])
    assert (recipe_set.dev, recipe_set.test, recipe_set.source) == (whole.dev, whole.test[1:], "food.com")
    assert recipe_set.problems == (
        "Food.com's recipes, train split: left out, as they resemble those of the published questions: 2",
        "Food.com's recipes, test split: left out, as they resemble those of the published questions: 1",
    )
    assert load(settings) is recipe_set
    assert load(StepsSettings.of(Settings(data={"steps-recipes": food_com}))) is whole


def test_load_of_the_embedded_source_passes_over_food_com(food_com: str) -> None:
    assert load(StepsSettings(source="embedded", data={"steps-recipes": food_com})).source == "embedded"


def test_load_of_many_recipes_keeps_some_of_each_split(food_com: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(recipe_sets, "MOST_RECIPES_KEPT", 10)
    recipe_set = load(StepsSettings(source="food.com", data={"steps-recipes": food_com}))

    assert len(recipe_set.train) == 10
    assert any(line.startswith("RAW_recipes.csv: only 10 of ") for line in recipe_set.problems)
