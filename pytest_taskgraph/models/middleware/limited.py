"""A model that is asked within limits of requests in flight, requests a minute and tokens a minute."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager

from ...errors import ProviderError
from ...trial import Reply, Request
from ..prices import tokens_of
from .layer import Around, Attempt, Layer
from .limits import Limits, RequestSlot


class Limited(Around):
    """A model whose attempts wait for a slot of its limits, which learn what came of each.

    What the inner attempt needs is taken before the slot: waiting for a budget takes no place of those in flight.
    `count` tells how many tokens a request will take; it is only asked where tokens a minute are limited.
    """

    def __init__(self, inner: Layer, limits: Limits, count: Callable[[Request], float] = tokens_of) -> None:
        super().__init__(inner)
        self._limits, self._count_tokens = limits, count

    @property
    def ended(self) -> bool:
        """Return True if nothing more is sent."""
        return self._limits.ended

    @asynccontextmanager
    async def attempt(self, request: Request) -> AsyncIterator[Attempt]:
        """Wait for a slot, which is held until the context ends.

        Raises:
            ProviderError: that of `Limits.broken`, if the model is known to be broken.
            NotAskedError: if the run ended.
        """
        tokens = self._count_tokens(request) if self._limits.counts_tokens else 0.0
        async with self.inner.attempt(request) as attempt, self._limits.slot(tokens) as slot:
            yield _Slotted(attempt, self._limits, slot)


class _Slotted:
    def __init__(self, attempt: Attempt, limits: Limits, slot: RequestSlot) -> None:
        self._attempt, self._limits, self._slot = attempt, limits, slot

    async def send(self) -> Reply:
        try:
            reply = await self._attempt.send()
        except ProviderError as error:
            self._limits.went_wrong(error, self._slot)
            raise
        self._limits.went_well(reply, self._slot)
        return reply
