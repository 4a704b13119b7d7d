"""A set of recipes with its splits."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final, Literal

from ..step_recipe import StepRecipe
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
