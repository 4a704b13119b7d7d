"""A model that answers the questions of STEPS by a rule, from the request alone."""

from __future__ import annotations

from abc import ABC, abstractmethod

from ....errors import CannotScoreError, NotAskedError
from ....trial import Reply, Request
from .step_prompts import AskedStep, read_step_prompt


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
