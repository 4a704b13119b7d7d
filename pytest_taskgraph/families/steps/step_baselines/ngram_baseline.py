"""The n-gram baseline of STEPS: an n-gram model of the training recipes, which answers by perplexity.

Food.com has some 180,000 training recipes, of about 100 tokens each: 20,000 of them are learned from.
`perf/step_baselines.py` measures what that costs, and the scores.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from functools import cached_property
from math import exp, fsum, inf, log, sqrt
from typing import TYPE_CHECKING, Any, Final

from ....benchmarks.data_sets.items import draw_items
from ....errors import CannotScoreError, PromptNotUnderstoodError
from ....scoring.metrics.class_shares import TIE
from ....trial import Reply, Request
from ..construction import PAPER_RULE, ConstructionRule, build_classification
from ..next_step_samples import join_steps
from ..recipe_sets import load
from ..recipe_sets.recipe_set import read_embedded_recipes
from .step_baseline import AskedCandidate, AskedStep, StepBaseline, read_step_prompt

if TYPE_CHECKING:
    from ..next_step_samples import NextStepSample, StepRecipe
    from ..recipe_sets import RecipeSet
    from ..steps_settings import StepsSettings

ORDER: Final = 3  # tokens of the longest n-grams
DISCOUNT: Final = 0.75
MOST_TOKENS: Final = 3_000_000  # of the training texts
MOST_TRAINING: Final = 20_000  # recipes that are learned from
MOST_TUNING: Final = 1_000  # recipes that are tuned on
_DRAW: Final = "steps n-gram"  # not the seed of the run: the model is the same for every seed
_START: Final = ""  # before the first token of a text; no token is empty
_ANSWERS: Final = {"yes", "no"}


def word_tokens(text: str) -> list[str]:
    """Return the words and numbers of a text in lower case, and each other character that is no white space."""
    return re.findall(r"\w+|[^\w\s]", text.lower())


class NgramModel:
    """An n-gram model with interpolated absolute discounting (Ney, Essen and Kneser 1994).

    With h, the tokens before the token w, and h', the same without the first of them:

        p(w | h) = (max(c(h w) - D, 0) + D N(h) p(w | h')) / c(h)

    c(h w) is how often w stands behind h, c(h) the sum of c(h w) over all w, N(h) the number of different w behind h,
    and D the discount. Where c(h) = 0, p(w | h) = p(w | h'). Below the unigrams stands the uniform distribution over
    the tokens of the training texts and an unknown one, which every other token is taken for. So the probabilities
    behind any context sum to 1, and none is 0. Before a text stand order - 1 start marks, which are never predicted.

    Args:
        texts: The tokens of each training text.
        order: The length of the longest n-grams, at least 1.
        discount: What is taken off each count, above 0 and at most 1.
    """

    def __init__(self, texts: Iterable[Sequence[str]], order: int = ORDER, discount: float = DISCOUNT) -> None:
        self._starts = (_START,) * (order - 1)
        self._discount = discount
        self._counts: Counter[tuple[str, ...]] = Counter()
        for tokens in texts:
            marked = (*self._starts, *tokens)
            for first in range(order):
                self._counts.update(zip(*(marked[at:] for at in range(first, order)), strict=False))
        self._totals: Counter[tuple[str, ...]] = Counter()  # c(h)
        self._followers: Counter[tuple[str, ...]] = Counter()  # N(h)
        for gram, count in self._counts.items():
            self._totals[gram[:-1]] += count
            self._followers[gram[:-1]] += 1

    def probability(self, token: str, context: tuple[str, ...]) -> float:
        """Return the probability of a token behind at most order - 1 others."""
        shorter = self.probability(token, context[1:]) if context else 1.0 / (self._followers[()] + 1)
        total = self._totals[context]
        if not total:
            return shorter
        kept = max(self._counts[*context, token] - self._discount, 0.0)
        return (kept + self._discount * self._followers[context] * shorter) / total

    def logprobs(self, tokens: Sequence[str], context: Sequence[str] = ()) -> list[float]:
        """Return the natural logarithm of the probability of each token of a text.

        Args:
            tokens: The tokens of a text.
            context: The tokens before them, from the start of the text on.
        """
        before = len(self._starts)
        marked = (*self._starts, *context, *tokens)
        return [
            log(self.probability(marked[at], marked[at - before : at]))
            for at in range(before + len(context), len(marked))
        ]

    def perplexity(self, tokens: Sequence[str], context: Sequence[str] = ()) -> float:
        """Return the perplexity of a text, exp(-mean of the log-probabilities); infinite if it has no tokens."""
        logprobs = self.logprobs(tokens, context)
        return exp(-fsum(logprobs) / len(logprobs)) if logprobs else inf


def train_model(recipes: RecipeSet, rule: ConstructionRule, stand_in: RecipeSet) -> tuple[NgramModel, float]:
    """Train the model on the training recipes, and tune the threshold on the development recipes.

    Args:
        recipes: The recipes. Of training recipes 20,000 are used at most, and 3 million tokens; of development recipes
            1,000, drawn by their ids.
        rule: How questions are built; where no development recipe has a Yes and a No by it, the rule of the paper.
        stand_in: The recipes used instead of training or development recipes where there are none, and to tune the
            threshold where no question can be built.

    Returns:
        The model, and the perplexity of a candidate up to which it is taken for the next step.
    """
    train = draw_items(recipes.train or stand_in.train, MOST_TRAINING, _DRAW)
    model = NgramModel(_training_texts(train))
    dev = draw_items(recipes.dev or stand_in.dev, MOST_TUNING, _DRAW)
    samples = _samples(dev, rule) or _samples(dev, PAPER_RULE) or _samples(stand_in.dev, PAPER_RULE)
    perplexities = [
        model.perplexity(word_tokens(sample.candidate), _step_tokens(join_steps(sample.prefix))) for sample in samples
    ]
    return model, tuned_threshold(perplexities, [sample.label for sample in samples])


def tuned_threshold(perplexities: Sequence[float], labels: Sequence[bool]) -> float:
    """Return the perplexity up to which a candidate is best taken for the next step.

    It is that of the given perplexities with the largest G-mean, the square root of sensitivity times specificity;
    the lowest among equals.

    Args:
        perplexities: The perplexity of the candidate of each question.
        labels: Of each question, whether the candidate is the next step; at least one is, and at least one is not.
    """
    rows = sorted(zip(perplexities, labels, strict=True))
    positives = sum(labels)
    negatives = len(rows) - positives
    best, threshold, hits, alarms = -1.0, rows[0][0], 0, 0
    for value, label in rows:  # of equal perplexities No stands first, so some of them are no better than all
        hits, alarms = hits + label, alarms + (not label)
        g_mean = sqrt(hits / positives * (negatives - alarms) / negatives)
        if g_mean > best:
            best, threshold = g_mean, value
    return threshold


def _training_texts(recipes: Iterable[StepRecipe]) -> Iterator[list[str]]:
    """Yield the tokens of each recipe, of so many recipes as have no more tokens than are learned from."""
    left = MOST_TOKENS
    for recipe in recipes:
        tokens = _step_tokens(join_steps(recipe.steps))
        left -= len(tokens)
        if left < 0:
            break
        yield tokens


def _samples(recipes: Sequence[StepRecipe], rule: ConstructionRule) -> list[NextStepSample]:
    """Return the samples of the classification; none unless both answers occur."""
    samples = [*build_classification(recipes, rule)]
    return samples if len({sample.label for sample in samples}) == 2 else []


def _step_tokens(steps: str) -> list[str]:
    """Return the tokens of joined steps, with the mark that stands behind each step of the training texts."""
    return word_tokens(f"{steps} ." if steps else "")


class NgramBaseline(StepBaseline):
    """Says Yes to a candidate of low perplexity, and takes the option whose query has the lowest.

    Where the perplexities of a choice tie, it replies "tie": a letter would be a guess, and by its place.

    It scores texts too, which gives the perplexities of whole queries. Context and text are split into tokens each by
    itself. It does not score answers behind a question, such as Yes and No: recipes hold neither.

    It learns from the training recipes and is tuned on the development recipes of the source of the questions, or on
    those that come with the package where there are none (`train_model`); at the first request, not before. Where
    these recipes are asked about themselves (`--taskgraph-split`), its answers tell nothing.

    Args:
        name: The name of the baseline.
        settings: The settings of the run.
    """

    def __init__(self, name: str, settings: StepsSettings) -> None:
        super().__init__(name)
        self._settings = settings

    def choose(self, step: AskedStep, request: Request) -> str:
        """Return "Yes", "No", a letter, or "tie"."""
        model, threshold = self._trained
        previous = _step_tokens(step.previous)
        if isinstance(step, AskedCandidate):
            return "Yes" if model.perplexity(word_tokens(step.candidate), previous) <= threshold else "No"
        perplexities = {
            letter: model.perplexity([*previous, *word_tokens(option)]) for letter, option in step.options.items()
        }
        lowest = min(perplexities.values())
        letters = [letter for letter, perplexity in perplexities.items() if perplexity == lowest]
        return letters[0] if len(letters) == 1 else TIE

    async def score(self, request: Request) -> Reply:
        """Return the log-probabilities of texts.

        Raises:
            CannotScoreError: for answers behind a question, and for replies to messages.
        """
        if _scores_answers(request):
            raise CannotScoreError(
                f"{self.name} cannot score answers behind a question, which recipes do not hold; it answers by text"
            )
        if request.messages:
            raise CannotScoreError(f"{self.name} cannot score replies to messages: it scores texts behind a context")
        model, _ = self._trained
        context = word_tokens(request.context)
        logprobs = [model.logprobs(word_tokens(text), context) for text in request.texts]
        rows: list[list[Any]] = [[fsum(values), len(values), None] for values in logprobs]
        return Reply("", source=self.name, logprobs=rows)

    @cached_property
    def _trained(self) -> tuple[NgramModel, float]:
        return train_model(load(self._settings), PAPER_RULE, read_embedded_recipes())


def _scores_answers(request: Request) -> bool:
    """Return True if the texts to score are answers to a question that stands before them."""
    before = request.prompt or request.context
    if before and {text.strip().casefold() for text in request.texts} <= _ANSWERS:
        return True
    try:
        read_step_prompt(before)
    except PromptNotUnderstoodError:
        return False
    return True
