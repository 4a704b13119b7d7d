"""Episodes that any family can use, by name: generators of the requests that ask a question."""

from __future__ import annotations

from collections.abc import Mapping

from ...asking import Episode, Transcript, Turns, one_turn
from ...errors import UnknownNameError
from ...trial import Question, Request


@one_turn
def single(question: Question) -> Turns:
    """Ask the question with one prompt, after the system prompt if there is one, and return its reply."""
    (reply,) = yield [Request(messages=opening(question))]
    return Transcript(reply)


def opening(question: Question) -> list[dict[str, str]]:
    """Return the messages that present the question."""
    system = [{"role": "system", "content": question.system}] if question.system else []
    return [*system, {"role": "user", "content": question.prompt}]


EPISODES: dict[str, Episode] = {"single": single}


def episode(name: str, own: Mapping[str, Episode] | None = None) -> Episode:
    """Return the episode of that name: one of a family's `own`, else one that all families share.

    Raises:
        UnknownNameError: if there is none.
    """
    episodes = {**EPISODES, **(own or {})}
    if name not in episodes:
        raise UnknownNameError("episode", name, episodes)
    return episodes[name]
