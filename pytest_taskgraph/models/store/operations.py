"""What may be asked of the store's thread, and how the results get back to the event loops that wait for them."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from ...errors import BudgetSpentError
from ...trial import Reply


@dataclass(slots=True, eq=False)
class Waiting:
    """Something to be done, and the future that waits for its result; in the future's loop."""

    future: asyncio.Future[Any]


@dataclass(slots=True, eq=False)
class Look(Waiting):
    """Gives the reply or None."""

    key: str


@dataclass(slots=True, eq=False)
class Claim(Waiting):
    """Gives the reply, or None as soon as the claim is ours."""

    key: str


@dataclass(slots=True, eq=False)
class Keep(Waiting):
    """Stores a reply and ends the claim of its key."""

    key: str
    entry: Mapping[str, Any]
    reply: Reply


@dataclass(slots=True, eq=False)
class Release(Waiting):
    """Ends the claim of a key without a reply; nothing, where the claim is not ours."""

    key: str


@dataclass(slots=True, eq=False)
class Spend(Waiting):
    """Reserves calls and cost in the ledger as soon as the limits allow it, or raises BudgetSpentError.

    Of those that wait, the one with the lowest position goes first.
    """

    calls: int
    cost: float
    max_calls: int | None
    max_cost: float | None
    position: int = 0
    granted: bool = False  # set by the store's thread


@dataclass(slots=True, eq=False)
class Settle(Waiting):
    """Turns what was reserved into what it came to, and gives back calls that were not made."""

    reserved: float
    cost: float
    calls: int = 0


@dataclass(slots=True, eq=False)
class Withdraw(Waiting):
    """Takes a spending back, whether it was granted or waits."""

    spend: Spend


Operation = Look | Claim | Keep | Release | Spend | Settle | Withdraw
Result = Reply | None | BudgetSpentError
Results = list[tuple[Operation, Result | Exception]]


def deliver(results: Iterable[tuple[Operation, Result | Exception]], lost: Callable[[Claim], None]) -> None:
    """Sets the futures, each in its own loop, with one call into every loop.

    `lost` is told the claims that were granted to somebody who no longer waits.
    """
    loops: dict[asyncio.AbstractEventLoop, Results] = {}
    for operation, result in results:
        loops.setdefault(operation.future.get_loop(), []).append((operation, result))
    for loop, own in loops.items():
        try:
            loop.call_soon_threadsafe(_set, own, lost)
        except RuntimeError:  # the loop is closed
            _lose(own, lost)


def _set(results: Results, lost: Callable[[Claim], None]) -> None:
    for operation, result in results:
        if operation.future.done():
            _lose([(operation, result)], lost)
        elif isinstance(result, Exception):
            operation.future.set_exception(result)
        else:
            operation.future.set_result(result)


def _lose(results: Results, lost: Callable[[Claim], None]) -> None:
    for operation, result in results:
        if isinstance(operation, Claim) and result is None:
            lost(operation)
