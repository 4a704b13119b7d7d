"""The file of the store: made once, shared, migrated, or refused with every byte left as it was."""

from __future__ import annotations

import asyncio
import os
import shutil
import sqlite3
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from pathlib import Path

import bounded_process
import pytest

from pytest_taskgraph.errors import UsageError
from pytest_taskgraph.models.store import Store, schema
from pytest_taskgraph.models.store.schema import check_store, open_store
from pytest_taskgraph.models.store_folder import FILE
from pytest_taskgraph.trial import Reply

ENTRY = {"model": "m", "kind": "chat", "messages": [], "tools": [], "settings": {}, "repetition": 1}


def filled(folder: Path, count: int = 50) -> Path:
    async def fill(store: Store) -> None:
        await asyncio.gather(*(store.keep(f"k{n}", ENTRY, Reply("x" * 500)) for n in range(count)))

    with closing(Store(folder, "run")) as store:
        asyncio.run(fill(store))
    return folder / FILE


def statement(sql: str) -> Callable[[Path], None]:
    def change(folder: Path) -> None:
        folder.mkdir(exist_ok=True)
        with closing(sqlite3.connect(folder / FILE)) as connection:
            connection.executescript(sql)

    return change


def no_database(folder: Path) -> None:
    folder.mkdir()
    (folder / FILE).write_bytes(b"Dear diary, it rains.\n" * 100)


def cut_short(folder: Path) -> None:
    file = filled(folder)
    file.write_bytes(file.read_bytes()[:-8192])


def overwritten_in_the_middle(folder: Path) -> None:
    file = filled(folder)
    data = bytearray(file.read_bytes())
    for start in range(8192, len(data), 4096):
        data[start : start + 200] = b"\xff" * 200
    file.write_bytes(data)


def newer(folder: Path) -> None:
    filled(folder)
    statement("UPDATE meta SET value = '3' WHERE name = 'schema'")(folder)


def schema_zero(folder: Path) -> None:
    filled(folder)
    statement("UPDATE meta SET value = '0' WHERE name = 'schema'")(folder)


def newer_with_a_log(folder: Path) -> None:
    newer(folder.with_name("source"))
    with closing(sqlite3.connect(folder.with_name("source") / FILE)) as connection:
        connection.execute("DELETE FROM replies WHERE key = 'k1'")
        connection.commit()
        folder.mkdir()
        for name in (FILE, f"{FILE}-wal"):
            shutil.copy(folder.with_name("source") / name, folder / name)


@pytest.mark.parametrize(
    ("spoil", "message"),
    [
        (no_database, "no SQLite file"),
        (cut_short, "is damaged"),
        (overwritten_in_the_middle, "is damaged"),
        (newer, "is of schema 3, this version knows up to 2; update pytest-taskgraph-bench"),
        (newer_with_a_log, "is of schema 3"),
        (schema_zero, "no store of replies"),
        (statement("CREATE TABLE cookies (name); INSERT INTO cookies VALUES ('a')"), "no store of replies (its tables"),
        (statement("CREATE TABLE meta (year)"), "no store of replies (its tables: meta)"),
        (statement("CREATE TABLE meta (name, value); INSERT INTO meta VALUES ('schema', 'x')"), "no store of replies"),
    ],
)
def test_open_store_other_file_is_refused_and_unchanged(
    tmp_path: Path, spoil: Callable[[Path], None], message: str
) -> None:
    folder = tmp_path / "store"
    spoil(folder)
    before = {path.name: path.read_bytes() for path in folder.iterdir()}
    with pytest.raises(UsageError) as caught:
        Store(folder, "run")
    with pytest.raises(UsageError) as checked:
        check_store(folder)
    assert str(checked.value) == str(caught.value)
    assert str(folder / FILE) in str(caught.value)
    assert message in str(caught.value)
    assert "move it away, or name another folder" in str(caught.value)
    assert {name: (folder / name).read_bytes() for name in before} == before


def test_store_later_damage_is_reported_by_method(tmp_path: Path) -> None:
    async def look(store: Store) -> None:
        for number in range(50):
            await store.look(f"k{number}")

    file = filled(tmp_path)
    with closing(Store(tmp_path, "run")) as store:
        overwritten = bytearray(file.read_bytes())
        for start in range(8192, len(overwritten), 4096):
            overwritten[start : start + 200] = b"\xff" * 200
        file.write_bytes(overwritten)
        with pytest.raises(UsageError, match="is damaged"):
            asyncio.run(look(store))


@pytest.mark.parametrize("spot", ["store", "store/below"])
def test_open_store_in_file_is_usage_error(tmp_path: Path, spot: str) -> None:
    (tmp_path / "store").write_text("mine")
    with pytest.raises(UsageError, match=r"the folder of the store .* cannot be used: .*; name another folder"):
        Store(tmp_path / spot, "run")
    with pytest.raises(UsageError, match=r"the folder of the store .* cannot be used: .*store is no folder; name"):
        check_store(tmp_path / spot)


def test_check_store_creates_nothing(tmp_path: Path) -> None:
    check_store(tmp_path / "none" / "below")
    check_store(tmp_path)
    assert list(tmp_path.iterdir()) == []


def test_open_store_whose_file_is_folder_is_usage_error(tmp_path: Path) -> None:
    (tmp_path / FILE).mkdir()
    with pytest.raises(UsageError, match="cannot be used"):
        Store(tmp_path, "run")


@pytest.mark.skipif(os.name != "posix" or os.geteuid() == 0, reason="nothing is closed to this user")
def test_open_store_in_read_only_folder_is_usage_error(tmp_path: Path) -> None:
    tmp_path.chmod(0o500)
    with pytest.raises(UsageError, match="cannot be used"):
        Store(tmp_path, "run")
    with pytest.raises(UsageError, match="cannot be written to"):
        check_store(tmp_path / "below")


def test_open_store_missing_file_is_created_only_on_request(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=r"there is no store of replies at .*replies.sqlite"):
        open_store(tmp_path / "none", create=False)
    assert not (tmp_path / "none").exists()


@pytest.mark.parametrize("content", [None, b""])
def test_open_store_empty_file_becomes_store(tmp_path: Path, content: bytes | None) -> None:
    if content is None:  # a process that died before it made the tables
        with closing(sqlite3.connect(tmp_path / FILE)) as connection:
            connection.execute("PRAGMA journal_mode = WAL")
    else:
        (tmp_path / FILE).write_bytes(content)
    with closing(open_store(tmp_path)) as connection:
        assert connection.execute("SELECT * FROM meta").fetchall() == [("schema", "2")]


def test_open_store_older_schema_is_migrated(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    filled(tmp_path, 3)
    monkeypatch.setattr(schema, "MIGRATIONS", (*schema.MIGRATIONS, ("ALTER TABLE replies ADD COLUMN mood TEXT",)))
    for _ in range(2):
        with closing(open_store(tmp_path)) as connection:
            assert connection.execute("SELECT count(*), max(mood) FROM replies").fetchone() == (3, None)
            assert connection.execute("SELECT value FROM meta").fetchall() == [("3",)]


def test_open_store_failed_migration_keeps_schema(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    filled(tmp_path, 3)
    broken = ("ALTER TABLE replies ADD COLUMN mood TEXT", "ALTER TABLE nowhere ADD COLUMN mood TEXT")
    with monkeypatch.context() as patched:
        patched.setattr(schema, "MIGRATIONS", (*schema.MIGRATIONS, broken))
        with pytest.raises(UsageError, match="no such table"):
            open_store(tmp_path)
    with closing(open_store(tmp_path)) as connection:
        assert "mood" not in {row[1] for row in connection.execute("PRAGMA table_info(replies)")}


def test_open_store_concurrently_in_new_folder_succeeds(tmp_path: Path) -> None:
    with ThreadPoolExecutor(16) as pool:
        opened = list(pool.map(lambda number: open_store(tmp_path / f"s{number % 2}"), range(16)))
    for connection in opened:
        assert connection.execute("SELECT * FROM meta").fetchall() == [("schema", "2")]
        connection.close()


def test_open_store_while_other_writes_succeeds(tmp_path: Path) -> None:
    async def write(store: Store) -> None:
        await asyncio.gather(*(store.keep(f"k{n}", ENTRY, Reply("x" * 2000)) for n in range(1500)))

    with closing(Store(tmp_path, "first")) as first, ThreadPoolExecutor(1) as pool:
        writing = pool.submit(lambda: asyncio.run(write(first)))
        opened = 0
        while not writing.done() or not opened:
            with closing(Store(tmp_path, "second")) as second:
                asyncio.run(second.keep(f"s{opened}", ENTRY, Reply("")))
            opened += 1
        writing.result()
        with closing(open_store(tmp_path)) as connection:
            assert connection.execute("SELECT count(*) FROM replies").fetchone() == (1500 + opened,)


def test_open_store_waits_for_long_transaction(tmp_path: Path) -> None:
    filled(tmp_path, 1)
    connection = open_store(tmp_path)
    connection.execute("BEGIN IMMEDIATE")
    with closing(Store(tmp_path, "run")) as store, ThreadPoolExecutor(1) as pool:
        writing = pool.submit(lambda: asyncio.run(store.keep("new", ENTRY, Reply(""))))
        assert not writing.done()
        connection.execute("COMMIT")
        writing.result()
    connection.close()


def test_prepare_folder_new_folder_is_ignored_by_git(tmp_path: Path) -> None:
    filled(tmp_path / "deep" / "store", 1)
    assert bounded_process.run(["git", "init", "-q", str(tmp_path)]).returncode == 0
    status = ["git", "-C", str(tmp_path), "status", "--porcelain", "-uall"]
    done = bounded_process.run(status)
    assert (done.returncode, done.stdout) == (0, "")


def test_prepare_folder_with_other_files_is_not_ignored(tmp_path: Path) -> None:
    (tmp_path / "conftest.py").write_text("")
    filled(tmp_path, 1)
    assert not (tmp_path / ".gitignore").exists()
