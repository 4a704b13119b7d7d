"""Models that answer the questions of STEPS by a rule, from the request alone; two that do not look at the steps."""

from __future__ import annotations

import json
from abc import ABC, abstractmethod
from math import log
from random import Random
from typing import Any

from ....errors import CannotScoreError, NotAskedError
from ....trial import Reply, Request, digest_of
from .step_prompts import AskedChoice, AskedStep, read_step_prompt


class StepBaseline(ABC):
    """A baseline: it reads from a prompt what is asked about the next step, and answers by a rule.

    Args:
        name: The name of the baseline.
    """

    def __init__(self, name: str) -> None:
        self.name = f"baseline:{name}"

    async def answer(self, request: Request) -> Reply:
        """Return the reply.

        Raises:
            CannotScoreError: for texts to score that the baseline has no probabilities for.
            NotAskedError: for a prompt that asks nothing about the next step, for tools, and for requests of any other
                kind.
            UsageError: if a file that the user supplies cannot be used.
        """
        if request.kind == "score":
            return await self.score(request)
        if request.kind != "chat":
            raise NotAskedError(f"{self.name} cannot answer a request of kind {request.kind!r}")
        if request.tools:
            raise NotAskedError(f"{self.name} cannot call tools: it goes by the steps in the prompt")
        return Reply(self.choose(read_step_prompt(request.prompt), request), source=self.name)

    @abstractmethod
    def choose(self, step: AskedStep, request: Request) -> str:
        """Return the text of the reply: "Yes" or "No" about a candidate, a letter for a choice.

        Args:
            step: What the prompt asks.
            request: The whole request.
        """

    async def score(self, request: Request) -> Reply:
        """Return the reply to a request to score texts.

        Raises:
            CannotScoreError: if the baseline has no probabilities for them.
        """
        raise CannotScoreError(f"{self.name} cannot score texts: it has no probabilities, and answers by text")


class MajorityBaseline(StepBaseline):
    """Says No to every candidate, which is right most often, and takes the first option of every choice.

    With all later steps as candidates, N - 1 of N + 1 questions about a recipe of N steps have the answer No. In a
    choice no class is more frequent: the options are shuffled.
    """

    def choose(self, step: AskedStep, request: Request) -> str:
        """Return "No", or the first letter."""
        return next(iter(step.options)) if isinstance(step, AskedChoice) else "No"


class RandomBaseline(StepBaseline):
    """Says Yes or No, or takes an option, with equal probability.

    The seed and the request decide: the same request has the same reply in every run, another repetition of a question
    has a draw of its own.

    Args:
        name: The name of the baseline.
        seed: The seed of the run.
    """

    def __init__(self, name: str, seed: int | str) -> None:
        super().__init__(name)
        self._seed = seed

    def choose(self, step: AskedStep, request: Request) -> str:
        """Return one of the possible answers."""
        possible = [*step.options] if isinstance(step, AskedChoice) else ["Yes", "No"]
        return self._draw(request).choice(possible)

    async def score(self, request: Request) -> Reply:
        """Return the reply: the logarithm of a random number for each text, as if it were one token.

        So each of several texts is the most probable, and has the lowest perplexity, with equal
        probability, whatever their lengths.
        """
        draw = self._draw(request)
        rows: list[list[Any]] = [[log(1.0 - draw.random()), 1, None] for _ in request.texts]
        return Reply("", source=self.name, logprobs=rows)

    def _draw(self, request: Request) -> Random:
        seen = [request.kind, request.messages, request.context, request.texts, request.repetition]
        return Random(f"{self._seed}|steps random|{digest_of(json.dumps(seen, sort_keys=True))}")
