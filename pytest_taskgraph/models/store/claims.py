"""Claims: which process sends a request. A claim belongs to an owner, which lives as long as it is seen.

All functions work on sets of keys: Python lets another thread run at every step of SQLite, and beside a busy event loop
each step may take 5 ms.
"""

from __future__ import annotations

import json
import os
import sqlite3
from collections.abc import Collection, Sequence

LEASE = 10.0  # seconds after which an owner that was not seen counts as dead
BEAT = 2.0  # seconds after which an owner with claims notes again that it lives


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
