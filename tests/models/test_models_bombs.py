"""A reply that decompression makes huge ends as too-large, and is never held whole, whatever aiohttp does with it."""

from __future__ import annotations

import asyncio
import sys
import zlib

import bounded_process
import pytest
from loopback import Loopback, Raw, reply

from pytest_taskgraph.models.clients.quiet_connections import BoundedHandler
from pytest_taskgraph.models.clients.transport import LARGEST

HELD = 64  # MB that a hostile reply may take
WINDOWS = {"gzip": 16 + zlib.MAX_WBITS, "deflate": zlib.MAX_WBITS}
PROBE = """
import asyncio, resource, sys
import pytest_taskgraph.models as models
from pytest_taskgraph.errors import ProviderError
from pytest_taskgraph.trial import Request
own = {"api_base": sys.argv[2]} if sys.argv[2] else {}
model = models.open_model(sys.argv[1], {"api_key": "test-key-123456", **own})
largest = lambda: resource.getrusage(resource.RUSAGE_SELF).ru_maxrss

async def ask():
    try:
        await model.answer(Request([{"role": "user", "content": "Which?"}]))
        before = largest()
        await model.answer(Request([{"role": "user", "content": "And now?"}]))
    except ProviderError as error:
        print(error.kind, (largest() - before) // 1000)
    finally:
        await models.close()

asyncio.run(ask())
"""


def bomb(encoding: str, status: int = 200) -> Raw:
    """A reply of 150 MB in 150 kB, which never exists whole in this process."""
    squeeze = zlib.compressobj(9, zlib.DEFLATED, WINDOWS[encoding])
    body = [squeeze.compress(b'{"choices": ["'), *(squeeze.compress(b" " * 1_000_000) for _ in range(150))]
    return Raw(status, b"".join([*body, squeeze.flush()]), headers={"Content-Encoding": encoding})


@pytest.mark.skipif(sys.platform == "win32", reason="the module resource is Unix's")
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
    address = "" if "#" in model else server.url
    done = bounded_process.run([sys.executable, "-c", PROBE, model.format(url=server.url), address])
    ended, grown = done.stdout.split()
    assert ended == kind
    assert int(grown) < HELD


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
