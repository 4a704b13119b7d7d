"""The layer that limits the time of attempts, and counts them."""

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
    """A layer whose attempts take at most `timeout` seconds from sending on; `counters` counts them.

    A reply that represents a failure, such as an empty one, raises it.
    """

    def __init__(self, inner: Layer, counters: RequestCounters, timeout: float = 300.0) -> None:
        super().__init__(inner)
        self.counters, self.timeout = counters, timeout

    @asynccontextmanager
    async def attempt(self, request: Request) -> AsyncIterator[Attempt]:
        """Yield an attempt with a time limit."""
        async with self.inner.attempt(request) as attempt:
            yield _TimedAttempt(self, attempt)


class _TimedAttempt:
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
        """Return the reply, or the error of a failed attempt.

        An error that is raised here keeps frames with keys in its traceback.
        """
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
        self._counters.usage += reply.usage
        return failure_in(reply) or reply
