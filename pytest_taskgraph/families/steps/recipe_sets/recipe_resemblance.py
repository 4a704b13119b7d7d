"""Recipes that may be the same or versions of each other: nobody may learn from one and be asked about the other.

Two recipes resemble each other if they have the same id or title, or two steps in common, or one of at least
`LONG_STEP` words. Letter case and punctuation make no difference: the published questions and Food.com's file spell the
same recipe differently. A short step alone, such as "Preheat the oven", says nothing.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from functools import lru_cache
from typing import TYPE_CHECKING, Final

from ..next_step_samples import StepRecipe
from .recipe_set import RECIPE_SPLITS, RecipeSet

if TYPE_CHECKING:
    from .published_files import PublishedSamples

LONG_STEP: Final = 8
"""The words of a step that two recipes hardly have in common by chance."""


def resemble(first: StepRecipe, second: StepRecipe) -> bool:
    """Return True if two recipes may be the same or versions of each other."""
    if first.id == second.id:
        return True
    title = _words(first.title)
    if title and title == _words(second.title):
        return True
    common = _step_words(first) & _step_words(second)
    return len(common) > 1 or any(map(_is_long, common))


@lru_cache(maxsize=4)
def published_recipes(published: PublishedSamples) -> Mapping[str, StepRecipe]:
    """Return what the published questions show of their recipes, by id: the steps, in no order, and no title."""
    steps: dict[str, dict[str, None]] = {}
    for sample in published.classification:
        steps.setdefault(sample.recipe, {}).update(dict.fromkeys((*sample.prefix, sample.candidate)))
    for choice in published.choices:
        steps.setdefault(choice.recipe, {}).update(dict.fromkeys((*choice.prefix, choice.right, choice.wrong)))
    return {recipe_id: StepRecipe(recipe_id, "", tuple(texts)) for recipe_id, texts in steps.items()}


@lru_cache(maxsize=1)
def without_published(recipes: RecipeSet, published: PublishedSamples) -> RecipeSet:
    """Return the recipes of a set that resemble none of the published questions; a problem says how many do.

    The published questions do not say which of Food.com's recipes they are from.
    """
    published_texts = [*published_recipes(published).values()]
    name = "Food.com's" if recipes.source == "food.com" else "embedded"
    remaining = {split: _without_resembling(recipes.split(split), published_texts) for split in RECIPE_SPLITS}
    dropped = [
        f"{name} recipes, {split} split: left out, as they resemble those of the published questions: {number}"
        for split in RECIPE_SPLITS
        if (number := len(recipes.split(split)) - len(remaining[split]))
    ]
    return RecipeSet.of(recipes.source, remaining, [*recipes.problems, *dropped])


def _without_resembling(recipes: Iterable[StepRecipe], others: Sequence[StepRecipe]) -> list[StepRecipe]:
    """Return the recipes that resemble none of the others by their steps."""
    holders: dict[str, list[int]] = {}
    for at, other in enumerate(others):
        for words in _step_words(other):
            holders.setdefault(words, []).append(at)
    remaining = []
    for recipe in recipes:
        common = [words for words in _step_words(recipe) if words in holders]
        shared = Counter(at for words in common for at in holders[words]) if len(common) > 1 else Counter[int]()
        if not any(map(_is_long, common)) and max(shared.values(), default=0) < 2:
            remaining.append(recipe)
    return remaining


def _step_words(recipe: StepRecipe) -> set[str]:
    return {words for step in recipe.steps if (words := _words(step))}


def _words(text: str) -> str:
    """Return the words of a text in lower case, with single spaces between."""
    return " ".join(re.findall(r"[^\W_]+", text.casefold()))


def _is_long(words: str) -> bool:
    return words.count(" ") >= LONG_STEP - 1
