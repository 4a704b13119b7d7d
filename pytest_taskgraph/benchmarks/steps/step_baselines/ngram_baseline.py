"""The n-gram model of STEPS as a baseline: it answers by perplexity."""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING, Final

from ....errors import CannotScoreError, PromptNotUnderstoodError
from ....scoring.metrics.class_shares import TIE
from ....trial import Reply, Request
from ..ngram.ngram_client import NgramClient
from ..recipe_sets import load
from ..recipe_sets.embedded_recipes import read_embedded_recipes
from .step_baseline import StepBaseline
from .step_prompts import AskedChoice, AskedStep, read_step_prompt
from .step_training import StepModel, train_step_model

if TYPE_CHECKING:
    from ..ngram.language_model import KneserNeyModel
    from ..steps_options import StepsSettings

_ANSWERS: Final = {"yes", "no"}


class NgramBaseline(StepBaseline):
    """Says Yes to a candidate of low perplexity, and takes the option whose query has the lowest.

    Where the perplexities of a choice tie, it replies "tie": a letter would be a guess, and by its place.

    It scores texts too, which gives the perplexities of whole queries. It does not score answers behind a question,
    such as Yes and No: recipes hold neither.

    It learns from the training recipes and is tuned on the development recipes of the source of the questions, or on
    those that come with the package where there are none (`train_step_model`); at the first request, not before. Where
    these recipes are asked about themselves (`--taskgraph-steps-split`), its answers tell nothing.

    Args:
        name: The name of the baseline.
        settings: The settings of the run.
    """

    def __init__(self, name: str, settings: StepsSettings) -> None:
        super().__init__(name)
        self._settings = settings
        self._scorer = NgramClient(name, self._ngram_model)

    def choose(self, step: AskedStep, request: Request) -> str:
        """Return "Yes", "No", a letter, or "tie"."""
        if isinstance(step, AskedChoice):
            return self._model.next_letter(step) or TIE
        return "Yes" if self._model.is_next(step) else "No"

    async def score(self, request: Request) -> Reply:
        """Return the log-probabilities of texts.

        Raises:
            CannotScoreError: for answers behind a question, and for replies to messages.
        """
        if _scores_answers(request):
            raise CannotScoreError(
                f"{self.name} cannot score answers behind a question, which recipes do not hold; it answers by text"
            )
        return await self._scorer.answer(request)

    def _ngram_model(self) -> KneserNeyModel:
        return self._model.model

    @cached_property
    def _model(self) -> StepModel:
        return train_step_model(load(self._settings), self._settings.rule, read_embedded_recipes())


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
