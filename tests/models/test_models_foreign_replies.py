"""No reply to one request is taken for the reply to another, though the server sends some of them twice."""

from __future__ import annotations

import asyncio
from dataclasses import replace

import pytest
from loopback import Loopback, Raw, reply

from pytest_taskgraph.models import close, open_model
from pytest_taskgraph.trial import Json, Request

CLIENTS = ("{url}#any", "litellm:openai/any")
QUIET_CONNECTIONS = "pytest_taskgraph.models.clients.quiet_connections"  # by name, for it brings aiohttp


def answer_twice(prompt: str) -> Raw:
    """A reply that holds the prompt, and that arrives once more, unasked."""
    return replace(reply(f"To {prompt}"), again=True)


async def texts(server: Loopback, model: str, prompts: list[str], in_flight: int, between: bool = False) -> list[str]:
    """The replies to these prompts, so many at a time; `between` sends what is sent again before the next request."""
    settings: dict[str, Json] = {"api_key": "test-key-123456"}
    settings |= {} if "#" in model else {"api_base": server.url}
    opened, slots = open_model(model.format(url=server.url), settings), asyncio.Semaphore(in_flight)

    async def ask(prompt: str) -> str:
        async with slots:
            if between:
                server.send_again()
            return (await opened.answer(Request([{"role": "user", "content": prompt}]))).text

    try:
        return await asyncio.gather(*map(ask, prompts))
    finally:
        await close()


@pytest.mark.parametrize("in_flight", [1, 8])
@pytest.mark.parametrize("model", CLIENTS)
def test_reply_sent_again_at_next_request_is_no_answer_to_it(
    server: Loopback, model: str, in_flight: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(f"{QUIET_CONNECTIONS}.REST", 60.0)  # a slow machine may take longer than a rest for a request
    server.answer = answer_twice
    prompts = [f"question {number}" for number in range(24)]
    assert asyncio.run(texts(server, model, prompts, in_flight)) == [f"To {prompt}" for prompt in prompts]


@pytest.mark.parametrize("model", CLIENTS)
def test_connection_with_unasked_data_is_not_used_again(
    server: Loopback, model: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(f"{QUIET_CONNECTIONS}.REST", 0.0)  # what has arrived is found without a rest, too
    server.answer = answer_twice
    prompts = [f"question {number}" for number in range(6)]
    assert asyncio.run(texts(server, model, prompts, 1, between=True)) == [f"To {prompt}" for prompt in prompts]


@pytest.mark.parametrize("model", CLIENTS)
def test_quiet_connection_is_used_again(server: Loopback, model: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(f"{QUIET_CONNECTIONS}.REST", 0.0)
    asyncio.run(texts(server, model, ["one", "two", "three"], 1))
    assert server.connections == 1
