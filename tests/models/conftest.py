from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator

import pytest
from loopback import Loopback

from pytest_taskgraph.models.clients import litellm_client as remote
from pytest_taskgraph.models.clients.litellm_client import LiteLLMModel
from pytest_taskgraph.trial import Json, Reply, Request

Ask = Callable[..., Reply]


@pytest.fixture
def server() -> Iterator[Loopback]:
    with Loopback() as running:
        yield running


@pytest.fixture
def ask(server: Loopback) -> Ask:
    """Asks one question of the server through litellm; settings are those of the model."""

    def ask_model(
        prompt: str = "Which?", *, model: str = "openai/any", request: Request | None = None, **settings: Json
    ) -> Reply:
        async def run() -> Reply:
            client = LiteLLMModel(model, {"api_base": server.url, "api_key": "test-key-123456", **settings})
            try:
                return await client.answer(request or Request([{"role": "user", "content": prompt}]))
            finally:
                await remote.close()

        return asyncio.run(run())

    return ask_model
