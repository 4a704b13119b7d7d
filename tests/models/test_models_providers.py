"""Providers of the OpenAI protocol receive without litellm what the documentation states, from their variables."""

from __future__ import annotations

import asyncio
import copy
import json
import sys
from itertools import product
from pathlib import Path

import bounded_process
import pytest
from loopback import Loopback, Raw, Received, as_json, echoed, refuse, reply

from pytest_taskgraph.errors import ProviderError, UnsentError, UsageError
from pytest_taskgraph.models import close, open_model
from pytest_taskgraph.models.clients.litellm_client import LiteLLMModel
from pytest_taskgraph.models.clients.openai_compatible import LOCAL_MAX_TOKENS, OpenAICompatibleModel
from pytest_taskgraph.models.clients.providers import PROVIDERS
from pytest_taskgraph.models.prices import price_of, token_cost
from pytest_taskgraph.models.request_key import request_key
from pytest_taskgraph.trial import Json, Reply, Request

KEY = "test-key-123456"
CHAT = Request([{"role": "user", "content": "Which?"}])
SYSTEM = Request([{"role": "system", "content": "Be brief."}, *CHAT.messages])
EMBED = Request(role="embedder", kind="embed", texts=["one", "other"])
YES_NO = Request(CHAT.messages, kind="score", texts=["Yes", "No"])
QUERY = Request(kind="score", context="Boil water. Then", texts=[" add rice.", " sleep."])
PARAMETERS = {"type": "object", "properties": {"of": {"type": "string"}}, "required": ["of"]}
TOOL = {"type": "function", "function": {"name": "tasks", "description": "Lists.", "parameters": PARAMETERS}}
CALL = {"id": "c1", "type": "function", "function": {"name": "tasks", "arguments": '{"of": "Main"}'}}
BLOCKS = [{"type": "thinking", "thinking": "First.", "signature": "c2ln"}]
MODELS = {
    "openai": "any",
    "openrouter": "anthropic/any",
    "groq": "any",
    "together_ai": "meta/any",
    "deepseek": "any",
    "mistral": "any",
    "fireworks_ai": "any",
    "hosted_vllm": "org/any",
    "ollama": "any:8b",
}


@pytest.fixture(autouse=True)
def no_variables(monkeypatch: pytest.MonkeyPatch) -> None:
    for provider in PROVIDERS.values():
        for name in (provider.key_variable, provider.address_variable, *provider.headers.values(), "TASKGRAPH_API_KEY"):
            monkeypatch.delenv(name, raising=False)


def ask(model: str, request: Request = CHAT, **settings: Json) -> Reply:
    async def run() -> Reply:
        try:
            return await open_model(model, settings).answer(copy.deepcopy(request))
        finally:
            await close()

    return asyncio.run(run())


def answer_to(request: Request) -> Raw:
    """A reply to such a request."""
    if request.context:
        rows = [[("Boil", None), (" water.", -2.0), (" Then", -1.0), (text, -0.5)] for text in request.texts]
        return echoed(*rows)
    if request.kind == "embed":
        data = [{"object": "embedding", "index": at, "embedding": [1.0]} for at in range(2)]
        return as_json({"object": "list", "model": "any", "data": data, "usage": {"prompt_tokens": 1}})
    tops = [{"token": word, "logprob": -1.0, "bytes": None} for word in ("Yes", "No")]
    listed = {"content": [{"token": "Yes", "logprob": -1.0, "bytes": None, "top_logprobs": tops}]}
    return reply("yes", logprobs=listed)


def sent(server: Loopback, model: str, request: Request, settings: dict[str, Json]) -> Received:
    """What the server receives."""
    server.requests.clear()
    server.script(answer_to(request))
    ask(model, request, api_base=server.url, api_key=KEY, **copy.deepcopy(settings))
    (received,) = server.requests
    return received


def transcript(**message: object) -> Request:
    called = {"role": "assistant", "content": None, "tool_calls": [CALL], **message}
    result = {"role": "tool", "tool_call_id": "c1", "content": "Main"}
    return Request([*SYSTEM.messages, called, result], tools=[TOOL])


REQUESTS = {
    "chat": CHAT,
    "system": SYSTEM,
    "embed": EMBED,
    "score": YES_NO,
    "context": QUERY,
    "tools": Request(CHAT.messages, tools=[TOOL]),
    "transcript": transcript(),
    "text": transcript(content="So."),
    **{name: transcript(**{name: "So."}) for name in ("reasoning_content", "reasoning")},
    "thinking": transcript(thinking_blocks=BLOCKS),
    "details": transcript(reasoning_details=[{"type": "reasoning.text", "text": "So."}]),
}


PATHS = {"embed": "/v1/embeddings", "context": "/v1/completions"}
SCORED: dict[str, object] = {"logprobs": True, "top_logprobs": 20, "max_tokens": 1}


def documented_body(prefix: str, name: str) -> dict[str, object]:
    """The body of a request as docs/how-to/asking.md states it: the request, and the provider's fields of a chat.

    The server of these tests is local, so providers that may be are sent the limit of such servers.
    """
    provider, request = PROVIDERS[prefix], REQUESTS[name]
    model = f"accounts/fireworks/models/{MODELS[prefix]}" if prefix == "fireworks_ai" else MODELS[prefix]
    if name == "embed":
        return {"model": model, "input": request.texts}
    if name == "context":
        prompts = [request.context + text for text in request.texts]
        return {"model": model, "prompt": prompts, "echo": True, "logprobs": 1, "max_tokens": 1}
    limit = {} if provider.needs_key else {"max_tokens": LOCAL_MAX_TOKENS}
    scored = SCORED if name == "score" else {}
    body = {"model": model, "messages": request.messages, **limit, **provider.fields, **scored}
    return body | ({"tools": request.tools} if request.tools else {})


@pytest.mark.parametrize(("prefix", "name"), [*product(MODELS, REQUESTS)])
def test_provider_receives_documented_body(server: Loopback, prefix: str, name: str) -> None:
    received = sent(server, f"{prefix}/{MODELS[prefix]}", REQUESTS[name], {})
    assert (received.path, received.body) == (PATHS.get(name, "/v1/chat/completions"), documented_body(prefix, name))
    assert received.headers["authorization"] == f"Bearer {KEY}"


@pytest.mark.parametrize("prefix", MODELS)
def test_provider_receives_options_unchanged(server: Loopback, prefix: str) -> None:
    settings: dict[str, Json] = {"temperature": 0, "top_k": 5, "user": "one", "reasoning_effort": "low", "stop": None}
    received = sent(server, f"{prefix}/{MODELS[prefix]}", CHAT, settings | {"extra_body": {"any": {"deep": 1}}})
    assert received.body == documented_body(prefix, "chat") | settings | {"any": {"deep": 1}}


def test_option_has_name_that_provider_documents(server: Loopback) -> None:
    received = sent(server, "mistral/any", CHAT, {"seed": 3, "max_completion_tokens": 7})
    assert received.body == documented_body("mistral", "chat") | {"random_seed": 3, "max_tokens": 7}


@pytest.mark.parametrize(
    ("name", "model"),
    [("any", "accounts/fireworks/models/any"), ("accounts/own/models/any", "accounts/own/models/any")],
)
def test_fireworks_model_is_named_by_its_path(server: Loopback, name: str, model: str) -> None:
    assert sent(server, f"fireworks_ai/{name}", CHAT, {}).body["model"] == model


def test_name_with_prefix_of_table_is_asked_directly() -> None:
    assert isinstance(open_model("openai/any", {}), OpenAICompatibleModel)
    assert isinstance(open_model("litellm:openai/any", {}), LiteLLMModel)
    assert isinstance(open_model("any", {}), LiteLLMModel)
    assert isinstance(open_model("anthropic/any", {}), LiteLLMModel)


@pytest.mark.parametrize("prefix", PROVIDERS)
def test_variables_decide_address_key_and_headers(
    server: Loopback, monkeypatch: pytest.MonkeyPatch, prefix: str
) -> None:
    provider = PROVIDERS[prefix]
    monkeypatch.setenv("TASKGRAPH_API_KEY", "of-another-host")
    monkeypatch.setenv(provider.address_variable, server.url)
    monkeypatch.setenv(provider.key_variable, "key-of-variable")
    for header, variable in provider.headers.items():
        monkeypatch.setenv(variable, f"value-of-{header}")
    ask(f"{prefix}/any/any")
    (received,) = server.requests
    assert received.headers["authorization"] == "Bearer key-of-variable"
    for header in provider.headers:
        assert received.headers[header.lower()] == f"value-of-{header}"


def test_options_override_variables(server: Loopback, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GROQ_API_BASE", "http://elsewhere.invalid/v1")
    monkeypatch.setenv("GROQ_API_KEY", "key-of-variable")
    ask("groq/any", api_base=server.url, api_key=KEY)
    assert server.requests[0].headers["authorization"] == f"Bearer {KEY}"


@pytest.mark.parametrize("prefix", [prefix for prefix, provider in PROVIDERS.items() if provider.needs_key])
def test_missing_key_is_error_that_names_variable(server: Loopback, prefix: str) -> None:
    with pytest.raises(ProviderError) as failed:
        ask(f"{prefix}/any", api_base=server.url)
    assert failed.value.kind == "authentication"
    assert isinstance(failed.value, UnsentError)
    assert str(failed.value).startswith(
        f"authentication: no key of {prefix} is known: set {PROVIDERS[prefix].key_variable}"
    )
    assert server.requests == []
    assert ask(f"{prefix}/any", api_base=server.url, extra_headers={"Authorization": "Own scheme"}).text
    assert server.requests[0].headers["authorization"] == "Own scheme"


def test_missing_address_is_error_that_names_variable() -> None:
    with pytest.raises(ProviderError, match="not-found: no address of hosted_vllm is known: set HOSTED_VLLM_API_BASE"):
        ask("hosted_vllm/any")


def test_provider_without_required_key_is_sent_none(server: Loopback, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TASKGRAPH_API_KEY", "of-another-host")
    monkeypatch.setenv("OLLAMA_API_BASE", server.url.removesuffix("/v1"))
    ask("ollama/llama3:8b", temperature=0)
    assert server.requests[0].path == "/v1/chat/completions"
    assert server.requests[0].body == {
        "model": "llama3:8b",
        "messages": CHAT.messages,
        "temperature": 0,
        "max_tokens": LOCAL_MAX_TOKENS,
    }
    assert "authorization" not in server.requests[0].headers


@pytest.mark.parametrize("address", ["host/v1", "http://host:port/v1", "ftp://host"])
def test_address_that_cannot_be_read_is_usage_error(address: str, monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(UsageError, match=r"expected http://host/v1$"):
        open_model("openai/any", {"api_base": address})
    monkeypatch.setenv("OPENAI_BASE_URL", address)
    with pytest.raises(ProviderError, match=r"^bad-request: the model's address"):
        ask("openai/any", api_key=KEY)


@pytest.mark.parametrize("setting", [{"timeout": "soon"}, {"extra_headers": "x"}, {"extra_body": {"stream": True}}])
def test_provider_setting_of_wrong_type_is_refused(setting: dict[str, Json]) -> None:
    for model in ("openai/any", "groq/any"):
        with pytest.raises(UsageError, match=r"timeout|extra_headers|stream"):
            open_model(model, setting)


@pytest.mark.parametrize("prefix", PROVIDERS)
def test_stored_reply_is_found_through_either_client(prefix: str) -> None:
    settings: dict[str, Json] = {"temperature": 0, "api_key": KEY, "api_base": "http://host/v1"}
    models = [open_model(f"{scheme}{prefix}/any", settings) for scheme in ("", "litellm:")]
    assert len({request_key(model.name, getattr(model, "settings", {}), CHAT) for model in models}) == 1


def test_provider_error_holds_no_key(server: Loopback, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TOGETHER_API_KEY", "variable-987")
    server.script(refuse(401, "bad: variable-987, inner-456, Bearer x.y/1"))
    with pytest.raises(ProviderError) as failed:
        ask("together_ai/any", api_base=server.url, extra_headers={"X-Api-Key": "inner-456"})
    assert str(failed.value) == "authentication: bad: [key], [key], [key]"
    assert failed.value.__cause__ is None
    assert failed.value.__context__ is None


@pytest.mark.parametrize("status", [301, 307])
def test_provider_redirect_is_not_followed(server: Loopback, status: int) -> None:
    with Loopback() as elsewhere:
        server.script(Raw(status, headers={"Location": f"{elsewhere.url}/chat/completions"}))
        with pytest.raises(ProviderError, match=f"^not-found: .* {elsewhere.url}$"):
            ask("groq/any", api_base=server.url, api_key=KEY)
        assert elsewhere.requests == []


def used(model: str, **usage: object) -> Raw:
    return as_json(json.loads(reply("yes", model=model).body) | {"usage": usage})


@pytest.mark.parametrize(
    "model",
    ["openai/gpt-4o", "openai/o3", "deepseek/deepseek-chat", "mistral/mistral-small-latest"],
)
@pytest.mark.parametrize("cached", [0, 800])
def test_cost_follows_price_list_with_cached_input(server: Loopback, model: str, cached: int) -> None:
    pytest.importorskip("litellm")
    hits: dict[str, object] = {"prompt_tokens_details": {"cached_tokens": cached}}
    if model.startswith("deepseek"):
        hits = {"prompt_cache_hit_tokens": cached, "prompt_cache_miss_tokens": 1000 - cached}
    server.script(used(model.partition("/")[2], prompt_tokens=1000, completion_tokens=100, total_tokens=1100, **hits))
    full = token_cost(price_of(model), 1000, 100)
    cost = ask(model, api_base=server.url, api_key=KEY).cost
    assert full is not None
    assert cost is not None
    assert cost == token_cost(price_of(model), 1000, 100, None, cached)
    assert (cost < full) == bool(cached)


@pytest.mark.parametrize(
    ("usage", "cost"),
    [
        ({"cost": 0.0125}, 0.0125),
        ({"cost": 0}, 0.0),
        ({}, None),
        ({"cost": "much"}, None),
        ({"cost": 0, "is_byok": True}, None),
    ],
)
def test_cost_stated_by_openrouter_is_used(server: Loopback, usage: dict[str, object], cost: float | None) -> None:
    server.script(used("any", prompt_tokens=10, completion_tokens=1, **usage))
    assert ask("openrouter/any/any", api_base=server.url, api_key=KEY).cost == cost
    assert server.requests[0].body["usage"] == {"include": True}


@pytest.mark.parametrize("calls", [[], [CALL]])
def test_content_of_blocks_is_text_and_reasoning(server: Loopback, calls: list[Json]) -> None:
    thought = {"type": "thinking", "thinking": [{"type": "text", "text": "First."}, {"type": "text", "text": "So."}]}
    content = [thought, {"type": "text", "text": "yes"}]
    server.script(reply(None, message={"content": content, "tool_calls": calls}))
    got = ask("mistral/any", api_base=server.url, api_key=KEY)
    assert (got.text, got.reasoning, got.message_fields) == ("yes", "First.\nSo.", {})


PROBE = """
import asyncio, sys
import pytest_taskgraph.models as models
from pytest_taskgraph.trial import Request
if sys.argv[2] == "hidden":
    sys.modules["litellm"] = None  # as if it were not installed
model = models.open_model("openai/o3", {"api_base": sys.argv[1], "api_key": "test-key-123456"})
models.check_installed([model])

async def ask():
    try:
        return await model.answer(Request([{"role": "user", "content": "Which?"}]))
    finally:
        await models.close()

reply = asyncio.run(ask())
print(reply.text, (reply.cost or 0) > 0)
heavy = {"openai", "httpx", "pydantic"} & set(sys.modules)
assert not heavy, heavy
assert sys.modules.get("litellm") is None
"""


@pytest.mark.parametrize("litellm", ["installed", "hidden"])
def test_provider_is_asked_without_importing_litellm(server: Loopback, litellm: str) -> None:
    if litellm == "installed":
        pytest.importorskip("litellm")
    done = bounded_process.run([sys.executable, "-W", "error", "-c", PROBE, server.url, litellm])
    assert (done.stdout, done.stderr, done.returncode) == (f"Final answer: yes {litellm == 'installed'}\n", "", 0)


PAGE = Path(__file__).resolve().parents[2] / "docs" / "how-to" / "asking.md"


def test_documented_providers_equal_table() -> None:
    rows = [line for line in PAGE.read_text(encoding="utf-8").splitlines() if line.startswith("| `")]
    for provider in PROVIDERS.values():
        address = f"`{provider.address}`" if provider.address else "–"
        variables = f"`{provider.address_variable}` | `{provider.key_variable}`"
        assert f"| `{provider.prefix}/…` | {address} | {variables} | {provider.differs or '–'} |" in rows
