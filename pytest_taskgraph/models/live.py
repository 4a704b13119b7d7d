"""What all models have in common whose asking means to ask a provider: settings, part of which decides the reply."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from typing import Protocol

from ..asking import Model
from ..trial import Json, Reply, Request

Answer = Callable[[Request], Awaitable[Reply]]  # makes one attempt
Keep = Callable[[Reply], Awaitable[Reply]]  # gives the reply back as it is kept


class Live(Model, Protocol):
    """A model at a provider, or a wrapper around one; `settings` may hold keys."""

    settings: Mapping[str, Json]


class Keeping(Live, Protocol):
    """A live model that lets each reply be kept before it asks anything in its place.

    So whoever kills the process loses no more replies than may be in flight.
    """

    async def answer(self, request: Request, keep: Keep | None = None) -> Reply:
        """The reply, as `keep` gives it where there is one. Raises what `Model.answer` raises."""
        ...
