"""The layer that scores several texts one by one where the endpoint refuses several prompts in one request."""

from __future__ import annotations

import re
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import replace

from ...errors import CannotScoreError, ProviderError
from ...trial import Reply, Request
from ..clients.text_scores import join_replies
from .layer import Attempt, WrappingLayer
from .request_counters import UNSCORED, RequestCounters
from .retries import RetryLayer

# How servers refuse a list of prompts: with HTTP 500, 400 or 422, or with one choice for all of them.
_REFUSALS = frozenset({"server", "bad-request", "malformed"})
# The message of an error whose body has none. What a server does say about a single text is the user's to read.
_WITHOUT_WORDS = re.compile(r"HTTP status (?:400|422|500)\b")


class SingleTextLayer(WrappingLayer):
    """A layer that sends each text behind a context in a request of its own once the endpoint refused several.

    The first failure of a request with several texts is final, so its single texts are sent at once, without a pause.
    An endpoint that has answered several texts in one request takes them: a later failure is retried like any other.
    The texts of one request are sent one after the other; each is an attempt of its own for the inner layers. The
    memory is that of this chain, in one process.

    Args:
        inner: The layer that repeats attempts.
        counters: The counters, which get a remark on the endpoint.
    """

    def __init__(self, inner: RetryLayer, counters: RequestCounters) -> None:
        super().__init__(inner)
        inner.is_final = self.may_be_refusal
        self._counters = counters
        self.takes_several: bool | None = None  # None: not known yet; False after single texts were answered instead

    @asynccontextmanager
    async def attempt(self, request: Request) -> AsyncIterator[Attempt]:
        """Yield an attempt that holds what its last request took until the context ends."""
        if not _has_several(request):
            async with self.inner.attempt(request) as attempt:
                yield attempt
            return
        async with AsyncExitStack() as held:
            yield _SeveralTexts(self, request, held)

    def may_be_refusal(self, request: Request, error: ProviderError) -> bool:
        """Return True if the error may mean that the endpoint takes only one text in a request."""
        return not self.takes_several and _has_several(request) and error.kind in _REFUSALS

    def note_refusal(self, error: ProviderError) -> None:
        """Remember that the endpoint answers single texts, after an error in reply to several ones."""
        self.takes_several = False
        self._counters.add_remark(
            f"each text is sent to {self.name} in a request of its own, since it refuses several in one ({error})"
        )

    def unable(self, several: ProviderError, single: ProviderError) -> CannotScoreError:
        """Return the error for an endpoint that refuses several texts, and then a single one."""
        failed = f"the model {self.name} cannot score texts"
        why = f"it refuses several in one request ({several}), and a single one ({single})"
        self._counters.add_remark(f"{failed} {UNSCORED}: {why}")
        return CannotScoreError(f"{failed}: {why}")


def _has_several(request: Request) -> bool:
    return request.kind == "score" and not request.messages and len(request.texts) > 1


class _SeveralTexts:
    """An attempt at a request with several texts."""

    def __init__(self, layer: SingleTextLayer, request: Request, held: AsyncExitStack) -> None:
        self._layer, self._request, self._held = layer, request, held

    async def send(self) -> Reply:
        """Return the reply, or one that adds up those to the single texts.

        Raises:
            CannotScoreError: if the endpoint refuses single texts as well, and says nothing about it.
            ProviderError: as the inner layer does.
        """
        if self._layer.takes_several is False:
            return await self._send_singles(None)
        try:
            attempt = await self._held.enter_async_context(self._layer.inner.attempt(self._request))
            reply = await attempt.send()
        except ProviderError as error:
            if not self._layer.may_be_refusal(self._request, error):
                raise
            refusal = error
        else:
            self._layer.takes_several = True
            return reply
        await self._held.aclose()
        return await self._send_singles(refusal)

    async def _send_singles(self, refusal: ProviderError | None) -> Reply:
        """Send each text by itself; `refusal` is the error in reply to all of them, if they were sent."""
        replies: list[Reply] = []
        for text in self._request.texts:
            single = replace(self._request, texts=[text], right=None, wrong=None)
            await self._held.aclose()  # a request in flight gives back what it took before the next is sent
            try:
                attempt = await self._held.enter_async_context(self._layer.inner.attempt(single))
                replies.append(await attempt.send())
            except ProviderError as error:
                if refusal is None or replies or not _WITHOUT_WORDS.match(error.message):
                    raise
                raise self._layer.unable(refusal, error) from None
            if refusal is not None:
                self._layer.note_refusal(refusal)
        return join_replies(replies)
