"""The thread that owns the connection: what arrives together is done in one transaction."""

from __future__ import annotations

import platform
import queue
import sqlite3
import threading
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import replace
from pathlib import Path
from typing import TypeVar
from uuid import uuid4

from ...errors import DamagedReplyError, NotAskedError
from .claims import BEAT, dead_owners, drop_claims, end_claims, free_claims, grant_claims, note_owner, standing_claims
from .ledger import LedgerEntry, drop_reservations, enter_spending
from .operations import Claim, Keep, Look, Operation, Release, Result, Results, Settle, Spend, Withdraw, deliver
from .reply_rows import reply_from_text, write_replies
from .schema import unusable_store

POLL = 0.05  # seconds between two looks at what other processes did, while somebody waits for them
LINGER = 0.005  # seconds in which claims and replies gather for one transaction
_BURIAL = 1.0  # seconds between two looks at whether they still live
_MOST = 256  # operations of one transaction
_T = TypeVar("_T")


class Writer:
    """The thread, the claims and reservations that it holds for this process, and the operations that wait."""

    def __init__(self, connection: sqlite3.Connection, path: Path, run: str, refresh: bool) -> None:
        self._connection, self._path, self._run, self._refresh = connection, path, run, refresh
        # Else one row that is no UTF-8 would fail all that is looked up with it.
        connection.text_factory = lambda data: data.decode(errors="surrogateescape")
        self._owner, self._host = uuid4().hex, platform.node()
        self._queue: queue.SimpleQueue[Operation | None] = queue.SimpleQueue()
        self._closing = threading.Lock()
        self._closed = False
        self._held: set[str] = set()
        self._waiting: dict[str, list[Claim]] = {}
        self._entry = LedgerEntry()  # as the ledger was last entered
        self._unsettled: list[Settle] = []  # those that could not be written, for instance to a full disk
        self._seen = self._looked = self._buried = 0.0
        self._version = -1
        self._thread = threading.Thread(target=self._work, name="taskgraph-store", daemon=True)
        self._thread.start()

    def post(self, operation: Operation) -> None:
        """Nothing; the operation will be done, whatever becomes of its future. Raises NotAskedError once closed."""
        with self._closing:
            if self._closed:
                raise NotAskedError(f"the store {self._path} is closed")
            self._queue.put(operation)

    def lost(self, claim: Claim) -> None:
        """Ends a claim that was granted to somebody who is gone."""
        try:
            self.post(Release(claim.future, claim.key))
        except NotAskedError:  # closing ended all claims
            return

    def close(self) -> None:
        """Nothing, once all that was posted is done, all claims are ended and the file is closed."""
        with self._closing:
            if not self._closed:
                self._closed = True
                self._queue.put(None)
        self._thread.join()

    def _work(self) -> None:
        open_ = True
        while open_:
            operations = self._arrived()
            if None in operations:
                open_ = False
            self._turn([operation for operation in operations if operation is not None], [])
            if open_:
                self._look_around()
        self._end()

    def _arrived(self) -> list[Operation | None]:
        patience = POLL if self._foreign() or self._contends else BEAT if self._lives else None
        found: list[Operation | None] = []
        with suppress(queue.Empty):
            found.append(self._queue.get(timeout=patience))
            if isinstance(found[0], Claim | Keep):
                time.sleep(LINGER)  # for those that come together; nobody waits for these at once
            while len(found) < _MOST:
                found.append(self._queue.get_nowait())
        return found

    def _turn(self, operations: Sequence[Operation], freed: Sequence[str]) -> None:
        """Does the operations, and grants the freed keys to those who wait for them."""
        ended = [one.key for one in operations if isinstance(one, Keep | Release)] + list(freed)
        heirs = [claim for key in dict.fromkeys(ended) for claim in self._waiting.pop(key, ())]
        asked = [*operations, *(heir for heir in heirs if not heir.future.cancelled())]
        if asked:
            self._attempt(asked)

    def _attempt(self, asked: Sequence[Operation]) -> None:
        """Does the operations in one transaction, and each alone where one of them cannot be done."""
        before = self._entry
        try:
            with self._transaction(writes=not all(isinstance(one, Look) for one in asked)):
                results = self._do(asked)
        except sqlite3.Error as error:
            self._fail(unusable_store(self._path, error), asked, before)
        except Exception as error:  # an entry that is no JSON; the others shall not suffer
            self._entry = before
            if len(asked) == 1:
                deliver([(asked[0], error)], self.lost)
            for one in asked if len(asked) > 1 else ():
                self._turn([one], [])
        else:
            self._remember(asked, results)
            deliver(results, self.lost)

    def _fail(self, failure: Exception, asked: Sequence[Operation], before: LedgerEntry) -> None:
        """Tell the failure to all that asked and to the spendings that wait; the next transaction settles again."""
        self._unsettled += [*_of(Settle, asked), *_taken_back(_of(Withdraw, asked))]
        waiting = [one for one in before.waiting if one not in asked]
        self._entry = replace(before, waiting=[])
        deliver([*((one, failure) for one in asked), *((one, failure) for one in waiting)], self.lost)

    @contextmanager
    def _transaction(self, writes: bool = True) -> Iterator[None]:
        self._connection.execute("BEGIN IMMEDIATE" if writes else "BEGIN")
        try:
            yield
            self._connection.execute("COMMIT")
        except BaseException:
            self._seen = 0.0  # it may be undone that we were seen
            if self._connection.in_transaction:
                self._connection.execute("ROLLBACK")
            raise

    def _do(self, operations: Sequence[Operation]) -> Results:
        """The results of all but those that must wait. Replies go first, so that whoever asks for them finds them."""
        keeps, releases = _of(Keep, operations), _of(Release, operations)
        settles, spends, withdraws = _of(Settle, operations), _of(Spend, operations), _of(Withdraw, operations)
        if keeps:
            write_replies(self._connection, keeps, self._run)
        ended: list[Keep | Release] = [*keeps, *releases]
        if ended:
            end_claims(self._connection, [one.key for one in ended], self._owner)
        done: list[Operation] = [*ended, *settles, *withdraws]
        results: Results = [(one, None) for one in done]
        if settles or spends or withdraws:
            results += self._enter(settles, spends, withdraws)
        return results + self._looks(_of(Look, operations)) + self._claims(_of(Claim, operations))

    def _enter(self, settles: Sequence[Settle], spends: Sequence[Spend], withdraws: Sequence[Withdraw]) -> Results:
        """Enters the operations in the ledger, with the spendings that wait; gives the results of those decided."""
        gone = {id(one.spend) for one in withdraws}
        waiting = [one for one in dict.fromkeys([*self._entry.waiting, *spends]) if id(one) not in gone]
        settled = [*self._unsettled, *settles, *_taken_back(withdraws)]
        self._entry = enter_spending(self._connection, self._run, self._owner, settled, waiting)
        if self._entry.in_flight or self._entry.waiting:
            self._show_up()
        return [*self._entry.results]

    def _looks(self, looks: Sequence[Look]) -> Results:
        standing = standing_claims(self._connection, _keys(looks), None) if looks else {}
        return [(look, self._reply(look.key, *standing[look.key][:2])) for look in looks]

    def _claims(self, asked: Sequence[Claim]) -> Results:
        keys = _keys(asked)
        standing = standing_claims(self._connection, keys, self._run if self._refresh else None) if keys else {}
        there = [one for one in asked if standing[one.key][0] is not None]
        results: Results = [(one, self._reply(one.key, *standing[one.key][:2])) for one in there]
        first = {one.key: one for one in reversed(asked) if standing[one.key] == (None, None, None)}
        if first:
            self._show_up()
            grant_claims(self._connection, list(first), self._owner)
        return results + [(one, None) for one in first.values()]

    def _reply(self, key: str, text: str | None, run: str | None) -> Result | Exception:
        try:
            if text is None:
                return None
            text.encode()  # fails where the row was no UTF-8
            return replace(reply_from_text(text), stored=run != self._run)
        except (ValueError, TypeError, AttributeError, RecursionError) as error:
            return DamagedReplyError(
                f"the store {self._path} holds no readable reply of the key {key}: {error}; ask that question anew "
                "with --taskgraph-refresh, or remove all replies of its model: "
                "python -m pytest_taskgraph replies prune --model NAME"
            )

    def _remember(self, asked: Sequence[Operation], results: Results) -> None:
        """Notes after the transaction what it led to."""
        if any(isinstance(one, Settle | Spend | Withdraw) for one in asked):
            self._unsettled.clear()
        for one, result in results:
            if isinstance(one, Spend):
                one.granted = result is None
        self._held.difference_update(one.key for one in asked if isinstance(one, Keep | Release))
        self._held.update(one.key for one, result in results if isinstance(one, Claim) and result is None)
        done = {id(one) for one, _ in results}
        for one in _of(Claim, asked):
            if id(one) not in done:
                self._waiting.setdefault(one.key, []).append(one)

    def _foreign(self) -> list[str]:
        """The keys that are waited for and claimed by other processes."""
        for key in [key for key, waiting in self._waiting.items() if all(one.future.cancelled() for one in waiting)]:
            del self._waiting[key]
        return [key for key in self._waiting if key not in self._held]

    @property
    def _contends(self) -> bool:
        """Whether a spending waits, and another process has to do with it."""
        return bool(self._entry.waiting) and self._entry.contended

    @property
    def _lives(self) -> bool:
        """Whether others must see that this process lives."""
        return bool(self._held or self._entry.in_flight or self._entry.waiting)

    def _look_around(self) -> None:
        """Lets others see that we live; finds what others gave up, those who died included."""
        if time.monotonic() - self._looked < POLL:
            return
        self._looked = time.monotonic()
        foreign, contends = self._foreign(), self._contends
        try:
            if self._lives:
                self._show_up()
            changed = bool(foreign or contends) and self._changed()
            freed = free_claims(self._connection, foreign) if foreign and changed else []
        except sqlite3.Error as error:
            failure = unusable_store(self._path, error)
            deliver([(one, failure) for key in foreign for one in self._waiting.pop(key)], self.lost)
        else:
            self._turn(self._entry.waiting if contends and changed else [], freed)

    def _show_up(self) -> None:
        if abs(time.time() - self._seen) >= BEAT:
            self._seen = time.time()
            note_owner(self._connection, self._owner, self._host, self._seen)

    def _changed(self) -> bool:
        """Whether another process wrote since the last look, or was found dead, which ends its claims."""
        buried = time.monotonic() - self._buried >= _BURIAL and self._bury()
        (version,) = self._connection.execute("PRAGMA data_version").fetchone()
        before, self._version = self._version, version
        return buried or version != before

    def _bury(self) -> bool:
        self._buried = time.monotonic()
        if not dead_owners(self._connection, self._owner, self._host, time.time()):
            return False
        with self._transaction():  # asked again: they may have shown up just now
            gone = dead_owners(self._connection, self._owner, self._host, time.time())
            drop_claims(self._connection, gone)
            drop_reservations(self._connection, gone)
        return True

    def _end(self) -> None:
        closed = NotAskedError(f"the store {self._path} is closed")
        claiming = [one for waiting in self._waiting.values() for one in waiting]
        deliver([*((one, closed) for one in claiming), *((one, closed) for one in self._entry.waiting)], self.lost)
        try:
            with self._transaction():
                drop_claims(self._connection, [self._owner])
                drop_reservations(self._connection, [self._owner])
        except sqlite3.Error:  # whoever comes next sees that this process is gone
            pass
        finally:
            self._connection.close()


def _of(kind: type[_T], operations: Sequence[Operation]) -> list[_T]:
    return [one for one in operations if isinstance(one, kind)]


def _taken_back(withdraws: Sequence[Withdraw]) -> list[Settle]:
    """The settlements of granted spendings that are withdrawn."""
    spends = [one.spend for one in withdraws if one.spend.granted]
    return [Settle(one.future, one.cost, 0.0, one.calls) for one in spends]


def _keys(operations: Sequence[Look] | Sequence[Claim]) -> list[str]:
    return list(dict.fromkeys(one.key for one in operations))
