"""A redirect is reported and not followed: prompt, headers and keys are for the host that the user named."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator

import pytest
from loopback import Loopback, Raw

from pytest_taskgraph.errors import ProviderError
from pytest_taskgraph.models import close, open_model
from pytest_taskgraph.trial import Json, Reply, Request

KEY = "test-key-123456"
CHAT = Request([{"role": "user", "content": "Which?"}])
EMBED = Request(role="embedder", kind="embed", texts=["one", "other"])
DIGITS = b"9" * 6000


@pytest.fixture
def elsewhere() -> Iterator[Loopback]:
    with Loopback() as running:
        yield running


def ask_model(model: str, request: Request = CHAT, **settings: Json) -> Reply:
    async def run() -> Reply:
        try:
            return await open_model(model, {"api_key": KEY, **settings}).answer(request)
        finally:
            await close()

    return asyncio.run(run())


def refused(model: str, request: Request = CHAT, **settings: Json) -> ProviderError:
    with pytest.raises(ProviderError) as caught:
        ask_model(model, request, **settings)
    return caught.value


@pytest.mark.parametrize("request_", [CHAT, EMBED], ids=["chat", "embed"])
@pytest.mark.parametrize("status", [301, 302, 303, 307, 308])
def test_redirect_target_receives_no_request(
    server: Loopback, elsewhere: Loopback, status: int, request_: Request
) -> None:
    path = "/embeddings" if request_.kind == "embed" else "/chat/completions"
    server.script(Raw(status, headers={"Location": elsewhere.url + path}))
    error = refused(f"{server.url}#any", request_, extra_headers={"X-Team": "blue"})
    assert error.kind == "not-found"
    assert str(error).endswith(
        f"the server redirects (HTTP status {status}), which is not followed; "
        f"name that address in --model: {elsewhere.url}"
    )
    assert elsewhere.requests == []
    assert ask_model(f"{elsewhere.url}#any").text == "Final answer: yes"


def test_redirect_to_itself_is_not_followed(server: Loopback) -> None:
    server.answer = Raw(307, headers={"Location": "/v1/chat/completions"})
    error = refused(f"{server.url}#any")
    assert str(error).endswith(f"name that address in --model: {server.url}")
    assert len(server.requests) == 1


@pytest.mark.parametrize(
    ("location", "address"),
    [
        ("https://host/v2/chat/completions?token=abcdefgh#ijklmnop", "https://host/v2"),
        ("https://user:abcdefgh@host/v2/chat/completions", "https://host/v2"),
        ("https://abcdefgh@host/v2", "https://host/v2"),
        (f"https://host/{KEY}/v2", "https://host/[key]/v2"),
        ("//host/login", "http://host/login"),
        ("http://[host/v2", "an address that cannot be read"),
    ],
)
def test_redirect_error_names_address_without_keys(server: Loopback, location: str, address: str) -> None:
    server.script(Raw(302, headers={"Location": location}))
    words = str(refused(f"{server.url}#any"))
    assert words.endswith(f"name that address in --model: {address}")
    assert not any(secret in words for secret in ("abcdefgh", "ijklmnop", KEY))


def test_redirect_error_of_hostile_address_is_one_short_line(server: Loopback) -> None:
    server.script(Raw(302, headers={"Location": "https://host/" + "\x9b31m" * 200}))
    words = str(refused(f"{server.url}#any"))
    assert "name that address in --model: https://host/" in words
    assert len(words) < 330
    assert words.isprintable()


@pytest.mark.parametrize("model", ["openai/any", "{url}#any"])
@pytest.mark.parametrize(
    ("request_", "body"),
    [
        (CHAT, b'{"choices": [{"message": {"content": "yes"}}], "usage": {"prompt_tokens": ' + DIGITS + b"}}"),
        (EMBED, b'{"data": [{"embedding": [' + DIGITS + b"]}]}"),
    ],
    ids=["chat", "embed"],
)
def test_reply_with_number_of_5000_digits_is_malformed(
    server: Loopback, model: str, request_: Request, body: bytes
) -> None:
    server.script(Raw(body=body))
    further: dict[str, Json] = {"api_base": server.url} if model.startswith("openai") else {}
    error = refused(model.format(url=server.url), request_, **further)
    assert error.kind == "malformed"
    assert "has 6000 digits" in str(error)
    assert "sys." not in str(error)
