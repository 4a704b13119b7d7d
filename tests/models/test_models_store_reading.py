"""Whoever only reads needs no right to write, misses nothing that stands there, and breaks no lock of another."""

from __future__ import annotations

import asyncio
import json
import shutil
import sqlite3
import sys
from contextlib import closing
from pathlib import Path
from typing import Any

import bounded_process
import pytest
from closed_folder import BOUND, closed

from pytest_taskgraph.errors import UsageError
from pytest_taskgraph.models.store import Store, stored_keys
from pytest_taskgraph.models.store.schema import check_store, open_store, open_to_read, read_store
from pytest_taskgraph.models.store_folder import FILE
from pytest_taskgraph.trial import Reply

ENTRY = {"model": "m", "kind": "chat", "messages": [], "tools": [], "settings": {}, "repetition": 1}
LOOK = """
import asyncio, json, sys
from contextlib import closing
from pathlib import Path
from pytest_taskgraph.errors import UsageError
from pytest_taskgraph.models.store import Store, stored_keys
from pytest_taskgraph.models.store.schema import check_store

folder = Path(sys.argv[1])

async def look(store):
    found = [await store.look(key) for key in ("k1", "gone", "k2")]
    return [reply and reply.text for reply in found]

try:
    check_store(folder, read_only=True)
    with closing(Store(folder, "run", read_only=True)) as store:
        nearest = store.nearest("m", "") is not None
        found = asyncio.run(look(store)), store.models(), nearest, sorted(stored_keys(folder))
except UsageError as error:
    found = str(error)
try:
    check_store(folder)
except UsageError as error:
    found = found, "cannot be written to" in str(error)
print(json.dumps(found))
"""
KEEP = """
import asyncio, sys
from contextlib import closing
from pathlib import Path
from pytest_taskgraph.models.store import Store
from pytest_taskgraph.trial import Reply

with closing(Store(Path(sys.argv[1]), "other")) as store:
    asyncio.run(store.keep("other", {"model": "m"}, Reply("")))
"""
COUNT = """
import sys
from pathlib import Path
from pytest_taskgraph.models.store import stored_keys
print(*sorted(stored_keys(Path(sys.argv[1]))))
"""


def keep_replies(store: Store, *names: str) -> None:
    for name in names:
        asyncio.run(store.keep(name, ENTRY, Reply(f"text of {name}")))


def filled(folder: Path, *names: str) -> Path:
    with closing(Store(folder, "run")) as store:
        keep_replies(store, *names)
    return folder


def ran(code: str, folder: Path, *python: str) -> str:
    command = [*(python or (sys.executable,)), "-c", code, str(folder)]
    done = bounded_process.run(command)
    assert done.returncode == 0, done.stderr
    return done.stdout


def looked(folder: Path) -> Any:  # noqa: ANN401 - JSON
    return json.loads(ran(LOOK, folder, *BOUND))


def test_read_store_without_write_access_succeeds(tmp_path: Path) -> None:
    with closed(filled(tmp_path / "store", "k1", "k2")):
        expected = [["text of k1", None, "text of k2"], ["m"], True, ["k1", "k2"]]
        assert looked(tmp_path / "store") == [expected, True]


def left(tmp_path: Path, *names: str) -> Path:
    """A store as a run that was killed leaves it: its last reply stands beside the file."""
    filled(tmp_path / "run", "k1")
    (folder := tmp_path / "store").mkdir()
    with closing(Store(tmp_path / "run", "run")) as store:
        keep_replies(store, "k2")
        for name in names:
            shutil.copy(tmp_path / "run" / name, folder / name)
    return folder


def test_read_store_includes_wal_file(tmp_path: Path) -> None:
    with closed(left(tmp_path, FILE, f"{FILE}-wal", f"{FILE}-shm")):
        assert looked(tmp_path / "store")[0][0] == ["text of k1", None, "text of k2"]


def test_read_store_with_unreadable_wal_is_usage_error(tmp_path: Path) -> None:
    with closed(left(tmp_path, FILE, f"{FILE}-wal")):
        message, _ = looked(tmp_path / "store")
    assert f"part of it stands in {tmp_path / 'store' / FILE}-wal" in message
    assert "copy both files to a folder that can be written to" in message


def test_read_store_sees_writer_in_writable_folder(tmp_path: Path) -> None:
    filled(tmp_path, "k1")
    with closing(Store(tmp_path, "one")) as writer, closing(Store(tmp_path, "two", read_only=True)) as reader:
        keep_replies(writer, "k2")
        assert asyncio.run(reader.look("k2")) == Reply("text of k2", stored=True)
        assert stored_keys(tmp_path) == {"k1", "k2"}


def test_look_does_not_wait_for_writer(tmp_path: Path) -> None:
    filled(tmp_path, "k1")
    with closing(open_store(tmp_path)) as other, closing(Store(tmp_path, "run", read_only=True)) as store:
        other.execute("BEGIN IMMEDIATE")
        assert asyncio.run(asyncio.wait_for(store.look("k1"), 20)) == Reply("text of k1")
        other.execute("ROLLBACK")


def test_read_store_repeats_when_writer_starts(tmp_path: Path) -> None:
    """Read again, as what was read without locks may be half of something."""
    filled(tmp_path, "k1")
    times: list[int] = []

    def read(connection: sqlite3.Connection) -> list[str]:
        if not times:
            filled(tmp_path, "k2")  # comes and goes
        times.append(1)
        return [key for (key,) in connection.execute("SELECT key FROM replies ORDER BY key")]

    assert read_store(tmp_path / FILE, read) == ["k1", "k2"]
    assert len(times) == 2


def test_read_store_keeps_locks_of_process(tmp_path: Path) -> None:
    """A lost lock lets another process believe that it is the last, and remove the file that this process writes."""
    with closing(Store(tmp_path, "one")) as store:
        keep_replies(store, "k1")
        assert stored_keys(tmp_path) == {"k1"}
        check_store(tmp_path)
        Store(tmp_path, "two").close()
        ran(KEEP, tmp_path)
        keep_replies(store, "k2")
        assert ran(COUNT, tmp_path).split() == ["k1", "k2", "other"]


@pytest.mark.parametrize("content", [None, b""])
def test_stored_keys_of_store_without_tables_is_empty(tmp_path: Path, content: bytes | None) -> None:
    if content is None:
        with closing(sqlite3.connect(tmp_path / FILE)) as connection:
            connection.execute("PRAGMA journal_mode = WAL")
    else:
        (tmp_path / FILE).write_bytes(content)
    assert stored_keys(tmp_path) == frozenset()


def test_read_store_creates_nothing(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="there is no store of replies at"):
        open_to_read(tmp_path / "none")
    check_store(tmp_path / "none", read_only=True)
    assert stored_keys(tmp_path / "none") == frozenset()
    assert not list(tmp_path.iterdir())
