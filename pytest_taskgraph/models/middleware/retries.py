"""The layer that retries requests after temporary failures."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import replace
from random import Random

from ...errors import NoLogprobsError, NotAskedError, ProviderError, ProviderErrorKind, UnsentError
from ...trial import Reply, Request
from ..clients.provider_errors import failure_in
from .layer import Attempt, Layer, WrappingLayer
from .limits import LONGEST_WAIT, LimitLayer, quota_spent
from .request_counters import RequestCounters

RETRIED: frozenset[ProviderErrorKind] = frozenset(
    {"rate-limit", "timeout", "connection", "server", "malformed", "empty"}
)
BASE, CAP = 0.5, 60.0  # seconds: bound of the first random delay, and greatest bound
BUSY = 10.0  # seconds of the bound after a timeout: the server may go on computing what nobody waits for
EMPTY_RETRIES = 1  # a second empty reply is the model's answer
PATIENCE = 3  # factor of the number of retries after rate limits, which end by themselves


def worth_repeating(error: ProviderError) -> bool:
    """Return True if the same request may succeed within 10 minutes; False for a rate limit that is a spent quota."""
    return error.kind in RETRIED and not quota_spent(error) and (error.retry_after or 0) <= LONGEST_WAIT


class RetryLayer(WrappingLayer):
    """A layer with up to `retries` retries, three times as many after rate limits, and one after an empty reply.

    No resource is held between attempts. The client is awaited before the first attempt, so that a long import does not
    count as time of an attempt.
    """

    inner: LimitLayer

    def __init__(
        self,
        inner: LimitLayer,
        counters: RequestCounters,
        retries: int = 5,
        sleep: Callable[[float], Awaitable[object]] = asyncio.sleep,
        random: Random | None = None,
    ) -> None:
        super().__init__(inner)
        self.counters, self.sleep = counters, sleep
        # States after which errors an outer layer goes on in another way, so that the attempt is not repeated.
        self.is_final: Callable[[Request, ProviderError], bool] = lambda request, error: False
        self._retries, self._random = retries, random or Random()

    @asynccontextmanager
    async def attempt(self, request: Request) -> AsyncIterator[Attempt]:
        """Yield an attempt that is repeated; what the successful one took is held until the context ends."""
        async with AsyncExitStack() as held:
            yield _RepeatedAttempts(self, request, held)

    def may_repeat(self, limited: bool, failures: int, rate_limits: int) -> bool:
        """Return True if retries are left.

        Args:
            limited: True if the last failure was a rate limit.
            failures: Number of failures before the last.
            rate_limits: Number of rate limits among them.
        """
        patient = failures < PATIENCE * self._retries and not self.inner.ended
        return patient if limited else patient and failures - rate_limits < self._retries

    def backoff(self, failures: int, retry_after: float | None, timed_out: bool = False) -> float:
        """Return the seconds until the next attempt: the delay that the provider states, and a random part.

        The random part is at most 0.5 seconds after the first failure; after a timeout 5 to 10 seconds. The bound
        doubles with each further failure, up to 60 seconds.
        """
        bound = min(CAP, (BUSY if timed_out else BASE) * 2.0 ** min(failures - 1, 20))
        return max(0.0, retry_after or 0.0) + self._random.uniform(bound / 2 if timed_out else 0, bound)


class _RepeatedAttempts:
    """Attempts at a request, one after the other, until one succeeds."""

    def __init__(self, layer: RetryLayer, request: Request, held: AsyncExitStack) -> None:
        self._layer, self._request, self._held = layer, request, held

    async def send(self) -> Reply:
        """Return the reply of the first attempt that succeeds, with the number of `retries` before it.

        Raises:
            ProviderError: that of the last attempt, with the number of `attempts`; if the model is broken, that of
                `Limits.broken`, unsent.
            NotAskedError: unchanged.
        """
        layer = self._layer
        await layer.inner.ready()
        failures = rate_limits = empty = 0
        while True:
            outcome = await self._attempt(failures)
            if isinstance(outcome, Reply):
                return outcome
            limited = outcome.kind == "rate-limit"
            empty += outcome.kind == "empty"
            if empty > EMPTY_RETRIES or not worth_repeating(outcome) or layer.is_final(self._request, outcome):
                break
            if not layer.may_repeat(limited, failures, rate_limits):
                break
            failures, rate_limits = failures + 1, rate_limits + limited
            layer.counters.retries += 1
            await layer.sleep(layer.backoff(failures, outcome.retry_after, outcome.kind == "timeout"))
        layer.counters.failed += 1
        layer.inner.note_given_up(outcome)
        outcome.attempts = failures + 1
        raise outcome

    async def _attempt(self, failures: int) -> Reply | ProviderError:
        """Return the outcome of one attempt; what a reply took stays held.

        Raises:
            ProviderError: if no attempt can be made.
        """
        async with AsyncExitStack() as taken:
            try:
                attempt = await taken.enter_async_context(self._layer.inner.attempt(self._request))
            except ProviderError as broken:
                self._layer.counters.failed += 1
                broken.attempts = max(1, failures)
                raise
            try:
                reply = await attempt.send()
            except ProviderError as failure:
                return failure
            self._held.push_async_exit(taken.pop_all())
            return replace(reply, retries=failures) if failures else reply


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
            self._counters.sent -= isinstance(outcome, UnsentError)
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
            self._counters.timeouts += 1
            return ProviderError("timeout", f"no reply within {self._timeout:g} s")
        self._counters.usage += reply.usage
        return failure_in(reply) or reply
