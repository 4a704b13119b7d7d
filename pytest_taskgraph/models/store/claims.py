"""Who asks what: a claim belongs to an owner, an owner lives as long as it is seen.

All functions work on whole sets of keys: Python lets another thread run at every step of SQLite, and beside an event
loop that is busy each step may cost 5 ms.
"""

from __future__ import annotations

import json
import os
import sqlite3
from collections.abc import Collection, Sequence

LEASE = 10.0  # seconds after which an owner that was not seen counts as dead
BEAT = 2.0  # seconds after which an owner with claims lets itself be seen again


def note_owner(connection: sqlite3.Connection, owner: str, host: str, now: float) -> None:
    """Says that the owner lives, at `now` in seconds since 1970."""
    connection.execute("INSERT OR REPLACE INTO owners VALUES (?, ?, ?, ?)", (owner, host, os.getpid(), now))


def dead_owners(connection: sqlite3.Connection, owner: str, host: str, now: float) -> list[str]:
    """The other owners that are alive no more: not seen within the lease, or of this host without their process.

    Whoever has claims or reservations and was never seen is dead as well.
    """
    rows = connection.execute(
        "SELECT owner, host, pid, seen FROM owners WHERE owner != ? UNION SELECT owner, '', 0, 0 FROM "
        "(SELECT owner FROM claims UNION SELECT owner FROM reservations) "
        "WHERE owner != ? AND owner NOT IN (SELECT owner FROM owners)",
        (owner, owner),
    ).fetchall()
    return [other for other, at, pid, last in rows if now - last > LEASE or (at == host and not _runs(pid))]


def drop_claims(connection: sqlite3.Connection, owners: Collection[str]) -> None:
    """Ends all claims of the owners, and the owners."""
    for table in ("claims", "owners"):
        connection.executemany(f"DELETE FROM {table} WHERE owner = ?", [(owner,) for owner in owners])


def standing_claims(
    connection: sqlite3.Connection, keys: Sequence[str], run: str | None
) -> dict[str, tuple[str | None, str | None, str | None]]:
    """To each key the JSON of its reply (only of the run, where one is given), its run, and the owner of its claim."""
    (rows,) = connection.execute(
        "SELECT json_group_array(json_array(asked.value, replies.reply, replies.run, claims.owner)) "
        "FROM json_each(?) AS asked "
        "LEFT JOIN replies ON replies.key = asked.value AND (? IS NULL OR replies.run = ?) "
        "LEFT JOIN claims ON claims.key = asked.value",
        (json.dumps(keys), run, run),
    ).fetchone()
    return {key: (reply, of, owner) for key, reply, of, owner in json.loads(rows)}


def grant_claims(connection: sqlite3.Connection, keys: Sequence[str], owner: str) -> None:
    """Gives the owner the claims of the keys, which are nobody's."""
    connection.execute("INSERT INTO claims SELECT value, ? FROM json_each(?)", (owner, json.dumps(keys)))


def end_claims(connection: sqlite3.Connection, keys: Sequence[str], owner: str) -> None:
    """Ends the owner's claims of the keys; nothing for claims that are not the owner's."""
    connection.execute(
        "DELETE FROM claims WHERE owner = ? AND key IN (SELECT value FROM json_each(?))", (owner, json.dumps(keys))
    )


def free_claims(connection: sqlite3.Connection, keys: Sequence[str]) -> list[str]:
    """Those of the keys that nobody claims."""
    (rows,) = connection.execute(
        "SELECT json_group_array(asked.value) FROM json_each(?) AS asked "
        "LEFT JOIN claims ON claims.key = asked.value WHERE claims.key IS NULL",
        (json.dumps(keys),),
    ).fetchone()
    found: list[str] = json.loads(rows)
    return found


def _runs(pid: int) -> bool:
    if os.name != "posix":
        return True  # there, signal 0 would end the process
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        return True
    return not _zombie(pid)


def _zombie(pid: int) -> bool:
    """Whether the process has ended and nobody has asked how: so xdist leaves a worker that died."""
    try:
        with open(f"/proc/{pid}/stat", "rb") as file:
            return file.read().rpartition(b")")[2].split()[0] == b"Z"
    except (OSError, IndexError):  # no such system, or gone this moment; the lease will tell
        return False
