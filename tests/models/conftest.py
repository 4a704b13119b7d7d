from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator

import pytest
from loopback import Loopback

from pytest_taskgraph.models import close, open_model
from pytest_taskgraph.trial import Json, Reply, Request

Ask = Callable[..., Reply]


@pytest.fixture
def server() -> Iterator[Loopback]:
    with Loopback() as running:
        yield running


@pytest.fixture(params=["litellm:", ""], ids=["litellm", "direct"])
def ask(server: Loopback, request: pytest.FixtureRequest) -> Ask:
    """Asks one question of the server by a litellm name, through litellm or not; settings are those of the model."""
    scheme = request.param

    def ask_model(
        prompt: str = "Which?", *, model: str = "openai/any", request: Request | None = None, **settings: Json
    ) -> Reply:
        async def run() -> Reply:
            own: dict[str, Json] = {"api_base": server.url, "api_key": "test-key-123456", **settings}
            client = open_model(f"{scheme}{model}", own)
            try:
                return await client.answer(request or Request([{"role": "user", "content": prompt}]))
            finally:
                await close()

        return asyncio.run(run())

    return ask_model
