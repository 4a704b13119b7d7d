"""The recipes and procedures that come with the package: JSON lines with `title` and `steps`, a file for each split.

`kind` ("recipe" or "procedure") and `domain` are for those who keep the files; they are not read here.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from ....errors import UsageError
from ...data_sets.data_problems import DataProblems, clean_text, excerpt, kind_of_value
from ...data_sets.item_ids import hyphenate, shorten, unique_ids
from ...data_sets.json_lines import read_objects
from ..step_recipe import StepRecipe
from ..steps_options import RecipeSplit
from .recipe_set import RECIPE_SPLITS, RecipeSet

if TYPE_CHECKING:
    from importlib.resources.abc import Traversable

LONGEST_STEP: Final = 1_000  # characters of a title or a step
MOST_STEPS: Final = 100


@cache
def read_embedded_recipes() -> RecipeSet:
    """Return the embedded recipes; its problems are empty unless the installation is damaged.

    Raises:
        UsageError: if a file is missing.
    """
    from importlib.resources import files

    return read_recipe_folder(files(__package__).joinpath("data"))


def read_recipe_folder(folder: Traversable | Path) -> RecipeSet:
    """Return the recipes of the files train.jsonl, dev.jsonl and test.jsonl of a folder.

    Their ids are made of their titles; a later recipe of the same title, over all splits, gets a number.

    Raises:
        UsageError: if a file cannot be read.
    """
    problems = DataProblems()
    recipes: list[StepRecipe] = []
    for split in RECIPE_SPLITS:
        name = f"{split}.jsonl"
        try:
            content = folder.joinpath(name).read_bytes()
        except OSError as error:
            raise UsageError(
                f"the embedded recipes: {name} cannot be read: {error.strerror or error}; install the package again"
            ) from error
        recipes += _recipes(content, name, split, problems)
    ids = unique_ids(shorten(hyphenate(recipe.title)) or "recipe" for recipe in recipes)
    recipes_with_ids = [replace(recipe, id=recipe_id) for recipe, recipe_id in zip(recipes, ids, strict=True)]
    splits = {split: [recipe for recipe in recipes_with_ids if recipe.split == split] for split in RECIPE_SPLITS}
    return RecipeSet.of("embedded", splits, problems.lines)


def _recipes(content: bytes, file: str, split: RecipeSplit, problems: DataProblems) -> Iterator[StepRecipe]:
    for place, record in read_objects(content, file, "a recipe", problems):
        recipe = _recipe(record, split)
        if isinstance(recipe, StepRecipe):
            yield recipe
        else:
            problems.add("recipes that cannot be used", f"{place}: {recipe}; it is left out")


def _recipe(record: dict[str, Any], split: RecipeSplit) -> StepRecipe | str:
    """Return the recipe that a line holds, as yet without an id, or why it cannot be used."""
    title, steps = record.get("title"), record.get("steps")
    if not isinstance(title, str) or not clean_text(title):
        return f"the title is {kind_of_value(title)}, expected a text with letters"
    if not isinstance(steps, list) or not 1 <= len(steps) <= MOST_STEPS:
        description = f"{len(steps)} steps" if isinstance(steps, list) else kind_of_value(steps)
        return f"{excerpt(title)} has {description}, expected a list of 1 to {MOST_STEPS} texts"
    texts = [clean_text(step) if isinstance(step, str) else "" for step in steps]
    if not all(texts):
        return f"step {texts.index('') + 1} of {excerpt(title)} has no text"
    if max(map(len, [title, *texts])) > LONGEST_STEP:
        return f"{excerpt(title)} has a text of more than {LONGEST_STEP} characters"
    return StepRecipe("", clean_text(title), tuple(texts), split)
