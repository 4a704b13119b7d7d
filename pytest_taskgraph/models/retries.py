"""A model that is asked again when it fails for a reason that passes."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from contextlib import AbstractAsyncContextManager, nullcontext
from dataclasses import replace
from random import Random

from ..errors import NoLogprobsError, NotAskedError, ProviderError, ProviderErrorKind
from ..trial import Reply, Request
from .limits import LONGEST_WAIT, Limits, quota_spent
from .live import Answer, Keep, Live
from .prices import tokens_of
from .provider_errors import failure_in
from .watch import Watch

RETRIED: frozenset[ProviderErrorKind] = frozenset(
    {"rate-limit", "timeout", "connection", "server", "malformed", "empty"}
)
BASE, CAP = 0.5, 60.0  # seconds
EMPTY_RETRIES = 1  # a model that says nothing twice has nothing to say
PATIENCE = 3  # times as many retries after rate limits, which pass by themselves


def worth_repeating(error: ProviderError) -> bool:
    """Whether the same request may succeed within 10 minutes; after a rate limit that is a spent quota it may not."""
    return error.kind in RETRIED and not quota_spent(error) and (error.retry_after or 0) <= LONGEST_WAIT


class Retried:
    """`inner`, asked within the limits, each attempt at most `timeout` seconds, repeated up to `retries` times.

    Rate limits are repeated three times as often, empty replies once. Between attempts no slot is held. `ready` is
    awaited before the first: what takes long to import takes no time of an attempt. `count` tells how many tokens a
    request will take; it is only asked where tokens a minute are limited. `reserve` is entered for each attempt before
    it waits for a slot, and gives what makes the attempt: waiting for a budget takes neither a slot nor time of the
    attempt.
    """

    def __init__(
        self,
        inner: Live,
        limits: Limits,
        watch: Watch,
        retries: int = 5,
        timeout: float = 300.0,
        sleep: Callable[[float], Awaitable[object]] = asyncio.sleep,
        random: Random | None = None,
        count: Callable[[Request], float] = tokens_of,
        ready: Callable[[], Awaitable[object]] | None = None,
        reserve: Callable[[Request], AbstractAsyncContextManager[Answer]] | None = None,
    ) -> None:
        self.name, self.settings = inner.name, inner.settings
        self._limits, self._watch = limits, watch
        self._reserve = reserve or (lambda request: nullcontext(inner.answer))
        self._retries, self._timeout, self._ready = retries, timeout, ready
        self._sleep, self._random, self._count_tokens = sleep, random or Random(), count

    async def answer(self, request: Request, keep: Keep | None = None) -> Reply:
        """The reply of the first attempt that succeeds, with the number of `retries` before it, as `keep` gives it.

        The slot is held until the reply is kept. Raises the last attempt's ProviderError with the number of `attempts`,
        the one of `Limits.broken` where the model is known to be broken, unsent; NotAskedError as it comes.
        """
        if self._ready is not None:
            await self._ready()
        failures = rate_limits = empty = 0
        while True:
            outcome = await self._attempt(request, failures, keep)
            if isinstance(outcome, Reply):
                return outcome
            limited = outcome.kind == "rate-limit"
            empty += outcome.kind == "empty"
            if empty > EMPTY_RETRIES or not worth_repeating(outcome):
                break
            if not self._may_repeat(limited, failures, rate_limits):
                break
            failures, rate_limits = failures + 1, rate_limits + limited
            self._watch.retries += 1
            await self._sleep(self._backoff(failures, outcome.retry_after))
        self._watch.failed += 1
        outcome.attempts = failures + 1
        raise outcome

    def _may_repeat(self, limited: bool, failures: int, rate_limits: int) -> bool:
        patient = failures < PATIENCE * self._retries and not self._limits.ended
        return patient if limited else patient and failures - rate_limits < self._retries

    def _backoff(self, failures: int, retry_after: float | None) -> float:
        """Seconds until the next attempt: what the provider asks for, and at random up to 0.5, 1, 2, 4, … 60 more."""
        return max(0.0, retry_after or 0.0) + self._random.uniform(0, min(CAP, BASE * 2.0 ** min(failures - 1, 20)))

    async def _attempt(self, request: Request, failures: int, keep: Keep | None) -> Reply | ProviderError:
        """What one attempt comes to. Raises ProviderError where none is made, for the model is broken."""
        limits = self._limits
        tokens = self._count_tokens(request) if limits.counts_tokens else 0.0
        try:
            async with self._reserve(request) as answer, limits.slot(tokens) as slot:
                outcome = await self._sent(request, answer)
                if isinstance(outcome, ProviderError):
                    limits.went_wrong(outcome, slot)
                    return outcome
                limits.went_well(outcome, slot)
                reply = replace(outcome, retries=failures) if failures else outcome
                return await keep(reply) if keep else reply
        except ProviderError as broken:
            self._watch.failed += 1
            broken.attempts = max(1, failures)
            raise

    async def _sent(self, request: Request, answer: Answer) -> Reply | ProviderError:
        watch, limit = self._watch, asyncio.timeout(self._timeout)
        watch.sent += 1
        watch.in_flight += 1
        try:
            async with limit:
                reply = await answer(request)
            self._count(reply)
            return failure_in(reply) or reply
        except ProviderError as failure:
            return failure
        except TimeoutError:
            if not limit.expired():
                raise
            return ProviderError("timeout", f"no reply within {self._timeout:g} s")
        except NoLogprobsError:
            watch.failed += 1
            raise
        except NotAskedError:
            watch.sent -= 1
            raise
        finally:
            watch.in_flight -= 1

    def _count(self, reply: Reply) -> None:
        watch = self._watch
        watch.answered += 1
        watch.tokens_in += reply.tokens_in or 0
        watch.tokens_out += reply.tokens_out or 0
        watch.untold += None in (reply.tokens_in, reply.tokens_out)
        watch.cost += reply.cost or 0.0
        watch.unpriced += reply.cost is None
