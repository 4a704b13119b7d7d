"""The layer that stops sending score requests once an endpoint showed that it cannot answer them."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from ...errors import CannotScoreError
from ...trial import Reply, Request
from .layer import Attempt, Layer, WrappingLayer


class ScoreCheckLayer(WrappingLayer):
    """A layer that sends no score request after the first that the endpoint could not answer.

    Requests with messages and those with a context go to different paths of an API, so each kind is remembered by
    itself. An endpoint that has answered one of a kind can score: a later failure concerns that request only. Requests
    sent before the first reply are not cancelled. The memory is that of this chain, in one process.
    """

    def __init__(self, inner: Layer) -> None:
        super().__init__(inner)
        self._reasons: dict[bool, CannotScoreError] = {}  # by whether the request has messages
        self._able: set[bool] = set()

    @asynccontextmanager
    async def attempt(self, request: Request) -> AsyncIterator[Attempt]:
        """Yield an attempt that is not sent if the endpoint is known by then to be unable to score.

        Raises:
            CannotScoreError: if that is known already; nothing is taken then.
        """
        if request.kind != "score":
            async with self.inner.attempt(request) as attempt:
                yield attempt
            return
        self.check(request)
        async with self.inner.attempt(request) as attempt:
            yield _CheckedAttempt(self, attempt, request)

    def check(self, request: Request) -> None:
        """Raise CannotScoreError, with the endpoint's reason, if the endpoint is known to be unable to answer."""
        if (reason := self._reasons.get(bool(request.messages))) is not None:
            raise unsent(reason)

    def note_reply(self, request: Request) -> None:
        """Remember that the endpoint answers score requests of this kind."""
        self._able.add(bool(request.messages))

    def note_failure(self, request: Request, failure: CannotScoreError) -> None:
        """Remember that the endpoint cannot answer score requests of this kind, unless it has answered one."""
        sort = bool(request.messages)
        if sort not in self._able:
            self._reasons.setdefault(sort, unsent(failure))


def unsent(failure: CannotScoreError) -> CannotScoreError:
    """Return the error of a request that is not sent for the reason of an earlier failure, without its traceback."""
    error = CannotScoreError(failure.message)
    error.kind = failure.kind
    return error


class _CheckedAttempt:
    def __init__(self, layer: ScoreCheckLayer, attempt: Attempt, request: Request) -> None:
        self._layer, self._attempt, self._request = layer, attempt, request

    async def send(self) -> Reply:
        self._layer.check(self._request)  # other replies may have arrived while this attempt waited for its slot
        try:
            reply = await self._attempt.send()
        except CannotScoreError as failure:
            self._layer.note_failure(self._request, failure)
            raise
        self._layer.note_reply(self._request)
        return reply
