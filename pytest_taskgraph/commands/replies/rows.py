"""Entries in the file of a store: read in order, merged, removed. Only the table `replies` is used."""

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
from ...models.store.schema import open_store, read_store, unusable_store
from ...models.store_folder import FILE
from ...usage import AMOUNTS
from .lines import StoredEntry

FIGURES: Final = (*AMOUNTS, "source", "retries")  # of a request, not of its answer
_UNSTATED: Final = {
    "finish_reason": "stop",
    "tool_calls": [],
    "logprobs": [],
    "embeddings": [],
    "reasoning": "",
    "message_fields": {},
}
SHORTLY: Final = 2000  # milliseconds to wait for a run before the file keeps its size

_Stored = TypeVar("_Stored")
_Read = TypeVar("_Read")
_COLUMNS = "key, model, request, reply, at"


def store_folder(store: Path) -> Path:
    """Return the folder of a store that is named by its folder or by the file in it.

    Raises:
        UsageError: if another file is named.
    """
    if store.is_file() and store.name != FILE:
        raise UsageError(f"{store}: no store of replies; name the folder that holds {FILE}")
    return store.parent if store.name == FILE else store


def read_replies(folder: Path, reading: Callable[[sqlite3.Connection], _Read]) -> _Read:
    """Return the result of `reading`, called with a connection to the store in the folder.

    The store is not changed; `reading` may be called twice.

    Raises:
        UsageError: if the store is missing, damaged or of a newer schema.
    """
    return read_store(_existing_file(folder), reading)


@contextmanager
def open_replies(folder: Path, create: bool = False) -> Iterator[sqlite3.Connection]:
    """Open a connection to the store in the folder; only `create` makes a new store.

    Raises:
        UsageError: if the store is missing, damaged, of a newer schema, or locked for a minute.
    """
    file = folder / FILE if create else _existing_file(folder)
    connection = open_store(folder, create)
    try:
        yield connection
    except sqlite3.Error as error:
        raise unusable_store(file, error) from error
    finally:
        connection.close()


def _existing_file(folder: Path) -> Path:
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
    """Yield the entries of the models whose name matches the wildcards, sorted by key."""
    for row in connection.execute(f"SELECT {_COLUMNS} FROM replies ORDER BY key"):
        if fnmatchcase(row[1], models):
            yield StoredEntry(*row)


@dataclass(slots=True)
class MergeResult:
    """Counts of new and of already stored entries, and the keys of entries with another answer than the stored one."""

    added: int = 0
    unchanged: int = 0
    conflicts: list[str] = field(default_factory=list)  # keys, in the order of the import


@contextmanager
def stage_entries(imported: Iterable[StoredEntry]) -> Iterator[Iterator[StoredEntry]]:
    """Copy the entries to a temporary file and yield them from there; errors then occur before the store is changed."""
    staging = sqlite3.connect("", isolation_level=None)  # a temporary file, removed when the connection is closed
    try:
        staging.execute("CREATE TABLE incoming(key TEXT, model TEXT, request TEXT, reply TEXT, at TEXT)")
        with _transaction(staging):
            rows = ((entry.key, entry.model, entry.request, entry.reply, entry.at) for entry in imported)
            staging.executemany("INSERT INTO incoming VALUES (?, ?, ?, ?, ?)", rows)
        yield (StoredEntry(*row) for row in staging.execute(f"SELECT {_COLUMNS} FROM incoming ORDER BY rowid"))
    finally:
        staging.close()


def merge(connection: sqlite3.Connection, imported: Iterable[StoredEntry], replace: bool = False) -> MergeResult:
    """Add the entries, all or none of them, and return the result.

    An entry that is stored already stays as it is; with `replace` the imported entry takes its place. The same holds
    for an entry that is imported twice.
    """
    result = MergeResult()
    with _transaction(connection):
        for entry in imported:
            _merge_entry(connection, entry, replace, result)
    return result


def _merge_entry(connection: sqlite3.Connection, entry: StoredEntry, replace: bool, result: MergeResult) -> None:
    row = connection.execute(f"SELECT {_COLUMNS} FROM replies WHERE key = ?", (entry.key,)).fetchone()
    if row is None:
        connection.execute(
            f"INSERT INTO replies({_COLUMNS}, run) VALUES (?, ?, ?, ?, ?, '')",
            (entry.key, entry.model, entry.request, entry.reply, entry.at),
        )
        result.added += 1
        return
    if reply_content(row[3]) == reply_content(entry.reply):
        result.unchanged += 1
    else:
        result.conflicts.append(entry.key)
    if replace:
        connection.execute(
            "UPDATE replies SET request = ?, reply = ?, run = '', at = ? WHERE key = ?",
            (entry.request, entry.reply, entry.at, entry.key),
        )


def reply_content(reply: str) -> dict[str, Any]:
    """Return the content of the reply without the figures of its request.

    Raises:
        UsageError: if it is no JSON object.
    """
    content = _UNSTATED | json_object(reply)
    return {name: value for name, value in content.items() if name not in FIGURES}


@dataclass(slots=True)
class RemovedReplies:
    """Counts of the replies of one model that are removed."""

    replies: int = 0
    characters: int = 0  # of requests and replies


def prune(
    connection: sqlite3.Connection, models: str = "*", before: datetime | None = None
) -> dict[str, RemovedReplies]:
    """Remove the entries whose model matches the wildcards and that are older than `before`; return counts by model.

    Raises:
        UsageError: if the time of an entry is invalid.
    """
    with _transaction(connection):
        rows = _prunable_rows(connection, models, before)
        connection.executemany("DELETE FROM replies WHERE key = ?", ((row[0],) for row in rows))
    return _sum_by_model(rows)


def prunable_replies(
    connection: sqlite3.Connection, models: str = "*", before: datetime | None = None
) -> dict[str, RemovedReplies]:
    """Return what `prune` removes, without removing it.

    Raises:
        UsageError: if the time of an entry is invalid.
    """
    return _sum_by_model(_prunable_rows(connection, models, before))


def _prunable_rows(
    connection: sqlite3.Connection, models: str, before: datetime | None
) -> list[tuple[str, str, str, int]]:
    return [row for row in _sizes(connection) if fnmatchcase(row[1], models) and _is_older(row[2], before)]


def _sum_by_model(rows: Iterable[tuple[str, str, str, int]]) -> dict[str, RemovedReplies]:
    removed: dict[str, RemovedReplies] = {}
    for _, model, _, size in rows:
        model_replies = removed.setdefault(model, RemovedReplies())
        model_replies.replies, model_replies.characters = model_replies.replies + 1, model_replies.characters + size
    return dict(sorted(removed.items()))


def shrink(connection: sqlite3.Connection) -> bool:
    """Shrink the file after a removal; return False if a run uses it, so that it keeps its size."""
    try:
        connection.execute(f"PRAGMA busy_timeout = {SHORTLY}")
        connection.execute("VACUUM")
        busy, *_ = connection.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()
    except sqlite3.OperationalError:
        return False
    return not busy


def _sizes(connection: sqlite3.Connection) -> Iterable[tuple[str, str, str, int]]:
    return connection.execute("SELECT key, model, at, length(request) + length(reply) FROM replies ORDER BY key")


def _is_older(at: str, before: datetime | None) -> bool:
    return before is None or parse_time(at) < before


def parse_time(at: str) -> datetime:
    """Return the time that the store wrote; in UTC if it has no offset.

    Raises:
        UsageError: if it is no time.
    """
    try:
        time = datetime.fromisoformat(at)
    except ValueError:
        raise UsageError(f"the store holds an entry of the time {at[:40]!r}, expected ISO 8601 in UTC") from None
    return time if time.tzinfo else time.replace(tzinfo=UTC)


def json_object(text: str) -> dict[str, Any]:
    """Return the JSON object that the store holds as a text.

    Raises:
        UsageError: if it is no JSON object.
    """
    value = decode_stored(text, json.loads)
    if not isinstance(value, dict):
        raise UsageError(f"the store is damaged: the reply {text[:40]!r} is no JSON object")
    return value


def decode_stored(stored: _Stored, decode: Callable[[_Stored], _Read]) -> _Read:
    """Return the value that `decode` makes of something that the store holds.

    Raises:
        UsageError: if decoding fails.
    """
    try:
        return decode(stored)
    except (ValueError, RecursionError) as error:
        raise UsageError(f"the store is damaged: a reply is no valid JSON: {error}") from error
