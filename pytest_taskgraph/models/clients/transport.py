"""The HTTP session of live models: one for each event loop, with a size limit on replies.

Both clients use it, so that neither reads more than `LARGEST` bytes of a reply, before or after decompression, and that
no reply of one request is taken for that of another. aiohttp is imported with the first session.
"""

from __future__ import annotations

import asyncio
import zlib
from functools import cache
from typing import TYPE_CHECKING, Any
from weakref import WeakKeyDictionary

if TYPE_CHECKING:
    from aiohttp import ClientSession

LARGEST = 8_000_000  # bytes of a reply
LARGEST_ERROR = 250_000  # bytes of an error's body that are read
ENCODINGS = "gzip, deflate"  # accepted encodings; the expansion of others has no bound

_MEMBERS = 1_000  # of gzip, which may all be empty
_PIECE = 65_536  # bytes that are decompressed at a time
_IDLE = 4.0  # seconds that a connection is kept unused: uvicorn closes it after 5, maybe just as a request is sent
_BLANK = b"\xef\xbb\xbf \t\r\n"  # what may stand before a text of JSON, a mark of UTF-8 included
_SHOWN = 60  # characters of a body that is no JSON, in the message
_sessions: WeakKeyDictionary[asyncio.AbstractEventLoop, ClientSession] = WeakKeyDictionary()


class ReplyTooLargeError(Exception):
    """A reply has more than `LARGEST` bytes; it was not read to its end."""

    def __init__(self) -> None:
        super().__init__(f"the reply is larger than {LARGEST // 1_000_000} MB; no more of it was read")


class UnreadableReplyError(Exception):
    """The content encoding of a reply is unknown or broken, or its content is no JSON."""


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
            connector=QuietConnector(limit=0, keepalive_timeout=_IDLE),
            timeout=ClientTimeout(total=None),
            cookie_jar=DummyCookieJar(),
            auto_decompress=False,
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
        """A response whose content arrives decompressed, and raises an error if it is too large."""

        async def start(self, connection: Any) -> ClientResponse:  # noqa: ANN401 - aiohttp's
            await super().start(connection)
            encoding = super().headers.get("Content-Encoding", "")
            kind = super().headers.get("Content-Type", "")
            self.content = LimitedContent(self.content, encoding, kind, failed=self.status >= 300)  # type: ignore[assignment]
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
        encoding: The content encoding of the response.
        kind: The content type of the response.
        failed: Whether the status of the response is an error: its content may be anything, and is cut, while that of a
            reply raises ReplyTooLargeError.

    Raises:
        UnreadableReplyError: if the content cannot be decompressed, or that of a reply is neither an object nor a list
            of JSON.
    """

    def __init__(self, stream: Any, encoding: str, kind: str, failed: bool) -> None:  # noqa: ANN401 - aiohttp's
        self._stream, self._kind, self._failed = stream, kind, failed
        self._decoder = _decoder(encoding)
        self._most = LARGEST_ERROR if failed else LARGEST
        self._received = self._given = 0
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
        while self._given <= self._most:
            piece = self._decoder.pending()
            if not piece:
                raw = await self._stream.readany()
                self._received += len(raw)
                if self._received > self._most:  # compression may also make a text longer, without an end
                    break
                if not raw:
                    self._decoder.end()
                    self._check_begun(b"", whole=True)
                    return b""
                piece = self._decoder.feed(raw)
            self._check_begun(piece)
            self._given += len(piece)
            if piece and self._given <= self._most:
                return piece
        self._given = self._most + 1
        if not self._failed:
            raise ReplyTooLargeError
        return b""

    def _check_begun(self, piece: bytes, whole: bool = False) -> None:
        """Check the first characters of a reply, once they have arrived."""
        if self._failed or self._begun:
            return
        self._start = (self._start + piece).lstrip(_BLANK)[:_SHOWN]
        self._begun = bool(self._start)
        if (self._begun or whole) and self._start[:1] not in (b"{", b"["):
            raise UnreadableReplyError(f"the reply is no JSON: {describe_body(self._kind, self._start)}")


def describe_body(kind: str, body: bytes) -> str:
    """Return the content type of a response and the first characters of its body, for a message."""
    start = " ".join(body[: 4 * _SHOWN].decode(errors="replace").split())
    shown = f"begins {start[:_SHOWN]!r}" if start else "empty"
    return f"content type {kind.partition(';')[0].strip()[:_SHOWN] or 'not stated'}, {shown}"


class _Plain:
    """Content as it arrives."""

    def feed(self, raw: bytes) -> bytes:
        return raw

    def pending(self) -> bytes:
        return b""

    def end(self) -> None:
        """Accept the end, wherever it is."""


class _Zlib:
    """Content that zlib decompresses, in pieces of a limited size; gzip may have several members."""

    def __init__(self, gzip: bool) -> None:
        self._gzip, self._tail = gzip, b""
        self._members = 1
        self._zlib = zlib.decompressobj(16 + zlib.MAX_WBITS) if gzip else None

    def feed(self, raw: bytes) -> bytes:
        if self._zlib is None:  # "deflate" is zlib's format, or, of some servers, deflate without its header
            self._zlib = zlib.decompressobj(zlib.MAX_WBITS if raw[0] & 0xF == 8 else -zlib.MAX_WBITS)
        self._tail += raw
        return self.pending()

    def pending(self) -> bytes:
        try:
            while self._tail and self._zlib is not None:
                if self._zlib.eof:
                    if not self._gzip:
                        self._tail = b""
                        break
                    self._members += 1
                    if self._members > _MEMBERS:
                        raise UnreadableReplyError(f"the compressed reply has more than {_MEMBERS:,} members")
                    self._zlib = zlib.decompressobj(16 + zlib.MAX_WBITS)
                piece = self._zlib.decompress(self._tail, _PIECE)
                self._tail = self._zlib.unconsumed_tail or self._zlib.unused_data
                if piece:
                    return piece
            return b""
        except zlib.error as error:
            raise UnreadableReplyError(f"the reply cannot be decompressed: {error}") from None

    def end(self) -> None:
        if self._zlib is not None and not self._zlib.eof:
            raise UnreadableReplyError("the compressed reply ends too early")


class _Unknown:
    """Content in an encoding that was not accepted."""

    def __init__(self, encoding: str) -> None:
        self._encoding = encoding

    def feed(self, raw: bytes) -> bytes:
        raise UnreadableReplyError(f"the reply has the content encoding {self._encoding[:40]!r}; accepted: {ENCODINGS}")

    def pending(self) -> bytes:
        return b""

    def end(self) -> None:
        """Accept an empty body."""


def _decoder(encoding: str) -> _Plain | _Zlib | _Unknown:
    name = encoding.strip().lower()
    if name in ("", "identity"):
        return _Plain()
    if name in ("gzip", "x-gzip", "deflate"):
        return _Zlib(gzip=name != "deflate")
    return _Unknown(name)
