"""The chain of layers around a client, built in one place.

A request passes the layers in this order, from the outermost to the innermost:

1. `StoreLayer` returns the stored reply, or stores the reply of the inner layers before they release their resources.
2. `SingleTextLayer` sends the texts of a score request one by one where the endpoint refuses several prompts.
3. `RetryLayer` repeats the attempt until one succeeds. No resource is held between attempts.
4. `LimitLayer` limits the number of requests in flight and the requests per minute.
5. `ScoreCheckLayer` refuses requests to score texts once the endpoint has shown that it does not support them.
6. `TimeoutLayer` limits the time of one attempt, and counts what is sent.
7. `BudgetLayer` reserves calls and cost before the wait for a slot, and settles them after the attempt.
8. `ClientLayer` sends the request with the client.

`UnstoredLayer` replaces `StoreLayer` where replies are not kept. `ReplayModel` sends nothing and needs no chain.
`ProbedModel` stands around either, and checks a server once before it relies on it.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from random import Random

from ...asking import Model
from ..prices import Price
from ..store import Store
from .budget import BudgetLayer
from .layer import ClientLayer, LiveModel
from .limits import LimitLayer, Limits
from .probes import ProbedModel
from .request_counters import RequestCounters
from .retries import RetryLayer, TimeoutLayer
from .score_checked import ScoreCheckLayer
from .single_texts import SingleTextLayer
from .stored import StoreLayer, UnstoredLayer


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
        store: The store of replies and of the ledger of the budget; required with `keep_replies` or a limited budget.
        limits: The limits of all chains around models of this name.
        counters: The counters of what the layers do.
        budget: The calls and cost that are allowed.
        keep_replies: True if replies are kept in the store.
        retries: Most retries of a failed request.
        timeout: Most seconds of one attempt.
        sleep: Function that waits between attempts, for a number of seconds.
        random: Generator of the random part of these waits.

    Raises:
        UsageError: if the cost cannot be limited because the price is unknown.
    """
    direct = ClientLayer(client)
    budgeted = BudgetLayer(direct, store, budget.price, budget.max_calls, budget.max_cost)
    timed = TimeoutLayer(budgeted, counters, timeout)
    limited = LimitLayer(ScoreCheckLayer(timed), limits)
    retried = SingleTextLayer(RetryLayer(limited, counters, retries, sleep, random), counters)
    if not keep_replies:
        return UnstoredLayer(retried, counters)
    assert store is not None
    return StoreLayer(retried, store, counters)


def probed(model: Model, client: LiveModel, counters: RequestCounters) -> Model:
    """Return the model, with the checks that its client states in `probes` around it, if any."""
    return ProbedModel(model, client, counters) if getattr(client, "probes", ()) else model
