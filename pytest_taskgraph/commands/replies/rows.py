"""The entries in a store's file: read in order, merged, removed. Of its tables only `replies` is touched."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any, Final, TypeVar

from ...errors import UsageError
from ...models.store.schema import FILE, open_store, read_store, unusable_store
from .lines import StoredEntry

FIGURES: Final = ("tokens_in", "tokens_out", "cost", "latency", "source", "retries")  # of an asking, not of an answer
SHORTLY: Final = 2000  # milliseconds to wait for a run before the file is left as large as it is

_Stored = TypeVar("_Stored")
_Read = TypeVar("_Read")
_COLUMNS = "key, model, request, reply, at"


def folder_of(store: Path) -> Path:
    """The folder of a store that is named by its folder or by the file in it. Raises UsageError for another file."""
    if store.is_file() and store.name != FILE:
        raise UsageError(f"{store}: is no store; name the folder that holds {FILE}")
    return store.parent if store.name == FILE else store


def read(folder: Path, reading: Callable[[sqlite3.Connection], _Read]) -> _Read:
    """What `reading` makes of the store in the folder, which is not altered; it may be called twice.

    Raises UsageError for a store that is missing, damaged or of a newer schema.
    """
    return read_store(_file(folder), reading)


@contextmanager
def opened(folder: Path, create: bool = False) -> Iterator[sqlite3.Connection]:
    """A connection to the store in the folder; only `create` makes a new one.

    Raises UsageError for a store that is missing, damaged, of a newer schema, or locked for a minute.
    """
    file = folder / FILE if create else _file(folder)
    connection = open_store(folder, create)
    try:
        yield connection
    except sqlite3.Error as error:
        raise unusable_store(file, error) from error
    finally:
        connection.close()


def _file(folder: Path) -> Path:
    file = folder / FILE
    if not file.is_file():
        raise UsageError(f"{file}: there is no store; name its folder with --store, or import an export into a new one")
    return file


@contextmanager
def _transaction(connection: sqlite3.Connection) -> Iterator[None]:
    connection.execute("BEGIN IMMEDIATE")
    try:
        yield
    except BaseException:
        connection.execute("ROLLBACK")
        raise
    connection.execute("COMMIT")


def entries(connection: sqlite3.Connection, models: str = "*") -> Iterator[StoredEntry]:
    """The entries of the models whose name fits the wildcards, sorted by key."""
    for row in connection.execute(f"SELECT {_COLUMNS} FROM replies ORDER BY key"):
        if fnmatchcase(row[1], models):
            yield StoredEntry(*row)


@dataclass(slots=True)
class Merged:
    """What a merge came to: entries that were new, there already with the same answer, and with another one."""

    added: int = 0
    known: int = 0
    conflicts: list[str] = field(default_factory=list)  # keys, in the order of the import


@contextmanager
def staged(imported: Iterable[StoredEntry]) -> Iterator[Iterator[StoredEntry]]:
    """The entries once more, all drawn and waiting on the disk: what fails does so before a store is touched."""
    waiting = sqlite3.connect("", isolation_level=None)  # a file without a name, which goes with the connection
    try:
        waiting.execute("CREATE TABLE incoming(key TEXT, model TEXT, request TEXT, reply TEXT, at TEXT)")
        with _transaction(waiting):
            rows = ((one.key, one.model, one.request, one.reply, one.at) for one in imported)
            waiting.executemany("INSERT INTO incoming VALUES (?, ?, ?, ?, ?)", rows)
        yield (StoredEntry(*row) for row in waiting.execute(f"SELECT {_COLUMNS} FROM incoming ORDER BY rowid"))
    finally:
        waiting.close()


def merge(connection: sqlite3.Connection, imported: Iterable[StoredEntry], replace: bool = False) -> Merged:
    """What came of adding the entries, all or none of them.

    An entry that is there already stays as it is; with `replace` the imported one takes its place. Of one that stands
    twice among the imported, likewise.
    """
    merged = Merged()
    with _transaction(connection):
        for entry in imported:
            _merge(connection, entry, replace, merged)
    return merged


def _merge(connection: sqlite3.Connection, entry: StoredEntry, replace: bool, merged: Merged) -> None:
    row = connection.execute(f"SELECT {_COLUMNS} FROM replies WHERE key = ?", (entry.key,)).fetchone()
    if row is None:
        connection.execute(
            f"INSERT INTO replies({_COLUMNS}, run) VALUES (?, ?, ?, ?, ?, '')",
            (entry.key, entry.model, entry.request, entry.reply, entry.at),
        )
        merged.added += 1
        return
    if answer_of(row[3]) == answer_of(entry.reply):
        merged.known += 1
    else:
        merged.conflicts.append(entry.key)
    if replace:
        connection.execute(
            "UPDATE replies SET request = ?, reply = ?, run = '', at = ? WHERE key = ?",
            (entry.request, entry.reply, entry.at, entry.key),
        )


def answer_of(reply: str) -> dict[str, Any]:
    """What the reply says, without the figures of its asking. Raises UsageError for what is no JSON object."""
    said = {"finish_reason": "stop", "tool_calls": [], "logprobs": [], "embeddings": []} | object_of(reply)
    return {name: value for name, value in said.items() if name not in FIGURES}


@dataclass(slots=True)
class Removed:
    """What was removed of one model, or would be."""

    replies: int = 0
    characters: int = 0  # of requests and replies


def prune(connection: sqlite3.Connection, models: str = "*", before: datetime | None = None) -> dict[str, Removed]:
    """What is removed, by model, sorted: entries whose model fits the wildcards and that are older than `before`.

    Raises UsageError for an entry whose time cannot be read.
    """
    with _transaction(connection):
        doomed = _doomed(connection, models, before)
        connection.executemany("DELETE FROM replies WHERE key = ?", ((row[0],) for row in doomed))
    return _removed(doomed)


def prunable(connection: sqlite3.Connection, models: str = "*", before: datetime | None = None) -> dict[str, Removed]:
    """What `prune` would remove; nothing is. Raises UsageError as that does."""
    return _removed(_doomed(connection, models, before))


def _doomed(connection: sqlite3.Connection, models: str, before: datetime | None) -> list[tuple[str, str, str, int]]:
    return [row for row in _sizes(connection) if fnmatchcase(row[1], models) and _older(row[2], before)]


def _removed(rows: Iterable[tuple[str, str, str, int]]) -> dict[str, Removed]:
    removed: dict[str, Removed] = {}
    for _, model, _, size in rows:
        one = removed.setdefault(model, Removed())
        one.replies, one.characters = one.replies + 1, one.characters + size
    return dict(sorted(removed.items()))


def shrink(connection: sqlite3.Connection) -> bool:
    """Whether the file gave back the room of what was removed; it cannot while a run uses it."""
    try:
        connection.execute(f"PRAGMA busy_timeout = {SHORTLY}")
        connection.execute("VACUUM")
        busy, *_ = connection.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()
    except sqlite3.OperationalError:
        return False
    return not busy


def _sizes(connection: sqlite3.Connection) -> Iterable[tuple[str, str, str, int]]:
    return connection.execute("SELECT key, model, at, length(request) + length(reply) FROM replies ORDER BY key")


def _older(at: str, before: datetime | None) -> bool:
    return before is None or time_of(at) < before


def time_of(at: str) -> datetime:
    """The time that the store wrote; in UTC where it does not say. Raises UsageError for what is none."""
    try:
        time = datetime.fromisoformat(at)
    except ValueError:
        raise UsageError(f"the store holds an entry of the time {at[:40]!r}, expected ISO 8601 in UTC") from None
    return time if time.tzinfo else time.replace(tzinfo=UTC)


def object_of(text: str) -> dict[str, Any]:
    """The JSON object that the store holds as a text. Raises UsageError for anything else."""
    value = usable(text, json.loads)
    if not isinstance(value, dict):
        raise UsageError(f"the store holds {text[:40]!r} for a reply, expected a JSON object; it is damaged")
    return value


def usable(stored: _Stored, read: Callable[[_Stored], _Read]) -> _Read:
    """What `read` makes of something that the store holds. Raises UsageError where that fails."""
    try:
        return read(stored)
    except (ValueError, RecursionError) as error:
        raise UsageError(f"the store holds what is no JSON of a reply: {error}; it is damaged") from error
