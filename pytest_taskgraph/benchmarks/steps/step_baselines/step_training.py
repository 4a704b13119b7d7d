"""The n-gram model of STEPS: trained on training recipes, tuned on development recipes, never on test recipes.

Food.com has some 180,000 training recipes, of about 100 tokens each: 20,000 of them are learned from. On so many
synthetic recipes, more diverse than real ones, `perf/step_baselines.py` measures 20 seconds and 0.8 GB of memory to
tune and train with orders up to 3; with order 4 as well, 34 seconds and 1.8 GB.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from ...data_sets.item_draw import draw_items
from ..construction import build_classification
from ..construction_rule import PAPER_RULE, ConstructionRule
from ..ngram.language_model import KneserNeyModel
from ..ngram.order_tuning import tuned_order
from ..ngram.perplexity_choice import lowest_perplexity, step_perplexity, tuned_threshold
from ..ngram.word_tokens import word_tokens
from ..step_query import join_steps
from .step_prompts import AskedCandidate, AskedChoice

if TYPE_CHECKING:
    from ..next_step_samples import NextStepSample
    from ..recipe_sets import RecipeSet
    from ..step_recipe import StepRecipe

MOST_TOKENS: Final = 3_000_000  # of the training texts
MOST_TRAINING: Final = 20_000  # recipes that are learned from
MOST_TUNING: Final = 1_000  # recipes that are tuned on
ORDERS: Final = range(1, 4)
_DRAW: Final = "steps n-gram"  # not the seed of the run: the model is the same for every seed


@dataclass(frozen=True, slots=True)
class StepModel:
    """A trained and tuned model.

    Args:
        model: The n-gram model.
        threshold: The perplexity of a candidate up to which it is taken for the next step.
    """

    model: KneserNeyModel
    threshold: float

    def is_next(self, step: AskedCandidate) -> bool:
        """Return True if the perplexity of the candidate behind the steps before it is at most the threshold."""
        return step_perplexity(self.model, _end_steps(step.previous), step.candidate) <= self.threshold

    def next_letter(self, choice: AskedChoice) -> str | None:
        """Return the letter of the option whose query has the lowest perplexity; None if two have it."""
        place = lowest_perplexity(self.model, _end_steps(choice.previous), [*choice.options.values()])
        return None if place is None else [*choice.options][place]


def train_step_model(recipes: RecipeSet, rule: ConstructionRule, stand_in: RecipeSet) -> StepModel:
    """Train the model on the training recipes, and tune its order and its threshold on the development recipes.

    The order is the lowest of 1 to 3 that is about as good as any on the development texts (`tuned_order`), the
    threshold the best one for the questions that are built from them (`tuned_threshold`).

    Args:
        recipes: The recipes. Of training recipes 20,000 are used at most, and 3 million tokens; of development recipes
            1,000, drawn by their ids.
        rule: How questions are built; where no development recipe has a Yes and a No by it, the rule of the paper.
        stand_in: The recipes used instead of training or development recipes where there are none, and to tune the
            threshold where no question can be built.
    """
    train = _texts(draw_items(recipes.train or stand_in.train, MOST_TRAINING, _DRAW))
    dev = draw_items(recipes.dev or stand_in.dev, MOST_TUNING, _DRAW)
    model = KneserNeyModel(tuned_order(train, _texts(dev), ORDERS)).fit(train)
    samples = _samples(dev, rule) or _samples(dev, PAPER_RULE) or _samples(stand_in.dev, PAPER_RULE)
    perplexities = [
        step_perplexity(model, _end_steps(join_steps(sample.prefix)), sample.candidate) for sample in samples
    ]
    return StepModel(model, tuned_threshold(perplexities, [sample.label for sample in samples]))


def _texts(recipes: Sequence[StepRecipe]) -> list[list[str]]:
    """Return the tokens of each recipe, so many recipes as have no more tokens than are learned from."""
    return [*_limit_tokens(word_tokens(_end_steps(join_steps(recipe.steps))) for recipe in recipes)]


def _limit_tokens(texts: Iterator[list[str]]) -> Iterator[list[str]]:
    left = MOST_TOKENS
    for tokens in texts:
        left -= len(tokens)
        if left < 0:
            break
        yield tokens


def _samples(recipes: Sequence[StepRecipe], rule: ConstructionRule) -> list[NextStepSample]:
    """Return the samples of the classification; none unless both answers occur."""
    samples = [*build_classification(recipes, rule)]
    return samples if len({sample.label for sample in samples}) == 2 else []


def _end_steps(steps: str) -> str:
    """Return the steps with the mark that stands behind each step of the training texts."""
    return f"{steps} ." if steps else ""
