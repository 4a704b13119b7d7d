"""What is asked about recipes: the samples of a draw of recipes, in both formats, and the notices about them.

The samples are built from the recipes of a source by the rule, or they are the published ones, as they are.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from functools import lru_cache
from itertools import islice
from typing import TYPE_CHECKING, Final, NamedTuple

from ...benchmarks.data_sets.items import draw_items
from ...benchmarks.option import SPLIT
from ...errors import UsageError
from .construction import PAPER_RULE, ConstructionCounts, ConstructionRule, build_choices, build_classification
from .next_step_samples import ChoiceSample, NextStepSample, StepRecipe
from .recipe_sets import RecipeSet, RecipeSplit, load
from .recipe_sets.recipe_set import RECIPE_SPLITS
from .steps_options import RECIPES_DATA, SAMPLES_DATA

if TYPE_CHECKING:
    from .recipe_sets.published_files import PublishedSamples
    from .steps_settings import StepsSettings

_PUBLISHED: Final = "STEPS, published questions"


@dataclass(frozen=True, slots=True)
class AskedSamples:
    """What is asked about recipes.

    Args:
        classification: The samples of the classification, in the order of recipes, places and candidates.
        choices: The samples of the multiple choice, likewise. Built samples are of the same recipes as those of the
            classification; published ones are of others.
        notices: A line each for the user: what the data hold, how much of it is asked about, and its problems.
    """

    classification: tuple[NextStepSample, ...]
    choices: tuple[ChoiceSample, ...]
    notices: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class UsableRecipes:
    """The recipes of a split that give samples.

    Args:
        recipes: The recipes, in order.
        line: The numbers of recipes that are used, too short and too long, for the user.
    """

    recipes: tuple[StepRecipe, ...]
    line: str


class _PublishedRecipe(NamedTuple):
    """What is known of a recipe of the published questions."""

    id: str


def asked_samples(settings: StepsSettings, count: int) -> AskedSamples:
    """Return the samples of `count` recipes of the split, drawn by the seed; all if there are no more.

    A larger count keeps the recipes of a smaller one. The result is kept: it is built once for the same data.

    Raises:
        UsageError: if the data cannot be read, or hold nothing to ask about in the split.
    """
    if settings.source != "published":
        return _built_samples(load(settings), settings.split, PAPER_RULE, settings.seed, count)
    from .recipe_sets.published_files import read_published_samples

    published = read_published_samples(settings.data_path(SAMPLES_DATA))
    if settings.split != "test":
        raise UsageError(
            f"{SPLIT.flag}: the published questions are of the split test, not {settings.split}; state test, or other "
            f"data than --taskgraph-data={SAMPLES_DATA}=PATH"
        )
    return _published_samples(published, settings.seed, count)


@lru_cache(maxsize=8)
def usable_recipes(recipes: RecipeSet, split: RecipeSplit, rule: ConstructionRule) -> UsableRecipes:
    """Return the recipes of a split from which the rule builds at least one sample.

    Args:
        recipes: The recipes of all splits.
        split: The split.
        rule: Which samples are built.
    """
    counts = ConstructionCounts()
    usable = tuple(
        recipe for recipe in recipes.split(split) if _has_items(build_classification([recipe], rule, counts=counts))
    )
    return UsableRecipes(usable, counts.lines()[0])


def _has_items(samples: Iterator[NextStepSample]) -> bool:
    return any(True for _ in islice(samples, 1))


@lru_cache(maxsize=8)
def _built_samples(
    recipes: RecipeSet, split: RecipeSplit, rule: ConstructionRule, seed: int, count: int
) -> AskedSamples:
    usable = usable_recipes(recipes, split, rule)
    if not usable.recipes:
        raise _no_usable_recipe(recipes, split, rule)
    chosen = draw_items(usable.recipes, count, seed)
    counts, choice_counts = ConstructionCounts(), ConstructionCounts()
    classification = tuple(build_classification(chosen, rule, seed, counts))
    choices = tuple(build_choices(chosen, rule, seed, choice_counts))
    samples, *odd = replace(counts, choices=choice_counts.choices).lines()[1:]
    lines = [
        usable.line,
        f"recipes asked about: {len(chosen)} of {len(usable.recipes)}; {samples}",
        *(f"their {line}" for line in odd),
    ]
    where = f"STEPS, {_source_name(recipes)} recipes, {split} split"
    return AskedSamples(classification, choices, (*(f"{where}: {line}" for line in lines), *recipes.problems))


def _no_usable_recipe(recipes: RecipeSet, split: RecipeSplit, rule: ConstructionRule) -> UsageError:
    usable_counts = ", ".join(
        f"{name}: {len(usable_recipes(recipes, name, rule).recipes)} of {len(recipes.split(name))}"
        for name in RECIPE_SPLITS
    )
    return UsageError(
        f"{SPLIT.flag}: none of the {_source_name(recipes)} recipes of the split {split} gives a question; recipes "
        f"that do: {usable_counts}; state another split or other data ({RECIPES_DATA}=PATH)"
    )


def _source_name(recipes: RecipeSet) -> str:
    return {"embedded": "embedded", "food.com": "Food.com"}[recipes.source]


@lru_cache(maxsize=8)
def _published_samples(published: PublishedSamples, seed: int, count: int) -> AskedSamples:
    chosen = _select_recipes((sample.recipe for sample in published.classification), count, seed)
    classification = tuple(sample for sample in published.classification if chosen.get(sample.recipe))
    chosen_choices = _select_recipes((sample.recipe for sample in published.choices), count, seed)
    choices = tuple(sample for sample in published.choices if chosen_choices.get(sample.recipe))
    yes = sum(sample.label for sample in classification)
    lines = [
        *(counts.line() for counts in published.counts),
        _selection_line("classification", chosen, f"{yes} Yes, {len(classification) - yes} No"),
        _selection_line("multiple choice", chosen_choices, f"{len(choices)} choices"),
    ]
    return AskedSamples(classification, choices, (*(f"{_PUBLISHED}: {line}" for line in lines), *published.problems))


def _select_recipes(ids: Iterable[str], count: int, seed: int) -> dict[str, bool]:
    """Return for the recipe of each id, in order, whether it is asked about."""
    recipes = [_PublishedRecipe(recipe_id) for recipe_id in dict.fromkeys(ids)]
    chosen_ids = {recipe.id for recipe in draw_items(recipes, count, seed)}
    return {recipe.id: recipe.id in chosen_ids for recipe in recipes}


def _selection_line(kind: str, chosen: dict[str, bool], samples: str) -> str:
    if not chosen:
        return f"{kind}: no file of it; its methods have no questions"
    return f"{kind}: recipes asked about: {sum(chosen.values())} of {len(chosen)}; samples: {samples}"
