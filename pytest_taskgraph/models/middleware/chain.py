"""The chain of layers around a client, built in one place.

A request passes them from the outside in, in this order:

1. `Stored`: the store's reply, else the reply of the rest, which is kept while all that it took is still held
2. `Retried`: attempts, until one succeeds; nothing is held between them
3. `Limited`: a slot among those in flight, of a pace
4. `ScoreChecked`: no further request to score texts, once the endpoint showed that it cannot
5. `Timed`: the time of one attempt, and the counts of what is sent
6. `Budgeted`: calls and dollars, reserved before the slot is waited for, and settled by what the attempt came to
7. `Direct`: the client

`Unstored` stands in place of `Stored` where replies are not kept. `Replayed` asks nobody: it is a chain by itself.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from random import Random

from ..prices import Price
from ..store import Store
from .budget import Budgeted
from .layer import Direct, Live
from .limits import Limited, Limits
from .request_counters import RequestCounters
from .retries import Retried
from .score_checked import ScoreChecked
from .stored import Stored, Unstored
from .timed import Timed


@dataclass(frozen=True, slots=True)
class Budget:
    """What may be spent on a model: calls and US dollars, None for no limit, at a price."""

    price: Price | None = None
    max_calls: int | None = None
    max_cost: float | None = None


def chain(
    client: Live,
    store: Store | None,
    limits: Limits,
    watch: RequestCounters,
    budget: Budget,
    *,
    is_kept: bool = True,
    retries: int = 5,
    timeout: float = 300.0,
    sleep: Callable[[float], Awaitable[object]] = asyncio.sleep,
    random: Random | None = None,
) -> Stored | Unstored:
    """Return the client with all layers around it.

    Args:
        client: who is asked in the end.
        store: where replies and the ledger of the budget are; needed where `is_kept`, or the budget has a limit.
        limits: those of all chains around models of this name.
        watch: counts what the layers do.
        budget: what may be spent.
        is_kept: whether replies are kept in the store.
        retries: how often a failed request is repeated.
        timeout: seconds of one attempt.
        sleep: waits between attempts.
        random: draws part of these waits.

    Raises:
        UsageError: if the cost cannot be limited, for the price is not known.
    """
    direct = Direct(client)
    budgeted = Budgeted(direct, store, budget.price, budget.max_calls, budget.max_cost)
    timed = Timed(budgeted, watch, timeout)
    limited = Limited(ScoreChecked(timed), limits)
    retried = Retried(limited, watch, retries, sleep, random)
    if not is_kept:
        return Unstored(retried, watch)
    assert store is not None
    return Stored(retried, store, watch)
