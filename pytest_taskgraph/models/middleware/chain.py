"""The chain of layers around a client, built in one place.

A request passes them from the outside in, in this order:

1. `StoreLayer`: the stored reply, else the reply of the inner layers, stored while everything taken for it is held
2. `RetryLayer`: attempts until one succeeds; nothing is held between them
3. `LimitLayer`: a slot among the requests in flight, at a pace
4. `ScoreCheckLayer`: no further request to score texts, once the endpoint showed that it cannot
5. `TimeoutLayer`: the time of one attempt, and the counts of what is sent
6. `BudgetLayer`: calls and dollars, reserved before the slot is waited for, and settled after the attempt
7. `ClientLayer`: the client

`UnstoredLayer` replaces `StoreLayer` where replies are not kept. `ReplayModel` sends nothing and needs no chain.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from random import Random

from ..prices import Price
from ..store import Store
from .budget import BudgetLayer
from .layer import ClientLayer, LiveModel
from .limits import LimitLayer, Limits
from .request_counters import RequestCounters
from .retries import RetryLayer
from .score_checked import ScoreCheckLayer
from .stored import StoreLayer, UnstoredLayer
from .timed import TimeoutLayer


@dataclass(frozen=True, slots=True)
class Budget:
    """The limits on a model: calls and US dollars, None for no limit, at a price."""

    price: Price | None = None
    max_calls: int | None = None
    max_cost: float | None = None


def chain(
    client: LiveModel,
    store: Store | None,
    limits: Limits,
    counters: RequestCounters,
    budget: Budget,
    *,
    keep_replies: bool = True,
    retries: int = 5,
    timeout: float = 300.0,
    sleep: Callable[[float], Awaitable[object]] = asyncio.sleep,
    random: Random | None = None,
) -> StoreLayer | UnstoredLayer:
    """Return the client with all layers around it.

    Args:
        client: The client that sends the requests.
        store: Holds replies and the ledger of the budget; needed if `keep_replies`, or the budget has a limit.
        limits: The limits of all chains around models of this name.
        counters: Counts what the layers do.
        budget: The calls and cost that are allowed.
        keep_replies: Whether replies are kept in the store.
        retries: Most retries of a failed request.
        timeout: Seconds of one attempt.
        sleep: Waits between attempts.
        random: Draws the random part of these waits.

    Raises:
        UsageError: if the cost cannot be limited, since the price is unknown.
    """
    direct = ClientLayer(client)
    budgeted = BudgetLayer(direct, store, budget.price, budget.max_calls, budget.max_cost)
    timed = TimeoutLayer(budgeted, counters, timeout)
    limited = LimitLayer(ScoreCheckLayer(timed), limits)
    retried = RetryLayer(limited, counters, retries, sleep, random)
    if not keep_replies:
        return UnstoredLayer(retried, counters)
    assert store is not None
    return StoreLayer(retried, store, counters)
