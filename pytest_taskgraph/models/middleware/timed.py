"""A model whose attempts end in time, and are counted."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from ...errors import NoLogprobsError, NotAskedError, ProviderError
from ...trial import Reply, Request
from ..clients.provider_errors import failure_in
from .layer import Attempt, Layer, WrappingLayer
from .request_counters import RequestCounters


class TimeoutLayer(WrappingLayer):
    """A model each of whose attempts takes at most `timeout` seconds, from sending it on; `counters` counts them.

    A reply that is a failure in truth, such as an empty one, is raised as that.
    """

    def __init__(self, inner: Layer, counters: RequestCounters, timeout: float = 300.0) -> None:
        super().__init__(inner)
        self.counters, self.timeout = counters, timeout

    @asynccontextmanager
    async def attempt(self, request: Request) -> AsyncIterator[Attempt]:
        """Give an attempt that ends in time."""
        async with self.inner.attempt(request) as attempt:
            yield _InTime(self, attempt)


class _InTime:
    def __init__(self, layer: TimeoutLayer, attempt: Attempt) -> None:
        self._counters, self._timeout, self._attempt = layer.counters, layer.timeout, attempt

    async def send(self) -> Reply:
        self._counters.sent += 1
        self._counters.in_flight += 1
        try:
            outcome = await self._reply()
        except NoLogprobsError:
            self._counters.failed += 1
            raise
        except NotAskedError:
            self._counters.sent -= 1
            raise
        finally:
            self._counters.in_flight -= 1
        if isinstance(outcome, ProviderError):
            raise outcome
        return outcome

    async def _reply(self) -> Reply | ProviderError:
        """Return the error of a failed attempt: raised from here, it would lead back to frames that hold keys."""
        limit = asyncio.timeout(self._timeout)
        try:
            async with limit:
                reply = await self._attempt.send()
        except ProviderError as failure:
            return failure
        except TimeoutError:
            if not limit.expired():
                raise
            return ProviderError("timeout", f"no reply within {self._timeout:g} s")
        self._count(reply)
        return failure_in(reply) or reply

    def _count(self, reply: Reply) -> None:
        counters = self._counters
        counters.answered += 1
        counters.tokens_in += reply.tokens_in or 0
        counters.tokens_out += reply.tokens_out or 0
        counters.untold += None in (reply.tokens_in, reply.tokens_out)
        counters.cost += reply.cost or 0.0
        counters.unpriced += reply.cost is None
