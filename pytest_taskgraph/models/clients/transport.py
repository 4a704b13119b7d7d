"""The HTTP session of live models: one for each event loop, with a size limit on replies.

Both clients use it, so that neither reads more than `LARGEST` bytes of a reply, decompressed by aiohttp, and that no
reply of one request is taken for that of another. aiohttp is imported with the first session.
"""

from __future__ import annotations

import asyncio
from functools import cache
from typing import TYPE_CHECKING, Any
from weakref import WeakKeyDictionary

if TYPE_CHECKING:
    from aiohttp import ClientSession

LARGEST = 8_000_000  # bytes of a reply
LARGEST_ERROR = 250_000  # bytes of an error's body that are read
ENCODINGS = "gzip, deflate"  # accepted encodings; aiohttp before 3.14 expands others without a bound

_IDLE = 4.0  # seconds that a connection is kept unused: uvicorn closes it after 5, maybe just as a request is sent
_BLANK = b"\xef\xbb\xbf \t\r\n"  # what may stand before a text of JSON, a mark of UTF-8 included
_SHOWN = 60  # characters of a body that is no JSON, in the message
_sessions: WeakKeyDictionary[asyncio.AbstractEventLoop, ClientSession] = WeakKeyDictionary()


class ReplyTooLargeError(Exception):
    """A reply has more than `LARGEST` bytes; it was not read to its end."""

    def __init__(self) -> None:
        super().__init__(f"the reply is larger than {LARGEST // 1_000_000} MB; no more of it was read")


class UnreadableReplyError(Exception):
    """The content of a reply is no JSON."""


def session() -> ClientSession:
    """Return the session of the running event loop, without a limit of connections or of time."""
    loop = asyncio.get_running_loop()
    client = _sessions.get(loop)
    if client is None or client.closed:
        from aiohttp import ClientSession, ClientTimeout, DummyCookieJar, TraceConfig

        from .quiet_connections import QuietConnector

        trace = TraceConfig()
        trace.on_request_start.append(_accept_bounded_encodings)
        client = ClientSession(
            connector=QuietConnector(limit=0, keepalive_timeout=_IDLE, largest=LARGEST),
            timeout=ClientTimeout(total=None),
            cookie_jar=DummyCookieJar(),
            response_class=_response_class(),
            trace_configs=[trace],
        )
        _sessions[loop] = client
    return client


async def close() -> None:
    """Close the connections that requests left open in the running event loop; further requests may follow."""
    client = _sessions.pop(asyncio.get_running_loop(), None)
    if client is not None:
        await client.close()
        await asyncio.sleep(0)  # the transports are closed in the next turn of the loop


async def _accept_bounded_encodings(session: object, context: object, request: Any) -> None:  # noqa: ANN401 - aiohttp's
    request.headers["Accept-Encoding"] = ENCODINGS


@cache
def _response_class() -> type[Any]:
    from aiohttp import ClientResponse
    from multidict import CIMultiDict, CIMultiDictProxy

    class LimitedResponse(ClientResponse):
        """A response whose content raises an error if it is too large."""

        async def start(self, connection: Any) -> ClientResponse:  # noqa: ANN401 - aiohttp's
            await super().start(connection)
            kind = super().headers.get("Content-Type", "")
            self.content = LimitedContent(self.content, kind, failed=self.status >= 300)  # type: ignore[assignment]
            return self

        @property
        def headers(self) -> CIMultiDictProxy[str]:
            """Return the headers that apply to the decompressed content."""
            left = CIMultiDict(super().headers)
            left.popall("Content-Encoding", None)
            return CIMultiDictProxy(left)

    return LimitedResponse


class LimitedContent:
    """The content of a response, in place of aiohttp's stream.

    Args:
        stream: aiohttp's stream.
        kind: The content type of the response.
        failed: Whether the status of the response is an error: its content may be anything, and is cut, while that of a
            reply raises ReplyTooLargeError.

    Raises:
        UnreadableReplyError: if the content of a reply is neither an object nor a list of JSON.
    """

    def __init__(self, stream: Any, kind: str, failed: bool) -> None:  # noqa: ANN401 - aiohttp's
        self._stream, self._kind, self._failed = stream, kind, failed
        self._left = LARGEST_ERROR if failed else LARGEST
        self._begun, self._start = False, b""

    def __getattr__(self, name: str) -> Any:  # noqa: ANN401 - aiohttp's
        return getattr(self._stream, name)

    async def read(self, n: int = -1) -> bytes:
        """Return the next piece of the content, or the rest of it for `n` < 0; empty at its end."""
        if n >= 0:
            return await self._piece()
        pieces = []
        while piece := await self._piece():
            pieces.append(piece)
        return b"".join(pieces)

    async def iter_chunked(self, n: int) -> Any:  # noqa: ANN401 - an asynchronous iterator of bytes
        """Yield the content piece by piece."""
        while piece := await self._piece():
            yield piece

    async def _piece(self) -> bytes:
        piece: bytes = await self._stream.readany() if self._left >= 0 else b""
        self._check_begun(piece)
        self._left -= len(piece)
        if self._left >= 0:
            return piece
        if not self._failed:
            raise ReplyTooLargeError
        return b""

    def _check_begun(self, piece: bytes) -> None:
        """Check the first characters of a reply, once they have arrived; an empty piece is the end."""
        if self._failed or self._begun:
            return
        self._start = (self._start + piece).lstrip(_BLANK)[:_SHOWN]
        self._begun = bool(self._start)
        if (self._begun or not piece) and self._start[:1] not in (b"{", b"["):
            raise UnreadableReplyError(f"the reply is no JSON: {describe_body(self._kind, self._start)}")


def describe_body(kind: str, body: bytes) -> str:
    """Return the content type of a response and the first characters of its body, for a message."""
    start = " ".join(body[: 4 * _SHOWN].decode(errors="replace").split())
    shown = f"begins {start[:_SHOWN]!r}" if start else "empty"
    return f"content type {kind.partition(';')[0].strip()[:_SHOWN] or 'not stated'}, {shown}"
