"""An n-gram model as a model under test: it answers requests to score texts."""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property
from math import fsum
from typing import Any

from ....errors import CannotScoreError, NotAskedError
from ....trial import Reply, Request
from .language_model import KneserNeyModel
from .word_tokens import word_tokens


class NgramClient:
    """A baseline that returns how probable texts are to an n-gram model.

    Every token of a text is scored, the first one too: it stands behind the start of a text where the request has no
    context. Context and text are split into tokens each by itself, so texts begin with their space.

    Args:
        name: The name of the baseline.
        train: Makes the trained model; called once, at the first request.
    """

    def __init__(self, name: str, train: Callable[[], KneserNeyModel]) -> None:
        self.name = f"baseline:{name}"
        self._train = train

    async def answer(self, request: Request) -> Reply:
        """Return the reply: for each text the sum of the log-probabilities, the number of tokens, and None.

        Raises:
            CannotScoreError: for a request to score replies to messages.
            NotAskedError: for any other request that scores no texts.
            UsageError: if the model cannot be trained.
        """
        if request.kind != "score":
            raise NotAskedError(f"{self.name} cannot answer a request of kind {request.kind!r}: it scores texts")
        if request.messages:
            raise CannotScoreError(f"{self.name} cannot score replies to messages: it scores texts behind a context")
        context = word_tokens(request.context)
        rows: list[list[Any]] = []
        for text in request.texts:
            logprobs = self._model.logprobs(word_tokens(text), context)
            rows.append([fsum(logprobs), len(logprobs), None])
        return Reply("", source=self.name, logprobs=rows)

    @cached_property
    def _model(self) -> KneserNeyModel:
        return self._train()
