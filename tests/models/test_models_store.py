"""The store within one process: what is kept comes back, and one of many asks."""

from __future__ import annotations

import asyncio
import sqlite3
from collections.abc import Awaitable, Iterator
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, TypeVar

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pytest_taskgraph.errors import NotAskedError, UsageError
from pytest_taskgraph.models.store import Store, stored_keys
from pytest_taskgraph.trial import Reply

T = TypeVar("T")
ENTRY = {"model": "m", "kind": "chat", "messages": [], "tools": [], "settings": {}, "repetition": 1}

texts = st.text(max_size=40)
finite = st.floats(allow_nan=False, allow_infinity=False)
json_values = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**53), 2**53) | finite | texts,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(texts, inner, max_size=3),
    max_leaves=6,
)
replies = st.builds(
    Reply,
    text=texts | st.just("\x00 \ud800 ä\u2028𝔊"),
    tokens_in=st.none() | st.integers(0),
    tokens_out=st.none() | st.integers(0),
    cost=st.none() | finite,
    latency=st.none() | finite,
    finish_reason=texts,
    tool_calls=st.lists(st.dictionaries(texts, json_values, max_size=3), max_size=2),
    source=texts,
    logprobs=st.lists(st.tuples(st.none() | finite, st.integers(0), st.none() | st.booleans()).map(list), max_size=3),
    embeddings=st.lists(st.lists(finite, max_size=4), max_size=3),
    retries=st.integers(0, 9),
    reasoning=texts,
    tokens_reasoning=st.none() | st.integers(0),
    message_fields=st.dictionaries(texts, json_values, max_size=2),
)


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    with closing(Store(tmp_path, "run")) as opened:
        yield opened


def run(work: Awaitable[T]) -> T:
    async def main() -> T:
        async with asyncio.timeout(30):
            return await work

    return asyncio.run(main())


async def hops(times: int = 200) -> None:
    """Time for others, in this thread and in the store's."""
    for _ in range(times):
        await asyncio.sleep(0.0005)


@given(st.lists(replies, min_size=1, max_size=4))
def test_store_returns_replies_unchanged(stored: list[Reply]) -> None:
    async def keep(store: Store) -> None:
        for number in range(len(stored)):
            assert await store.claim(f"k{number}") is None
        await asyncio.gather(*(store.keep(f"k{number}", ENTRY, reply) for number, reply in enumerate(stored)))

    async def look(store: Store) -> list[Reply | None]:
        return [await store.look(f"k{number}") for number in range(len(stored))]

    with TemporaryDirectory() as folder:
        with closing(Store(Path(folder), "one")) as store:
            run(keep(store))
        with closing(Store(Path(folder), "two")) as store:
            assert run(look(store)) == [replace(reply, stored=True) for reply in stored]


def test_store_row_has_model_request_run_and_time(store: Store, tmp_path: Path) -> None:
    run(store.keep("k", ENTRY, Reply("Load")))
    with closing(sqlite3.connect(tmp_path / "replies.sqlite")) as connection:
        (row,) = connection.execute("SELECT key, model, request, run, at FROM replies").fetchall()
        schema = connection.execute("SELECT value FROM meta WHERE name = 'schema'").fetchone()
    assert row[:4] == (
        "k",
        "m",
        '{"kind":"chat","messages":[],"model":"m","repetition":1,"settings":{},"tools":[]}',
        "run",
    )
    assert row[4][10] == "T"
    assert len(row[4]) == len("2026-03-01T10:00:00Z")
    assert row[4].endswith("Z")
    assert schema == ("2",)


def test_store_ignores_fields_of_later_version(store: Store, tmp_path: Path) -> None:
    run(store.keep("k", ENTRY, Reply("Load")))
    with closing(sqlite3.connect(tmp_path / "replies.sqlite")) as connection:
        connection.execute("UPDATE replies SET reply = json_set(reply, '$.mood', 'fine')")
        connection.commit()
    assert run(store.look("k")) == Reply("Load")


def test_store_damaged_reply_is_named_and_others_are_read(store: Store, tmp_path: Path) -> None:
    async def look() -> list[Any]:
        await asyncio.gather(*(store.keep(key, ENTRY, Reply(key)) for key in "ab"))
        with closing(sqlite3.connect(tmp_path / "replies.sqlite")) as connection:
            connection.execute("UPDATE replies SET reply = '[' WHERE key = 'a'")
            connection.commit()
        return list(await asyncio.gather(store.look("a"), store.look("b"), return_exceptions=True))

    broken, sound = run(look())
    assert isinstance(broken, UsageError)
    assert "key a" in str(broken)
    assert sound == Reply("b")


def test_store_entry_that_is_no_json_fails_alone(store: Store) -> None:
    async def keep() -> list[Any]:
        bad = store.keep("bad", ENTRY | {"settings": {"x": object()}}, Reply(""))
        good = [store.keep(f"k{n}", ENTRY, Reply("")) for n in range(9)]
        return await asyncio.gather(bad, *good, return_exceptions=True)

    first, *others = run(keep())
    assert isinstance(first, TypeError)
    assert others == [None] * 9


def test_claim_by_many_sends_once_and_all_get_reply(store: Store) -> None:
    sent_keys = []

    async def want(number: int) -> Reply:
        reply = await store.claim("k")
        if reply is None:
            sent_keys.append(number)
            await hops(3)
            reply = Reply(f"from {number}")
            await store.keep("k", ENTRY, reply)
        return reply

    async def main() -> list[Reply]:
        return await asyncio.gather(*map(want, range(20)))

    assert run(main()) == [Reply(f"from {sent_keys[0]}")] * 20
    assert len(sent_keys) == 1


def test_claim_released_goes_to_next(store: Store) -> None:
    senders: list[int] = []

    async def want(number: int) -> Reply:
        reply = await store.claim("k")
        if reply is not None:
            return reply
        senders.append(number)
        if len(senders) < 4:
            await store.release("k")
            raise ValueError
        await store.keep("k", ENTRY, Reply("at last"))
        return Reply("at last")

    async def main() -> list[Any]:
        return await asyncio.gather(*map(want, range(8)), return_exceptions=True)

    results = run(main())
    assert len(senders) == 4
    assert [type(result) for result in results].count(ValueError) == 3
    assert results.count(Reply("at last")) == 5


def test_claim_of_caller_cancelled_while_waiting_is_freed(store: Store) -> None:
    async def main() -> Reply | None:
        assert await store.claim("k") is None
        first, second = asyncio.create_task(store.claim("k")), asyncio.create_task(store.claim("k"))
        await hops(3)
        first.cancel()
        await store.release("k")
        return await second

    assert run(main()) is None


@pytest.mark.parametrize("steps", range(8))
def test_claim_of_caller_cancelled_when_granted_is_freed(store: Store, steps: int) -> None:
    async def main() -> Reply | None:
        task = asyncio.create_task(store.claim("k"))
        for _ in range(steps):
            await asyncio.sleep(0.0001)
        task.cancel()
        (result,) = await asyncio.gather(task, return_exceptions=True)
        if result is None:  # it was faster
            await store.release("k")
        return await store.claim("k")

    assert run(main()) is None


def test_claim_is_not_granted_to_closed_loop(store: Store) -> None:
    async def leave() -> None:
        await store.claim("k")
        waiting = asyncio.ensure_future(store.claim("k"))
        await hops(3)
        waiting.cancel()
        await asyncio.gather(waiting, return_exceptions=True)

    async def main() -> Reply | None:
        await store.release("k")
        return await store.claim("k")

    asyncio.run(leave())
    assert run(main()) is None


def test_release_in_finally_works_under_cancellation(store: Store) -> None:
    async def ask(claimed: asyncio.Event) -> None:
        await store.claim("k")
        try:
            claimed.set()
            await asyncio.Event().wait()
        finally:
            await store.release("k")

    async def main() -> Reply | None:
        claimed = asyncio.Event()
        task = asyncio.create_task(ask(claimed))
        await claimed.wait()
        task.cancel()
        await asyncio.sleep(0)
        task.cancel()  # and once more, in the finally
        return await store.claim("k")

    assert run(main()) is None


def test_keep_stores_reply_of_cancelled_caller(store: Store) -> None:
    async def main() -> Reply | None:
        await store.claim("k")
        task = asyncio.create_task(store.keep("k", ENTRY, Reply("Load")))
        await asyncio.sleep(0)
        task.cancel()
        return await store.look("k")

    assert run(main()) == Reply("Load")


def test_release_without_claim_has_no_effect(tmp_path: Path, store: Store) -> None:
    async def main() -> bool:
        with closing(Store(tmp_path, "run")) as other:
            await other.claim("k")
            await store.release("k")
            waiting = asyncio.create_task(store.claim("k"))
            await hops(100)
            held = not waiting.done()
        await waiting
        return held

    assert run(main())


def test_refresh_uses_replies_of_own_run_only(tmp_path: Path) -> None:
    async def ask(store: Store, text: str) -> Reply:
        reply = await store.claim("k")
        if reply is None:
            reply = Reply(text)
            await store.keep("k", ENTRY, reply)
        return reply

    with closing(Store(tmp_path, "one")) as store:
        assert run(ask(store, "old")) == Reply("old")
    with closing(Store(tmp_path, "two", refresh=True)) as store:
        assert run(ask(store, "new")) == Reply("new")
        assert run(ask(store, "newer")) == Reply("new")
    with closing(Store(tmp_path, "two", refresh=True)) as store:  # another process of that run
        assert run(ask(store, "newest")) == Reply("new")
    with closing(Store(tmp_path, "three")) as store:
        assert run(ask(store, "other")) == Reply("new", stored=True)


def test_close_writes_pending_and_leaves_one_file(tmp_path: Path) -> None:
    async def main(store: Store) -> None:
        tasks = [asyncio.create_task(store.keep(f"k{n}", ENTRY, Reply(str(n)))) for n in range(300)]
        await asyncio.sleep(0)
        store.close()
        store.close()
        await asyncio.gather(*tasks)

    run(main(Store(tmp_path, "run")))
    assert sorted(path.name for path in tmp_path.iterdir()) == [".gitignore", "replies.sqlite"]
    with closing(sqlite3.connect(tmp_path / "replies.sqlite")) as connection:
        assert connection.execute("SELECT count(*) FROM replies").fetchone() == (300,)
        assert connection.execute("SELECT count(*) FROM claims").fetchone() == (0,)
        assert connection.execute("SELECT count(*) FROM owners").fetchone() == (0,)


def test_close_raises_not_asked_for_waiting_and_later_calls(tmp_path: Path) -> None:
    async def main(store: Store) -> list[Any]:
        await store.claim("k")
        waiting = asyncio.create_task(store.claim("k"))
        await hops(3)
        store.close()
        await store.release("k")
        return list(await asyncio.gather(waiting, store.look("k"), return_exceptions=True))

    assert [type(error) for error in run(main(Store(tmp_path, "run")))] == [NotAskedError, NotAskedError]


def test_nearest_shares_rare_lines(store: Store) -> None:
    def entry(model: str, text: str) -> dict[str, Any]:
        return ENTRY | {"model": model, "messages": [{"role": "user", "content": text}]}

    async def fill() -> None:
        for number in range(30):
            prompt = f"Read this.\nLoad{number} comes before Send{number}.\nWhat comes first?"
            await store.keep(f"k{number}", entry("m", prompt), Reply(""))
        await store.keep("other", entry("other", "Read on.\nLoad7 comes before Send7.\nWhat comes last?"), Reply(""))

    run(fill())
    nearest = store.nearest("m", "[user]\nRead on.\nLoad7 comes before Send7.\nWhat comes last?")
    assert nearest is not None
    assert nearest[0] == "[user]\nRead this.\nLoad7 comes before Send7.\nWhat comes first?"
    assert 0.8 < nearest[1] < 1
    assert store.nearest("m", "nothing alike") is not None
    assert store.nearest("unheard of", "Load7") is None
    assert store.models() == ("m", "other")


def test_stored_keys_are_read_without_creating_store(store: Store, tmp_path: Path) -> None:
    assert stored_keys(tmp_path / "none") == frozenset()
    assert not (tmp_path / "none").exists()
    run(store.keep("k", ENTRY, Reply("Load")))
    run(store.claim("claimed"))
    assert stored_keys(tmp_path) == {"k"}
