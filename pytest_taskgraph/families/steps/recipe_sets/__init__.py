"""The recipes that STEPS builds questions from, and its published questions.

recipe_set          sets of recipes; our own recipes and procedures, which come with the package
food_com            Food.com's recipes, as the paper used them
published_files     the published test files, which hold questions and no recipes, and files like those
recipe_resemblance  recipes that may be the same
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from ..steps_options import RecipeSplit
from .recipe_set import RecipeSet, RecipeSource, read_embedded_recipes

if TYPE_CHECKING:
    from pathlib import Path

    from ..steps_settings import StepsSettings

__all__ = ["RecipeSet", "RecipeSource", "RecipeSplit", "load", "read_stated"]

MOST_RECIPES_KEPT: Final = 20_000
"""Of each split of Food.com's recipes: enough to ask about and to learn from, in 100 MB instead of 400 MB of memory."""


def load(settings: StepsSettings) -> RecipeSet:
    """Return the recipes of the source that the settings name. They are kept: data are read once a process.

    Published questions come without recipes. With them, Food.com's are returned where they are stated, less those that
    resemble a published one, and otherwise the embedded ones: to learn from, not to ask about. The splits of Food.com's
    recipes are the same for every seed of a run, so that a model that learned from train is never asked about what it
    learned.

    Raises:
        UsageError: if Food.com's recipes are not stated and the source needs them, or data cannot be used.
    """
    from ..steps_options import RECIPES_DATA, SAMPLES_DATA

    if settings.source == "food.com" or (settings.source == "published" and RECIPES_DATA in settings.data):
        from .food_com import read_food_com

        recipes = read_food_com(settings.data_path(RECIPES_DATA), most=MOST_RECIPES_KEPT)
        if settings.source == "food.com":
            return recipes
        from .published_files import read_published_samples
        from .recipe_resemblance import without_published

        return without_published(recipes, read_published_samples(settings.data_path(SAMPLES_DATA)))
    return read_embedded_recipes()


def read_stated(path: Path | None) -> RecipeSet:
    """Return the recipes that the option --recipes of a command states, in the same splits as in a run.

    Args:
        path: Food.com's file; None for the embedded recipes.

    Raises:
        UsageError: if the file cannot be used.
    """
    if path is None:
        return read_embedded_recipes()
    from ....benchmarks.data_sets.data_files import restate_path
    from .food_com import FORMAT, read_food_com

    with restate_path(path, FORMAT, f"--recipes={path}"):
        return read_food_com(path)
