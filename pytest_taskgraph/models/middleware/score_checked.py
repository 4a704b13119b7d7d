"""A model that is not asked again to score texts once its endpoint showed that it cannot."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from ...errors import CannotScoreError
from ...trial import Reply, Request
from .layer import Attempt, Layer, WrappingLayer


class ScoreCheckLayer(WrappingLayer):
    """A model to which no score request is sent after the first that its endpoint could not answer.

    Requests with messages and those with a context go to different paths of an API, so each sort is known by itself.
    An endpoint that has answered one of a sort can score: what it then fails at is a matter of that request. What was
    sent before the first reply arrived is not called back. The knowledge is that of this chain, in one process.
    """

    def __init__(self, inner: Layer) -> None:
        super().__init__(inner)
        self._reasons: dict[bool, tuple[str, str]] = {}  # message and kind, by whether the request has messages
        self._able: set[bool] = set()

    @asynccontextmanager
    async def attempt(self, request: Request) -> AsyncIterator[Attempt]:
        """Give an attempt that is not sent if it is known by then that the endpoint cannot score.

        Raises:
            CannotScoreError: if that is known already; nothing is taken then.
        """
        if request.kind != "score":
            async with self.inner.attempt(request) as attempt:
                yield attempt
            return
        self.check(request)
        async with self.inner.attempt(request) as attempt:
            yield _Checked(self, attempt, request)

    def check(self, request: Request) -> None:
        """Raise CannotScoreError, with the reason of the endpoint, if it is known that it cannot answer."""
        if (found := self._reasons.get(bool(request.messages))) is not None:
            message, kind = found
            error = CannotScoreError(message)
            error.kind = kind
            raise error

    def note_reply(self, request: Request) -> None:
        """Remember that the endpoint answers requests of this sort."""
        self._able.add(bool(request.messages))

    def note_failure(self, request: Request, failure: CannotScoreError) -> None:
        """Remember that the endpoint cannot answer requests of this sort, unless it has answered one."""
        sort = bool(request.messages)
        if sort not in self._able:
            self._reasons.setdefault(sort, (failure.message, failure.kind))


class _Checked:
    def __init__(self, layer: ScoreCheckLayer, attempt: Attempt, request: Request) -> None:
        self._layer, self._attempt, self._request = layer, attempt, request

    async def send(self) -> Reply:
        self._layer.check(self._request)  # others may have come back while this one waited for its slot
        try:
            reply = await self._attempt.send()
        except CannotScoreError as failure:
            self._layer.note_failure(self._request, failure)
            raise
        self._layer.note_reply(self._request)
        return reply
