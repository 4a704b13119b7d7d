"""A model of known accuracy: it knows the answers, and gives the right one as often as it is told to.

For testing the machinery: whatever measures accuracy must find the one that was set. It is no baseline, for it sees
more than the prompt.
"""

from __future__ import annotations

from collections.abc import Callable
from hashlib import sha256
from random import Random

from ...errors import NotAskedError, UsageError
from ...trial import Reply, Request

Lookup = Callable[[str], tuple[str, str] | None]


def digest_of(prompt: str) -> str:
    """The SHA-256 digest of the prompt in UTF-8, 64 hexadecimal digits; it is what a lookup is asked with."""
    return sha256(prompt.encode("utf-8", "surrogatepass")).hexdigest()


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
        """The right or the wrong reply. Raises NotAskedError for a prompt that is not known, or anything but chat."""
        said = [str(one.get("content")) for one in reversed(request.messages)] if request.kind == "chat" else []
        for digest in map(digest_of, said):
            texts = self._lookup(digest)
            if texts is not None:
                right = Random(f"{self._seed}|{digest}|{request.repetition}").random() < self._accuracy
                return Reply(texts[0 if right else 1], source=self.name)
        raise NotAskedError(f"the simulated model knows no answer to this {request.kind} request")
