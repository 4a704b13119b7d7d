"""Hard limits of calls and cost: before an attempt, what it may cost at worst is reserved; after it, its cost counts.

Where the worst does not fit beside what other attempts in flight have reserved, the attempt waits until those settle.
What is not known to be unbilled counts at its worst: a reply without a cost, an attempt that timed out or was cut off,
one that was cancelled. So a limit holds though a bill may turn out lower.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Iterator, Mapping
from contextlib import asynccontextmanager, contextmanager, suppress
from contextvars import ContextVar
from dataclasses import replace
from math import isfinite

from ...errors import NoLogprobsError, NotAskedError, ProviderError, UsageError
from ...trial import Json, Reply, Request
from ..prices import Price, token_cost, worst_cost
from ..store import Store
from .layer import Attempt, Layer, WrappingLayer
from .limits import POSITION

# The time limit of the question that asks: waiting for the budget does not count for it.
TIME_LIMIT: ContextVar[asyncio.Timeout | None] = ContextVar("TIME_LIMIT", default=None)

# No reply was written: the provider turned the request down, or broke over it. Any other failure may be billed.
UNBILLED = frozenset(
    {"authentication", "payment", "not-found", "rate-limit", "bad-request", "context-too-long", "server"}
)
_NEVER_SENT = ("connection refused", "cannot connect to host", "connect call failed")
_DEARER = ("service_tier", "speed", "inference_geo")  # settings for which a provider bills more for a token
_BILLED_APART = ("web_search_options",)  # settings that are billed beside the tokens


class BudgetLayer(WrappingLayer):
    """A model asked only while calls and cost last; every attempt counts as a call, whatever comes of it.

    Raises UsageError at once where `max_cost` cannot be kept (`check_budget`). A reply that does not say its cost is
    given one where price and tokens are known; a stated price takes the place of whatever cost the reply says. The
    store, which has the ledger, is needed only where there is a limit.
    """

    def __init__(
        self, inner: Layer, store: Store | None, price: Price | None, max_calls: int | None, max_cost: float | None
    ) -> None:
        check_budget(inner.name, price, max_cost, inner.settings)
        super().__init__(inner)
        self._store, self._price = store, price
        self._max_calls, self._max_cost = max_calls, max_cost

    @asynccontextmanager
    async def attempt(self, request: Request) -> AsyncIterator[Attempt]:
        """Reserve one attempt at the request.

        Waits while the reservations of other attempts leave no room for it. What was not sent by the end of the context
        does not count.

        Raises:
            BudgetSpentError: if a limit does not allow the attempt, whatever those in flight come to.
        """
        async with self.inner.attempt(request) as attempt:
            if self._max_calls is None and self._max_cost is None:
                yield _Priced(self, attempt)
                return
            reserved = self._worst(request)
            with _time_stopped():
                await self._ledger.spend(1, reserved, self._max_calls, self._max_cost, POSITION.get())
            reservation = _Reserved(self, attempt, reserved)
            try:
                yield reservation
            finally:
                if not reservation.sent:
                    self._ledger.settle_later(reserved, 0.0, calls=1)

    @property
    def _ledger(self) -> Store:
        assert self._store is not None  # whoever sets a limit gives the store that has the ledger
        return self._store

    async def send_reserved(self, attempt: Attempt, reserved: float) -> Reply:
        """Return the reply of an attempt, whose reservation has given way to what it came to."""
        try:
            reply = self.priced(await attempt.send())
        except asyncio.CancelledError:
            self._ledger.settle_later(reserved, reserved)
            raise
        except Exception as error:
            await self._settle(reserved, 0.0 if _unbilled(error) else reserved)
            raise
        await self._settle(reserved, reserved if reply.cost is None else reply.cost)
        return reply

    async def _settle(self, reserved: float, cost: float) -> None:
        if self._max_cost is not None:
            # What came of the attempt counts, on a full disk too, and what was reserved stays so: the limit holds.
            # Whoever keeps the reply, or wants to spend more, meets the same trouble and tells it.
            with suppress(UsageError):
                await self._ledger.settle(reserved, cost)

    def _worst(self, request: Request) -> float:
        """What has to be reserved: nothing where only calls are limited."""
        if self._max_cost is None:
            return 0.0
        try:
            check_settings(self.name, self._price, request.settings)
        except UsageError as error:
            raise NotAskedError(str(error)) from error
        worst = worst_cost(request, self._price, self.settings)
        assert worst is not None  # the price is known, or the limit would have been refused
        return worst

    def priced(self, reply: Reply) -> Reply:
        """Return the reply with its cost, as far as that can be known."""
        counted = token_cost(self._price, reply.tokens_in, reply.tokens_out)
        if counted is not None and self._price is not None and self._price.stated:
            return replace(reply, cost=counted)
        said = reply.cost if reply.cost is not None and isfinite(reply.cost) and reply.cost >= 0 else None
        return replace(reply, cost=counted if said is None else said)


class _Priced:
    """An attempt that nothing limits."""

    def __init__(self, budget: BudgetLayer, attempt: Attempt) -> None:
        self._budget, self._attempt = budget, attempt

    async def send(self) -> Reply:
        return self._budget.priced(await self._attempt.send())


class _Reserved:
    """An attempt for which so many US dollars are reserved."""

    def __init__(self, budget: BudgetLayer, attempt: Attempt, reserved: float) -> None:
        self._budget, self._attempt, self._reserved = budget, attempt, reserved
        self.sent = False

    async def send(self) -> Reply:
        self.sent = True
        return await self._budget.send_reserved(self._attempt, self._reserved)


def check_budget(name: str, price: Price | None, max_cost: float | None, settings: Mapping[str, Json]) -> None:
    """Nothing if a limit of cost can be kept for the model, or there is none.

    Raises UsageError for an unknown price, and for settings that make the model cost more than the price says; the
    message tells the option that helps.
    """
    if max_cost is None:
        return
    if price is None:
        raise UsageError(
            f"--taskgraph-max-cost cannot be kept: the price of the model {name} is not known; state it in US dollars "
            f"for a million tokens in and out: --taskgraph-price {name}=IN/OUT (0/0 if it is free)"
        )
    check_settings(name, price, settings)


@contextmanager
def _time_stopped() -> Iterator[None]:
    """Extend the time limit of the question by the time that passes in the context."""
    limit, clock = TIME_LIMIT.get(), asyncio.get_running_loop().time
    end = None if limit is None or limit.expired() else limit.when()
    if limit is None or end is None:
        yield
        return
    start = clock()
    limit.reschedule(None)
    try:
        yield
    finally:
        with suppress(RuntimeError):  # the question ended meanwhile
            limit.reschedule(end + clock() - start)


def check_settings(name: str, price: Price | None, settings: Mapping[str, Json]) -> None:
    """Nothing; UsageError where a setting makes the model bill more than the price of its tokens says."""
    for setting in (key for key in _BILLED_APART if settings.get(key)):
        raise UsageError(f"--taskgraph-max-cost cannot be kept: {setting} is billed beside the tokens; leave it out")
    for setting in (key for key in _DEARER if settings.get(key) and not (price and price.stated)):
        raise UsageError(
            f"--taskgraph-max-cost cannot be kept: {setting} may change the price of the model {name}; "
            f"state what is billed then: --taskgraph-price {name}=IN/OUT"
        )


def _unbilled(error: Exception) -> bool:
    """Whether an attempt that ended so surely costs nothing."""
    if isinstance(error, ProviderError):
        never_sent = error.kind == "connection" and any(words in str(error).lower() for words in _NEVER_SENT)
        return error.kind in UNBILLED or never_sent
    return isinstance(error, NotAskedError) and not isinstance(error, NoLogprobsError)
