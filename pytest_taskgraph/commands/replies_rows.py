"""The entries in a store's file: read in order, merged, removed, counted. Of its tables only `replies` is touched."""

from __future__ import annotations

import json
import math
import sqlite3
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any, Final, TypeVar

from ..errors import UsageError
from ..models.store.schema import FILE, open_store, unusable
from .replies_lines import Entry

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


@contextmanager
def opened(folder: Path, create: bool = False) -> Iterator[sqlite3.Connection]:
    """A connection to the store in the folder; only `create` makes a new one.

    Raises UsageError for a store that is missing, damaged, of a newer schema, or locked for a minute.
    """
    file = folder / FILE
    if not create and not file.is_file():
        raise UsageError(f"{file}: there is no store; name its folder with --store, or import an export into a new one")
    connection = open_store(folder, create)
    try:
        yield connection
    except sqlite3.Error as error:
        raise unusable(file, error) from error
    finally:
        connection.close()


@contextmanager
def _transaction(connection: sqlite3.Connection) -> Iterator[None]:
    connection.execute("BEGIN IMMEDIATE")
    try:
        yield
    except BaseException:
        connection.execute("ROLLBACK")
        raise
    connection.execute("COMMIT")


def entries(connection: sqlite3.Connection, models: str = "*") -> Iterator[Entry]:
    """The entries of the models whose name fits the pattern, sorted by key."""
    for row in connection.execute(f"SELECT {_COLUMNS} FROM replies ORDER BY key"):
        if fnmatchcase(row[1], models):
            yield Entry(*row)


@dataclass(slots=True)
class Merged:
    """What a merge came to: entries that were new, there already with the same answer, and with another one."""

    added: int = 0
    known: int = 0
    conflicts: list[str] = field(default_factory=list)  # keys, in the order of the import


@contextmanager
def staged(imported: Iterable[Entry]) -> Iterator[Iterator[Entry]]:
    """The entries once more, all drawn and waiting on the disk: what fails does so before a store is touched."""
    waiting = sqlite3.connect("", isolation_level=None)  # a file without a name, which goes with the connection
    try:
        waiting.execute("CREATE TABLE incoming(key TEXT, model TEXT, request TEXT, reply TEXT, at TEXT)")
        with _transaction(waiting):
            rows = ((one.key, one.model, one.request, one.reply, one.at) for one in imported)
            waiting.executemany("INSERT INTO incoming VALUES (?, ?, ?, ?, ?)", rows)
        yield (Entry(*row) for row in waiting.execute(f"SELECT {_COLUMNS} FROM incoming ORDER BY rowid"))
    finally:
        waiting.close()


def merge(connection: sqlite3.Connection, imported: Iterable[Entry], replace: bool = False) -> Merged:
    """What came of adding the entries, all or none of them.

    An entry that is there already stays as it is; with `replace` the imported one takes its place. Of one that stands
    twice among the imported, likewise.
    """
    merged = Merged()
    with _transaction(connection):
        for entry in imported:
            _merge(connection, entry, replace, merged)
    return merged


def _merge(connection: sqlite3.Connection, entry: Entry, replace: bool, merged: Merged) -> None:
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
    said = {"finish_reason": "stop", "tool_calls": [], "logprobs": [], "embeddings": []} | _object(reply)
    return {name: value for name, value in said.items() if name not in FIGURES}


@dataclass(slots=True)
class Removed:
    """What was removed of one model, or would be."""

    replies: int = 0
    characters: int = 0  # of requests and replies


def prune(
    connection: sqlite3.Connection, models: str = "*", before: datetime | None = None, dry: bool = False
) -> dict[str, Removed]:
    """What is removed, by model, sorted: entries whose model fits the pattern and that are older than `before`.

    With `dry` nothing is. Raises UsageError for an entry whose time cannot be read.
    """
    removed: dict[str, Removed] = {}
    with _transaction(connection):
        doomed = [row for row in _sizes(connection) if fnmatchcase(row[1], models) and _older(row[2], before)]
        for _, model, _, size in doomed:
            one = removed.setdefault(model, Removed())
            one.replies, one.characters = one.replies + 1, one.characters + size
        if not dry:
            connection.executemany("DELETE FROM replies WHERE key = ?", ((row[0],) for row in doomed))
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


@dataclass(slots=True)
class Sum:
    """A sum of what is known, and of how many entries it is not."""

    known: list[float] = field(default_factory=list)
    unknown: int = 0

    def add(self, value: float | None) -> None:
        """Nothing; None counts as not known."""
        if value is None:
            self.unknown += 1
        else:
            self.known.append(value)

    @property
    def total(self) -> float:
        """The sum, the same in any order; whole numbers give a whole number."""
        whole = all(isinstance(value, int) for value in self.known)
        return sum(self.known) if whole else math.fsum(self.known)


@dataclass(slots=True)
class Stock:
    """What a store holds of one model."""

    replies: int = 0
    tokens_in: Sum = field(default_factory=Sum)
    tokens_out: Sum = field(default_factory=Sum)
    cost: Sum = field(default_factory=Sum)
    first: str = ""  # the times of the first and the last reply, as they are stored
    last: str = ""

    def add(self, at: str, reply: dict[str, Any]) -> None:
        """Nothing; the entry is counted."""
        self.replies += 1
        for name in ("tokens_in", "tokens_out", "cost"):
            value = reply.get(name)
            getattr(self, name).add(value if isinstance(value, int | float) else None)
        self.first = min(self.first or at, at, key=time_of)
        self.last = max(self.last or at, at, key=time_of)


def stock(connection: sqlite3.Connection) -> dict[str, Stock]:
    """What the store holds, by model, sorted. Raises UsageError for a reply that is no JSON object."""
    found: dict[str, Stock] = {}
    for model, at, reply in connection.execute("SELECT model, at, reply FROM replies ORDER BY key"):
        found.setdefault(model, Stock()).add(at, _object(reply))
    return dict(sorted(found.items()))


def _object(text: str) -> dict[str, Any]:
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
