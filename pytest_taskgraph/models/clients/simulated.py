"""A model of known accuracy: it has the answers, and gives the correct one with a set probability.

It tests the machinery: whatever measures accuracy must find the set value. It is no baseline, since it sees more than
the prompt.
"""

from __future__ import annotations

from collections.abc import Callable
from random import Random
from typing import Any

from ...errors import UsageError, unsupported_kind
from ...trial import Reply, Request, digest_of

Lookup = Callable[[str], tuple[str, str] | None]
"""Maps the digest of a prompt to the texts of a right and a wrong reply; None for an unknown prompt."""


class SimulatedModel:
    """A model that is right with the probability `accuracy`, decided by seed, prompt and repetition alone.

    In a conversation, the last message that `lookup` knows counts: a question put in several requests has the same
    answer in each.

    Args:
        lookup: Maps the digest of a prompt to the texts of a right and a wrong reply; None for an unknown prompt.
        accuracy: The probability of the right reply, from 0.0 to 1.0.
        seed: The seed of the draws.

    Raises:
        UsageError: if the accuracy is outside of 0.0 to 1.0.
    """

    immediate = True  # `answer` never waits

    def __init__(self, lookup: Lookup, accuracy: float, seed: int = 0) -> None:
        if not 0.0 <= accuracy <= 1.0:
            raise UsageError(f"the accuracy of a simulated model is {accuracy}; expected a number from 0.0 to 1.0")
        self.name = f"simulated:{accuracy:g} (knows the answers; for testing the machinery)"
        self._lookup, self._accuracy, self._seed = lookup, accuracy, seed

    async def answer(self, request: Request) -> Reply:
        """Return the right or the wrong reply: that of the request if it states both, else that of the question.

        Raises:
            NotAskedError: if the prompt is unknown, or a request to score or embed states no replies.
        """
        if request.right is not None:
            return self._stated_reply(request)
        messages = reversed(request.messages) if request.kind == "chat" else ()
        for digest in (digest_of(str(message.get("content"))) for message in messages):
            texts = self._lookup(digest)
            if texts is not None:
                return Reply(texts[0 if self._is_right(digest, request) else 1], source=self.name)
        raise unsupported_kind(request.kind, f"the simulated model knows no answer to this {request.kind} request")

    def _stated_reply(self, request: Request) -> Reply:
        contents = [str(message.get("content")) for message in request.messages]
        digest = digest_of("\n".join([*contents, request.context, *request.texts]))
        answer = request.right if self._is_right(digest, request) else request.wrong
        if isinstance(answer, list):
            scored = zip(answer, request.texts, strict=True)
            rows: list[list[Any]] = [[logprob, len(text.split()), None] for logprob, text in scored]
            return Reply("", source=self.name, logprobs=rows)
        return Reply(str(answer), source=self.name)

    def _is_right(self, digest: str, request: Request) -> bool:
        if self._accuracy in (0.0, 1.0):
            return self._accuracy == 1.0  # as any draw decides
        return Random(f"{self._seed}|{digest}|{request.repetition}").random() < self._accuracy
