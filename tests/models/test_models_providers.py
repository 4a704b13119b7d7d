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

from pytest_taskgraph.errors import NotAskedError, ProviderError, UsageError
from pytest_taskgraph.models import close, open_model
from pytest_taskgraph.models.clients.litellm_client import LiteLLMModel
from pytest_taskgraph.models.clients.provider_model import ProviderModel
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
STRICT = {"type": "function", "function": {**TOOL["function"], "strict": True}}  # type: ignore[dict-item]
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
}
OPTIONS: dict[str, Json] = {
    "temperature": 0,
    "top_p": 0.5,
    "max_tokens": 7,
    "stop": ["x"],
    "response_format": {"type": "json_object"},
    "parallel_tool_calls": False,
    "top_k": 5,
    "min_p": 0.1,
    "repetition_penalty": 1.1,
    "reasoning": {"effort": "low"},
    "extra_body": {"any": {"deep": 1}},
    "seed": 3,
    "n": 1,
    "presence_penalty": 0.1,
    "frequency_penalty": 0.1,
    "logit_bias": {"5": 1},
    "logprobs": True,
    "max_completion_tokens": 7,
    "reasoning_effort": "low",
    "provider": {"order": ["one"]},
    "models": ["other"],
    "route": "fallback",
    "transforms": ["middle-out"],
    "plugins": [{"id": "web"}],
    "include_reasoning": True,
    "top_a": 0.1,
    "chat_template_kwargs": {"enable_thinking": False},
    "guided_choice": ["yes"],
    "guided_json": {"type": "object"},
    "guided_regex": "yes",
    "stop_token_ids": [3],
    "min_tokens": 2,
    "length_penalty": 1.0,
    "ignore_eos": True,
    "skip_special_tokens": True,
    "best_of": 2,
    "reasoning_format": "parsed",
    "random_seed": 3,
    "safe_prompt": True,
}


@pytest.fixture(autouse=True)
def no_variables(monkeypatch: pytest.MonkeyPatch) -> None:
    others = ("USE_LITELLM_PROXY", "TASKGRAPH_API_KEY")
    for provider in PROVIDERS.values():
        of_headers = (name for names in provider.headers.values() for name in names)
        for name in (*provider.keys, *provider.addresses, *of_headers, *others):
            monkeypatch.delenv(name, raising=False)


def ask(model: str, request: Request = CHAT, **settings: Json) -> Reply:
    async def run() -> Reply:
        try:
            return await open_model(model, settings).answer(copy.deepcopy(request))
        finally:
            await close()

    return asyncio.run(run())


def answer_to(request: Request) -> Raw:
    """A reply that either client can read, also litellm's for Groq, which demands a service tier."""
    if request.context:
        rows = [[("Boil", None), (" water.", -2.0), (" Then", -1.0), (text, -0.5)] for text in request.texts]
        return echoed(*rows)
    if request.kind == "embed":
        data = [{"object": "embedding", "index": at, "embedding": [1.0]} for at in range(2)]
        return as_json({"object": "list", "model": "any", "data": data, "usage": {"prompt_tokens": 1}})
    tops = [{"token": word, "logprob": -1.0, "bytes": None} for word in ("Yes", "No")]
    listed = {"content": [{"token": "Yes", "logprob": -1.0, "bytes": None, "top_logprobs": tops}]}
    body = json.loads(reply("yes", logprobs=listed).body)
    return as_json(body | {"service_tier": "auto"})


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


def reaches(prefix: str, name: str) -> bool:
    """Whether litellm sends such a request to the provider."""
    if name == "context":
        return PROVIDERS[prefix].completes
    return (name, prefix) not in {("embed", "groq"), ("embed", "deepseek"), ("score", "mistral")}


def documented_body(prefix: str, request: Request) -> dict[str, object]:
    """The body of a request as docs/how-to/asking.md states it: the request, the provider's fields, no dropped ones."""
    provider = PROVIDERS[prefix]
    dropped = provider.dropped
    body: dict[str, object] = {"model": provider.chat_name(MODELS[prefix]), **provider.fields}
    body["messages"] = [
        {name: value for name, value in message.items() if value is not None and name not in dropped}
        for message in request.messages
    ]
    return body | ({"tools": request.tools} if request.tools else {})


@pytest.mark.parametrize(
    ("prefix", "name"), [(p, n) for p, n in product(MODELS, REQUESTS) if reaches(p, n) and REQUESTS[n].kind == "chat"]
)
def test_provider_receives_documented_body(server: Loopback, prefix: str, name: str) -> None:
    model, request = f"{prefix}/{MODELS[prefix]}", REQUESTS[name]
    assert is_direct(model, request)
    received = sent(server, model, request, {})
    assert (received.path, received.body) == ("/v1/chat/completions", documented_body(prefix, request))
    assert received.headers["authorization"] == f"Bearer {KEY}"


@pytest.mark.parametrize(
    ("prefix", "name"), [(p, n) for p, n in product(MODELS, REQUESTS) if reaches(p, n) and REQUESTS[n].kind != "chat"]
)
def test_provider_receives_scores_and_texts_as_through_litellm(server: Loopback, prefix: str, name: str) -> None:
    pytest.importorskip("litellm")
    model, request = f"{prefix}/{MODELS[prefix]}", REQUESTS[name]
    direct, translated = sent(server, model, request, {}), sent(server, f"litellm:{model}", request, {})
    assert (direct.path, direct.body) == (translated.path, translated.body)


@pytest.mark.parametrize(("prefix", "name"), [pair for pair in product(MODELS, REQUESTS) if not reaches(*pair)])
def test_request_that_litellm_does_not_send_is_not_sent(server: Loopback, prefix: str, name: str) -> None:
    pytest.importorskip("litellm")
    for spec in (f"{prefix}/{MODELS[prefix]}", f"litellm:{prefix}/{MODELS[prefix]}"):
        with pytest.raises((ProviderError, NotAskedError)):
            ask(spec, REQUESTS[name], api_base=server.url, api_key=KEY)
    assert server.requests == []


def is_direct(name: str, request: Request, settings: dict[str, Json] | None = None) -> bool:
    """Whether a request is sent without litellm."""
    model = open_model(name, settings or {})
    return isinstance(model, ProviderModel) and model._is_direct(request, {**(settings or {}), **request.settings})


@pytest.mark.parametrize(
    ("prefix", "option"),
    [(prefix, option) for prefix in MODELS for option in sorted(PROVIDERS[prefix].options - {"top_logprobs"})],
)
def test_option_reaches_provider_as_through_litellm(server: Loopback, prefix: str, option: str) -> None:
    pytest.importorskip("litellm")
    model, settings = f"{prefix}/{MODELS[prefix]}", {option: OPTIONS[option]}
    assert is_direct(model, CHAT, settings)
    direct, translated = sent(server, model, CHAT, settings), sent(server, f"litellm:{model}", CHAT, settings)
    assert direct.body == translated.body
    assert set(settings) <= {*direct.body, "extra_body"}


SERIES = ("openai/o3", "openai/gpt-5", "openai/gpt-5.4")


@pytest.mark.parametrize("model", SERIES)
@pytest.mark.parametrize("option", ["max_completion_tokens", "seed", "n", "response_format", "reasoning_effort"])
def test_option_of_reasoning_series_is_sent_unchanged(server: Loopback, model: str, option: str) -> None:
    pytest.importorskip("litellm")
    settings = {option: OPTIONS[option]}
    assert is_direct(model, CHAT, settings)
    direct, translated = sent(server, model, CHAT, settings), sent(server, f"litellm:{model}", CHAT, settings)
    assert direct.body == translated.body


@pytest.mark.parametrize(
    ("name", "request_", "settings"),
    [
        ("openai/o3", SYSTEM, {}),
        ("openai/o3", CHAT, {"max_tokens": 7}),
        ("openai/o3", CHAT, {"temperature": 1}),
        ("openai/o3", YES_NO, {}),
        ("openai/gpt-5.4", REQUESTS["tools"], {}),
        ("openai/gpt-4o", CHAT, {"reasoning_effort": "low"}),
        ("openai/any", CHAT, {"reasoning_effort": "max"}),
        ("openai/o1-pro", CHAT, {}),
        ("openai/responses/any", CHAT, {}),
        ("groq/any", CHAT, {"response_format": {"type": "json_schema", "json_schema": {"schema": {}}}}),
        ("hosted_vllm/any", Request(CHAT.messages, tools=[STRICT]), {}),
        ("openai/any", Request([{"role": "user", "content": [{"type": "text", "text": "Which?"}]}]), {}),
        ("openai/any", Request([{"role": "developer", "content": "Be brief."}]), {}),
        ("openai/any", Request([{"role": "user", "content": "Which?", "name": "one"}]), {}),
        ("openai/any", Request(CHAT.messages, tools=[{"type": "custom", "custom": {"name": "f"}}]), {}),
        ("openai/any", Request(CHAT.messages, settings={"user": "one"}), {}),
        ("openai/any", EMBED, {"temperature": 0}),
    ],
)
def test_request_that_litellm_translates_goes_through_it(
    name: str, request_: Request, settings: dict[str, Json], monkeypatch: pytest.MonkeyPatch
) -> None:
    pytest.importorskip("litellm")
    asked: list[Request] = []

    async def answer(self: LiteLLMModel, request: Request) -> Reply:
        asked.append(request)
        return Reply("yes")

    monkeypatch.setattr(LiteLLMModel, "answer", answer)
    assert ask(name, request_, api_key=KEY, **settings).text == "yes"
    assert asked == [request_]


@pytest.mark.parametrize("option", ["user", "metadata", "drop_params", "max_retries", "input_cost_per_token"])
def test_option_that_only_litellm_translates_opens_its_client(option: str) -> None:
    assert isinstance(open_model("openai/any", {option: 1}), LiteLLMModel)
    assert isinstance(open_model("openai/any", {"temperature": None}), LiteLLMModel)
    assert isinstance(open_model("openai/any", {"api_base": "http://host/v1?version=1"}), LiteLLMModel)


def test_litellm_scheme_or_proxy_opens_litellm_client(monkeypatch: pytest.MonkeyPatch) -> None:
    assert isinstance(open_model("litellm:openai/any", {}), LiteLLMModel)
    assert isinstance(open_model("openai/any", {}), ProviderModel)
    monkeypatch.setenv("USE_LITELLM_PROXY", "True")
    assert isinstance(open_model("openai/any", {}), LiteLLMModel)


@pytest.mark.parametrize("prefix", PROVIDERS)
def test_first_variable_of_provider_that_is_set_decides(prefix: str, monkeypatch: pytest.MonkeyPatch) -> None:
    provider = PROVIDERS[prefix]
    for variable in reversed(provider.keys):
        monkeypatch.setenv(variable, f"key-of-{variable}")
        assert provider.key_for({}) == f"key-of-{variable}"
    for variable in reversed(provider.addresses):
        monkeypatch.setenv(variable, f"http://{variable.lower().replace('_', '-')}/v1")
        assert variable.lower().replace("_", "-") in provider.address_for({})


@pytest.mark.parametrize("prefix", ["openai", "openrouter"])
@pytest.mark.parametrize("scheme", ["", "litellm:"])
def test_variables_decide_address_key_and_headers(
    server: Loopback, monkeypatch: pytest.MonkeyPatch, prefix: str, scheme: str
) -> None:
    provider = PROVIDERS[prefix]
    monkeypatch.setenv("TASKGRAPH_API_KEY", "of-another-host")
    for name in provider.addresses[:1]:
        monkeypatch.setenv(name, server.url)
    for name in provider.keys:
        monkeypatch.setenv(name, f"key-of-{name}")
    for header, names in provider.headers.items():
        monkeypatch.setenv(names[0], f"value-of-{header}")
    ask(f"{scheme}{prefix}/any/any")
    (received,) = server.requests
    assert received.headers["authorization"] == f"Bearer key-of-{provider.keys[0]}"
    for header in provider.headers:
        assert received.headers[header.lower()] == f"value-of-{header}"


@pytest.mark.parametrize("prefix", [prefix for prefix, provider in PROVIDERS.items() if provider.needs_key])
def test_missing_key_is_error_that_names_variable(server: Loopback, prefix: str) -> None:
    with pytest.raises(ProviderError) as failed:
        ask(f"{prefix}/any", api_base=server.url)
    assert failed.value.kind == "authentication"
    assert str(failed.value).startswith(f"authentication: no key of {prefix} is known: set {PROVIDERS[prefix].keys[0]}")
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
    assert server.requests[0].body == {"model": "llama3:8b", "messages": CHAT.messages, "temperature": 0}
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
    direct = open_model(f"{prefix}/any", settings)
    translated = open_model(f"litellm:{prefix}/any", settings)
    assert isinstance(direct, ProviderModel)
    assert isinstance(translated, LiteLLMModel)
    keys = {request_key(model.name, model.settings, CHAT) for model in (direct, translated)}
    assert len(keys) == (2 if prefix == "ollama" else 1)
    assert direct.settings == settings | ({"protocol": "openai"} if prefix == "ollama" else {})


def test_provider_error_holds_no_key(server: Loopback, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TOGETHER_AI_TOKEN", "variable-987")
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
    return as_json(json.loads(reply("yes", model=model).body) | {"usage": usage, "service_tier": "auto"})


@pytest.mark.parametrize(
    "model",
    ["openai/gpt-4o", "openai/o3", "deepseek/deepseek-chat", "mistral/mistral-small-latest"],
)
@pytest.mark.parametrize("cached", [0, 800])
def test_cost_equals_that_of_litellm(server: Loopback, model: str, cached: int) -> None:
    pytest.importorskip("litellm")
    hits: dict[str, object] = {"prompt_tokens_details": {"cached_tokens": cached}}
    if model.startswith("deepseek"):
        hits = {"prompt_cache_hit_tokens": cached, "prompt_cache_miss_tokens": 1000 - cached}
    name = model.partition("/")[2]
    answer = used(name, prompt_tokens=1000, completion_tokens=100, total_tokens=1100, **hits)
    server.script(answer, answer)
    direct, translated = (ask(spec, api_base=server.url, api_key=KEY).cost for spec in (model, f"litellm:{model}"))
    assert direct is not None
    assert direct == pytest.approx(translated)
    full = token_cost(price_of(model), 1000, 100)
    assert full is not None
    assert (direct < full) == bool(cached)


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


def test_content_of_blocks_is_text_and_reasoning(server: Loopback) -> None:
    pytest.importorskip("litellm")
    thought = {"type": "thinking", "thinking": [{"type": "text", "text": "First."}, {"type": "text", "text": "So."}]}
    answer = reply(None, message={"content": [thought, {"type": "text", "text": "yes"}]})
    server.script(answer, answer)
    for spec in ("mistral/any", "litellm:mistral/any"):
        got = ask(spec, api_base=server.url, api_key=KEY)
        assert (got.text, got.reasoning) == ("yes", "First.\nSo.")


PROBE = """
import asyncio, sys
if sys.argv[2] == "hidden":
    sys.modules["litellm"] = None  # as if it were not installed
import pytest_taskgraph.models as models
from pytest_taskgraph.trial import Request
settings = {"api_base": sys.argv[1], "api_key": "test-key-123456"}
model = models.open_model("openai/o3", settings)
models.check_installed([model])

async def ask():
    try:
        for role in ("user", "system") if sys.argv[2] == "hidden" else ("user",):
            reply = await model.answer(Request([{"role": role, "content": "Which?"}]))
            print(reply.text, (reply.cost or 0) > 0)
    finally:
        await models.close()

asyncio.run(ask())
heavy = {"openai", "httpx", "pydantic"} & set(sys.modules)
assert not heavy, heavy
assert sys.modules.get("litellm") is None
try:
    models.check_installed([models.open_model("openai/o3", {**settings, "user": "one"})])
except models.UsageError as error:
    print(error)
"""


@pytest.mark.parametrize("litellm", ["installed", "hidden"])
def test_provider_is_asked_without_importing_litellm(server: Loopback, litellm: str) -> None:
    if litellm == "installed":
        pytest.importorskip("litellm")
    done = bounded_process.run([sys.executable, "-W", "error", "-c", PROBE, server.url, litellm])
    assert (done.stderr, done.returncode) == ("", 0)
    lines = done.stdout.splitlines()
    if litellm == "installed":
        assert lines == ["Final answer: yes True"]
    else:
        assert lines[:2] == ["Final answer: yes False"] * 2
        assert "openai/o3 with the model option 'user' is asked through litellm, which is not installed" in lines[2]
        assert [message["role"] for request in server.requests for message in request.body["messages"]] == [
            "user",
            "system",
        ]


PAGE = Path(__file__).resolve().parents[2] / "docs" / "how-to" / "asking.md"


def test_documented_providers_equal_table() -> None:
    rows = [line for line in PAGE.read_text(encoding="utf-8").splitlines() if line.startswith("| `")]
    for provider in PROVIDERS.values():
        address = f"`{provider.address}`" if provider.address else "–"
        places = ", ".join(f"`{name}`" for name in provider.addresses)
        keys = ", ".join(f"`{name}`" for name in provider.keys)
        assert f"| `{provider.prefix}/…` | {address} | {places} | {keys} | {provider.differs or '–'} |" in rows
