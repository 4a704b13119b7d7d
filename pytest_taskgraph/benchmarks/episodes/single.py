"""One prompt, one reply."""

from __future__ import annotations

from ...asking import Transcript, Turns, one_turn
from ...trial import Question, Request


@one_turn
def single(question: Question) -> Turns:
    """One prompt, after the system prompt if there is one, and one reply."""
    (reply,) = yield [Request(messages=opening(question))]
    return Transcript(reply)


def opening(question: Question) -> list[dict[str, str]]:
    """The messages that put the question."""
    system = [{"role": "system", "content": question.system}] if question.system else []
    return [*system, {"role": "user", "content": question.prompt}]
