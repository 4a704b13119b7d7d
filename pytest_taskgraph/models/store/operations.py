"""The operations of the store's thread, and the delivery of their results to the event loops that wait for them."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from ...errors import BudgetSpentError
from ...trial import Reply


@dataclass(slots=True, eq=False)
class PendingOperation:
    """An operation, and the future in its caller's loop that waits for the result."""

    future: asyncio.Future[Any]


@dataclass(slots=True, eq=False)
class ReplyLookup(PendingOperation):
    """Return the reply or None."""

    key: str


@dataclass(slots=True, eq=False)
class Claim(PendingOperation):
    """Return the reply, or None as soon as this process holds the claim."""

    key: str


@dataclass(slots=True, eq=False)
class ReplyWrite(PendingOperation):
    """Store a reply and end the claim of its key."""

    key: str
    entry: Mapping[str, Any]
    reply: Reply


@dataclass(slots=True, eq=False)
class ClaimRelease(PendingOperation):
    """End the claim of a key without a reply; has no effect on claims of other owners."""

    key: str


@dataclass(slots=True, eq=False)
class Reservation(PendingOperation):
    """Reserve calls and cost in the ledger as soon as the limits allow it, or raise BudgetSpentError.

    Of those that wait, the lowest position goes first.
    """

    calls: int
    cost: float
    max_calls: int | None
    max_cost: float | None
    position: int = 0
    granted: bool = False  # set by the store's thread


@dataclass(slots=True, eq=False)
class Settlement(PendingOperation):
    """Replace a reservation by its cost, and give back calls that were not made."""

    reserved: float
    cost: float
    calls: int = 0


@dataclass(slots=True, eq=False)
class Withdrawal(PendingOperation):
    """Take a reservation back, whether it was granted or waits."""

    reservation: Reservation


Operation = ReplyLookup | Claim | ReplyWrite | ClaimRelease | Reservation | Settlement | Withdrawal
Result = Reply | None | BudgetSpentError
Results = list[tuple[Operation, Result | Exception]]


def deliver(results: Iterable[tuple[Operation, Result | Exception]], lost: Callable[[Claim], None]) -> None:
    """Set the futures, each in its own loop, with one call into every loop.

    Args:
        results: The operations and their results.
        lost: Receives the claims that were granted to callers that no longer wait.
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
            operation.future.exception()  # asyncio logs a failure that nobody looks at, as of `settle_later`
        else:
            operation.future.set_result(result)


def _lose(results: Results, lost: Callable[[Claim], None]) -> None:
    for operation, result in results:
        if isinstance(operation, Claim) and result is None:
            lost(operation)
