"""A reply that decompression makes huge ends as too-large, and is never held whole, whatever aiohttp does with it."""

from __future__ import annotations

import asyncio
import tracemalloc
import zlib
from functools import cache

import pytest
from loopback import Loopback, Raw, reply

from pytest_taskgraph.errors import ProviderError
from pytest_taskgraph.models import close, open_model
from pytest_taskgraph.models.clients.transport import LARGEST
from pytest_taskgraph.trial import Json, Request

HELD = 64  # MB that a hostile reply may take
WINDOWS = {"gzip": 16 + zlib.MAX_WBITS, "deflate": zlib.MAX_WBITS}


async def grow(model: str, own: dict[str, Json]) -> tuple[str, int]:
    """Return how the second of two requests ends, and how many MB it held at once."""
    asked = open_model(model, {"api_key": "test-key-123456", **own})
    question = Request([{"role": "user", "content": "Which?"}])
    try:
        await asked.answer(question)
        tracemalloc.start()
        with pytest.raises(ProviderError) as failed:
            await asked.answer(question)
        return failed.value.kind, tracemalloc.get_traced_memory()[1] // 1_000_000
    finally:
        tracemalloc.stop()
        await close()


@cache
def bomb(encoding: str, status: int = 200) -> Raw:
    """A reply of 150 MB in 150 kB, which never exists whole in this process."""
    squeeze = zlib.compressobj(9, zlib.DEFLATED, WINDOWS[encoding])
    body = [squeeze.compress(b'{"choices": ["'), *(squeeze.compress(b" " * 1_000_000) for _ in range(150))]
    return Raw(status, b"".join([*body, squeeze.flush()]), headers={"Content-Encoding": encoding})


@pytest.mark.parametrize(
    ("model", "encoding", "status", "kind"),
    [
        ("{url}#any", "gzip", 200, "too-large"),
        pytest.param("{url}#any", "deflate", 200, "too-large", marks=pytest.mark.exhaustive),
        pytest.param("{url}#any", "gzip", 500, "server", marks=pytest.mark.exhaustive),
        ("litellm:openai/any", "gzip", 200, "too-large"),
    ],
)
def test_bomb_ends_as_error_and_is_never_held(
    server: Loopback, model: str, encoding: str, status: int, kind: str
) -> None:
    server.script(reply("yes"), bomb(encoding, status))
    own: dict[str, Json] = {} if "#" in model else {"api_base": server.url}
    ended, grown = asyncio.run(grow(model.format(url=server.url), own))
    assert ended == kind
    assert grown < HELD


class ClosableTransport(asyncio.Transport):
    """A transport that can be closed, and does nothing else."""

    def close(self) -> None:
        return

    def is_closing(self) -> bool:
        return False


@pytest.mark.parametrize("lost", [0, 6])
def test_half_a_compressed_reply_that_arrives_after_its_head_is_an_error_at_once(lost: int) -> None:
    squeezed = zlib.compress(b'{"choices": []}')
    sent = squeezed[: len(squeezed) - lost]
    head = f"HTTP/1.1 200 OK\r\nContent-Encoding: deflate\r\nContent-Length: {len(sent)}\r\n\r\n".encode()

    async def receive() -> bytes:
        from pytest_taskgraph.models.clients.quiet_connections import BoundedHandler  # brings aiohttp

        handler = BoundedHandler(LARGEST, asyncio.get_running_loop())
        handler.connection_made(ClosableTransport())
        handler.set_response_params()
        handler.data_received(head)
        _, content = await handler.read()
        handler.data_received(sent)
        async with asyncio.timeout(30):
            return bytes(await content.read())

    if lost:
        with pytest.raises(Exception, match="400"):
            asyncio.run(receive())
    else:
        assert asyncio.run(receive()) == b'{"choices": []}'
