from __future__ import annotations

import asyncio
import sys
import warnings
from collections.abc import Callable

import bounded_process
import pytest
from loopback import BROKEN_JSON, HANG, Loopback, Raw, as_json, closed_port, refuse, reply

from pytest_taskgraph.errors import ProviderError, UsageError
from pytest_taskgraph.models import open_model
from pytest_taskgraph.models.clients import litellm_client as remote
from pytest_taskgraph.models.clients.litellm_client import LiteLLMModel
from pytest_taskgraph.trial import Reply, Request

Ask = Callable[..., Reply]


def test_named_model_reply_has_text_tokens_latency_and_source(server: Loopback, ask: Ask) -> None:
    server.script(reply("Final answer: no", model="any-2024", usage=(12, 5)))
    got = ask("Which?")
    assert (got.text, got.tokens_in, got.tokens_out, got.finish_reason) == ("Final answer: no", 12, 5, "stop")
    assert got.source == "any-2024"
    assert got.latency is not None
    assert 0 < got.latency < 60


def test_named_model_model_without_price_has_unknown_cost(ask: Ask) -> None:
    assert ask().cost is None


def test_named_model_cost_follows_price_list(server: Loopback, ask: Ask) -> None:
    server.script(reply("yes", model="gpt-4o", usage=(1000, 100)))
    assert ask(model="openai/gpt-4o").cost == pytest.approx(1000 * 2.5e-6 + 100 * 1e-5)


def test_named_model_reply_without_usage_has_unknown_cost(server: Loopback, ask: Ask) -> None:
    server.script(reply("yes", model="gpt-4o", usage=None))
    got = ask(model="openai/gpt-4o")
    assert (got.tokens_in, got.tokens_out, got.cost) == (None, None, None)


def test_named_model_body_holds_no_unset_setting(server: Loopback, ask: Ask) -> None:
    ask("Which?")
    assert {**server.requests[0].body, "max_tokens": 1} == {
        "model": "any",
        "messages": [{"role": "user", "content": "Which?"}],
        "max_tokens": 1,  # of a local server alone
    }


def test_named_model_settings_and_tools_arrive_unchanged(server: Loopback, ask: Ask) -> None:
    tool = {"type": "function", "function": {"name": "tasks", "parameters": {"type": "object", "properties": {}}}}
    request = Request([{"role": "user", "content": "Which?"}], tools=[tool], settings={"temperature": 0.5})
    ask(request=request, temperature=0.0, max_tokens=7, seed=3)
    body = server.requests[0].body
    assert set(body) == {"model", "messages", "tools", "temperature", "max_tokens", "seed"}
    assert (body["temperature"], body["max_tokens"], body["seed"], body["tools"]) == (0.5, 7, 3, [tool])
    assert server.requests[0].headers["authorization"] == "Bearer test-key-123456"


def test_named_model_tool_calls_are_plain_dicts(server: Loopback, ask: Ask) -> None:
    call = {"id": "c1", "type": "function", "function": {"name": "tasks", "arguments": '{"of": "Main"}'}}
    server.script(reply(None, finish_reason="tool_calls", message={"tool_calls": [call]}))
    got = ask()
    assert (got.text, got.tool_calls, got.finish_reason) == ("", [call], "tool_calls")


@pytest.mark.parametrize("arrived", [None, ""])
def test_named_model_reply_without_text_is_empty(server: Loopback, ask: Ask, arrived: str | None) -> None:
    server.script(reply(arrived))
    assert ask().text == ""


def test_named_model_refusal_is_reply(server: Loopback, ask: Ask) -> None:
    server.script(reply(None, message={"refusal": "I can't say."}))
    assert ask().text == "I can't say."


def test_named_model_reply_cut_off_has_finish_reason_length(server: Loopback, ask: Ask) -> None:
    server.script(reply("Final ans", finish_reason="length"))
    assert ask().finish_reason == "length"


def test_named_model_reply_is_scrubbed(server: Loopback, ask: Ask) -> None:
    call = {"id": "c\x07", "type": "function", "function": {"name": "f\ud800", "arguments": "{}"}}
    server.script(reply("a\ud800b\x1b[31m\x00c\r\nd", model="m\x1b", message={"tool_calls": [call]}))
    got = ask()
    assert got.text == "a\ufffdb\ufffd[31m\ufffdc\nd"
    assert got.source == "m\ufffd"
    assert (got.tool_calls[0]["id"], got.tool_calls[0]["function"]["name"]) == ("c\ufffd", "f\ufffd")


FAILURES = [
    (refuse(401, "Incorrect API key provided", "invalid_api_key"), "authentication", "Incorrect API key provided"),
    (refuse(403, "Your account may not", None), "authentication", "Your account may not"),
    (refuse(404, "The model `any` does not exist", "model_not_found"), "not-found", "The model `any` does not exist"),
    (refuse(429, "Rate limit reached", "rate_limit_exceeded"), "rate-limit", "Rate limit reached"),
    (refuse(429, "You exceeded your quota", "insufficient_quota"), "rate-limit", "You exceeded your quota"),
    (refuse(500, "The server had an error"), "server", "The server had an error"),
    (refuse(503, "Overloaded"), "server", "Overloaded"),
    (refuse(504, "Upstream took too long"), "timeout", "Upstream took too long"),
    (refuse(400, "temperature is out of range"), "bad-request", "temperature is out of range"),
    (refuse(422, "messages: field required"), "bad-request", "messages: field required"),
    (refuse(402, "Pay first"), "payment", "Pay first"),
    (refuse(400, "Filtered by the content management policy", "content_filter"), "content-filter", "Filtered by"),
    (refuse(400, "maximum context length is 10 tokens", "context_length_exceeded"), "context-too-long", "is 10 tokens"),
    (BROKEN_JSON, "malformed", "Unterminated string"),
    (Raw(body=b""), "malformed", "the reply is no JSON: content type application/json, empty"),
    (Raw(body=b"<html>log in</html>", kind="text/html"), "malformed", ""),
    (Raw(500, b"<html>oops</html>", "text/html"), "server", "oops"),
    (as_json([]), "malformed", ""),
    (as_json(None), "malformed", ""),
    (as_json({"model": "any"}), "malformed", "choices"),
    (as_json({"model": "any", "choices": []}), "malformed", "the reply holds no choices"),
    (as_json({"model": "any", "choices": [{}]}), "malformed", ""),
    (as_json({"model": "any", "choices": [{"message": {"content": 5}}]}), "malformed", ""),
]


@pytest.mark.parametrize(("answer", "kind", "words"), FAILURES)
def test_named_model_failure_has_kind_and_message_of_provider(
    server: Loopback, ask: Ask, capfd: pytest.CaptureFixture[str], answer: Raw, kind: str, words: str
) -> None:
    server.script(answer)
    with pytest.raises(ProviderError) as failed:
        ask()
    assert failed.value.kind == kind
    assert words in str(failed.value)
    assert "\n" not in str(failed.value)
    assert not str(failed.value).startswith(f"{kind}: litellm")
    assert len(server.requests) == 1  # no client asked again on its own
    assert capfd.readouterr() == ("", "")


def test_named_model_closed_port_is_connection_error_naming_host(ask: Ask) -> None:
    port = closed_port()
    with pytest.raises(ProviderError, match=rf"^connection: .*127\.0\.0\.1:{port}") as failed:
        ask(api_base=f"http://127.0.0.1:{port}/v1")
    assert " at 0x" not in str(failed.value)


def test_named_model_server_that_hangs_is_timeout(server: Loopback, ask: Ask) -> None:
    server.script(HANG)
    with pytest.raises(ProviderError, match=r"^timeout: ") as failed:
        ask(timeout=0.2)
    assert failed.value.kind == "timeout"


@pytest.mark.parametrize(("model", "name"), [("openai/any", "OPENAI_API_KEY"), ("anthropic/any", "ANTHROPIC_API_KEY")])
def test_named_model_missing_key_is_authentication_error(
    ask: Ask, monkeypatch: pytest.MonkeyPatch, model: str, name: str
) -> None:
    for variable in ("OPENAI_API_KEY", "OPENAI_ADMIN_KEY", "ANTHROPIC_API_KEY", "ANTHROPIC_AUTH_TOKEN"):
        monkeypatch.delenv(variable, raising=False)
    with pytest.raises(ProviderError, match=name) as failed:
        ask(model=model, api_key=None)
    assert failed.value.kind == "authentication"


def test_named_model_unknown_provider_is_not_found(ask: Ask) -> None:
    with pytest.raises(ProviderError, match=r"^not-found: LLM Provider NOT provided"):
        ask(model="nonesuch/any")


def test_named_model_unencodable_prompt_is_bad_request_and_unsent(server: Loopback, ask: Ask) -> None:
    with pytest.raises(ProviderError, match=r"^bad-request: .*surrogates not allowed"):
        ask("a\ud800b")
    assert server.requests == []


ANTHROPIC = {"type": "error", "error": {"type": "overloaded_error", "message": "Overloaded"}}


@pytest.mark.parametrize(
    ("answer", "kind"),
    [
        (as_json(ANTHROPIC, 529), "server"),
        (as_json(ANTHROPIC, 401), "authentication"),
        (as_json(ANTHROPIC, 429), "rate-limit"),
        (BROKEN_JSON, "malformed"),
        (as_json({}), "malformed"),
        (HANG, "timeout"),
    ],
)
def test_named_model_anthropic_failures_have_same_kinds(server: Loopback, ask: Ask, answer: Raw, kind: str) -> None:
    server.script(answer)
    with pytest.raises(ProviderError) as failed:
        ask(model="anthropic/any", api_base=server.url.removesuffix("/v1"), timeout=0.2 if answer is HANG else 10)
    assert failed.value.kind == kind
    assert len(server.requests) == 1


def test_named_model_anthropic_request_holds_no_openai_settings(server: Loopback, ask: Ask) -> None:
    message = {"id": "m", "type": "message", "role": "assistant", "model": "any", "stop_reason": "end_turn"}
    server.script(
        as_json(
            message | {"content": [{"type": "text", "text": "yes"}], "usage": {"input_tokens": 3, "output_tokens": 1}}
        )
    )
    assert ask(model="anthropic/any", api_base=server.url.removesuffix("/v1"), max_tokens=9).text == "yes"
    assert set(server.requests[0].body) == {"model", "messages", "max_tokens"}


def test_named_model_error_holds_no_key(server: Loopback, ask: Ask, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SOME_API_KEY", "env-secret-987")
    server.script(refuse(401, "bad: test-key-123456, env-secret-987, inner-secret, sk-abc123def456, Bearer xyz.abc/1"))
    with pytest.raises(ProviderError) as failed:
        ask(extra_headers={"Authorization": "inner-secret"})
    assert str(failed.value) == "authentication: bad: [key], [key], [key], [key], [key]"
    assert failed.value.__cause__ is None
    assert failed.value.__context__ is None


def test_named_model_long_message_is_cut(server: Loopback, ask: Ask) -> None:
    server.script(refuse(400, "too\nmany words " * 500))
    with pytest.raises(ProviderError) as failed:
        ask()
    assert len(str(failed.value)) <= len("bad-request: ") + 300
    assert str(failed.value).endswith("…")


@pytest.mark.parametrize("setting", ["model", "messages", "tools", "stream"])
def test_litellm_reserved_setting_is_usage_error(setting: str) -> None:
    with pytest.raises(UsageError, match=setting):
        LiteLLMModel("openai/any", {setting: "x"})


def test_named_model_reply_survives_warnings_as_errors(server: Loopback, ask: Ask) -> None:
    odd = {"tool_calls": [{"id": "c1", "type": "function", "function": {"name": "f", "arguments": "{}"}}]}
    server.script(reply("yes", message=odd), reply("yes", service_tier=5))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert [ask().text, ask().text] == ["yes", "yes"]


def test_litellm_filter_keeps_other_warnings(server: Loopback) -> None:
    async def ask_and_warn() -> None:
        await LiteLLMModel("openai/any", {"api_base": server.url, "api_key": "k"}).answer(
            Request([{"role": "user", "content": "?"}])
        )
        await remote.close()
        warnings.warn("mine", UserWarning, stacklevel=1)

    with warnings.catch_warnings():
        warnings.simplefilter("error")
        with pytest.raises(UserWarning, match="mine"):
            asyncio.run(ask_and_warn())


@pytest.mark.parametrize("name", ["openai/any", "litellm:openai/any"])
def test_named_model_concurrent_requests_in_two_loops_succeed(server: Loopback, name: str) -> None:
    server.answer = lambda prompt: f"to {prompt}"
    model = open_model(name, {"api_base": server.url, "api_key": "test-key-123456"})

    async def twenty() -> list[str]:
        requests = [Request([{"role": "user", "content": str(i)}]) for i in range(20)]
        replies = await asyncio.gather(*(model.answer(request) for request in requests))
        await remote.close()
        return [r.text for r in replies] + [(await model.answer(requests[0])).text]

    async def closed() -> list[str]:
        try:
            return await twenty()
        finally:
            await remote.close()

    expected = [f"to {i}" for i in range(20)] + ["to 0"]
    assert [asyncio.run(closed()), asyncio.run(closed())] == [expected, expected]


@pytest.mark.parametrize("name", ["openai/any", "litellm:openai/any"])
def test_named_model_cancelled_request_stays_cancelled(server: Loopback, name: str) -> None:
    server.script(HANG)
    model = open_model(name, {"api_base": server.url, "api_key": "test-key-123456"})

    async def run() -> None:
        task = asyncio.create_task(model.answer(Request([{"role": "user", "content": "Which?"}])))
        while not server.requests:
            await asyncio.sleep(0.01)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        await remote.close()

    asyncio.run(run())


PROBE = """
import asyncio, gc, sys, threading
import pytest_taskgraph.models as models
model = models.open_model("litellm:openai/any", {"api_base": sys.argv[1], "api_key": "test-key-123456"})
heavy = {"litellm", "openai", "httpx", "aiohttp", "pydantic", "scipy", "networkx"} & set(sys.modules)
assert not heavy, heavy
from pytest_taskgraph.models.clients import litellm_client as remote
from pytest_taskgraph.trial import Request

loop = asyncio.new_event_loop()
thread = threading.Thread(target=loop.run_forever, daemon=True)
thread.start()

async def ask():
    return (await model.answer(Request([{"role": "user", "content": "Which?"}]))).text

asked = [asyncio.run_coroutine_threadsafe(ask(), loop) for _ in range(3)]
remote._litellm()  # at the same time as the loop
print([one.result(60) for one in asked])
asyncio.run_coroutine_threadsafe(remote.close(), loop).result(60)
loop.call_soon_threadsafe(loop.stop)
thread.join()
loop.close()
gc.collect()
"""


def test_litellm_is_imported_silently_by_first_request(server: Loopback) -> None:
    done = bounded_process.run([sys.executable, "-W", "error", "-c", PROBE, server.url])
    assert (done.stdout, done.stderr, done.returncode) == (f"{['Final answer: yes'] * 3}\n", "", 0)


PRELOADED = """
import asyncio, sys, threading
from pytest_taskgraph.models.clients import litellm_client as remote
from pytest_taskgraph.trial import Request
if sys.argv[2] == "fails":
    sys.modules["litellm"] = None  # as if it were not installed
remote.preload()
remote.preload()
asyncio.run(remote.LiteLLMModel("openai/any").ready())
assert remote._litellm.cache_info().currsize == (sys.argv[2] == "works")
assert sum(one.name == "taskgraph-litellm" for one in threading.enumerate()) <= 1

async def ask():
    try:
        model = remote.LiteLLMModel("openai/any", {"api_base": sys.argv[1], "api_key": "test-key-123456"})
        return (await model.answer(Request([{"role": "user", "content": "Which?"}]))).text
    except Exception as error:
        return str(error)
    finally:
        await remote.close()

print(asyncio.run(ask()))
"""


@pytest.mark.parametrize(
    ("import_", "message"),
    [
        pytest.param("works", "Final answer: yes\n", marks=pytest.mark.exhaustive),
        ("fails", "bad-request: import of litellm halted"),
    ],
)
def test_litellm_failed_preload_is_reported_by_first_request(server: Loopback, import_: str, message: str) -> None:
    done = bounded_process.run([sys.executable, "-W", "error", "-c", PRELOADED, server.url, import_])
    assert (done.stderr, done.returncode) == ("", 0)
    assert done.stdout.startswith(message)


def test_litellm_preload_does_not_delay_end_of_process() -> None:
    code = (
        "import asyncio; from pytest_taskgraph.models.clients.litellm_client import *; preload(); asyncio.run(close())"
    )
    done = bounded_process.run([sys.executable, "-c", code])
    assert (done.stdout, done.stderr, done.returncode) == ("", "", 0)
