"""The store of replies: one SQLite file that every process on this machine shares.

schema       the file, its tables, what is refused
writer       the thread that owns the connection
operations   what it is asked to do
claims       who asks what
ledger       what a run has spent and reserved, and whose turn it is to reserve
replies      the rows of replies
nearest      the stored text most like another one
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
from .connection import Writer
from .operations import Claim, Keep, Look, Release, Settle, Spend, Withdraw
from .reply_rows import stored_lengths, stored_models, stored_requests
from .schema import FILE, open_store, open_to_read, read_store

_COMPARED = 20  # texts that are compared letter by letter
_COMMON = 1000  # texts; a line that more of them have tells nothing


class Nearest:
    """Texts, found by the lines that they share; a line counts the more the fewer texts have it."""

    def __init__(self, texts: Iterable[str]) -> None:
        self._texts = sorted(set(texts), key=lambda text: (len(text), text))
        self._having: dict[str, list[int]] = {}
        for number, text in enumerate(self._texts):
            for line in _lines(text):
                self._having.setdefault(line, []).append(number)

    def find(self, text: str) -> tuple[str, float] | None:
        """The text most like the given one, with their likeness from 0 to 1; None where there is no text at all."""
        from rapidfuzz.fuzz import ratio

        found = [(ratio(text, other) / 100, other) for other in self._candidates(text)]
        likeness, other = max(found, default=(0.0, None))
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

    The async methods may be called in any event loop; several objects and processes may use one folder. Whatever was
    called is done even if its caller is cancelled. Replies survive the death of the process from the moment `keep`
    returns. Under `refresh` only replies of this run are taken for an answer. With `read_only` the folder need not be
    writable, and replies are only looked up. Raises UsageError as `open_store` does; so do the methods, if the file
    becomes unusable.
    """

    def __init__(self, path: Path, run: str, refresh: bool = False, read_only: bool = False) -> None:
        self.path, self.run, self.refresh = path, run, refresh
        self._nearest: dict[str, Nearest] = {}
        connection = open_to_read(path) if read_only else open_store(path)
        self._writer = Writer(connection, path / FILE, run, refresh)

    async def look(self, key: str) -> Reply | None:
        """The stored reply of any run, or None."""
        operation = Look(_future(), key)
        self._writer.post(operation)
        reply: Reply | None = await operation.future
        return reply

    async def claim(self, key: str) -> Reply | None:
        """The stored reply, or None: now it is ours to ask, and `keep` or `release` must follow.

        While somebody else who lives holds the claim, in this process or in another one, it waits. Whoever is
        cancelled holds none, provided that the loop runs on until the cancellation is through. Raises NotAskedError if
        the store is closed meanwhile.
        """
        operation = Claim(_future(), key)
        self._writer.post(operation)
        try:
            reply: Reply | None = await operation.future
        except asyncio.CancelledError:
            if _succeeded(operation.future) and operation.future.result() is None:
                self._writer.lost(operation)
            raise
        return reply

    async def keep(self, key: str, entry: Mapping[str, Any], reply: Reply) -> None:
        """Nothing, once the reply is stored; ends the claim. `entry` is the request as `request_entry` gives it."""
        operation = Keep(_future(), key, entry, reply)
        self._writer.post(operation)
        await operation.future

    async def release(self, key: str) -> None:
        """Nothing, once our claim of the key is ended; also if there is none, or the store is closed."""
        operation = Release(_future(), key)
        with suppress(NotAskedError):
            self._writer.post(operation)
            await operation.future

    async def spend(
        self, calls: int, cost: float, max_calls: int | None, max_cost: float | None, position: int = 0
    ) -> None:
        """Reserve calls and cost (US$) for this run; exact over all processes of the run.

        Waits while the cost fits beside what is spent, but not beside what is reserved as well. Of those that wait the
        lowest position is served first, in whatever process. Whoever is cancelled has nothing reserved.

        Args:
            calls: requests to be sent.
            cost: what they may cost at worst, in US dollars.
            max_calls: calls that the run may make; None is no limit.
            max_cost: US dollars that the run may spend; None is no limit.
            position: of the question in the run.

        Raises:
            BudgetSpentError: if calls, or cost beside what is spent, are more than a limit. Nothing is reserved.
        """
        operation = Spend(_future(), calls, cost, max_calls, max_cost, position)
        self._writer.post(operation)
        try:
            await operation.future
        except asyncio.CancelledError:
            with suppress(NotAskedError):  # closed; that counts all reservations as spent
                self._writer.post(Withdraw(_future(), operation))
            raise

    async def settle(self, reserved: float, cost: float) -> None:
        """Count `cost` as spent instead of what `spend` reserved."""
        operation = Settle(_future(), reserved, cost)
        self._writer.post(operation)
        await operation.future

    def settle_later(self, reserved: float, cost: float, calls: int = 0) -> None:
        """Have the ledger settle a reservation and take back `calls` that were not made, without waiting for it.

        Does nothing once the store is closed, which counts all reservations as spent. To be called in an event loop.
        """
        with suppress(NotAskedError):
            self._writer.post(Settle(_future(), reserved, cost, calls))

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
            found = self._read(lambda connection: list(stored_requests(connection, model, _COMPARABLE)))
            self._nearest[model] = Nearest(request_text(json.loads(request)) for request in found)
        return self._nearest[model].find(text)

    def models(self) -> tuple[str, ...]:
        """The names of the models of which there are replies, sorted."""
        return self._read(stored_models)

    def close(self) -> None:
        """Nothing, once all that was called is written and the file is closed; again, it does nothing."""
        self._writer.close()

    def _read(self, read: Callable[[sqlite3.Connection], _T]) -> _T:
        return read_store(self.path / FILE, read)


def stored_keys(folder: Path) -> frozenset[str]:
    """The keys of all replies in a folder; none where it holds no store. Raises UsageError as Store does."""
    file = folder / FILE
    return read_store(file, _keys, least=0) if file.exists() else frozenset()


def reply_lengths(folder: Path, model: str, most: int = 200) -> list[int]:
    """Return the tokens of the latest `most` stored replies of the model that tell them; none where there is no store.

    Raises:
        UsageError: as Store does.
    """
    file = folder / FILE

    def read(connection: sqlite3.Connection) -> list[int]:
        return stored_lengths(connection, model, most) if _made(connection) else []

    return read_store(file, read, least=0) if file.exists() else []


def _made(connection: sqlite3.Connection) -> bool:
    """Return True if the store has its tables: it may be made just now."""
    return connection.execute("SELECT name FROM sqlite_master WHERE name = 'replies'").fetchone() is not None


def _keys(connection: sqlite3.Connection) -> frozenset[str]:
    found = connection.execute("SELECT key FROM replies") if _made(connection) else ()
    return frozenset(key for (key,) in found)


def _future() -> asyncio.Future[Any]:
    return asyncio.get_running_loop().create_future()


def _succeeded(future: asyncio.Future[Any]) -> bool:
    return future.done() and not future.cancelled() and future.exception() is None
