"""Connections that are used again only if nothing arrived on them after the last reply. Importing this imports aiohttp.

A server may send a second response to a request. On a connection that is used again at once, it would be taken for the
answer to the next request.
"""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any
from weakref import WeakKeyDictionary

from aiohttp import TCPConnector

if TYPE_CHECKING:
    from aiohttp.connector import Connection

REST = 0.1  # seconds for which a connection is left alone after a reply: what arrives in them was not asked for


class QuietConnector(TCPConnector):
    """A connector whose connections rest for `REST` seconds after a reply, and are closed if unasked data arrived."""

    def __init__(self, *, limit: int, keepalive_timeout: float) -> None:
        super().__init__(limit=limit, keepalive_timeout=keepalive_timeout)
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
