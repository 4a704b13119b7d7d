"""`replies` on a store that nobody may write to: what only reads works as ever, what writes says why it cannot."""

from __future__ import annotations

import asyncio
import subprocess
from contextlib import closing
from pathlib import Path

import bounded_process
import pytest
from closed_folder import BOUND, closed

from pytest_taskgraph.__main__ import main
from pytest_taskgraph.models.request_key import digest, request_entry
from pytest_taskgraph.models.store import Store
from pytest_taskgraph.trial import Reply, Request

READING = (
    ("stats",),
    pytest.param(("stats", "--json"), marks=pytest.mark.exhaustive),
    ("export", "-"),
    ("prune", "--model", "openai/*", "--dry-run"),
)


@pytest.fixture
def store(tmp_path: Path) -> Path:
    entry = request_entry("openai/small", {}, Request([{"role": "user", "content": "Which?"}]))
    with closing(Store(tmp_path / "store", "run")) as opened:
        asyncio.run(opened.keep(digest(entry), entry, Reply("Load", 3, 2)))
    return tmp_path / "store"


def bound(store: Path, *words: str) -> subprocess.CompletedProcess[str]:
    command = [*BOUND, "-m", "pytest_taskgraph", "replies", *words, "--store", str(store)]
    return bounded_process.run(command)


@pytest.mark.parametrize("words", READING, ids=" ".join)
def test_reading_commands_need_no_write_permission(
    store: Path, capsys: pytest.CaptureFixture[str], words: tuple[str, ...]
) -> None:
    (store / ".gitignore").unlink()  # which opening a store makes again
    before = {file.name: file.read_bytes() for file in store.iterdir()}
    assert main(["replies", *words, "--store", str(store)]) == 0
    assert {file.name: file.read_bytes() for file in store.iterdir()} == before
    expected = capsys.readouterr().out
    assert "openai/small" in expected
    with closed(store):
        finished = bound(store, *words)
    assert (finished.returncode, finished.stderr, finished.stdout) == (0, "", expected)


def test_writing_commands_read_only_store_is_refused(store: Path) -> None:
    with closed(store):
        finished = bound(store, "prune", "--model", "openai/*")
    assert finished.returncode == 4
    assert "cannot be used" in finished.stderr
