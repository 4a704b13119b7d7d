"""The recipes and procedures that come with the package: JSON lines with `title` and `steps`, a file for each split.

`kind` ("recipe" or "procedure") and `domain` are for those who keep the files; they are not read here.
"""

from __future__ import annotations

import json
from functools import cache
from importlib.resources import files

from ...data_sets.item_ids import hyphenate, shorten, unique_ids
from ..step_recipe import StepRecipe
from .recipe_set import RECIPE_SPLITS, RecipeSet


@cache
def read_embedded_recipes() -> RecipeSet:
    """Return the embedded recipes.

    Their ids are made of their titles; a later recipe of the same title, over all splits, gets a number.
    """
    folder = files(__package__).joinpath("data")
    rows = [
        (split, json.loads(line))
        for split in RECIPE_SPLITS
        for line in folder.joinpath(f"{split}.jsonl").read_text("utf-8").splitlines()
    ]
    ids = unique_ids(shorten(hyphenate(row["title"])) or "recipe" for _, row in rows)
    recipes = [
        StepRecipe(recipe_id, row["title"], tuple(row["steps"]), split)
        for recipe_id, (split, row) in zip(ids, rows, strict=True)
    ]
    splits = {split: [recipe for recipe in recipes if recipe.split == split] for split in RECIPE_SPLITS}
    return RecipeSet.of("embedded", splits)
