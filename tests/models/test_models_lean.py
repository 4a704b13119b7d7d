from __future__ import annotations

import asyncio
import sys
from typing import Any

import bounded_process
import pytest
from loopback import HANG, Loopback, refuse, reply

from pytest_taskgraph.errors import ProviderError, UsageError
from pytest_taskgraph.models import close, open_model
from pytest_taskgraph.models.clients.openai_compatible import KEY_VARIABLE, LOCAL_MAX_TOKENS, OpenAICompatibleModel
from pytest_taskgraph.trial import Json, Reply, Request

CHAT = Request([{"role": "user", "content": "Which?"}])


@pytest.fixture(autouse=True)
def no_key(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv(KEY_VARIABLE, raising=False)


def ask(spec: str, request: Request = CHAT, **settings: Json) -> Reply:
    async def run() -> Reply:
        try:
            return await open_model(spec, settings).answer(request)
        finally:
            await close()

    return asyncio.run(run())


@pytest.mark.parametrize(
    ("spec", "name"),
    [
        ("http://host:8000/v1#llama", "http://host:8000/v1#llama"),
        ("https://host/v1/#org/model:8b", "https://host/v1#org/model:8b"),
        ("HTTP://Host/v1#A#B", "http://host/v1#A#B"),
        (" http://[::1]:80/v1#m ", "http://[::1]:80/v1#m"),
        ("http://user:pass-word@host/v1#m", "http://host/v1#m"),
        ("http://us%40er:p%23w@host/v1#m", "http://host/v1#m"),
    ],
)
def test_endpoint_name_omits_user_and_password(spec: str, name: str) -> None:
    model = open_model(spec, {"temperature": 0})
    assert isinstance(model, OpenAICompatibleModel)
    assert (model.name, model.settings, model.live) == (
        name,
        {"temperature": 0} | ({"max_tokens": LOCAL_MAX_TOKENS} if model.local else {}),
        True,
    )


@pytest.mark.parametrize(
    "spec",
    [
        "http://host/v1",
        "http://host/v1#",
        "http://host/v1# ",
        "http:///v1#m",
        "http://:8000/v1#m",
        "http://#m",
        "http:host#m",
        "http://host:port/v1#m",
        "http://host:99999/v1#m",
        "http://[::1/v1#m",
        "http://host/v1?key=secret-1234#m",
        "http://user:secret-1234@#m",
        "http://user:secret-1234@host/v1",
    ],
)
def test_endpoint_without_model_or_host_is_usage_error(spec: str) -> None:
    with pytest.raises(UsageError, match=r"expected http://host/v1#name") as wrong:
        open_model(spec, {})
    assert "secret-1234" not in str(wrong.value)


@pytest.mark.parametrize(
    ("setting", "value"),
    [
        *((name, "x") for name in ("model", "messages", "input", "tools", "stream")),
        *((name, "x") for name in ("api_base", "base_url", "max_retries", "num_retries")),
        ("extra_headers", "x"),
        ("extra_body", ["x"]),
    ],
)
def test_endpoint_reserved_setting_is_usage_error(setting: str, value: Json) -> None:
    with pytest.raises(UsageError, match=setting):
        open_model("http://host/v1#m", {setting: value})


def test_endpoint_reserved_field_of_extra_body_is_usage_error() -> None:
    with pytest.raises(UsageError, match="'stream' cannot be set"):
        open_model("http://host/v1#m", {"extra_body": {"stream": True}})


def test_endpoint_body_holds_no_unset_setting(server: Loopback) -> None:
    ask(f"{server.url}#org/any")
    assert server.requests[0].path == "/v1/chat/completions"
    assert server.requests[0].body == {
        "model": "org/any",
        "messages": [{"role": "user", "content": "Which?"}],
        "max_tokens": LOCAL_MAX_TOKENS,
    }
    assert "authorization" not in server.requests[0].headers
    assert "cookie" not in server.requests[0].headers


def test_endpoint_settings_are_sent_unchanged(server: Loopback) -> None:
    ask(f"{server.url}#any", temperature=0, top_k=5, extra_body={"guided_choice": ["yes", "no"]}, timeout=60)
    body = server.requests[0].body
    assert {k: v for k, v in body.items() if k not in ("model", "messages")} == {
        "temperature": 0,
        "top_k": 5,
        "guided_choice": ["yes", "no"],
        "max_tokens": LOCAL_MAX_TOKENS,
    }


@pytest.mark.parametrize(
    ("host", "local"),
    [
        ("127.0.0.1:8080", True), ("[::1]", True), ("localhost", True), ("192.168.1.7:1", True), ("10.0.0.2", True),
        ("8.8.8.8", False), ("models.example", False), ("user:pass@172.16.0.1", True),
    ],
)  # fmt: skip
def test_endpoint_of_this_machine_or_a_private_network_is_local(host: str, local: bool) -> None:
    model = open_model(f"http://{host}/v1#m", {})
    assert isinstance(model, OpenAICompatibleModel)
    assert (model.local, model.limited, model.settings.get("max_tokens")) == (
        (True, True, LOCAL_MAX_TOKENS) if local else (False, False, None)
    )


@pytest.mark.parametrize("name", ["max_tokens", "max_completion_tokens"])
def test_endpoint_stated_limit_replaces_that_of_local_servers(server: Loopback, name: str) -> None:
    settings: dict[str, Any] = {name: 7}
    ask(f"{server.url}#any", **settings)
    assert {k: v for k, v in server.requests[0].body.items() if "tokens" in k} == {name: 7}


def test_endpoint_embed_request_goes_to_embeddings(server: Loopback) -> None:
    with pytest.raises(ProviderError, match="malformed"):
        ask(f"{server.url}#any", Request(kind="embed", texts=["a"]))
    assert server.requests[0].path == "/v1/embeddings"
    assert server.requests[0].body == {"model": "any", "input": ["a"]}


def test_endpoint_key_of_settings_then_address_then_variable(server: Loopback, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "for-openai-alone")
    with_user = server.url.replace("//", "//us%40er:pass@")
    ask(f"{server.url}#any")
    monkeypatch.setenv(KEY_VARIABLE, "variable")
    ask(f"{server.url}#any")
    ask(f"{with_user}#any")
    ask(f"{with_user}#any", api_key="setting")
    ask(f"{with_user}#any", api_key="setting", extra_headers={"authorization": "Own scheme", "X-Number": 3})
    sent = [request.headers.get("authorization") for request in server.requests]
    assert sent == [None, "Bearer variable", "Basic dXNAZXI6cGFzcw==", "Bearer setting", "Own scheme"]
    assert server.requests[-1].headers["x-number"] == "3"


def test_endpoint_error_holds_no_key(server: Loopback, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(KEY_VARIABLE, "variable-987")
    server.script(refuse(401, "bad: setting-123, variable-987, inner-456, pass-word, dXM6cGFzcy13b3Jk, Bearer x.y/1"))
    url = server.url.replace("//", "//us:pass-word@")
    with pytest.raises(ProviderError) as failed:
        ask(f"{url}#any", api_key="setting-123", extra_headers={"X-Api-Key": "inner-456"})
    assert str(failed.value) == "authentication: bad: [key], [key], [key], [key], [key], [key]"
    assert failed.value.__cause__ is None
    assert failed.value.__context__ is None


def test_endpoint_reply_has_latency_and_source_without_cost(server: Loopback) -> None:
    server.script(reply("yes", model="any-2024\x1b"))
    got = ask(f"{server.url}#any")
    assert (got.source, got.cost) == ("any-2024\ufffd", None)
    assert got.latency is not None
    assert 0 < got.latency < 60


def test_endpoint_tool_call_without_id_is_numbered(server: Loopback) -> None:
    call = {"type": "function", "function": {"name": "f", "arguments": "{}"}}
    server.script(reply(None, message={"tool_calls": [call, call]}))
    assert [call["id"] for call in ask(f"{server.url}#any").tool_calls] == ["call_0", "call_1"]


def test_endpoint_that_hangs_is_timeout_after_setting(server: Loopback) -> None:
    server.script(HANG)
    with pytest.raises(ProviderError) as failed:
        ask(f"{server.url}#any", timeout=0.2)
    assert failed.value.kind == "timeout"


@pytest.mark.parametrize("timeout", [-1, "soon", True])
def test_endpoint_invalid_timeout_is_usage_error_when_opened(timeout: Json) -> None:
    with pytest.raises(UsageError, match="'timeout'"):
        open_model("http://host/v1#m", {"timeout": timeout})


def test_endpoint_concurrent_requests_in_consecutive_loops_succeed(server: Loopback) -> None:
    server.answer = lambda prompt: f"to {prompt}"
    model = open_model(f"{server.url}#any", {})

    async def ask_together(count: int) -> list[str]:
        requests = [Request([{"role": "user", "content": str(i)}]) for i in range(count)]
        return [r.text for r in await asyncio.gather(*map(model.answer, requests))]

    async def run() -> list[str]:
        try:
            first = await ask_together(20)
            await close()
            return first + await ask_together(1)  # more can be asked after all was closed
        finally:
            await close()

    expected = [f"to {i}" for i in range(20)] + ["to 0"]
    assert [asyncio.run(run()), asyncio.run(run())] == [expected, expected]


def test_endpoint_cancelled_request_stays_cancelled(server: Loopback) -> None:
    server.script(HANG)
    model = open_model(f"{server.url}#any", {})

    async def run() -> None:
        task = asyncio.create_task(model.answer(CHAT))
        while not server.requests:
            await asyncio.sleep(0.01)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        await close()

    asyncio.run(run())


def test_endpoint_proxy_of_environment_is_used_except_loopback(
    server: Loopback, monkeypatch: pytest.MonkeyPatch
) -> None:
    with Loopback("by proxy") as proxy:
        monkeypatch.setenv("http_proxy", proxy.url.removesuffix("/v1"))
        monkeypatch.setenv("no_proxy", "direct.invalid")
        assert ask(f"{server.url}#any").text == "Final answer: yes"
        assert ask("http://elsewhere.invalid/v1#any").text == "by proxy"
        assert proxy.requests[0].path == "http://elsewhere.invalid/v1/chat/completions"
        with pytest.raises(ProviderError, match=r"^connection: .*direct\.invalid"):
            ask("http://direct.invalid/v1#any")


PROBE = """
import asyncio, gc, sys
import pytest_taskgraph.models as models
from pytest_taskgraph.trial import Request
model = models.open_model(sys.argv[1] + "#any", {})
asyncio.run(models.close())
heavy = {"litellm", "openai", "httpx", "aiohttp", "pydantic"} & set(sys.modules)
assert not heavy, heavy

async def ask(request):
    try:
        return (await model.answer(request)).text
    except Exception as error:
        return str(error)
    finally:
        await models.close()

print(asyncio.run(ask(Request([{"role": "user", "content": "Which?"}]))))
print(asyncio.run(ask(Request([{"role": "user", "content": "Which?"}]))))
heavy = {"litellm", "openai", "httpx", "pydantic"} & set(sys.modules)
assert not heavy, heavy
gc.collect()
"""


def test_endpoint_imports_no_litellm_and_closes_connections(server: Loopback) -> None:
    server.script("yes", refuse(500, "broken"))
    done = bounded_process.run([sys.executable, "-W", "error", "-c", PROBE, server.url])
    assert (done.stdout, done.stderr, done.returncode) == ("yes\nserver: broken\n", "", 0)
