"""How a question is asked: generators of requests that any family can use, by the name that the question states."""

from __future__ import annotations

from collections.abc import Mapping

from ...asking import Episode
from ...errors import UnknownNameError
from .single import single

EPISODES: dict[str, Episode] = {"single": single}


def episode(name: str, own: Mapping[str, Episode] | None = None) -> Episode:
    """Return the episode of that name: one of a family's `own`, else one that all families share.

    Raises:
        UnknownNameError: if there is none.
    """
    known = {**EPISODES, **(own or {})}
    if name not in known:
        raise UnknownNameError("episode", name, known)
    return known[name]
