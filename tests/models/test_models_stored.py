"""Models that answer from the store."""

from __future__ import annotations

import asyncio
import sqlite3
from collections.abc import Iterator, Mapping
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from pytest_taskgraph.errors import ProviderError
from pytest_taskgraph.models.middleware.layer import ClientLayer
from pytest_taskgraph.models.middleware.request_counters import RequestCounters
from pytest_taskgraph.models.middleware.retries import TimeoutLayer
from pytest_taskgraph.models.middleware.stored import ReplayModel, StoreLayer
from pytest_taskgraph.models.request_key import digest, request_entry
from pytest_taskgraph.models.store import Store
from pytest_taskgraph.redaction import register
from pytest_taskgraph.trial import Json, Reply, Request

SECRETS = ("sk-verysecretindeed", "Bearer-of-news", "pass-word", "in-the-query", "deep-down-secret")
SETTINGS: dict[str, Json] = {
    "temperature": 0,
    "api_key": SECRETS[0],
    "extra_headers": {"Authorization": f"Bearer {SECRETS[1]}"},
    "api_base": f"http://me:{SECRETS[2]}@host/v1?key={SECRETS[3]}",
    "extra_body": {"more": [{"access_token": SECRETS[4]}]},
}


class Echo:
    """A model that answers with the request, after a given number of failures."""

    def __init__(self, name: str = "echo", settings: Mapping[str, Json] = SETTINGS, failures: int = 0) -> None:
        self.name, self.settings, self.asked, self._failures = name, settings, 0, failures

    async def answer(self, request: Request) -> Reply:
        self.asked += 1
        await asyncio.sleep(0)
        if self.asked <= self._failures:
            raise ProviderError("server", "no")
        return Reply(f"{request.prompt} {request.repetition}", source=f"http://me:{SECRETS[2]}@host/v1")


def ask(text: str, repetition: int = 1, **settings: Json) -> Request:
    return Request([{"role": "user", "content": text}], repetition=repetition, settings=settings)


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    with closing(Store(tmp_path, "run")) as opened:
        yield opened


def test_store_layer_sends_request_once(store: Store, tmp_path: Path) -> None:
    async def main(model: StoreLayer) -> list[Reply]:
        return [await model.answer(ask("Which?")) for _ in range(3)]

    echo, counters = Echo(), RequestCounters()
    replies = asyncio.run(main(StoreLayer(ClientLayer(echo), store, counters)))
    assert replies == [Reply("Which? 1", source="http://host/v1")] * 3
    assert (echo.asked, counters.stored) == (1, 2)
    store.close()
    with closing(Store(tmp_path, "another")) as later:
        earlier = [replace(reply, stored=True) for reply in replies]
        assert asyncio.run(main(StoreLayer(ClientLayer(echo), later, counters))) == earlier
    assert echo.asked == 1


DAMAGED: list[str | bytes | memoryview] = ["[", "", "[]", '{"tokens_in": 3}', "[" * 100_000, b'{"text": "\xff"}']
BLOBS = [memoryview(b'{"text": "x"}'), memoryview(b"\xff\x00\x01")]
NAMES = ["cut", "empty", "list", "partial", "deep", "no UTF-8", "JSON in a BLOB", "BLOB"]


def damaged(folder: Path, reply: str | bytes | memoryview) -> None:
    """A store in which somebody wrote to the first of two replies: a text, or a BLOB for a memoryview."""
    with closing(Store(folder, "before")) as before:
        for text in ("Which?", "Where?"):
            asyncio.run(StoreLayer(ClientLayer(Echo()), before, RequestCounters()).answer(ask(text)))
    with closing(sqlite3.connect(folder / "replies.sqlite")) as connection, connection:
        value = "?" if isinstance(reply, memoryview) else "CAST(? AS TEXT)"
        connection.execute(f"UPDATE replies SET reply = {value} WHERE id = 1", (reply,))


@pytest.mark.parametrize("reply", [*DAMAGED, *BLOBS], ids=NAMES)
@pytest.mark.parametrize("replay", [False, True], ids=["live", "replay"])
def test_store_layer_damaged_reply_is_error_with_remedy(
    tmp_path: Path, reply: str | bytes | memoryview, replay: bool
) -> None:
    damaged(tmp_path, reply)
    counters, echo = RequestCounters(), Echo()
    with closing(Store(tmp_path, "run")) as store:
        model = (
            ReplayModel("echo", SETTINGS, store, counters) if replay else StoreLayer(ClientLayer(echo), store, counters)
        )
        with pytest.raises(ProviderError, match="--taskgraph-refresh") as caught:
            asyncio.run(model.answer(ask("Which?")))
        assert asyncio.run(model.answer(ask("Where?"))).text == "Where? 1"
    assert caught.value.kind == "store"
    assert "python -m pytest_taskgraph replies prune --model" in str(caught.value)
    assert (counters.store_error, counters.stored, echo.asked) == (None, 1, 0)


@pytest.mark.parametrize("reply", [*DAMAGED, *BLOBS], ids=NAMES)
def test_store_layer_refresh_replaces_damaged_reply(tmp_path: Path, reply: str | bytes | memoryview) -> None:
    damaged(tmp_path, reply)
    for refresh, sent in ((True, 1), (False, 0)):
        echo = Echo()
        with closing(Store(tmp_path, f"refresh {refresh}", refresh)) as store:
            assert (
                asyncio.run(StoreLayer(ClientLayer(echo), store, RequestCounters()).answer(ask("Which?"))).text
                == "Which? 1"
            )
        assert echo.asked == sent


@pytest.mark.parametrize("replay", [False, True], ids=["live", "replay"])
@pytest.mark.parametrize(
    ("reply", "kind"),
    [
        (Reply("half", finish_reason="content_filter"), "content-filter"),
        (Reply("half", finish_reason="error"), "server"),
        (Reply(""), "empty"),
    ],
)
def test_store_layer_failure_of_earlier_version_is_error(store: Store, reply: Reply, kind: str, replay: bool) -> None:
    asyncio.run(_keep(store, reply))
    echo = Echo()
    model = (
        ReplayModel("echo", SETTINGS, store, RequestCounters())
        if replay
        else StoreLayer(ClientLayer(echo), store, RequestCounters())
    )
    with pytest.raises(ProviderError, match="--taskgraph-refresh") as caught:
        asyncio.run(model.answer(ask("Which?")))
    assert (caught.value.kind, echo.asked) == (kind, 0)


async def _keep(store: Store, reply: Reply) -> None:
    entry = request_entry("echo", SETTINGS, ask("Which?"))
    await store.claim(digest(entry))
    await store.keep(digest(entry), entry, reply)


def test_store_layer_separates_repetitions_and_settings(store: Store) -> None:
    async def main(model: StoreLayer) -> list[Reply]:
        requests = [ask("Which?", 1), ask("Which?", 2), ask("Which?", 1, temperature=1), ask("Which?", 1, timeout=3)]
        return await asyncio.gather(*map(model.answer, requests))

    echo = Echo()
    texts = [reply.text for reply in asyncio.run(main(StoreLayer(ClientLayer(echo), store, RequestCounters())))]
    assert texts == ["Which? 1", "Which? 2", "Which? 1", "Which? 1"]
    assert echo.asked == 3


def test_store_layer_after_failure_next_caller_sends(store: Store) -> None:
    async def main(model: StoreLayer) -> list[Any]:
        return await asyncio.gather(*(model.answer(ask("Which?")) for _ in range(5)), return_exceptions=True)

    echo = Echo(failures=2)
    results = asyncio.run(main(StoreLayer(ClientLayer(echo), store, RequestCounters())))
    assert [type(result) for result in results].count(ProviderError) == 2
    assert echo.asked == 3


def test_store_layer_after_cancellation_next_caller_sends(store: Store) -> None:
    class Slow(Echo):
        async def answer(self, request: Request) -> Reply:
            if not self.asked:
                self.asked = 1
                tasks[0].cancel()
                await asyncio.Event().wait()
            return await super().answer(request)

    async def main() -> Reply:
        first = asyncio.create_task(model.answer(ask("Which?")))
        tasks.append(first)
        second = asyncio.create_task(model.answer(ask("Which?")))
        await asyncio.gather(first, return_exceptions=True)
        assert first.cancelled()
        return await second

    tasks: list[asyncio.Task[Reply]] = []
    slow = Slow()
    model = StoreLayer(ClientLayer(slow), store, RequestCounters())
    assert asyncio.run(main()).text == "Which? 1"
    assert slow.asked == 2


def test_store_layer_writes_no_secret_of_settings(store: Store, tmp_path: Path) -> None:
    async def main() -> None:
        model = StoreLayer(
            ClientLayer(Echo(f"http://me:{SECRETS[2]}@host/v1?key={SECRETS[3]}#m")), store, RequestCounters()
        )
        await asyncio.gather(*(model.answer(ask(f"Which {n}?")) for n in range(20)))

    def read_files() -> dict[str, bytes]:
        return {path.name: path.read_bytes() for path in tmp_path.iterdir()}

    asyncio.run(main())
    files = read_files()
    assert b"Which 7?" in files["replies.sqlite-wal"]
    store.close()
    files |= {f"closed {name}": data for name, data in read_files().items()}
    assert b"Which 7?" in files["closed replies.sqlite"]
    leaks = [(name, secret) for name, data in files.items() for secret in SECRETS if secret.encode() in data]
    assert leaks == []


def test_replay_returns_stored_reply_and_sends_nothing(store: Store) -> None:
    async def main() -> Reply:
        await StoreLayer(ClientLayer(Echo()), store, RequestCounters()).answer(ask("Which?"))
        return await ReplayModel("echo", SETTINGS | {"api_key": "another"}, store, counters).answer(ask("Which?"))

    counters = RequestCounters()
    assert asyncio.run(main()).text == "Which? 1"
    assert counters.stored == 1


def missed(store: Store, stored: str, request: Request, name: str = "echo") -> str:
    async def main() -> None:
        await StoreLayer(ClientLayer(Echo()), store, RequestCounters()).answer(ask(stored))
        await ReplayModel(name, SETTINGS, store, RequestCounters()).answer(request)

    with pytest.raises(ProviderError) as caught:
        asyncio.run(main())
    assert caught.value.kind == "not-stored"
    return str(caught.value)


def test_replay_miss_shows_difference_of_prompt(store: Store) -> None:
    first, *lines = missed(store, "Read.\nWhich task is first?", ask("Read.\nWhich task is last?")).splitlines()
    assert first.startswith("not-stored: no stored reply of echo to this request; the nearest stored one (-) is 9")
    assert lines[1:] == [" Read.", "-Which task is first?", "+Which task is last?"]


def test_replay_miss_shows_settings_and_repetitions(store: Store) -> None:
    lines = missed(store, "Which?", ask("Which?", 2, temperature=1)).splitlines()
    assert {"-temperature: 0", "+temperature: 1", "+repetition: 2"} <= set(lines)


def test_replay_miss_shows_end_of_long_line(store: Store) -> None:
    shared = "word " * 200
    lines = missed(store, shared + "first", ask(shared + "last")).splitlines()
    assert [line[0] + line.split()[-1] for line in lines if line[0] in "+-"] == ["-first", "+last"]


def test_replay_miss_shows_at_most_twelve_lines(store: Store) -> None:
    text = missed(store, "\n".join(f"line {n}" for n in range(40)), ask("\n".join(f"row {n}" for n in range(40))))
    assert len(text.splitlines()) == 13
    assert text.splitlines()[-1].startswith("… ")


def test_replay_miss_names_difference_in_white_space(store: Store) -> None:
    assert missed(store, "Which task?", ask("Which task? ")).endswith("\nthey differ in white space alone")


def test_replay_miss_of_unknown_model_lists_stored_models(store: Store) -> None:
    text = missed(store, "Which?", ask("Which?"), "other")
    assert text == f"not-stored: the store {store.path} holds nothing of the model other; it holds: echo"


REASONED = Reply("yes", 3, 9, 0.5, reasoning="First. quince-jelly", tokens_reasoning=7)


class Reasoner(Echo):
    """A model that reasons before it answers."""

    async def answer(self, request: Request) -> Reply:
        self.asked += 1
        return REASONED


def test_replay_returns_reasoning_without_later_secrets(store: Store, tmp_path: Path) -> None:
    counters = RequestCounters()
    asyncio.run(StoreLayer(ClientLayer(Reasoner()), store, RequestCounters()).answer(ask("Which?")))
    store.close()
    with closing(Store(tmp_path, "another", read_only=True)) as later:
        replayed = ReplayModel("echo", SETTINGS, later, counters)
        assert asyncio.run(replayed.answer(ask("Which?"))) == replace(REASONED, stored=True)
        register({"password": "quince-jelly"})
        assert asyncio.run(replayed.answer(ask("Which?"))).reasoning == "First. [key]"


def test_replay_of_reply_of_earlier_version_has_no_reasoning(store: Store, tmp_path: Path) -> None:
    asyncio.run(StoreLayer(ClientLayer(Reasoner()), store, RequestCounters()).answer(ask("Which?")))
    store.close()
    with closing(sqlite3.connect(tmp_path / "replies.sqlite")) as connection, connection:
        new = ("$.reasoning", "$.tokens_reasoning", "$.message_fields")
        connection.execute("UPDATE replies SET reply = json_remove(reply, ?, ?, ?)", new)
        connection.execute("UPDATE replies SET reply = json_set(reply, '$.text', '<think>so</think>yes')")
    with closing(Store(tmp_path, "another")) as later:
        replayed = asyncio.run(ReplayModel("echo", SETTINGS, later, RequestCounters()).answer(ask("Which?")))
    assert (replayed.text, replayed.reasoning, replayed.tokens_reasoning) == ("<think>so</think>yes", "", None)


def test_counters_sum_reasoning_tokens() -> None:
    counters = RequestCounters()

    async def main() -> None:
        async with TimeoutLayer(ClientLayer(Reasoner()), counters).attempt(ask("Which?")) as attempt:
            await attempt.send()

    asyncio.run(main())
    assert (counters.usage.tokens_out, counters.usage.tokens_reasoning) == (9, 7)
