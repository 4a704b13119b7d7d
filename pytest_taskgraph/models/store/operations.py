"""The operations of the store's thread, and the delivery of their results to the event loops that wait for them.

Claims: which process sends a request. A claim belongs to an owner, which lives as long as it is seen.

All functions work on sets of keys: Python lets another thread run at every step of SQLite, and beside a busy event loop
each step may take 5 ms.
"""

from __future__ import annotations

import asyncio
import json
import os
import sqlite3
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from ...errors import BudgetSpentError
from ...trial import Reply

Result = Reply | None | BudgetSpentError
LEASE = 10.0  # seconds after which an owner that was not seen counts as dead
BEAT = 2.0  # seconds after which an owner with claims notes again that it lives


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


def note_owner(connection: sqlite3.Connection, owner: str, host: str, now: float) -> None:
    """Note that the owner lives, at `now` in seconds since 1970."""
    connection.execute("INSERT OR REPLACE INTO owners VALUES (?, ?, ?, ?)", (owner, host, os.getpid(), now))


def dead_owners(connection: sqlite3.Connection, owner: str, host: str, now: float) -> list[str]:
    """Return the other owners that are dead: not seen within the lease, or without their process on this host.

    Owners of claims or reservations that were never seen are dead as well.
    """
    rows = connection.execute(
        "SELECT owner, host, pid, seen FROM owners WHERE owner != ? UNION SELECT owner, '', 0, 0 FROM "
        "(SELECT owner FROM claims UNION SELECT owner FROM reservations) "
        "WHERE owner != ? AND owner NOT IN (SELECT owner FROM owners)",
        (owner, owner),
    ).fetchall()
    return [other for other, at, pid, last in rows if now - last > LEASE or (at == host and not _is_running(pid))]


def drop_claims(connection: sqlite3.Connection, owners: Collection[str]) -> None:
    """End all claims of the owners, and remove the owners."""
    for table in ("claims", "owners"):
        connection.executemany(f"DELETE FROM {table} WHERE owner = ?", [(owner,) for owner in owners])


def standing_claims(
    connection: sqlite3.Connection, keys: Sequence[str], run: str | None
) -> dict[str, tuple[str | None, str | None, str | None]]:
    """Return for each key the JSON of its reply, the reply's run, and the owner of its claim; None for what is missing.

    A BLOB in the place of the JSON gives the empty text: SQLite builds no JSON of one, and would fail all keys.
    If `run` is given, only replies of that run count.
    """
    (rows,) = connection.execute(
        "SELECT json_group_array(json_array(asked.value, "
        "CASE typeof(replies.reply) WHEN 'blob' THEN '' ELSE replies.reply END, "
        "CASE typeof(replies.run) WHEN 'text' THEN replies.run END, claims.owner)) "
        "FROM json_each(?) AS asked "
        "LEFT JOIN replies ON replies.key = asked.value AND (? IS NULL OR replies.run = ?) "
        "LEFT JOIN claims ON claims.key = asked.value",
        (json.dumps(keys), run, run),
    ).fetchone()
    return {key: (reply, of, owner) for key, reply, of, owner in json.loads(rows)}


def grant_claims(connection: sqlite3.Connection, keys: Sequence[str], owner: str) -> None:
    """Give the owner the claims of the keys, which are free."""
    connection.execute("INSERT INTO claims SELECT value, ? FROM json_each(?)", (owner, json.dumps(keys)))


def end_claims(connection: sqlite3.Connection, keys: Sequence[str], owner: str) -> None:
    """End the owner's claims of the keys; claims of other owners stay."""
    connection.execute(
        "DELETE FROM claims WHERE owner = ? AND key IN (SELECT value FROM json_each(?))", (owner, json.dumps(keys))
    )


def free_claims(connection: sqlite3.Connection, keys: Sequence[str]) -> list[str]:
    """Return those of the keys that have no claim."""
    (rows,) = connection.execute(
        "SELECT json_group_array(asked.value) FROM json_each(?) AS asked "
        "LEFT JOIN claims ON claims.key = asked.value WHERE claims.key IS NULL",
        (json.dumps(keys),),
    ).fetchone()
    free_keys: list[str] = json.loads(rows)
    return free_keys


def _is_running(pid: int) -> bool:
    if os.name != "posix":
        return True  # on Windows, signal 0 ends the process
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        return True
    return not _is_zombie(pid)


def _is_zombie(pid: int) -> bool:
    """Return True if the process has ended but was not waited for: xdist leaves a dead worker like this."""
    try:
        with open(f"/proc/{pid}/stat", "rb") as file:
            return file.read().rpartition(b")")[2].split()[0] == b"Z"
    except (OSError, IndexError):  # no /proc, or the process ended just now; then the lease decides
        return False
