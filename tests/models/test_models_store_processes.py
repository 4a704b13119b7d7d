"""The store between processes: no key is claimed twice, the dead hold nothing, the ledger is exact."""

from __future__ import annotations

import asyncio
import gc
import os
import platform
import signal
import sqlite3
import subprocess
import sys
import time
from collections.abc import Coroutine, Iterator
from contextlib import ExitStack, closing, suppress
from pathlib import Path
from typing import Any

import bounded_process
import pytest
from posix_tests import posix_only

from pytest_taskgraph.errors import BudgetSpentError, UsageError
from pytest_taskgraph.models.store import Store, connection
from pytest_taskgraph.models.store.ledger import LedgerEntry
from pytest_taskgraph.trial import Reply

ROOT = Path(__file__).parents[2]
PRELUDE = """
import asyncio, sys
from pathlib import Path
from pytest_taskgraph.errors import BudgetSpentError
from pytest_taskgraph.models.store import Store
from pytest_taskgraph.trial import Reply
ENTRY = {"model": "m", "kind": "chat", "messages": [], "tools": [], "settings": {}, "repetition": 1}
folder, name = Path(sys.argv[1]), sys.argv[2]
print("ready", flush=True)
sys.stdin.readline()
store = Store(folder, "run")
"""
ASK = """
async def want(key):
    reply = await store.claim(key)
    if reply is None:
        print(key, flush=True)
        await asyncio.sleep(0)
        await store.keep(key, ENTRY, Reply(name + key))
        reply = Reply(name + key)
    return reply.text
async def main():
    keys = [f"k{n}" for n in range(60)]
    return await asyncio.gather(*map(want, keys if name == "a" else keys[::-1]))
texts = asyncio.run(main())
store.close()
print("=", *sorted(texts))
"""
HOLD = """
asyncio.run(store.claim("k"))
print("claimed", flush=True)
sys.stdin.readline()
"""
SPEND = """
async def main():
    done = 0
    for _ in range(80):
        try:
            await store.spend(1, 0.25, 100, None)
        except BudgetSpentError:
            continue
        done += 1
        await store.settle(0.25, 0.125)
    return done
print(asyncio.run(main()))
store.close()
"""


class Process:
    """A Python process that waits for `go` before it opens the store."""

    def __init__(self, ends: ExitStack, folder: Path, name: str, script: str) -> None:
        command = [sys.executable, "-W", "error", "-c", PRELUDE + script, str(folder), name]
        environment = os.environ | {"PYTHONPATH": str(ROOT)}
        self.process = ends.enter_context(bounded_process.start(command, stdin=subprocess.PIPE, env=environment))

    def line(self) -> str:
        assert self.process.stdout is not None
        return self.process.stdout.readline().strip()

    def go(self) -> None:
        assert self.process.stdin is not None
        self.process.stdin.write("\n")
        self.process.stdin.flush()

    def output(self) -> list[str]:
        out, _ = self.process.communicate()
        assert self.process.returncode == 0
        return out.splitlines()


@pytest.fixture
def processes() -> Iterator[ExitStack]:
    """What ends the processes that a test starts."""
    with ExitStack() as ends:
        yield ends


def started(ends: ExitStack, folder: Path, script: str, count: int) -> list[Process]:
    processes = [Process(ends, folder, "abcdef"[number], script) for number in range(count)]
    assert [process.line() for process in processes] == ["ready"] * count
    for process in processes:
        process.go()
    return processes


def run(work: Coroutine[Any, Any, Any]) -> Any:  # noqa: ANN401
    async def main() -> Any:  # noqa: ANN401
        async with asyncio.timeout(bounded_process.LIMIT):
            return await work

    return asyncio.run(main())


def test_claims_of_processes_send_each_key_once(tmp_path: Path, processes: ExitStack) -> None:
    outputs = [process.output() for process in started(processes, tmp_path, ASK, 3)]
    sent_keys = [line for lines in outputs for line in lines if not line.startswith("=")]
    assert sorted(sent_keys) == sorted(f"k{n}" for n in range(60))
    assert len({lines[-1] for lines in outputs}) == 1


@posix_only
def test_claim_of_killed_process_is_taken_over(tmp_path: Path, processes: ExitStack) -> None:
    (holder,) = started(processes, tmp_path, HOLD, 1)
    assert holder.line() == "claimed"

    async def main() -> Reply | None:
        with closing(Store(tmp_path, "run")) as store:
            waiting = asyncio.create_task(store.claim("k"))
            done, _ = await asyncio.wait([waiting], timeout=0.3)
            assert not done
            holder.process.send_signal(signal.SIGKILL)
            holder.process.wait()
            return await waiting

    assert run(main()) is None


def test_ledger_is_exact_between_processes(tmp_path: Path, processes: ExitStack) -> None:
    spent = [int(process.output()[-1]) for process in started(processes, tmp_path, SPEND, 3)]
    assert sum(spent) == 100
    with closing(sqlite3.connect(tmp_path / "replies.sqlite")) as connection:
        assert connection.execute("SELECT * FROM ledger").fetchall() == [("run", 100, 12.5)]


def test_claim_is_exclusive_between_stores(tmp_path: Path) -> None:
    sent_keys: list[str] = []

    async def want(store: Store, key: str) -> str:
        reply = await store.claim(key)
        if reply is None:
            sent_keys.append(key)
            reply = Reply(store.run + key)
            await store.keep(key, {"model": "m"}, reply)
        return reply.text

    async def main() -> list[list[str]]:
        with closing(Store(tmp_path, "a")) as store, closing(Store(tmp_path, "b")) as other:
            keys = [f"k{n}" for n in range(50)]
            claims = [(store, key) for key in keys] + [(other, key) for key in reversed(keys)]
            texts = await asyncio.gather(*(want(store, key) for store, key in claims))
            return [sorted(texts[:50]), sorted(texts[50:])]

    first, second = run(main())
    assert first == second
    assert sorted(sent_keys) == sorted(f"k{n}" for n in range(50))


def test_claim_released_goes_to_other_process(tmp_path: Path) -> None:
    async def main() -> Reply | None:
        with closing(Store(tmp_path, "a")) as store, closing(Store(tmp_path, "b")) as other:
            assert await store.claim("k") is None
            waiting = asyncio.create_task(other.claim("k"))
            await asyncio.wait([waiting], timeout=0.1)
            await store.release("k")
            return await waiting

    assert run(main()) is None


def test_claim_that_nobody_awaits_is_not_looked_for(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    looked_for: list[str] = []

    def free_claims(_: sqlite3.Connection, keys: list[str]) -> list[str]:
        looked_for.extend(keys)
        return []

    monkeypatch.setattr(connection, "POLL", 0.0)
    monkeypatch.setattr(connection, "free_claims", free_claims)

    async def main() -> None:
        with closing(Store(tmp_path, "a")) as store, closing(Store(tmp_path, "b")) as other:
            assert await store.claim("k") is None
            waiting = asyncio.create_task(other.claim("k"))
            await asyncio.wait([waiting], timeout=0.1)
            waiting.cancel()
            await asyncio.wait([waiting])
            assert await other.claim("another") is None  # behind the check that follows the claim of "k"
            looked_for.clear()
            await store.release("k")
            assert await other.claim("third") is None
            assert looked_for == []

    run(main())


HERE = platform.node()


@pytest.mark.parametrize(
    ("host", "pid", "age", "taken"),
    [
        pytest.param(HERE, os.getpid(), 1.0, False, id="alive"),
        pytest.param(HERE, os.getpid(), 20.0, True, id="not seen within its lease"),
        pytest.param("another", 1, 1.0, False, id="elsewhere"),
        pytest.param("another", 1, 20.0, True, id="elsewhere, not seen"),
        pytest.param(HERE, None, 1.0, True, id="a process that is gone"),
        pytest.param(None, None, 1.0, True, id="never seen"),
    ],
)
def test_claim_of_living_owner_is_not_taken_over(
    tmp_path: Path, host: str | None, pid: int | None, age: float, taken: bool
) -> None:
    ended = bounded_process.run([sys.executable, "-c", "import os; print(os.getpid())"])

    async def main() -> bool:
        with closing(Store(tmp_path, "run")) as store:
            with closing(sqlite3.connect(tmp_path / "replies.sqlite")) as connection:
                connection.execute("INSERT INTO claims VALUES ('k', 'they')")
                if host is not None:
                    row = ("they", host, pid or int(ended.stdout), time.time() - age)
                    connection.execute("INSERT INTO owners VALUES (?, ?, ?, ?)", row)
                connection.commit()
            waiting = asyncio.create_task(store.claim("k"))
            done, _ = await asyncio.wait([waiting], timeout=5.0 if taken else 0.5)
            waiting.cancel()
            return bool(done)

    assert run(main()) is taken


@pytest.mark.parametrize(("limit", "most"), [(1.0, 10), (0.95, 9), (0.05, 0)])
def test_spend_counts_reserved_cost(tmp_path: Path, limit: float, most: int) -> None:
    async def main() -> list[Any]:
        with closing(Store(tmp_path, "run")) as store:
            return await asyncio.gather(*(spend_once(store) for _ in range(15)), return_exceptions=True)

    async def spend_once(store: Store) -> None:
        await store.spend(1, 0.1, None, limit)
        await store.settle(0.1, 0.1)

    results = run(main())
    assert results.count(None) == most
    assert {error.limit for error in results if isinstance(error, BudgetSpentError)} == {"cost"}


def test_spend_reuses_settled_and_withdrawn_cost(tmp_path: Path) -> None:
    async def main() -> Any:  # noqa: ANN401
        with closing(Store(tmp_path, "run")) as store:
            await store.spend(1, 1.0, 3, 1.0)
            await store.settle(1.0, 0.25)
            task = asyncio.create_task(store.spend(1, 0.75, 3, 1.0))
            await asyncio.sleep(0)
            task.cancel()
            await asyncio.gather(task, return_exceptions=True)
            await store.spend(1, 0.75, 3, 1.0)
            with pytest.raises(BudgetSpentError, match=r"max-cost=1 allows no request of up to 0\.8 US"):
                await store.spend(1, 0.8, 3, 1.0)
            await store.spend(1, 0.0, 3, 1.0)
            with pytest.raises(BudgetSpentError, match="max-calls=3 is spent"):
                await store.spend(1, 0.0, 3, 1.0)
        with closing(Store(tmp_path, "another run")) as store:
            await store.spend(3, 1.0, 3, 1.0)
        with closing(sqlite3.connect(tmp_path / "replies.sqlite")) as connection:
            return connection.execute("SELECT * FROM ledger ORDER BY run").fetchall()

    assert run(main()) == [("another run", 3, 1.0), ("run", 3, 1.0)]


RESERVE = """
asyncio.run(store.spend(1, 6.0, None, 10.0))
print("reserved", flush=True)
sys.stdin.readline()
"""


def test_reservation_of_killed_process_counts_as_spent(tmp_path: Path, processes: ExitStack) -> None:
    (holder,) = started(processes, tmp_path, RESERVE, 1)
    assert holder.line() == "reserved"

    async def main() -> list[Any]:
        with closing(Store(tmp_path, "run")) as store:
            waiting = [asyncio.create_task(store.spend(1, cost, None, 10.0)) for cost in (5.0, 3.0)]
            await store.look("after both wait")
            assert not any(task.done() for task in waiting)
            holder.process.kill()
            return await asyncio.gather(*waiting, return_exceptions=True)

    refused, granted = run(main())
    assert isinstance(refused, BudgetSpentError)
    assert "6 US$ are spent" in str(refused)
    assert granted is None


def test_spend_cancelled_while_waiting_lets_next_go(tmp_path: Path) -> None:
    async def main() -> None:
        with closing(Store(tmp_path, "run")) as store:
            await store.spend(1, 6.0, None, 10.0)
            large = asyncio.create_task(store.spend(1, 8.0, None, 10.0, position=1))
            small = asyncio.create_task(store.spend(1, 3.0, None, 10.0, position=2))
            await store.look("after both wait")
            assert not small.done()
            large.cancel()
            await small
            await asyncio.gather(large, return_exceptions=True)

    run(main())


def test_close_ends_waiting_reservations(tmp_path: Path) -> None:
    async def main() -> Any:  # noqa: ANN401
        store = Store(tmp_path, "run")
        await store.spend(1, 6.0, None, 10.0)
        waiting = asyncio.create_task(store.spend(1, 8.0, None, 10.0))
        await store.look("after it waits")
        store.close()
        (result,) = await asyncio.gather(waiting, return_exceptions=True)
        return result

    assert "is closed" in str(run(main()))
    with closing(sqlite3.connect(tmp_path / "replies.sqlite")) as connection:
        assert connection.execute("SELECT calls, cost FROM ledger").fetchall() == [(1, 6.0)]
        assert connection.execute("SELECT * FROM reservations").fetchall() == []


def test_failed_settlement_for_which_nobody_waits_leaves_asyncio_silent(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(*_: object) -> LedgerEntry:
        raise sqlite3.OperationalError("database or disk is full")

    async def main() -> list[dict[str, Any]]:
        reported: list[dict[str, Any]] = []
        asyncio.get_running_loop().set_exception_handler(lambda _, context: reported.append(context))
        with closing(Store(tmp_path, "run")) as store:
            await store.spend(1, 6.0, None, 10.0)
            monkeypatch.setattr("pytest_taskgraph.models.store.connection.enter_spending", full)
            store.settle_later(6.0, 2.0)
            with suppress(UsageError):
                await store.look("after the settlement, perhaps in its transaction")
            monkeypatch.undo()
            await store.settle(0.0, 0.0)  # enters what failed before it as well, of which nothing is left then
            await store.look("after both")
            gc.collect()
        return reported

    assert run(main()) == []
