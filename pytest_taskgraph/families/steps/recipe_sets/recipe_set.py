"""Sets of recipes with their splits, and the embedded one.

The embedded recipes and procedures are JSON lines with `title` and `steps`, a file for each split. `kind` ("recipe" or
"procedure") and `domain` are for those who keep the files; they are not read here.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import Final, Literal

from ....benchmarks.data_sets.items import hyphenate, shorten, unique_ids
from ..next_step_samples import StepRecipe
from ..steps_options import RecipeSplit

RecipeSource = Literal["embedded", "food.com"]
RECIPE_SPLITS: Final[tuple[RecipeSplit, ...]] = ("train", "dev", "test")


@dataclass(frozen=True, slots=True)
class RecipeSet:
    """The recipes of one source.

    Args:
        source: Where they come from.
        train: The recipes that models learn from, and that in-context examples are drawn from.
        dev: The recipes that numbers are tuned on.
        test: The recipes that are asked about.
        problems: A line each on problems of the data, for the user.
    """

    source: RecipeSource
    train: tuple[StepRecipe, ...]
    dev: tuple[StepRecipe, ...]
    test: tuple[StepRecipe, ...]
    problems: tuple[str, ...] = ()

    def __hash__(self) -> int:
        """Return a hash that is cheap for many recipes, so that what is made of a set can be kept by it."""
        return hash((self.source, len(self.train), len(self.dev), len(self.test)))

    @classmethod
    def of(
        cls, source: RecipeSource, recipes: Mapping[RecipeSplit, Iterable[StepRecipe]], problems: Sequence[str] = ()
    ) -> RecipeSet:
        """Return the set of these recipes by split."""
        train, dev, test = (tuple(recipes.get(split, ())) for split in RECIPE_SPLITS)
        return cls(source, train, dev, test, tuple(problems))

    def split(self, name: RecipeSplit) -> tuple[StepRecipe, ...]:
        """Return the recipes of a split."""
        return {"train": self.train, "dev": self.dev, "test": self.test}[name]


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
