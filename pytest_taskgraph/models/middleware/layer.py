"""The interface between the layers of a chain: a model around a model, which sends requests in attempts.

Entering an attempt takes what it needs, such as a part of the budget and a place among the requests in flight; sending
it asks the model. Everything taken is held until the context of the attempt ends, so an outer layer can keep a reply
before another request takes its place.
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
    """An attempt at a request, which can be sent once."""

    async def send(self) -> Reply:
        """Return the reply.

        Raises:
            ProviderError: as `Model.answer` does.
            NotAskedError: as `Model.answer` does.
        """
        ...


class Layer(ABC):
    """A model around another one; the method `attempt` states what the layer adds to a request.

    Attributes:
        name: The name of the model inside.
        settings: The settings of the model inside.
    """

    live = True
    name: str
    settings: Mapping[str, Json]

    @abstractmethod
    def attempt(self, request: Request) -> AbstractAsyncContextManager[Attempt]:
        """Take what one attempt at the request needs, and give it back when the context ends.

        Raises an error if no attempt can be made; nothing was sent then.
        """

    @abstractmethod
    async def ready(self) -> None:
        """Wait until the client can send, so that the imports of its first request take no time of an attempt."""

    async def answer(self, request: Request) -> Reply:
        """Return the reply to one attempt. Raises the errors of entering and sending it."""
        async with self.attempt(request) as attempt:
            return await attempt.send()


class ClientLayer(Layer):
    """The innermost layer: each attempt is a request to the client."""

    def __init__(self, client: LiveModel) -> None:
        self.name, self.settings = client.name, client.settings
        self._client = client

    @asynccontextmanager
    async def attempt(self, request: Request) -> AsyncIterator[Attempt]:
        """Yield an attempt that sends the request to the client."""
        yield _ClientAttempt(self._client, request)

    async def ready(self) -> None:
        """Wait for the client, if it needs time to get ready."""
        if (ready := getattr(self._client, "ready", None)) is not None:
            await ready()


class WrappingLayer(Layer):
    """A layer around another layer, `inner`."""

    def __init__(self, inner: Layer) -> None:
        self.name, self.settings, self.inner = inner.name, inner.settings, inner

    async def ready(self) -> None:
        """Wait until the client can send."""
        await self.inner.ready()


class _ClientAttempt:
    def __init__(self, client: LiveModel, request: Request) -> None:
        self._client, self._request = client, request

    async def send(self) -> Reply:
        return await self._client.answer(self._request)
