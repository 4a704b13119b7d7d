"""One prompt, one reply."""

from __future__ import annotations

from ...asking import Transcript, Turns
from ...trial import Question, Request


def single(question: Question) -> Turns:
    """One prompt, after the system prompt if there is one, and one reply."""
    request = Request(messages=opening(question))
    (reply,) = yield [request]
    return Transcript(reply, ((request, reply),))


def opening(question: Question) -> list[dict[str, str]]:
    """The messages that put the question."""
    system = [{"role": "system", "content": question.system}] if question.system else []
    return [*system, {"role": "user", "content": question.prompt}]
