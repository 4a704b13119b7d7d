"""The baselines that do not look at the steps: the more frequent class, and chance."""

from __future__ import annotations

import json
from math import log
from random import Random
from typing import Any

from ....trial import Reply, Request, digest_of
from .step_baseline import StepBaseline
from .step_prompts import AskedChoice, AskedStep


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
