"""The reader of the recipes that come with the package, on files of the tests' own."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from pytest_taskgraph.benchmarks.steps.recipe_sets import RecipeSet
from pytest_taskgraph.benchmarks.steps.recipe_sets.embedded_recipes import LONGEST_STEP, MOST_STEPS, read_recipe_folder
from pytest_taskgraph.benchmarks.steps.step_recipe import StepRecipe
from pytest_taskgraph.errors import UsageError

TEA = {"title": "Mint tea", "steps": ["Boil the water", "Pour it"], "kind": "recipe", "domain": "drinks"}
TYRE = {"title": "Change a bicycle's tyre", "steps": ["Take off the wheel"], "kind": "procedure", "domain": "repair"}


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    for name in ("train", "dev", "test"):
        (tmp_path / f"{name}.jsonl").write_text("", encoding="utf-8")
    return tmp_path


def write(folder: Path, name: str, *records: object) -> None:
    (folder / f"{name}.jsonl").write_text("".join(json.dumps(record) + "\n" for record in records), encoding="utf-8")


def test_lines_give_recipes_of_the_split_of_their_file(folder: Path) -> None:
    write(folder, "train", TEA)
    write(folder, "dev", TYRE)
    write(folder, "test", TEA | {"title": "Sencha"})

    assert read_recipe_folder(folder) == RecipeSet(
        "embedded",
        (StepRecipe("mint-tea", "Mint tea", ("Boil the water", "Pour it"), "train"),),
        (StepRecipe("change-a-bicycles-tyre", "Change a bicycle's tyre", ("Take off the wheel",), "dev"),),
        (StepRecipe("sencha", "Sencha", ("Boil the water", "Pour it"), "test"),),
    )


def test_recipes_of_the_same_title_have_different_ids_over_splits(folder: Path) -> None:
    write(folder, "train", TEA, TEA)
    write(folder, "test", TEA, TEA | {"title": "茶"})

    recipes = read_recipe_folder(folder)

    assert [recipe.id for recipe in (*recipes.train, *recipes.test)] == [
        "mint-tea",
        "mint-tea-2",
        "mint-tea-3",
        "recipe",
    ]


@pytest.mark.parametrize(
    ("record", "message"),
    [
        ([], "the line holds a list; expected an object with a recipe; it is left out"),
        ({"steps": ["a"]}, "the title is null, expected a text with letters; it is left out"),
        (TEA | {"title": " \x00"}, "the title is a text, expected a text with letters; it is left out"),
        (TEA | {"steps": []}, "Mint tea has 0 steps, expected a list of 1 to 100 texts; it is left out"),
        (TEA | {"steps": ["a"] * (MOST_STEPS + 1)}, "Mint tea has 101 steps, expected a list of 1 to 100 texts"),
        (TEA | {"steps": "Boil"}, "Mint tea has a text, expected a list of 1 to 100 texts; it is left out"),
        (TEA | {"steps": ["Boil", 7]}, "step 2 of Mint tea has no text; it is left out"),
        (TEA | {"steps": ["a" * (LONGEST_STEP + 1)]}, "Mint tea has a text of more than 1000 characters"),
    ],
)
def test_line_that_is_no_recipe_is_reported_and_the_rest_read(folder: Path, record: object, message: str) -> None:
    write(folder, "test", TYRE, record, TEA)

    recipes = read_recipe_folder(folder)

    assert [recipe.title for recipe in recipes.split("test")] == ["Change a bicycle's tyre", "Mint tea"]
    assert len(recipes.problems) == 1
    assert recipes.problems[0].startswith(f"test.jsonl, line 2: {message}")


def test_folder_without_a_file_is_refused(folder: Path) -> None:
    (folder / "dev.jsonl").unlink()

    with pytest.raises(UsageError, match=r"the embedded recipes: dev\.jsonl cannot be read: .*; install the package"):
        read_recipe_folder(folder)
