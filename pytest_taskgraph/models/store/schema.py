"""The file of the store: its tables, how it is made, and what is refused instead of being opened.

Nothing is written to a file before it is known to be ours: it is read through a connection that cannot write first.
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

FILE = "replies.sqlite"
BUSY = 60.0  # seconds to wait for another process that writes
_T = TypeVar("_T")
_HEADER = b"SQLite format 3\x00"
_SHARED, _UNCHANGED = "ro", "ro&immutable=1"  # modes of SQLite: it locks, or takes it that nobody writes
_CHECKED = 16_000_000  # bytes; a larger file would take longer to check than a run without questions takes
_OWN = (".gitignore", "runs", FILE, f"{FILE}-wal", f"{FILE}-shm", f"{FILE}-journal")
_REST = "it was left as it is; move it away, or name another folder with --taskgraph-store (of a command: --store)"

# The n-th entry leads from schema n to schema n + 1; an empty file is of schema 0.
MIGRATIONS: tuple[tuple[str, ...], ...] = (
    (
        "CREATE TABLE meta (name TEXT PRIMARY KEY, value TEXT)",
        "CREATE TABLE replies (id INTEGER PRIMARY KEY AUTOINCREMENT, key TEXT UNIQUE, model TEXT, request TEXT, "
        "reply TEXT, run TEXT, at TEXT)",
        "CREATE TABLE claims (key TEXT PRIMARY KEY, owner TEXT)",
        "CREATE TABLE owners (owner TEXT PRIMARY KEY, host TEXT, pid INTEGER, seen REAL)",
        "CREATE TABLE ledger (run TEXT PRIMARY KEY, calls INTEGER, cost REAL, reserved REAL)",
    ),
    (  # reservations of each process, so that those of a dead one can be told; a ledger is of no use after its run
        "DROP TABLE ledger",
        "CREATE TABLE ledger (run TEXT PRIMARY KEY, calls INTEGER, cost REAL)",
        "CREATE TABLE reservations (run TEXT, owner TEXT, reserved REAL, requests INTEGER, waiting INTEGER, "
        "PRIMARY KEY (run, owner))",
    ),
)


def open_store(folder: Path, create: bool = True) -> sqlite3.Connection:
    """A connection to `replies.sqlite` in the folder: autocommit, WAL, usable in any one thread at a time.

    Folder and file are made where they are missing, unless `create` is false; an older schema is migrated. A folder
    of its own gets a `.gitignore` that ignores all of it. Raises UsageError, with every byte left as it was, for a
    damaged file, one that is no store, one of a newer schema, and where nothing can be read or written; also for a
    missing file if `create` is false.
    """
    path = folder / FILE
    try:
        if not create and not path.exists():
            raise UsageError(f"there is no store of replies at {path}; name its folder with --taskgraph-store")
        prepare(folder)
        _inspect(path)
        return _when_free(lambda: _connect(path))
    except OSError as error:
        raise _unusable_folder(folder, error) from None
    except sqlite3.Error as error:
        raise unusable_store(path, error) from error


def open_to_read(folder: Path) -> sqlite3.Connection:
    """A connection to the store in the folder as `open_store` gives it, or one that cannot write where nobody may.

    Such a store is taken as it stands: what somebody else writes to it from then on is not seen. Raises UsageError as
    `open_store` does.
    """
    path = folder / FILE
    if os.access(path, os.W_OK) and os.access(os.path.dirname(os.path.realpath(path)), os.W_OK | os.X_OK):
        return open_store(folder, create=False)
    with _refused(path):
        return _checked(path, _UNCHANGED if _still(path) else _SHARED, least=1)


def read_store(path: Path, read: Callable[[sqlite3.Connection], _T], least: int = 1) -> _T:
    """What `read` makes of a connection that cannot write to the store in the file `path`, whatever its name.

    Nothing is made, migrated or altered; where no run is at work there are not even SQLite's files beside it for a
    moment. Raises UsageError as `open_store` does, also for a schema below `least`, which is 0 where no tables are made
    yet. `read` may be called twice.
    """
    with _refused(path):
        return _read(path, read, least)


@contextmanager
def _refused(path: Path) -> Iterator[None]:
    """Turns what hinders the parsing of a store into UsageErrors."""
    try:
        if not path.is_file():
            raise UsageError(f"there is no store of replies at {path}; name its folder, or the file in it")
        yield
    except OSError as error:
        raise UsageError(f"the store {path} cannot be read: {error.strerror or error}") from None
    except sqlite3.Error as error:
        raise unusable_store(path, error) from error


def check_store(folder: Path, read_only: bool = False) -> None:
    """Nothing, if replies can be kept in the folder, or only read if that is enough; it is not made.

    Raises UsageError as `open_store` does.
    """
    try:
        there = next(one for one in (folder, *folder.absolute().parents) if one.exists())
        if not there.is_dir():
            raise NotADirectoryError(ENOTDIR, f"{there} is no folder")
        if not read_only and not os.access(there, os.W_OK | os.X_OK):
            raise PermissionError(EACCES, f"{there} cannot be written to")
        _inspect(folder / FILE)
    except OSError as error:
        raise _unusable_folder(folder, error) from None
    except sqlite3.Error as error:
        raise unusable_store(folder / FILE, error) from error


def unusable_store(path: Path, error: sqlite3.Error) -> UsageError:
    """The error that tells the user what SQLite says about the file."""
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


def prepare(folder: Path) -> None:
    """Nothing; the folder is there, and ignores itself in git unless it holds what is not ours. Raises OSError."""
    folder.mkdir(parents=True, exist_ok=True)
    if not (folder / ".gitignore").exists() and all(entry.name in _OWN for entry in folder.iterdir()):
        with suppress(FileExistsError), open(folder / ".gitignore", "x", encoding="utf-8") as file:
            file.write("*\n")


def _inspect(path: Path) -> None:
    """Nothing, if the file is missing, empty or a store that this version can use."""
    if path.exists() and path.stat().st_size:
        _read(path, lambda connection: None, least=0)


def _read(path: Path, read: Callable[[sqlite3.Connection], _T], least: int) -> _T:
    """What `read` makes of the store: without locks, unless somebody writes to it before that is done."""
    if before := _still(path):
        try:
            with closing(_checked(path, _UNCHANGED, least)) as connection:
                found = read(connection)
            if _still(path) == before:
                return found
        except (sqlite3.Error, UsageError):  # of what was read halfway, perhaps
            if _still(path) == before:
                raise
    with closing(_checked(path, _SHARED, least)) as connection:
        return read(connection)


def _still(path: Path) -> tuple[int, int] | None:
    """Size and time of a file that is all there is of its store.

    None where a run is at work or was killed, for then part of the replies stands beside it.
    """
    real = os.path.realpath(path)  # SQLite follows links
    if any(os.path.exists(f"{real}{end}") for end in ("-wal", "-journal")):
        return None
    about = os.stat(real)
    return about.st_size, about.st_mtime_ns


def _checked(path: Path, mode: str, least: int) -> sqlite3.Connection:
    """A connection to the file, once that is known to be a store of schema `least` or later.

    The file is read through SQLite alone: to close it in any other way would end the locks of this whole process.
    """
    connection = _opened(path, mode)
    try:
        small = path.stat().st_size <= _CHECKED
        if small and (found := connection.execute("PRAGMA quick_check(1)").fetchone()[0]) != "ok":
            raise UsageError(f"the store {path} is damaged ({str(found).splitlines()[-1]}); {_REST}")
        if _schema(connection, path) < least:
            raise UsageError(f"{path} is no store of replies: it has no tables; {_REST}")
    except BaseException:
        connection.close()
        raise
    return connection


def _schema(connection: sqlite3.Connection, path: Path) -> int:
    """The number of the file's schema, 0 where it has no table yet."""
    tables = {name for (name,) in connection.execute("SELECT name FROM sqlite_master WHERE type = 'table'")}
    if not tables:
        return 0
    found = ()
    if "meta" in tables:
        with suppress(sqlite3.OperationalError):  # a table of that name with other columns
            found = connection.execute("SELECT value FROM meta WHERE name = 'schema'").fetchone() or ()
    if not found or not str(found[0]).isdecimal() or int(found[0]) < 1:
        named = ", ".join(sorted(map(str, tables))[:5])
        raise UsageError(f"{path} is an SQLite file but no store of replies (its tables: {named}); {_REST}")
    if (number := int(found[0])) > len(MIGRATIONS):
        raise UsageError(
            f"the store {path} is of schema {number}, this version knows up to {len(MIGRATIONS)}; update "
            f"pytest-taskgraph-bench; {_REST}"
        )
    return number


def _opened(path: Path, mode: str) -> sqlite3.Connection:
    address = f"{path.absolute().as_uri()}?mode={mode}"
    return sqlite3.connect(address, uri=True, timeout=BUSY, isolation_level=None, check_same_thread=False)


def _connect(path: Path) -> sqlite3.Connection:
    connection = _opened(path, "rwc")
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
        for step in MIGRATIONS[_schema(connection, path) :]:  # read again: another process may have been faster
            for statement in step:
                connection.execute(statement)
        connection.execute("INSERT OR REPLACE INTO meta VALUES ('schema', ?)", (str(len(MIGRATIONS)),))
        connection.execute("COMMIT")
    except BaseException:
        connection.execute("ROLLBACK")
        raise


def _when_free(attempt: Callable[[], _T]) -> _T:
    """What the attempt gives, repeated while the file is locked: a change to WAL does not wait by itself."""
    last = time.monotonic() + BUSY
    while True:
        try:
            return attempt()
        except sqlite3.OperationalError as error:
            if error.sqlite_errorcode & 0xFF != sqlite3.SQLITE_BUSY or time.monotonic() > last:
                raise
        time.sleep(0.01)
