"""The file of the store: its tables, how it is created, and which files are refused.

A file is first read through a connection that cannot write, until it is known to be a store.
"""

from __future__ import annotations

import os
import sqlite3
import time
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager, suppress
from errno import EACCES, ENOTDIR
from pathlib import Path
from typing import TypeVar

from ...errors import UsageError
from ..store_folder import FILE, prepare_folder

BUSY = 60.0  # seconds to wait for another process that writes
_T = TypeVar("_T")
_HEADER = b"SQLite format 3\x00"
_SHARED, _UNCHANGED = "ro", "ro&immutable=1"  # modes of SQLite: it locks, or assumes that the file does not change
_CHECKED = 16_000_000  # bytes; the check of a larger file takes longer than a run without questions
_REST = "it was left as it is; move it away, or name another folder with --taskgraph-store (of a command: --store)"

# The n-th entry (from 0) leads from schema n to schema n + 1; an empty file has schema 0.
MIGRATIONS: tuple[tuple[str, ...], ...] = (
    (
        "CREATE TABLE meta (name TEXT PRIMARY KEY, value TEXT)",
        "CREATE TABLE replies (id INTEGER PRIMARY KEY AUTOINCREMENT, key TEXT UNIQUE, model TEXT, request TEXT, "
        "reply TEXT, run TEXT, at TEXT)",
        "CREATE TABLE claims (key TEXT PRIMARY KEY, owner TEXT)",
        "CREATE TABLE owners (owner TEXT PRIMARY KEY, host TEXT, pid INTEGER, seen REAL)",
        "CREATE TABLE ledger (run TEXT PRIMARY KEY, calls INTEGER, cost REAL, reserved REAL)",
    ),
    (  # reservations of each process, to find those of dead ones; old ledgers are dropped, since no run needs them
        "DROP TABLE ledger",
        "CREATE TABLE ledger (run TEXT PRIMARY KEY, calls INTEGER, cost REAL)",
        "CREATE TABLE reservations (run TEXT, owner TEXT, reserved REAL, requests INTEGER, waiting INTEGER, "
        "PRIMARY KEY (run, owner))",
    ),
)


def open_store(folder: Path, create: bool = True) -> sqlite3.Connection:
    """Return a connection to `replies.sqlite` in the folder: autocommit, WAL, usable in any one thread at a time.

    A missing folder or file is created, unless `create` is false; an older schema is migrated. A new folder gets a
    `.gitignore` that ignores all of it.

    Raises:
        UsageError: with the file unchanged, if it is damaged, is no store, has a newer schema, or cannot be read or
            written; also if it is missing and `create` is false.
    """
    path = folder / FILE
    try:
        if not create and not path.exists():
            raise UsageError(f"there is no store of replies at {path}; name its folder with --taskgraph-store")
        prepare_folder(folder)
        _inspect(path)
        return _retry_while_locked(lambda: _connect(path))
    except OSError as error:
        raise _unusable_folder(folder, error) from None
    except sqlite3.Error as error:
        raise unusable_store(path, error) from error


def open_to_read(folder: Path) -> sqlite3.Connection:
    """Return a connection to the store in the folder: that of `open_store`, or a read-only one if it is not writable.

    A read-only connection does not see what others write later.

    Raises:
        UsageError: as `open_store` does.
    """
    path = folder / FILE
    if os.access(path, os.W_OK) and os.access(os.path.dirname(os.path.realpath(path)), os.W_OK | os.X_OK):
        return open_store(folder, create=False)
    with _usage_errors(path):
        return _open_checked(path, _UNCHANGED if _stable_version(path) else _SHARED, least=1)


def read_store(path: Path, read: Callable[[sqlite3.Connection], _T], least: int = 1) -> _T:
    """Return the value of `read` for a connection that cannot write to the store in the file `path`, whatever its name.

    Nothing is created, migrated or altered; while no run uses the store, SQLite creates no files beside it.

    Args:
        path: The file.
        read: Reads from the connection; it may be called twice.
        least: The lowest schema that is accepted; 0 for a file without tables.

    Raises:
        UsageError: as `open_store` does, and for a schema below `least`.
    """
    with _usage_errors(path):
        return _read(path, read, least)


@contextmanager
def _usage_errors(path: Path) -> Iterator[None]:
    """Turn errors while a store is opened and read into UsageErrors."""
    try:
        if not path.is_file():
            raise UsageError(f"there is no store of replies at {path}; name its folder, or the file in it")
        yield
    except OSError as error:
        raise UsageError(f"the store {path} cannot be read: {error.strerror or error}") from None
    except sqlite3.Error as error:
        raise unusable_store(path, error) from error


def check_store(folder: Path, read_only: bool = False) -> None:
    """Check that replies can be kept in the folder, or only read with `read_only`; the folder is not created.

    Raises:
        UsageError: as `open_store` does.
    """
    try:
        existing = next(path for path in (folder, *folder.absolute().parents) if path.exists())
        if not existing.is_dir():
            raise NotADirectoryError(ENOTDIR, f"{existing} is no folder")
        if not read_only and not os.access(existing, os.W_OK | os.X_OK):
            raise PermissionError(EACCES, f"{existing} cannot be written to")
        _inspect(folder / FILE)
    except OSError as error:
        raise _unusable_folder(folder, error) from None
    except sqlite3.Error as error:
        raise unusable_store(folder / FILE, error) from error


def unusable_store(path: Path, error: sqlite3.Error) -> UsageError:
    """Return the error for the user from an error of SQLite about the file."""
    code = getattr(error, "sqlite_errorcode", 0) & 0xFF
    if code == sqlite3.SQLITE_NOTADB and (header := _header(path)) != _HEADER:
        return UsageError(f"the store {path} is no SQLite file (it begins with {header!r}); {_REST}")
    if code in (sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB):
        return UsageError(f"the store {path} is damaged ({error}); {_REST}")
    if code == sqlite3.SQLITE_CANTOPEN and (beside := Path(f"{os.path.realpath(path)}-wal")).exists():
        return UsageError(
            f"the store {path} cannot be read: part of it stands in {beside}, left by a run that was killed or is at "
            "work; copy both files to a folder that can be written to, and name that"
        )
    return UsageError(f"the store {path} cannot be used ({error}); see to its disk, its rights and who else uses it")


def _header(path: Path) -> bytes:
    with suppress(OSError), open(path, "rb") as file:
        return file.read(len(_HEADER))
    return b""


def _unusable_folder(folder: Path, error: OSError) -> UsageError:
    reason = error.strerror or error
    return UsageError(f"the folder of the store {folder} cannot be used: {reason}; name another folder")


def _inspect(path: Path) -> None:
    """Check that the file is missing, empty or a store of a known schema. Raises UsageError."""
    if path.exists() and path.stat().st_size:
        _read(path, lambda connection: None, least=0)


def _read(path: Path, read: Callable[[sqlite3.Connection], _T], least: int) -> _T:
    """Return the value of `read` for the store: without locks, unless another process writes to it meanwhile."""
    if before := _stable_version(path):
        try:
            with closing(_open_checked(path, _UNCHANGED, least)) as connection:
                value = read(connection)
            if _stable_version(path) == before:
                return value
        except (sqlite3.Error, UsageError):  # perhaps the file changed while it was read
            if _stable_version(path) == before:
                raise
    with closing(_open_checked(path, _SHARED, least)) as connection:
        return read(connection)


def _stable_version(path: Path) -> tuple[int, int] | None:
    """Return the size and time of a file that is the whole of its store.

    None while a run is at work or after one was killed, since part of the replies is then in a file beside it.
    """
    real = os.path.realpath(path)  # SQLite follows links
    if any(os.path.exists(f"{real}{end}") for end in ("-wal", "-journal")):
        return None
    about = os.stat(real)
    return about.st_size, about.st_mtime_ns


def _open_checked(path: Path, mode: str, least: int) -> sqlite3.Connection:
    """Return a connection to the file, after a check that it is a store of schema `least` or later.

    Only SQLite opens the file: closing it in any other way ends the locks of this whole process.
    """
    connection = _open_connection(path, mode)
    try:
        small = path.stat().st_size <= _CHECKED
        if small and (outcome := connection.execute("PRAGMA quick_check(1)").fetchone()[0]) != "ok":
            raise UsageError(f"the store {path} is damaged ({str(outcome).splitlines()[-1]}); {_REST}")
        if _schema(connection, path) < least:
            raise UsageError(f"{path} is no store of replies: it has no tables; {_REST}")
    except BaseException:
        connection.close()
        raise
    return connection


def _schema(connection: sqlite3.Connection, path: Path) -> int:
    """Return the number of the file's schema, 0 if it has no tables yet. Raises UsageError if it is no store."""
    tables = {name for (name,) in connection.execute("SELECT name FROM sqlite_master WHERE type = 'table'")}
    if not tables:
        return 0
    row = ()
    if "meta" in tables:
        with suppress(sqlite3.OperationalError):  # a table of that name with other columns
            row = connection.execute("SELECT value FROM meta WHERE name = 'schema'").fetchone() or ()
    if not row or not str(row[0]).isdecimal() or int(row[0]) < 1:
        names = ", ".join(sorted(map(str, tables))[:5])
        raise UsageError(f"{path} is an SQLite file but no store of replies (its tables: {names}); {_REST}")
    if (number := int(row[0])) > len(MIGRATIONS):
        raise UsageError(
            f"the store {path} is of schema {number}, this version knows up to {len(MIGRATIONS)}; update "
            f"pytest-taskgraph-bench; {_REST}"
        )
    return number


def _open_connection(path: Path, mode: str) -> sqlite3.Connection:
    address = f"{path.absolute().as_uri()}?mode={mode}"
    return sqlite3.connect(address, uri=True, timeout=BUSY, isolation_level=None, check_same_thread=False)


def _connect(path: Path) -> sqlite3.Connection:
    connection = _open_connection(path, "rwc")
    try:
        if connection.execute("PRAGMA journal_mode").fetchone()[0] != "wal":
            connection.execute("PRAGMA journal_mode = WAL")
        connection.execute("PRAGMA synchronous = NORMAL")
        if _schema(connection, path) < len(MIGRATIONS):
            _migrate(connection, path)
    except BaseException:
        connection.close()
        raise
    return connection


def _migrate(connection: sqlite3.Connection, path: Path) -> None:
    connection.execute("BEGIN IMMEDIATE")
    try:
        for step in MIGRATIONS[
            _schema(connection, path) :
        ]:  # read again: another process may have migrated it meanwhile
            for statement in step:
                connection.execute(statement)
        connection.execute("INSERT OR REPLACE INTO meta VALUES ('schema', ?)", (str(len(MIGRATIONS)),))
        connection.execute("COMMIT")
    except BaseException:
        connection.execute("ROLLBACK")
        raise


def _retry_while_locked(attempt: Callable[[], _T]) -> _T:
    """Return the value of the attempt, which is repeated while the file is locked.

    A change to WAL does not wait for the lock by itself.
    """
    last = time.monotonic() + BUSY
    while True:
        try:
            return attempt()
        except sqlite3.OperationalError as error:
            if error.sqlite_errorcode & 0xFF != sqlite3.SQLITE_BUSY or time.monotonic() > last:
                raise
        time.sleep(0.01)
