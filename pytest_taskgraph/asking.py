"""How a question is put: an episode yields requests, a model answers each of them."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Generator
from dataclasses import dataclass, field
from typing import Protocol, TypeVar

from .trial import Question, Reply, Request


class Model(Protocol):
    """Whoever answers requests. Wrappers (store, budget, limits) are models around a model."""

    name: str

    async def answer(self, request: Request) -> Reply:
        """The reply. Raises ProviderError where there is none, NotAskedError where it was not asked."""
        ...


@dataclass(frozen=True, slots=True)
class Transcript:
    """What an episode comes to: the reply that is marked, and everything that was said on the way."""

    reply: Reply
    exchanges: tuple[tuple[Request, Reply], ...] = ()
    metrics: dict[str, float | None] = field(default_factory=dict)  # what other models measured; None is undefined


Turns = Generator[list[Request], list[Reply], Transcript]
Episode = Callable[[Question], Turns]
_E = TypeVar("_E", bound=Episode)


def one_turn(episode: _E) -> _E:
    """Mark an episode that never requests more than at first, so that plans state all that it sends."""
    vars(episode)["one_turn"] = True
    return episode


def is_one_turn(episode: Episode) -> bool:
    """Return True if the episode is marked: its first requests are all that it sends."""
    return bool(getattr(episode, "one_turn", False))


async def drive(turns: Turns, answer: Callable[[Request], Awaitable[Reply]]) -> Transcript:
    """The transcript of an episode; the requests of one turn are asked side by side."""
    try:
        requests = next(turns)
        while True:
            replies = await asyncio.gather(*(answer(request) for request in requests))
            requests = turns.send(list(replies))
    except StopIteration as stop:
        transcript: Transcript = stop.value
        return transcript
