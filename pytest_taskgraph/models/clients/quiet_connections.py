"""Connections that are used again only if nothing arrived on them after the last reply, and that hold no huge reply.

A server may send a second response to a request. On a connection that is used again at once, it would be taken for the
answer to the next request. Importing this module imports aiohttp.
"""

from __future__ import annotations

import asyncio
from functools import partial
from typing import TYPE_CHECKING, Any
from weakref import WeakKeyDictionary

from aiohttp import TCPConnector
from aiohttp.client_proto import ResponseHandler

if TYPE_CHECKING:
    from aiohttp.connector import Connection

REST = 0.1  # seconds for which a connection is left alone after a reply: what arrives in them was not asked for
_PIECE = 8_192  # bytes that are decompressed at a time, to 8.5 MB at most


class BoundedHandler(ResponseHandler):
    """The receiving end of a connection, where aiohttp decompresses each reply in pieces, and none far beyond a size.

    litellm leaves decompression to httpx, which has no limit, and aiohttp before 3.14 decompresses all that has arrived
    at once: 256 kB may become 264 MB before anything is read.

    Args:
        largest: Decompressed bytes of a reply after which what arrives is dropped; reading stops there as well.
        loop: The event loop.
    """

    def __init__(self, largest: int, loop: asyncio.AbstractEventLoop) -> None:
        super().__init__(loop=loop)
        self._largest = largest

    def set_response_params(self, **parameters: Any) -> None:  # noqa: ANN401 - aiohttp's
        """Prepare for the next reply, whose content is to be decompressed."""
        super().set_response_params(**{**parameters, "auto_decompress": True})

    def set_exception(self, exc: BaseException, *cause: BaseException) -> None:
        """Fail the reply that is being received as well; the request would else wait for ever (aiohttp 3.14.5)."""
        super().set_exception(exc, *cause)
        if self._payload is not None and not self._payload.is_eof() and self._payload.exception() is None:
            self._payload.set_exception(cause[0] if cause and isinstance(cause[0], Exception) else exc)

    def data_received(self, data: bytes) -> None:
        """Take what arrived; without data, aiohttp goes on with what it has."""
        for start in range(0, len(data) or 1, _PIECE):
            if self._payload is not None and self._payload.total_bytes > self._largest:
                self.force_close()
                return
            super().data_received(data[start : start + _PIECE])


class QuietConnector(TCPConnector):
    """A connector whose connections rest for `REST` seconds after a reply, and are closed if unasked data arrived.

    Args:
        limit: Most connections at a time; 0 for any number.
        keepalive_timeout: Seconds after which an unused connection is closed.
        largest: Bytes of a reply after which the rest is dropped.
    """

    def __init__(self, *, limit: int, keepalive_timeout: float, largest: int) -> None:
        super().__init__(limit=limit, keepalive_timeout=keepalive_timeout)
        self._factory = partial(BoundedHandler, largest, loop=self._loop)  # type: ignore[assignment]  # a subclass
        self._replied: WeakKeyDictionary[Any, float] = WeakKeyDictionary()  # protocol -> time of its last reply

    async def connect(self, *arguments: Any, **keywords: Any) -> Connection:  # noqa: ANN401 - aiohttp's
        """Return a connection that has rested and on which nothing unasked has arrived, or a new one."""
        resting = []
        try:
            while True:
                connection = await super().connect(*arguments, **keywords)
                if self._rests(connection):
                    resting.append(connection)
                elif await _is_clean(connection):
                    break
        finally:
            for other in resting:
                other.release()
        protocol, loop = connection.protocol, asyncio.get_running_loop()
        connection.add_callback(lambda: self._replied.__setitem__(protocol, loop.time()))
        return connection

    def _rests(self, connection: Connection) -> bool:
        replied = self._replied.get(connection.protocol)
        return replied is not None and asyncio.get_running_loop().time() - replied < REST


async def _is_clean(connection: Connection) -> bool:
    """Return True for a connection on which nothing has arrived unasked; close any other."""
    protocol = connection.protocol
    try:
        for _ in range(2):  # in the first turn the loop sees what has arrived, in the second it has received it
            await asyncio.sleep(0)
    except asyncio.CancelledError:
        connection.close()
        raise
    if protocol is not None and not protocol.should_close and protocol.is_connected():
        return True
    connection.close()
    return False
