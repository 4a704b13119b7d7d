"""The ledger of a run: spent calls and US dollars, and the reservations of each process for requests in flight.

A reservation is granted if it fits beside the amounts spent and reserved. If it fits only beside the amount spent, it
waits for reservations to be settled; otherwise it is refused, since the amount spent never shrinks. Waiting
reservations are granted by position, over all processes of the run: each process publishes its lowest waiting position,
and no process grants a higher one meanwhile. So a small request never overtakes a larger one before it.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Collection, Sequence
from dataclasses import dataclass, field
from operator import attrgetter

from ...errors import BudgetSpentError
from .operations import Reservation, Settlement

_ROUNDING = 1e-9  # ten times 0.1 is not more than 1.0


@dataclass(slots=True)
class LedgerEntry:
    """Outcome of entering operations in the ledger."""

    results: list[tuple[Reservation, BudgetSpentError | None]] = field(default_factory=list)  # granted, or why refused
    waiting: list[Reservation] = field(default_factory=list)  # neither granted nor refused, by position
    in_flight: int = 0  # reservations of this owner
    contended: bool = False  # whether another owner has reservations or waits


@dataclass(slots=True)
class _Balance:
    """The sums of the run; `own` and `own_count` are the reservations of the process that enters operations."""

    calls: int
    cost: float
    own: float
    own_count: int
    others: float
    others_count: int
    others_first: int | None  # the lowest position that waits in another process

    def settle(self, settlement: Settlement) -> None:
        """Replace a reservation by its cost, and give back calls that were not made."""
        self.calls -= settlement.calls
        self.cost += settlement.cost
        if settlement.reserved > 0:
            self.own_count = max(0, self.own_count - 1)
            self.own = max(0.0, self.own - settlement.reserved) if self.own_count else 0.0

    def reserve(self, reservation: Reservation) -> None:
        """Add a granted reservation."""
        self.calls += reservation.calls
        self.own += reservation.cost
        self.own_count += reservation.cost > 0

    def fits(self, reservation: Reservation, reserved: bool) -> bool:
        """Return True if the limit of cost allows the reservation.

        Args:
            reservation: The reservation.
            reserved: Whether the amounts reserved count beside the amount spent.
        """
        if reservation.max_cost is None or reservation.cost == 0:
            return True
        beside = self.cost + (self.own + self.others if reserved else 0.0)
        return beside + reservation.cost <= reservation.max_cost * (1 + _ROUNDING)

    def yields(self, reservation: Reservation) -> bool:
        """Return True if a waiting request of another process comes before this reservation."""
        limited = reservation.max_cost is not None and reservation.cost > 0
        return limited and self.others_first is not None and self.others_first < reservation.position


def enter_spending(
    connection: sqlite3.Connection,
    run: str,
    owner: str,
    settlements: Sequence[Settlement],
    reservations: Sequence[Reservation],
) -> LedgerEntry:
    """Settle reservations, then grant or refuse those that can be decided. Call it within a transaction.

    Args:
        connection: The connection to the store.
        run: The run whose limits apply.
        owner: The process, as in the table of claims.
        settlements: The outcomes of reservations of this owner.
        reservations: All that wait in this process, with the new ones; those of one position in order of arrival.
    """
    balance = _read(connection, run, owner)
    for settlement in settlements:
        balance.settle(settlement)
    entry = LedgerEntry()
    for reservation in sorted(reservations, key=attrgetter("position")):
        refused = _refusal(reservation, balance)
        if refused is not None:
            entry.results.append((reservation, refused))
        elif _waits(reservation, balance, entry.waiting):
            entry.waiting.append(reservation)
        else:
            balance.reserve(reservation)
            entry.results.append((reservation, None))
    _write(connection, run, owner, balance, entry.waiting[0].position if entry.waiting else None)
    entry.in_flight = balance.own_count
    entry.contended = balance.others_count > 0 or balance.others_first is not None
    return entry


def drop_reservations(connection: sqlite3.Connection, owners: Collection[str]) -> None:
    """Count the reservations of dead owners as spent, since they may be billed, and end their waiting."""
    for owner in owners:
        left = connection.execute("SELECT reserved, run FROM reservations WHERE owner = ?", (owner,)).fetchall()
        connection.executemany("UPDATE ledger SET cost = cost + ? WHERE run = ?", left)
    connection.executemany("DELETE FROM reservations WHERE owner = ?", [(owner,) for owner in owners])


def _waits(reservation: Reservation, balance: _Balance, waiting: Sequence[Reservation]) -> bool:
    """Return True if the reservation has to wait: for its turn, or for others to be settled."""
    if reservation.max_cost is None or reservation.cost == 0:
        return False
    return bool(waiting) or balance.yields(reservation) or not balance.fits(reservation, reserved=True)


def _read(connection: sqlite3.Connection, run: str, owner: str) -> _Balance:
    calls, cost = connection.execute("SELECT calls, cost FROM ledger WHERE run = ?", (run,)).fetchone() or (0, 0.0)
    rows = connection.execute("SELECT owner, reserved, requests, waiting FROM reservations WHERE run = ?", (run,))
    rows_by_owner = {name: row for name, *row in rows.fetchall()}
    own, own_count, _ = rows_by_owner.pop(owner, (0.0, 0, None))
    return _Balance(
        calls,
        cost,
        own,
        own_count,
        others=sum(reserved for reserved, _, _ in rows_by_owner.values()),
        others_count=sum(count for _, count, _ in rows_by_owner.values()),
        others_first=min((first for _, _, first in rows_by_owner.values() if first is not None), default=None),
    )


def _write(connection: sqlite3.Connection, run: str, owner: str, balance: _Balance, first: int | None) -> None:
    connection.execute("INSERT OR REPLACE INTO ledger VALUES (?, ?, ?)", (run, balance.calls, balance.cost))
    if balance.own_count or first is not None:
        row = (run, owner, balance.own, balance.own_count, first)
        connection.execute("INSERT OR REPLACE INTO reservations VALUES (?, ?, ?, ?, ?)", row)
    else:
        connection.execute("DELETE FROM reservations WHERE run = ? AND owner = ?", (run, owner))


def _refusal(reservation: Reservation, balance: _Balance) -> BudgetSpentError | None:
    if reservation.max_calls is not None and balance.calls + reservation.calls > reservation.max_calls:
        return BudgetSpentError("calls", f"--taskgraph-max-calls={reservation.max_calls} is spent")
    if not balance.fits(reservation, reserved=False):
        return BudgetSpentError(
            "cost",
            f"--taskgraph-max-cost={reservation.max_cost:g} allows no request of up to {reservation.cost:.4g} US$ "
            f"more: {balance.cost:.4g} US$ are spent",
        )
    return None
