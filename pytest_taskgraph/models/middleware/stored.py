"""Models that answer from the store: one sends the requests that are missing, one never sends any.

A third takes their place around a model whose replies are not stored.
"""

from __future__ import annotations

import difflib
import textwrap
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import replace
from itertools import islice
from math import floor
from typing import Any

from ...errors import DamagedReplyError, ProviderError, UsageError
from ...redaction import redact, redact_all
from ...trial import Json, Reply, Request
from ..clients.provider_errors import failure_in
from ..request_key import digest, request_entry, request_text, stored_name
from ..store import Store
from .layer import Layer
from .request_counters import RequestCounters

_DIFF = 12  # lines of a difference that are shown
_WIDTH = 120  # characters; a longer line is broken, so that a difference at its end shows


class StoreLayer:
    """A model whose replies are kept: no request is sent twice, in any process, and none that has a stored reply."""

    live = True

    def __init__(self, inner: Layer, store: Store, counters: RequestCounters) -> None:
        self.name, self.settings = inner.name, inner.settings
        self.inner, self._store, self._counters = inner, store, counters

    async def answer(self, request: Request) -> Reply:
        """Return the stored reply, else the inner model's, which is stored before it is returned.

        A reply that cannot be stored is returned nevertheless.

        Raises:
            ProviderError: as the inner model does; "store" if the store cannot be read; the failure that an earlier
                version stored as a reply.
            NotAskedError: as the inner model does.
        """
        entry = request_entry(self.name, self.settings, request)
        key = digest(entry)
        with _store_errors(self._counters):
            reply = await self._store.claim(key)
            if reply is not None:
                self._counters.stored += 1
                return _checked_reply(reply)
            return await self._ask_inner(request, key, entry)

    async def _ask_inner(self, request: Request, key: str, entry: Mapping[str, Any]) -> Reply:
        is_kept = False
        try:
            async with self.inner.attempt(request) as attempt:
                reply = await attempt.send()
                reply = replace(reply, source=stored_name(reply.source))
                with suppress(ProviderError), _store_errors(self._counters):  # what is paid for is used, kept or not
                    await self._store.keep(key, entry, reply)
                    is_kept = True
                return reply
        finally:
            if not is_kept:
                with suppress(UsageError):
                    await self._store.release(key)


class ReplayModel:
    """The stored replies of a model; no request is ever sent."""

    live = True

    def __init__(self, name: str, settings: Mapping[str, Json], store: Store, counters: RequestCounters) -> None:
        self.name, self.settings = name, settings
        self._store, self._counters = store, counters

    async def answer(self, request: Request) -> Reply:
        """Return the stored reply.

        Raises:
            ProviderError: of the kind not-stored, with the difference from the nearest stored request.
        """
        entry = request_entry(self.name, self.settings, request)
        with _store_errors(self._counters):
            reply = await self._store.look(digest(entry))
        if reply is None:
            raise ProviderError("not-stored", self._describe_missing(str(entry["model"]), request_text(entry)))
        self._counters.stored += 1
        return _checked_reply(reply)

    def _describe_missing(self, model: str, request: str) -> str:
        nearest = self._store.nearest(model, request)
        if nearest is None:
            held = ", ".join(self._store.models()) or "no reply at all"
            return f"the store {self._store.path} holds nothing of the model {model}; it holds: {held}"
        stored, likeness = nearest
        likeness = floor(likeness * 1000) / 1000  # no other request is 100 % like this one
        first = f"no stored reply of {model} to this request; the nearest stored one (-) is {likeness:.1%} like it (+):"
        return "\n".join([first, *_shorten(list(_difference(stored, request)))])


def _checked_reply(reply: Reply) -> Reply:
    """Return the stored reply, without the secrets that are known by now.

    Raises:
        ProviderError: if it is a failure, which earlier versions stored.
    """
    if failed := failure_in(reply):
        words = f"{failed.message}; it was stored by an earlier version: ask again"
        raise ProviderError(failed.kind, f"{words} with --taskgraph-refresh")
    text, source = redact(reply.text), stored_name(reply.source)
    changed = replace(
        reply,
        text=text,
        source=source,
        reasoning=redact(reply.reasoning),
        tool_calls=reply.tool_calls and redact_all(reply.tool_calls),
        message_fields=reply.message_fields and redact_all(reply.message_fields),
    )
    return reply if changed == reply else changed


class UnstoredLayer:
    """A model whose replies are not kept, since its answers may change at any time."""

    live = True

    def __init__(self, inner: Layer, counters: RequestCounters) -> None:
        self.name, self.settings = inner.name, inner.settings
        self.inner, self._counters = inner, counters

    async def answer(self, request: Request) -> Reply:
        """Return the inner model's reply.

        Raises:
            ProviderError: as the inner model does; "store" if the ledger cannot be used.
        """
        with _store_errors(self._counters):
            return await self.inner.answer(request)


@contextmanager
def _store_errors(counters: RequestCounters) -> Iterator[None]:
    """Turn an error of the store into an error of the question.

    It is noted in the counters, since further questions would meet it as well, unless it concerns a single reply.
    """
    try:
        yield
    except UsageError as error:
        if not isinstance(error, DamagedReplyError):
            counters.store_error = counters.store_error or ProviderError("store", str(error))
        raise ProviderError("store", str(error)) from None


def _difference(stored: str, request: str) -> Iterator[str]:
    """Yield the lines of a unified difference, without the two lines of file names."""
    return islice(difflib.unified_diff(_lines(stored), _lines(request), n=1, lineterm=""), 2, None)


def _lines(text: str) -> list[str]:
    return [part for line in text.splitlines() for part in textwrap.wrap(line, _WIDTH) or [""]]


def _shorten(lines: list[str]) -> list[str]:
    if not lines:
        return ["they differ in white space alone"]
    return lines if len(lines) <= _DIFF else [*lines[: _DIFF - 1], f"… {len(lines) - _DIFF + 1} more lines"]
