"""The ledger of a run: calls and US dollars that are spent, and what each process has reserved for requests in flight.

A reservation is granted where it fits beside what is spent and reserved. Where it fits beside what is spent alone, it
waits for reservations to settle; where not even that, it is refused, for what is spent never shrinks. Those that wait
are granted by position, over all processes of the run: each publishes the lowest position that waits in it, and no
process grants a higher one meanwhile. So a small request never overtakes a larger one that comes before it.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Collection, Sequence
from dataclasses import dataclass, field

from ...errors import BudgetSpentError
from .operations import Settle, Spend

_ROUNDING = 1e-9  # ten times 0.1 is not more than 1.0


@dataclass(slots=True)
class LedgerEntry:
    """What came of entering operations in the ledger."""

    results: list[tuple[Spend, BudgetSpentError | None]] = field(default_factory=list)  # granted, or why refused
    waiting: list[Spend] = field(default_factory=list)  # neither granted nor refused, by position
    in_flight: int = 0  # reservations of this owner
    contended: bool = False  # whether another owner has reservations or waits


@dataclass(slots=True)
class _Balance:
    """The sums of the run; `own` and `own_count` are the reservations of the owner that enters."""

    calls: int
    cost: float
    own: float
    own_count: int
    others: float
    others_count: int
    others_first: int | None  # the lowest position that waits in another process

    def settle(self, settle: Settle) -> None:
        """Turn a reservation into what it came to, and give back calls that were not made."""
        self.calls -= settle.calls
        self.cost += settle.cost
        if settle.reserved > 0:
            self.own_count = max(0, self.own_count - 1)
            self.own = max(0.0, self.own - settle.reserved) if self.own_count else 0.0

    def reserve(self, spend: Spend) -> None:
        """Enter a granted reservation."""
        self.calls += spend.calls
        self.own += spend.cost
        self.own_count += spend.cost > 0

    def fits(self, spend: Spend, reserved: bool) -> bool:
        """Return True if the limit of cost allows the amount beside what is spent, and `reserved` if that counts."""
        if spend.max_cost is None or spend.cost == 0:
            return True
        beside = self.cost + (self.own + self.others if reserved else 0.0)
        return beside + spend.cost <= spend.max_cost * (1 + _ROUNDING)

    def yields(self, spend: Spend) -> bool:
        """Return True if a request of another process that waits comes before this one."""
        limited = spend.max_cost is not None and spend.cost > 0
        return limited and self.others_first is not None and self.others_first < spend.position


def enter_spending(
    connection: sqlite3.Connection, run: str, owner: str, settles: Sequence[Settle], spends: Sequence[Spend]
) -> LedgerEntry:
    """Settle, then grant or refuse as many of the spendings as can be decided. To be called within a transaction.

    Args:
        connection: the connection to the store.
        run: the run whose limits hold.
        owner: the process, as in the table of claims.
        settles: what reservations of this owner came to.
        spends: all spendings that wait in this process, new ones included; of one position in the order of arrival.
    """
    balance = _read(connection, run, owner)
    for settle in settles:
        balance.settle(settle)
    entry = LedgerEntry()
    for spend in sorted(spends, key=lambda one: one.position):
        refused = _refusal(spend, balance)
        if refused is not None:
            entry.results.append((spend, refused))
        elif _waits(spend, balance, entry.waiting):
            entry.waiting.append(spend)
        else:
            balance.reserve(spend)
            entry.results.append((spend, None))
    _write(connection, run, owner, balance, entry.waiting[0].position if entry.waiting else None)
    entry.in_flight = balance.own_count
    entry.contended = balance.others_count > 0 or balance.others_first is not None
    return entry


def drop_reservations(connection: sqlite3.Connection, owners: Collection[str]) -> None:
    """Count what dead owners had reserved as spent, for it may be billed; they wait for nothing any more."""
    for owner in owners:
        left = connection.execute("SELECT reserved, run FROM reservations WHERE owner = ?", (owner,)).fetchall()
        connection.executemany("UPDATE ledger SET cost = cost + ? WHERE run = ?", left)
    connection.executemany("DELETE FROM reservations WHERE owner = ?", [(owner,) for owner in owners])


def _waits(spend: Spend, balance: _Balance, waiting: Sequence[Spend]) -> bool:
    """Return True if the amount has to wait: for its turn, or for reservations to settle."""
    if spend.max_cost is None or spend.cost == 0:
        return False
    return bool(waiting) or balance.yields(spend) or not balance.fits(spend, reserved=True)


def _read(connection: sqlite3.Connection, run: str, owner: str) -> _Balance:
    calls, cost = connection.execute("SELECT calls, cost FROM ledger WHERE run = ?", (run,)).fetchone() or (0, 0.0)
    rows = connection.execute("SELECT owner, reserved, requests, waiting FROM reservations WHERE run = ?", (run,))
    found = {name: row for name, *row in rows.fetchall()}
    own, own_count, _ = found.pop(owner, (0.0, 0, None))
    return _Balance(
        calls,
        cost,
        own,
        own_count,
        others=sum(reserved for reserved, _, _ in found.values()),
        others_count=sum(count for _, count, _ in found.values()),
        others_first=min((first for _, _, first in found.values() if first is not None), default=None),
    )


def _write(connection: sqlite3.Connection, run: str, owner: str, balance: _Balance, first: int | None) -> None:
    connection.execute("INSERT OR REPLACE INTO ledger VALUES (?, ?, ?)", (run, balance.calls, balance.cost))
    if balance.own_count or first is not None:
        row = (run, owner, balance.own, balance.own_count, first)
        connection.execute("INSERT OR REPLACE INTO reservations VALUES (?, ?, ?, ?, ?)", row)
    else:
        connection.execute("DELETE FROM reservations WHERE run = ? AND owner = ?", (run, owner))


def _refusal(spend: Spend, balance: _Balance) -> BudgetSpentError | None:
    if spend.max_calls is not None and balance.calls + spend.calls > spend.max_calls:
        return BudgetSpentError("calls", f"--taskgraph-max-calls={spend.max_calls} is spent")
    if not balance.fits(spend, reserved=False):
        return BudgetSpentError(
            "cost",
            f"--taskgraph-max-cost={spend.max_cost:g} allows no request of up to {spend.cost:.4g} US$ more: "
            f"{balance.cost:.4g} US$ are spent",
        )
    return None
