"""The store of replies: one SQLite file that every process on this machine shares.

schema       the file, its tables, and the files that are refused
connection   the thread that owns the connection
operations   the operations of that thread
claims       which process sends which request
ledger       the calls and cost that a run has spent and reserved, and the order of reservations
reply_rows   the rows of replies
"""

from __future__ import annotations

import asyncio
import json
import sqlite3
from collections.abc import Callable, Iterable, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any, TypeVar

from ...errors import NotAskedError
from ...trial import Reply
from ..request_key import request_text
from ..store_folder import FILE
from .connection import Writer
from .operations import Claim, ClaimRelease, ReplyLookup, ReplyWrite, Reservation, Settlement, Withdrawal
from .reply_rows import stored_lengths, stored_models, stored_requests
from .schema import open_store, open_to_read, read_store

_COMPARED = 20  # texts that are compared letter by letter
_COMMON = 1000  # texts; a line that occurs in more of them does not discriminate


class NearestTextIndex:
    """Texts, found by the lines that they share; a line weighs more, the fewer texts have it."""

    def __init__(self, texts: Iterable[str]) -> None:
        self._texts = sorted(set(texts), key=lambda text: (len(text), text))
        self._having: dict[str, list[int]] = {}
        for number, text in enumerate(self._texts):
            for line in _lines(text):
                self._having.setdefault(line, []).append(number)

    def find(self, text: str) -> tuple[str, float] | None:
        """Return the most similar text and its similarity to the given one, from 0 to 1; None if there are no texts."""
        from rapidfuzz.fuzz import ratio

        ratios = [(ratio(text, other) / 100, other) for other in self._candidates(text)]
        likeness, other = max(ratios, default=(0.0, None))
        return None if other is None else (other, likeness)

    def _candidates(self, text: str) -> list[str]:
        weights: dict[int, float] = {}
        for line in _lines(text):
            having = self._having.get(line, ())
            for number in having if len(having) <= _COMMON else ():
                weights[number] = weights.get(number, 0.0) + 1 / len(having)
        best = sorted(weights, key=lambda number: (-weights[number], number))[:_COMPARED]
        if not best:
            best = sorted(range(len(self._texts)), key=lambda n: (abs(len(self._texts[n]) - len(text)), n))[:_COMPARED]
        return [self._texts[number] for number in best]


def _lines(text: str) -> list[str]:
    return list(dict.fromkeys(line for line in map(str.strip, text.splitlines()) if line))


_T = TypeVar("_T")
_COMPARABLE = 20_000  # stored requests of a model among which the nearest is sought

__all__ = ["Store", "reply_lengths", "stored_keys"]


class Store:
    """The replies in a folder, for one run.

    The async methods may be called in any event loop; several objects and processes may use one folder. An operation is
    carried out even if its caller is cancelled. Replies survive the death of the process from the moment `keep`
    returns. The methods raise UsageError if the file becomes unusable.

    Args:
        path: The folder.
        run: The id of the run.
        refresh: Use only replies of this run.
        read_only: Only look up replies; the folder need not be writable.

    Raises:
        UsageError: as `open_store` does.
    """

    def __init__(self, path: Path, run: str, refresh: bool = False, read_only: bool = False) -> None:
        self.path, self.run, self.refresh = path, run, refresh
        self._nearest: dict[str, NearestTextIndex] = {}
        connection = open_to_read(path) if read_only else open_store(path)
        self._writer = Writer(connection, path / FILE, run, refresh)

    async def look(self, key: str) -> Reply | None:
        """Return the stored reply of any run, or None."""
        operation = ReplyLookup(_future(), key)
        self._writer.post(operation)
        reply: Reply | None = await operation.future
        return reply

    async def claim(self, key: str) -> Reply | None:
        """Return the stored reply; if there is none, claim the key and return None.

        Whoever receives None sends the request, then calls `keep` or `release`. The method waits while another live
        owner holds the claim, in this process or another one. A cancelled caller holds no claim, provided that the loop
        runs until the cancellation is complete.

        Raises:
            NotAskedError: if the store is closed meanwhile.
        """
        operation = Claim(_future(), key)
        self._writer.post(operation)
        try:
            reply: Reply | None = await operation.future
        except asyncio.CancelledError:
            if _succeeded(operation.future) and operation.future.result() is None:
                self._writer.end_lost_claim(operation)
            raise
        return reply

    async def keep(self, key: str, entry: Mapping[str, Any], reply: Reply) -> None:
        """Store the reply and end the claim; `entry` is the request from `request_entry`."""
        operation = ReplyWrite(_future(), key, entry, reply)
        self._writer.post(operation)
        await operation.future

    async def release(self, key: str) -> None:
        """End this process's claim of the key; has no effect if there is none, or the store is closed."""
        operation = ClaimRelease(_future(), key)
        with suppress(NotAskedError):
            self._writer.post(operation)
            await operation.future

    async def spend(
        self, calls: int, cost: float, max_calls: int | None, max_cost: float | None, position: int = 0
    ) -> None:
        """Reserve calls and cost (US$) for this run; exact over all processes of the run.

        It waits while the cost fits beside the amount spent, but not beside the amount reserved as well. Of those that
        wait the lowest position is served first, in any process. A cancelled caller has nothing reserved.

        Args:
            calls: Requests to be sent.
            cost: The most that they can cost, in US dollars.
            max_calls: Calls that the run may make; None is no limit.
            max_cost: US dollars that the run may spend; None is no limit.
            position: Position of the question in the run.

        Raises:
            BudgetSpentError: if calls, or cost beside the amount spent, exceed a limit. Nothing is reserved.
        """
        operation = Reservation(_future(), calls, cost, max_calls, max_cost, position)
        self._writer.post(operation)
        try:
            await operation.future
        except asyncio.CancelledError:
            with suppress(NotAskedError):  # a closed store counts all reservations as spent
                self._writer.post(Withdrawal(_future(), operation))
            raise

    async def settle(self, reserved: float, cost: float) -> None:
        """Count `cost` as spent in place of the amount that `spend` reserved."""
        operation = Settlement(_future(), reserved, cost)
        self._writer.post(operation)
        await operation.future

    def settle_later(self, reserved: float, cost: float, calls: int = 0) -> None:
        """Settle a reservation and give back `calls` that were not made, without waiting for it.

        It has no effect once the store is closed, which counts all reservations as spent. Call it in an event loop.
        """
        with suppress(NotAskedError):
            self._writer.post(Settlement(_future(), reserved, cost, calls))

    def nearest(self, model: str, text: str) -> tuple[str, float] | None:
        """Return the stored request of a model that is most like a text, and their likeness from 0 to 1.

        The store is read once for each model.

        Args:
            model: The name of the model.
            text: A request as `request_text` writes it.

        Returns:
            The text of the request and the likeness; None if the store has no request of that model.
        """
        if model not in self._nearest:
            requests = self._read(lambda connection: list(stored_requests(connection, model, _COMPARABLE)))
            self._nearest[model] = NearestTextIndex(request_text(json.loads(request)) for request in requests)
        return self._nearest[model].find(text)

    def models(self) -> tuple[str, ...]:
        """Return the names of the models with stored replies, sorted."""
        return self._read(stored_models)

    def close(self) -> None:
        """Write what is pending and close the file; a second call has no effect."""
        self._writer.close()

    def _read(self, read: Callable[[sqlite3.Connection], _T]) -> _T:
        return read_store(self.path / FILE, read)


def stored_keys(folder: Path) -> frozenset[str]:
    """Return the keys of all replies in a folder; empty if it holds no store.

    Raises:
        UsageError: as Store does.
    """
    file = folder / FILE
    return read_store(file, _keys, least=0) if file.exists() else frozenset()


def reply_lengths(folder: Path, model: str, most: int = 200) -> list[int]:
    """Return the output tokens of the latest `most` stored replies of a model that state them; empty without a store.

    Raises:
        UsageError: as Store does.
    """
    file = folder / FILE

    def read(connection: sqlite3.Connection) -> list[int]:
        return stored_lengths(connection, model, most) if _has_tables(connection) else []

    return read_store(file, read, least=0) if file.exists() else []


def _has_tables(connection: sqlite3.Connection) -> bool:
    """Return True if the store has its tables; another process may be creating it."""
    return connection.execute("SELECT name FROM sqlite_master WHERE name = 'replies'").fetchone() is not None


def _keys(connection: sqlite3.Connection) -> frozenset[str]:
    rows = connection.execute("SELECT key FROM replies") if _has_tables(connection) else ()
    return frozenset(key for (key,) in rows)


def _future() -> asyncio.Future[Any]:
    return asyncio.get_running_loop().create_future()


def _succeeded(future: asyncio.Future[Any]) -> bool:
    return future.done() and not future.cancelled() and future.exception() is None
