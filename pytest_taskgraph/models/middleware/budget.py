"""Hard limits of calls and cost: the most that an attempt can cost is reserved before it, its cost counts after it.

An attempt that does not fit beside the reservations of others waits until those are settled. Unless it is known to be
unbilled, an attempt counts with its reservation: a reply without a cost, an attempt that timed out, was cut off or was
cancelled. So the limit holds, though a bill may turn out lower.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager, suppress
from dataclasses import replace
from math import isfinite

from ...errors import NoLogprobsError, NotAskedError, ProviderError, UsageError
from ...trial import Json, Reply, Request
from ..prices import Price, token_cost, worst_cost
from ..store import Store
from .layer import Attempt, Layer, WrappingLayer
from .limits import POSITION
from .time_limit import stop_time

# No reply was written: the provider refused the request or failed. Any other failure may be billed.
UNBILLED = frozenset(
    {"authentication", "payment", "not-found", "rate-limit", "bad-request", "context-too-long", "server"}
)
_NEVER_SENT = ("connection refused", "cannot connect to host", "connect call failed")
_PRICE_CHANGING = ("service_tier", "speed", "inference_geo")  # settings that raise the provider's price of a token
_BILLED_APART = ("web_search_options",)  # settings that are billed beside the tokens


class BudgetLayer(WrappingLayer):
    """A layer that sends requests while calls and cost last; every attempt counts as a call, whatever its outcome.

    A reply without a cost is given one if price and tokens are known; a stated price overrides the cost of the reply.
    The store holds the ledger, and is needed only if there is a limit.

    Raises:
        UsageError: if `max_cost` cannot be kept (`check_budget`).
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

        Waits while the reservations of other attempts leave no room for it. An attempt that was not sent by the end of
        the context does not count.

        Raises:
            BudgetSpentError: if a limit does not allow the attempt, whatever the attempts in flight cost.
        """
        async with self.inner.attempt(request) as attempt:
            if self._max_calls is None and self._max_cost is None:
                yield _PricedAttempt(self, attempt)
                return
            reserved = self._worst_cost(request)
            with stop_time():
                await self._ledger.spend(1, reserved, self._max_calls, self._max_cost, POSITION.get())
            reservation = _ReservedAttempt(self, attempt, reserved)
            try:
                yield reservation
            finally:
                if not reservation.sent:
                    self._ledger.settle_later(reserved, 0.0, calls=1)

    @property
    def _ledger(self) -> Store:
        assert self._store is not None  # a limit requires the store, which holds the ledger
        return self._store

    async def send_reserved(self, attempt: Attempt, reserved: float) -> Reply:
        """Return the reply of an attempt, and replace its reservation by its cost."""
        try:
            reply = self.add_cost(await attempt.send())
        except asyncio.CancelledError:
            self._ledger.settle_later(reserved, reserved)
            raise
        except Exception as error:
            await self._settle(reserved, 0.0 if _is_unbilled(error) else reserved)
            raise
        await self._settle(reserved, reserved if reply.cost is None else reply.cost)
        return reply

    async def _settle(self, reserved: float, cost: float) -> None:
        if self._max_cost is not None:
            # The outcome of the attempt counts even on a full disk: the reservation stays, so the limit holds.
            # Storing the reply, or the next reservation, meets and reports the same error.
            with suppress(UsageError):
                await self._ledger.settle(reserved, cost)

    def _worst_cost(self, request: Request) -> float:
        """Return the US dollars to reserve: 0.0 if only calls are limited."""
        if self._max_cost is None:
            return 0.0
        try:
            check_settings(self.name, self._price, request.settings)
        except UsageError as error:
            raise NotAskedError(str(error)) from error
        worst = worst_cost(request, self._price, self.settings)
        assert worst is not None  # check_budget refuses a limit without a price
        return worst

    def add_cost(self, reply: Reply) -> Reply:
        """Return the reply with its cost, as far as that is known."""
        counted = token_cost(self._price, reply.tokens_in, reply.tokens_out, reply.tokens_reasoning)
        if counted is not None and self._price is not None and self._price.stated:
            return replace(reply, cost=counted)
        stated = reply.cost if reply.cost is not None and isfinite(reply.cost) and reply.cost >= 0 else None
        return replace(reply, cost=counted if stated is None else stated)


class _PricedAttempt:
    """An attempt without a limit, whose reply is priced."""

    def __init__(self, budget: BudgetLayer, attempt: Attempt) -> None:
        self._budget, self._attempt = budget, attempt

    async def send(self) -> Reply:
        return self._budget.add_cost(await self._attempt.send())


class _ReservedAttempt:
    """An attempt for which `reserved` US dollars are reserved."""

    def __init__(self, budget: BudgetLayer, attempt: Attempt, reserved: float) -> None:
        self._budget, self._attempt, self._reserved = budget, attempt, reserved
        self.sent = False

    async def send(self) -> Reply:
        self.sent = True
        return await self._budget.send_reserved(self._attempt, self._reserved)


def check_budget(name: str, price: Price | None, max_cost: float | None, settings: Mapping[str, Json]) -> None:
    """Check that a limit of cost can be kept for the model.

    Raises:
        UsageError: if the price is unknown, or a setting raises the cost above the price; the message names the option
            to set.
    """
    if max_cost is None:
        return
    if price is None:
        raise UsageError(
            f"--taskgraph-max-cost cannot be kept: the price of the model {name} is not known; state it in US dollars "
            f"for a million tokens in and out: --taskgraph-price {name}=IN/OUT (0/0 if it is free)"
        )
    check_settings(name, price, settings)


def check_settings(name: str, price: Price | None, settings: Mapping[str, Json]) -> None:
    """Check that no setting makes the model bill more than the price of its tokens.

    Raises:
        UsageError: if one does.
    """
    for setting in (key for key in _BILLED_APART if settings.get(key)):
        raise UsageError(f"--taskgraph-max-cost cannot be kept: {setting} is billed beside the tokens; leave it out")
    for setting in (key for key in _PRICE_CHANGING if settings.get(key) and not (price and price.stated)):
        raise UsageError(
            f"--taskgraph-max-cost cannot be kept: {setting} may change the price of the model {name}; "
            f"state what is billed then: --taskgraph-price {name}=IN/OUT"
        )


def _is_unbilled(error: Exception) -> bool:
    """Return True if an attempt that ended with this error certainly costs nothing."""
    if isinstance(error, ProviderError):
        never_sent = error.kind == "connection" and any(words in str(error).lower() for words in _NEVER_SENT)
        return error.kind in UNBILLED or never_sent
    return isinstance(error, NotAskedError) and not isinstance(error, NoLogprobsError)
