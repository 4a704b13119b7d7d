"""The thread that owns the connection: operations that arrive together are done in one transaction."""

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
from .ledger import LedgerEntry, drop_reservations, enter_spending
from .operations import (
    BEAT,
    Claim,
    ClaimRelease,
    Operation,
    ReplyLookup,
    ReplyWrite,
    Reservation,
    Result,
    Results,
    Settlement,
    Withdrawal,
    dead_owners,
    deliver,
    drop_claims,
    end_claims,
    free_claims,
    grant_claims,
    note_owner,
    standing_claims,
)
from .reply_rows import reply_from_text, write_replies
from .schema import unusable_store

POLL = 0.05  # seconds between two checks of other processes' changes, while an operation waits for them
LINGER = 0.001  # seconds in which claims and replies gather for one transaction
_DEATH_CHECK = 1.0  # seconds between two checks whether other processes still live
_MOST = 256  # operations of one transaction
_T = TypeVar("_T")


class Writer:
    """The thread, the claims and reservations that it holds for this process, and the operations that wait."""

    def __init__(self, connection: sqlite3.Connection, path: Path, run: str, refresh: bool) -> None:
        self._connection, self._path, self._run, self._refresh = connection, path, run, refresh
        # Otherwise one row that is not UTF-8 fails all look-ups of its transaction.
        connection.text_factory = lambda data: data.decode(errors="surrogateescape")
        self._owner, self._host = uuid4().hex, platform.node()
        self._queue: queue.SimpleQueue[Operation | None] = queue.SimpleQueue()
        self._closing = threading.Lock()
        self._closed = False
        self._held: set[str] = set()
        self._waiting: dict[str, list[Claim]] = {}
        self._entry = LedgerEntry()  # of the last entry in the ledger
        self._unsettled: list[Settlement] = []  # settlements that could not be written, for instance to a full disk
        self._seen = self._looked = self._death_checked = 0.0
        self._version = -1
        self._thread = threading.Thread(target=self._work, name="taskgraph-store", daemon=True)
        self._thread.start()

    def post(self, operation: Operation) -> None:
        """Queue an operation, which is carried out whatever becomes of its future.

        Raises:
            NotAskedError: if the store is closed.
        """
        with self._closing:
            if self._closed:
                raise NotAskedError(f"the store {self._path} is closed")
            self._queue.put(operation)

    def end_lost_claim(self, claim: Claim) -> None:
        """End a claim that was granted to a caller that no longer waits."""
        try:
            self.post(ClaimRelease(claim.future, claim.key))
        except NotAskedError:  # closing ended all claims
            return

    def close(self) -> None:
        """Carry out what was posted, end all claims and close the file."""
        with self._closing:
            if not self._closed:
                self._closed = True
                self._queue.put(None)
        self._thread.join()

    def _work(self) -> None:
        open_ = True
        while open_:
            operations = self._collect_operations()
            if None in operations:
                open_ = False
            self._process([operation for operation in operations if operation is not None], [])
            if open_:
                self._check_others()
        self._end()

    def _collect_operations(self) -> list[Operation | None]:
        patience = POLL if self._foreign_keys() or self._is_contending else BEAT if self._must_be_seen else None
        operations: list[Operation | None] = []
        with suppress(queue.Empty):
            operations.append(self._queue.get(timeout=patience))
            if isinstance(operations[0], Claim | ReplyWrite):
                time.sleep(LINGER)  # to gather operations that arrive together; neither kind is urgent
            while len(operations) < _MOST:
                operations.append(self._queue.get_nowait())
        return operations

    def _process(self, operations: Sequence[Operation], freed: Sequence[str]) -> None:
        """Carry out the operations, and grant the freed keys to the claims that wait for them."""
        ended = [operation.key for operation in operations if isinstance(operation, ReplyWrite | ClaimRelease)] + list(
            freed
        )
        heirs = [claim for key in dict.fromkeys(ended) for claim in self._waiting.pop(key, ())]
        ready = [*operations, *(heir for heir in heirs if not heir.future.cancelled())]
        if ready:
            self._attempt(ready)

    def _attempt(self, operations: Sequence[Operation]) -> None:
        """Carry out the operations in one transaction, or each by itself if one of them fails."""
        before = self._entry
        try:
            with self._transaction(writes=not all(isinstance(operation, ReplyLookup) for operation in operations)):
                results = self._do(operations)
        except sqlite3.Error as error:
            self._fail(unusable_store(self._path, error), operations, before)
        except Exception as error:  # such as an entry that is not JSON; the other operations are repeated
            self._entry = before
            if len(operations) == 1:
                deliver([(operations[0], error)], self.end_lost_claim)
            for operation in operations if len(operations) > 1 else ():
                self._process([operation], [])
        else:
            self._remember(operations, results)
            deliver(results, self.end_lost_claim)

    def _fail(self, failure: Exception, operations: Sequence[Operation], before: LedgerEntry) -> None:
        """Deliver the failure to the operations and to the reservations that wait.

        The settlements among the operations are kept for the next transaction.
        """
        self._unsettled += [*_of(Settlement, operations), *_withdrawal_settlements(_of(Withdrawal, operations))]
        waiting = [operation for operation in before.waiting if operation not in operations]
        self._entry = replace(before, waiting=[])
        deliver([(operation, failure) for operation in (*operations, *waiting)], self.end_lost_claim)

    @contextmanager
    def _transaction(self, writes: bool = True) -> Iterator[None]:
        self._connection.execute("BEGIN IMMEDIATE" if writes else "BEGIN")
        try:
            yield
            self._connection.execute("COMMIT")
        except BaseException:
            self._seen = 0.0  # the note that this process lives may be rolled back
            if self._connection.in_transaction:
                self._connection.execute("ROLLBACK")
            raise

    def _do(self, operations: Sequence[Operation]) -> Results:
        """Return the results of all operations but those that must wait.

        Replies are written first, so that look-ups and claims of the same transaction find them.
        """
        writes, releases = _of(ReplyWrite, operations), _of(ClaimRelease, operations)
        settlements, reservations, withdrawals = (
            _of(Settlement, operations),
            _of(Reservation, operations),
            _of(Withdrawal, operations),
        )
        if writes:
            write_replies(self._connection, writes, self._run)
        ended: list[ReplyWrite | ClaimRelease] = [*writes, *releases]
        if ended:
            end_claims(self._connection, [operation.key for operation in ended], self._owner)
        finished: list[Operation] = [*ended, *settlements, *withdrawals]
        results: Results = [(operation, None) for operation in finished]
        if settlements or reservations or withdrawals:
            results += self._enter(settlements, reservations, withdrawals)
        return results + self._look_up(_of(ReplyLookup, operations)) + self._claims(_of(Claim, operations))

    def _enter(
        self, settlements: Sequence[Settlement], reservations: Sequence[Reservation], withdrawals: Sequence[Withdrawal]
    ) -> Results:
        """Enter the operations in the ledger, with the reservations that wait, and return the decided results."""
        withdrawn = {id(withdrawal.reservation) for withdrawal in withdrawals}
        waiting = [
            reservation
            for reservation in dict.fromkeys([*self._entry.waiting, *reservations])
            if id(reservation) not in withdrawn
        ]
        settled = [*self._unsettled, *settlements, *_withdrawal_settlements(withdrawals)]
        self._entry = enter_spending(self._connection, self._run, self._owner, settled, waiting)
        if self._entry.in_flight or self._entry.waiting:
            self._note_alive()
        return [*self._entry.results]

    def _look_up(self, lookups: Sequence[ReplyLookup]) -> Results:
        standing = standing_claims(self._connection, _keys(lookups), None) if lookups else {}
        return [(look, self._parse_reply(look.key, *standing[look.key][:2])) for look in lookups]

    def _claims(self, claims: Sequence[Claim]) -> Results:
        keys = _keys(claims)
        standing = standing_claims(self._connection, keys, self._run if self._refresh else None) if keys else {}
        answered = [claim for claim in claims if standing[claim.key][0] is not None]
        results: Results = [(claim, self._parse_reply(claim.key, *standing[claim.key][:2])) for claim in answered]
        first = {claim.key: claim for claim in reversed(claims) if standing[claim.key] == (None, None, None)}
        if first:
            self._note_alive()
            grant_claims(self._connection, list(first), self._owner)
        return results + [(claim, None) for claim in first.values()]

    def _parse_reply(self, key: str, text: str | None, run: str | None) -> Result | Exception:
        try:
            if text is None:
                return None
            if not text:
                raise ValueError("found no text, expected JSON")
            text.encode()  # fails if the row is not UTF-8
            return replace(reply_from_text(text), stored=run != self._run)
        except (ValueError, TypeError, AttributeError, RecursionError) as error:
            return DamagedReplyError(
                f"the store {self._path} holds no readable reply of the key {key}: {error}; ask that question anew "
                "with --taskgraph-refresh, or remove all replies of its model: "
                "python -m pytest_taskgraph replies prune --model NAME"
            )

    def _remember(self, operations: Sequence[Operation], results: Results) -> None:
        """Update the state of this object after the transaction."""
        if any(isinstance(operation, Settlement | Reservation | Withdrawal) for operation in operations):
            self._unsettled.clear()
        for operation, result in results:
            if isinstance(operation, Reservation):
                operation.granted = result is None
        ended = (operation.key for operation in operations if isinstance(operation, ReplyWrite | ClaimRelease))
        self._held.difference_update(ended)
        granted = (operation.key for operation, result in results if isinstance(operation, Claim) and result is None)
        self._held.update(granted)
        finished = {id(operation) for operation, _ in results}
        for claim in _of(Claim, operations):
            if id(claim) not in finished:
                self._waiting.setdefault(claim.key, []).append(claim)

    def _foreign_keys(self) -> list[str]:
        """Return the keys that are waited for and claimed by other processes."""
        for key in [
            key for key, waiting in self._waiting.items() if all(claim.future.cancelled() for claim in waiting)
        ]:
            del self._waiting[key]
        return [key for key in self._waiting if key not in self._held]

    @property
    def _is_contending(self) -> bool:
        """Return True if a reservation waits and another process is involved."""
        return bool(self._entry.waiting) and self._entry.contended

    @property
    def _must_be_seen(self) -> bool:
        """Return True if other processes must see that this process lives."""
        return bool(self._held or self._entry.in_flight or self._entry.waiting)

    def _check_others(self) -> None:
        """Note that this process lives, and find what other processes released, dead ones included."""
        if time.monotonic() - self._looked < POLL:
            return
        self._looked = time.monotonic()
        foreign, contends = self._foreign_keys(), self._is_contending
        try:
            if self._must_be_seen:
                self._note_alive()
            changed = bool(foreign or contends) and self._has_changed()
            freed = free_claims(self._connection, foreign) if foreign and changed else []
        except sqlite3.Error as error:
            failure = unusable_store(self._path, error)
            deliver([(claim, failure) for key in foreign for claim in self._waiting.pop(key)], self.end_lost_claim)
        else:
            self._process(self._entry.waiting if contends and changed else [], freed)

    def _note_alive(self) -> None:
        if abs(time.time() - self._seen) >= BEAT:
            self._seen = time.time()
            note_owner(self._connection, self._owner, self._host, self._seen)

    def _has_changed(self) -> bool:
        """Return True if another process wrote since the last check, or was found dead, which ends its claims."""
        dropped = time.monotonic() - self._death_checked >= _DEATH_CHECK and self._drop_dead()
        (version,) = self._connection.execute("PRAGMA data_version").fetchone()
        before, self._version = self._version, version
        return dropped or version != before

    def _drop_dead(self) -> bool:
        self._death_checked = time.monotonic()
        if not dead_owners(self._connection, self._owner, self._host, time.time()):
            return False
        with self._transaction():  # checked again: they may have noted meanwhile that they live
            dead = dead_owners(self._connection, self._owner, self._host, time.time())
            drop_claims(self._connection, dead)
            drop_reservations(self._connection, dead)
        return True

    def _end(self) -> None:
        closed = NotAskedError(f"the store {self._path} is closed")
        claims = [claim for waiting in self._waiting.values() for claim in waiting]
        pending: list[Operation] = [*claims, *self._entry.waiting]
        deliver([(operation, closed) for operation in pending], self.end_lost_claim)
        try:
            with self._transaction():
                drop_claims(self._connection, [self._owner])
                drop_reservations(self._connection, [self._owner])
        except sqlite3.Error:  # the next process sees that this one is gone
            pass
        finally:
            self._connection.close()


def _of(kind: type[_T], operations: Sequence[Operation]) -> list[_T]:
    return [operation for operation in operations if isinstance(operation, kind)]


def _withdrawal_settlements(withdrawals: Sequence[Withdrawal]) -> list[Settlement]:
    """Return the settlements of granted reservations that are withdrawn."""
    granted = [withdrawal.reservation for withdrawal in withdrawals if withdrawal.reservation.granted]
    return [Settlement(reservation.future, reservation.cost, 0.0, reservation.calls) for reservation in granted]


def _keys(operations: Sequence[ReplyLookup] | Sequence[Claim]) -> list[str]:
    return list(dict.fromkeys(operation.key for operation in operations))
