"""The interface between the layers of a chain: a model around a model, which is asked in attempts.

To enter an attempt takes what it needs, such as a part of the budget and a place among those in flight; to send it asks
the model. All that was taken is held until the context of the attempt ends, so an outer layer can keep a reply before
anything is sent in its place.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import AsyncIterator, Mapping
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from typing import Protocol

from ...asking import Model
from ...trial import Json, Reply, Request


class LiveModel(Model, Protocol):
    """A model at a provider, or a layer around one; `settings` may hold keys."""

    settings: Mapping[str, Json]


class Attempt(Protocol):
    """An attempt at a request that can be sent now, once."""

    async def send(self) -> Reply:
        """Return the reply. Raises what `Model.answer` raises."""
        ...


class Layer(ABC):
    """A model around another one, in which layers state in `attempt` what they add to asking it.

    Attributes:
        name, settings: those of the model inside.
    """

    live = True
    name: str
    settings: Mapping[str, Json]

    @abstractmethod
    def attempt(self, request: Request) -> AbstractAsyncContextManager[Attempt]:
        """Take what one attempt at the request needs, and give it back when the context ends.

        Raises what says that no attempt can be made; nothing was sent then.
        """

    @abstractmethod
    async def ready(self) -> None:
        """Wait until the client can send: what it imports at its first request takes no time of an attempt."""

    async def answer(self, request: Request) -> Reply:
        """Return the reply to one attempt. Raises what taking and sending it raise."""
        async with self.attempt(request) as attempt:
            return await attempt.send()


class ClientLayer(Layer):
    """The innermost layer: each attempt is a request to the client."""

    def __init__(self, client: LiveModel) -> None:
        self.name, self.settings = client.name, client.settings
        self._client = client

    @asynccontextmanager
    async def attempt(self, request: Request) -> AsyncIterator[Attempt]:
        """Give an attempt that asks the client."""
        yield _Call(self._client, request)

    async def ready(self) -> None:
        """Wait for the client, if it takes time to get ready."""
        if (ready := getattr(self._client, "ready", None)) is not None:
            await ready()


class WrappingLayer(Layer):
    """A layer around another one, `inner`."""

    def __init__(self, inner: Layer) -> None:
        self.name, self.settings, self.inner = inner.name, inner.settings, inner

    async def ready(self) -> None:
        """Wait for the client."""
        await self.inner.ready()


class _Call:
    def __init__(self, client: LiveModel, request: Request) -> None:
        self._client, self._request = client, request

    async def send(self) -> Reply:
        return await self._client.answer(self._request)
