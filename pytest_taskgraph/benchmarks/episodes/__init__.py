"""How a question is asked: plain generators of requests, named by the question."""

from __future__ import annotations

from ...asking import Episode
from ...errors import UnknownNameError
from ..understanding.agent import agent
from .single import single

EPISODES: dict[str, Episode] = {"single": single, "agent": agent}


def episode(name: str) -> Episode:
    """The episode of that name. Raises UnknownNameError."""
    if name not in EPISODES:
        raise UnknownNameError("episode", name, EPISODES)
    return EPISODES[name]
