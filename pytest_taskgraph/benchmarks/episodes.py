"""How a question is asked: plain generators of requests, named by the question."""

from __future__ import annotations

from ..asking import Episode, Transcript, Turns
from ..errors import UnknownNameError
from ..trial import Question, Request


def single(question: Question) -> Turns:
    """One prompt, one reply."""
    request = Request(messages=[{"role": "user", "content": question.prompt}])
    (reply,) = yield [request]
    return Transcript(reply, ((request, reply),))


EPISODES: dict[str, Episode] = {"single": single}


def episode(name: str) -> Episode:
    """The episode of that name. Raises UnknownNameError."""
    if name not in EPISODES:
        raise UnknownNameError("episode", name, EPISODES)
    return EPISODES[name]
