"""The demonstrations of one_shot and few_shot: samples of the classification from training recipes, with their labels.

As in Wang et al. (2023), section 3.4, half of them are Yes and half are No. They are of different recipes. Each draw of
a run gives all questions the same demonstrations; those of a recipe that resembles the recipe that is asked about are
replaced, each in its place, by the next that the draw has (`recipe_resemblance`). If short steps that many recipes have
counted as a resemblance, the demonstrations would change from question to question.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import lru_cache
from random import Random
from typing import TYPE_CHECKING

from ...errors import UsageError
from .construction import PAPER_RULE, ConstructionRule, build_classification
from .next_step_samples import NextStepSample, StepRecipe
from .recipe_sets import RecipeSet, RecipeSplit, load
from .recipe_sets.recipe_resemblance import published_recipes, resemble
from .sample_sets import usable_recipes
from .steps_options import RECIPES_DATA, SAMPLES_DATA

if TYPE_CHECKING:
    from .steps_settings import StepsSettings

_Demonstration = tuple[StepRecipe, NextStepSample]


def draw_demonstrations(
    settings: StepsSettings, k: int, seed_number: int, recipe_id: str
) -> tuple[NextStepSample, ...]:
    """Return k demonstrations for the questions about a recipe, in a shuffled order.

    Of an even k, half are Yes and half are No; the odd one is Yes or No by the draw. They are built by the rule of the
    settings from recipes of the train split, also if that is asked about; then they are of other recipes than the asked
    one.

    Args:
        settings: The settings; their seed decides, too.
        k: The number of demonstrations.
        seed_number: Which draw of the run it is.
        recipe_id: The recipe that is asked about.

    Raises:
        UsageError: if there are too few training recipes, or the recipe is not among those that are asked about.
    """
    if k < 1:
        return ()
    recipes, rule, seed = load(settings), PAPER_RULE, settings.seed
    asked_recipe = _asked_recipe(settings, recipes, recipe_id)
    common, further = _common_draw(recipes, rule, seed, seed_number, k)
    order = iter(_recipe_order(recipes, rule, seed, seed_number)[further:])
    demonstrations = []
    for recipe, sample in common:
        if not resemble(recipe, asked_recipe):
            demonstrations.append(sample)
            continue
        others = (other for other in order if not resemble(other, asked_recipe))
        _, other_sample = _next_demonstration(others, sample.label, rule, seed, seed_number) or _raise_too_few(
            recipes, rule, k
        )
        demonstrations.append(other_sample)
    return tuple(demonstrations)


def check_demonstrations(settings: StepsSettings, k: int) -> None:
    """Check that k demonstrations can be drawn for questions about recipes that resemble no training recipe.

    Raises:
        UsageError: if k is 0, or there are too few training recipes.
    """
    if k < 1:
        raise UsageError(
            f"--taskgraph-shots: found {k}; few_shot needs at least 1, and zero_shot asks without demonstrations"
        )
    _common_draw(load(settings), PAPER_RULE, settings.seed, 1, k)


def demonstration_notices(settings: StepsSettings) -> Iterator[str]:
    """Yield what a user should know about the demonstrations of the run, a line each."""
    if settings.source == "published":
        name = "Food.com's" if RECIPES_DATA in settings.data else "the embedded"
        more = "" if RECIPES_DATA in settings.data else f"; --taskgraph-data={RECIPES_DATA}=PATH takes Food.com's"
        yield f"STEPS, published questions: demonstrations are built from {name} recipes, train split{more}"
        yield from load(settings).problems


@lru_cache(maxsize=64)
def _common_draw(
    recipes: RecipeSet, rule: ConstructionRule, seed: int, seed_number: int, k: int
) -> tuple[tuple[_Demonstration, ...], int]:
    """Return the demonstrations for a recipe that resembles none, and how much of the order they took."""
    rng = Random(f"{seed}|steps demonstrations|{seed_number}|labels|{k}")
    labels = [True, False] * (k // 2) + [rng.random() < 0.5] * (k % 2)
    rng.shuffle(labels)
    order = _recipe_order(recipes, rule, seed, seed_number)
    left = iter(order)
    pairs = tuple(
        _next_demonstration(left, label, rule, seed, seed_number) or _raise_too_few(recipes, rule, k)
        for label in labels
    )
    return pairs, len(order) - sum(1 for _ in left)


@lru_cache(maxsize=64)
def _recipe_order(recipes: RecipeSet, rule: ConstructionRule, seed: int, seed_number: int) -> tuple[StepRecipe, ...]:
    """Return the training recipes in the order in which demonstrations are taken from them."""
    pool = usable_recipes(recipes, "train", rule).recipes
    return tuple(Random(f"{seed}|steps demonstrations|{seed_number}").sample(pool, len(pool)))


def _next_demonstration(
    recipes: Iterator[StepRecipe], label: bool, rule: ConstructionRule, seed: int, seed_number: int
) -> _Demonstration | None:
    """Return a sample of the label of the first recipe that has one; None if none has."""
    for recipe in recipes:
        samples = [sample for sample in build_classification([recipe], rule, seed) if sample.label == label]
        if samples:
            rng = Random(f"{seed}|steps demonstrations|{seed_number}|{recipe.id}|{label}")
            return recipe, rng.choice(samples)
    return None


def _raise_too_few(recipes: RecipeSet, rule: ConstructionRule, k: int) -> _Demonstration:
    usable = len(usable_recipes(recipes, "train", rule).recipes)
    raise UsageError(
        f"--taskgraph-shots: found {k}; the demonstrations are of different recipes, of which the train split has "
        f"{usable} that give a question, less those that resemble the asked one; state fewer"
    )


def _asked_recipe(settings: StepsSettings, recipes: RecipeSet, recipe_id: str) -> StepRecipe:
    """Return the recipe that is asked about; of a published one, the steps that its questions show."""
    recipes_by_id: Mapping[str, StepRecipe]
    if settings.source == "published":
        from .recipe_sets.published_files import read_published_samples

        recipes_by_id = published_recipes(read_published_samples(settings.data_path(SAMPLES_DATA)))
    else:
        recipes_by_id = _recipes_by_id(recipes, settings.split)
    if recipe_id not in recipes_by_id:
        raise UsageError(
            f"the recipe {recipe_id!r}: not in the {settings.split} split of the data (source {settings.source}); "
            "state the data that the question was built from"
        )
    return recipes_by_id[recipe_id]


@lru_cache(maxsize=4)
def _recipes_by_id(recipes: RecipeSet, split: RecipeSplit) -> Mapping[str, StepRecipe]:
    return {recipe.id: recipe for recipe in recipes.split(split)}
