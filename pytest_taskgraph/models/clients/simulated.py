"""A model of known accuracy: it knows the answers, and gives the right one as often as it is told to.

For testing the machinery: whatever measures accuracy must find the one that was set. It is no baseline, for it sees
more than the prompt.
"""

from __future__ import annotations

from collections.abc import Callable
from random import Random
from typing import Any

from ...errors import UsageError, unsupported_kind
from ...trial import Reply, Request, digest_of

Lookup = Callable[[str], tuple[str, str] | None]
"""From the digest of a prompt to the texts of a right and a wrong reply."""


class SimulatedModel:
    """Right with the probability `accuracy`, decided by seed, prompt and repetition alone: the same in any order.

    `lookup` takes the digest of a prompt and gives the text of a right and of a wrong reply, or None for a prompt that
    it does not know. In a conversation, the last message that it knows counts: a question that is put in several
    requests has the same answer in each. Raises UsageError for an accuracy outside 0.0 … 1.0.
    """

    def __init__(self, lookup: Lookup, accuracy: float, seed: int = 0) -> None:
        if not 0.0 <= accuracy <= 1.0:
            raise UsageError(f"the accuracy of a simulated model is {accuracy}; expected a number from 0.0 to 1.0")
        self.name = f"simulated:{accuracy:g} (knows the answers; for testing the machinery)"
        self._lookup, self._accuracy, self._seed = lookup, accuracy, seed

    async def answer(self, request: Request) -> Reply:
        """Return the right or the wrong reply: that of the request where it states both, else that of the question.

        Raises:
            NotAskedError: for a prompt that is not known, or a request to score or to embed that states no replies.
        """
        if request.right is not None:
            return self._stated(request)
        said = [str(one.get("content")) for one in reversed(request.messages)] if request.kind == "chat" else []
        for digest in map(digest_of, said):
            texts = self._lookup(digest)
            if texts is not None:
                return Reply(texts[0 if self._is_right(digest, request) else 1], source=self.name)
        raise unsupported_kind(request.kind, f"the simulated model knows no answer to this {request.kind} request")

    def _stated(self, request: Request) -> Reply:
        said = "\n".join([*(str(one.get("content")) for one in request.messages), request.context, *request.texts])
        answer = request.right if self._is_right(digest_of(said), request) else request.wrong
        if isinstance(answer, list):
            scored = zip(answer, request.texts, strict=True)
            rows: list[list[Any]] = [[one, len(text.split()), None] for one, text in scored]
            return Reply("", source=self.name, logprobs=rows)
        return Reply(str(answer), source=self.name)

    def _is_right(self, digest: str, request: Request) -> bool:
        return Random(f"{self._seed}|{digest}|{request.repetition}").random() < self._accuracy
