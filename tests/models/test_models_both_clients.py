"""What a scripted server says has the outcome that docs/how-to/models.md states, by address and through litellm."""

from __future__ import annotations

import asyncio
import gzip
import json
import zlib
from dataclasses import replace
from typing import Any

import pytest
from loopback import BROKEN_JSON, RESET, Loopback, Raw, as_json, closed_port, refuse, reply

from pytest_taskgraph.errors import NotAskedError, ProviderError
from pytest_taskgraph.models import close, open_model
from pytest_taskgraph.models.clients.transport import LARGEST
from pytest_taskgraph.trial import Json, Request

KEY = "test-key-123456"
CLIENTS = ("litellm:openai/any", "{url}#any")
CHAT = Request([{"role": "user", "content": "Which?"}])
TOOL = {"type": "function", "function": {"name": "f", "parameters": {"type": "object", "properties": {}}}}
WITH_TOOLS = Request([{"role": "user", "content": "Which?"}], tools=[TOOL])
EMBED = Request(role="embedder", kind="embed", texts=["one", "other"])
CALL = {"id": "c1", "type": "function", "function": {"name": "tasks", "arguments": '{"of": "Main"}'}}

Outcome = tuple[object, ...]


def asked_through(
    model: str, url: str, request: Request = CHAT, settings: dict[str, Json] | None = None
) -> tuple[Outcome, str]:
    """What came of one request: what must be equal through either client, and the words, which need not be."""
    lean = "#" in model
    own: dict[str, Json] = {"api_key": KEY} if lean else {"api_key": KEY, "api_base": url}

    async def run() -> tuple[Outcome, str]:
        try:
            got = await open_model(model.format(url=url), own | (settings or {})).answer(request)
        except ProviderError as error:
            seconds = None if error.retry_after is None else round(error.retry_after, 2)
            return ("failed", error.kind, seconds), str(error)
        except NotAskedError as error:
            return ("not asked",), str(error)
        finally:
            await close()
        return (
            "replied",
            got.text,
            got.tokens_in,
            got.tokens_out,
            got.finish_reason,
            got.tool_calls,
            got.embeddings,
        ), ""

    return asyncio.run(run())


def both(server: Loopback, answer: Raw, request: Request = CHAT) -> Outcome:
    """The outcome, the same through all clients after one request each."""
    outcomes: list[Outcome] = []
    for model in CLIENTS:
        seen = len(server.requests)
        server.script(answer)
        outcome, words = asked_through(model, server.url, request)
        assert "\n" not in words
        assert KEY not in words
        assert len(words) < 400
        assert len(server.requests) == seen + 1
        outcomes.append(outcome)
    assert outcomes[0] == outcomes[1]
    return outcomes[0]


def choice(**message: Any) -> Raw:  # noqa: ANN401 - JSON
    return as_json({"model": "any", "choices": [{"message": message, "finish_reason": "stop"}]})


def usage(value: Any) -> Raw:  # noqa: ANN401 - JSON
    return as_json(json.loads(reply("yes").body) | {"usage": value})


def embedded(*vectors: object, **more: object) -> Raw:
    data = [{"object": "embedding", "index": at, "embedding": vector} for at, vector in enumerate(vectors)]
    return as_json({"object": "list", "model": "any", "data": data[::-1]} | more)


def compressed(body: bytes, encoding: str = "gzip", *, lost: int = 0, times: int = 1) -> Raw:
    """A compressed body without its last `lost` bytes, sent `times` over."""
    squeezed = gzip.compress(body, 1) if encoding == "gzip" else zlib.compress(body, 1)
    return Raw(body=squeezed[: len(squeezed) - lost] * times, headers={"Content-Encoding": encoding})


BOMB = b" " * (LARGEST + 1)
RESPONSES: list[Any] = [[], None, "yes", 5, {}, {"choices": {}}, {"choices": []}]
CHOICES: list[Any] = [None, "yes", {}, {"text": "yes"}, {"message": None}]
CONTENTS: list[Any] = [5, 0, False, [], {}, ["yes"]]
CALLS: list[Any] = ["f", ["f"], [{}], [{"function": None}]]
USAGES: list[Any] = [
    *([], "x", {"prompt_tokens": "x"}, {"prompt_tokens": 3.5}, {"prompt_tokens": -5000, "completion_tokens": 2}),
    *(
        {"prompt_tokens": 3, "completion_tokens": -1},
        {"prompt_tokens": 10**9},
        {"prompt_tokens": 3, "completion_tokens": 10**30},
    ),
]
DATA: list[Any] = [None, {}, [], [None, None], [[1], [2]]]
VECTORS: list[Any] = ["AAAA", None, [None], ["1"], [float("nan")], [float("inf")], [10**400], {}]
LONG = "This model's maximum context length is 10 tokens"
FAILURES = [
    (refuse(401, "Incorrect API key provided: test-key-123456", "invalid_api_key"), "authentication"),
    (refuse(403, "no access"), "authentication"),
    (refuse(403, "Rate limit exceeded"), "rate-limit"),
    (refuse(404, "The model does not exist", "model_not_found"), "not-found"),
    (refuse(400, "no such model", "model_not_found"), "not-found"),
    (refuse(408, "too slow"), "timeout"),
    (refuse(413, LONG, "context_length_exceeded"), "context-too-long"),
    (refuse(400, LONG), "context-too-long"),
    (refuse(500, LONG), "context-too-long"),
    (refuse(413, "the body is too large"), "bad-request"),
    (refuse(400, "Filtered by the content management policy", "content_filter"), "content-filter"),
    (refuse(400, "Invalid prompt: violating our usage policy"), "content-filter"),
    (refuse(400, "temperature is out of range"), "bad-request"),
    (refuse(402, "Pay first"), "payment"),
    (as_json({"error": {"message": "Insufficient credits", "code": 402}}), "payment"),
    (reply("half an ans", finish_reason="error"), "server"),
    *(
        (reply("Final answer: yes", finish_reason=reason), "server")
        for reason in (
            *("ERROR", "network_error", "insufficient_system_resource", "abort", "cancelled", "TIMEOUT"),
            *("ERROR_LIMIT", "error_upstream"),
        )
    ),
    (reply("half", finish_reason="error", error={"code": 502, "message": "Upstream died"}), "server"),
    (reply("half", error={"code": 429, "message": "slow down"}), "rate-limit"),
    (reply("half", error={"message": "broken"}), "bad-request"),
    (compressed(BOMB), "too-large"),
    (compressed(BOMB, "deflate"), "too-large"),
    (compressed(b"", times=10_000), "malformed"),
    (Raw(body=BOMB), "too-large"),
    (replace(compressed(BOMB), status=500), "server"),
    (replace(compressed(reply("yes").body), lacks=4), "connection"),
    (compressed(reply("yes").body, lost=60), "malformed"),
    (compressed(reply("yes").body, "deflate", lost=6), "malformed"),
    (Raw(body=b"any", headers={"Content-Encoding": "br"}), "malformed"),
    (refuse(422, "your prompt speaks of a rate limit"), "bad-request"),
    (refuse(429, "slow down"), "rate-limit"),
    (refuse(429, "You exceeded your current quota", "insufficient_quota"), "rate-limit"),
    *((refuse(status, "broken"), "server") for status in (500, 502, 503, 520, 529)),
    (refuse(504, "upstream is slow"), "timeout"),
    (Raw(307), "bad-request"),
    (Raw(422, b'{"detail": [{"loc": ["body"], "msg": "field required"}]}'), "bad-request"),
    (Raw(404, b'{"error": "model \\"any\\" not found"}'), "not-found"),
    (Raw(502, b"<html>Bad Gateway</html>", "text/html"), "server"),
    (Raw(401), "authentication"),
    (RESET, "connection"),
    (Raw(plain=b"SSH-2.0-OpenSSH"), "connection"),
    (Raw(body=reply("yes").body, lacks=20, resets=True), "connection"),
    (Raw(body=reply("yes").body, lacks=20), "connection"),
    (Raw(body=b"no gzip", headers={"Content-Encoding": "gzip"}), "malformed"),
    (BROKEN_JSON, "malformed"),
    (Raw(), "malformed"),
    (Raw(204), "malformed"),
    (Raw(body=b"<html>log in</html>", kind="text/html"), "malformed"),
    (Raw(body=b"data: {}\n\n", kind="text/event-stream"), "malformed"),
    (Raw(body=b"\xff\xfe\xfd"), "malformed"),
    (Raw(body=b"[" * 100_000), "malformed"),
    *((as_json(value), "malformed") for value in RESPONSES),
    *((as_json({"choices": [value]}), "malformed") for value in CHOICES),
    *((choice(role="assistant", content=value), "malformed") for value in CONTENTS),
    (choice(role="bot", content="yes"), "malformed"),
    (reply("yes", finish_reason=[]), "malformed"),
    *((reply(None, message={"tool_calls": value}), "malformed") for value in CALLS),
    *((usage(value), "malformed") for value in USAGES),
    (as_json({"error": {"message": "b", "code": 429}}), "rate-limit"),
    (as_json({"error": {"message": "Rate limit"}}), "rate-limit"),
    (as_json({"error": {"message": "b", "code": 401}}), "authentication"),
    (as_json({"error": {"message": "b", "code": "upstream"}}), "server"),
    (as_json({"error": {"message": "b"}}), "bad-request"),
    (as_json({"error": "b"}), "bad-request"),
    (refuse(500, "word " * 4_000), "server"),
]


@pytest.mark.parametrize(("answer", "kind"), FAILURES, ids=range(len(FAILURES)))
def test_failure_has_same_kind_in_both_clients(server: Loopback, answer: Raw, kind: str | None) -> None:
    outcome = both(server, answer)
    assert outcome[0] == "failed"
    assert kind is None or outcome[1:] == (kind, None)


TELLING = [
    (
        Raw(body=b"<html><title>log in</title>", kind="text/html; charset=utf-8"),
        "text/html, begins '<html><title>log in",
    ),
    (Raw(body=b'data: {"choices": []}\n\n', kind="text/event-stream"), "text/event-stream, begins 'data: {"),
    (Raw(body=b""), "content type application/json, empty"),
    (Raw(body=b" \n", kind=""), "content type not stated, empty"),
    (Raw(502, b"<html><h1>Bad Gateway</h1>", "text/html"), "<h1>Bad Gateway</h1>"),
    (
        Raw(plain=b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nX-So"),
        "within the headers of the reply: content type text/",
    ),
    (Raw(plain=b"SSH-2.0-OpenSSH"), "SSH-2.0-OpenSSH"),
]


@pytest.mark.parametrize(("answer", "words"), TELLING)
@pytest.mark.parametrize("model", CLIENTS)
def test_message_names_content_type_and_first_characters(server: Loopback, model: str, answer: Raw, words: str) -> None:
    server.script(answer)
    assert words in asked_through(model, server.url)[1]


REPLIES = [
    (reply("yes"), ("yes", 3, 2, "stop", [])),
    (reply("a\ud800b\x1b[31m\x00c\r\nd"), ("a\ufffdb\ufffd[31m\ufffdc\nd", 3, 2, "stop", [])),
    (reply("ab" * 1_000_000), ("ab" * 1_000_000, 3, 2, "stop", [])),
    (reply("Final ans", finish_reason="length"), ("Final ans", 3, 2, "length", [])),
    (reply("yes", finish_reason="MAX_TOKENS"), ("yes", 3, 2, "length", [])),
    (reply("yes", finish_reason="model_length"), ("yes", 3, 2, "length", [])),
    (reply("yes", finish_reason="eos"), ("yes", 3, 2, "stop", [])),
    (reply("yes", finish_reason="STOP_SEQUENCE"), ("yes", 3, 2, "stop", [])),
    (reply("yes", finish_reason="tired\x1b"), ("yes", 3, 2, "tired\ufffd", [])),
    (reply("yes", finish_reason=None), ("yes", 3, 2, "stop", [])),
    (reply("half", finish_reason="content_filter"), ("half", 3, 2, "content_filter", [])),
    (reply(None), ("", 3, 2, "stop", [])),
    (reply(None, finish_reason="SAFETY"), ("", 3, 2, "content_filter", [])),
    (reply("yes", error=None), ("yes", 3, 2, "stop", [])),
    (compressed(reply("yes").body), ("yes", 3, 2, "stop", [])),
    (compressed(reply("yes").body, "deflate"), ("yes", 3, 2, "stop", [])),
    (reply(None, message={"refusal": "I can't say."}), ("I can't say.", 3, 2, "stop", [])),
    (reply("<think>so\nor</think>yes"), ("yes", 3, 2, "stop", [])),
    (reply("<think>never ends"), ("<think>never ends", 3, 2, "stop", [])),
    (reply("<think>a</think>b", message={"reasoning_content": "r"}), ("<think>a</think>b", 3, 2, "stop", [])),
    (reply(None, message={"tool_calls": [CALL]}), ("", 3, 2, "tool_calls", [CALL])),
    (
        reply("so", message={"tool_calls": [CALL, CALL | {"id": "c2"}]}),
        ("so", 3, 2, "tool_calls", [CALL, CALL | {"id": "c2"}]),
    ),
    (reply("yes", message={"tool_calls": []}), ("yes", 3, 2, "stop", [])),
    (choice(content="yes"), ("yes", None, None, "stop", [])),
    (reply("yes", usage=None), ("yes", None, None, "stop", [])),
    (usage({}), ("yes", None, None, "stop", [])),
    (usage({"prompt_tokens": 0, "completion_tokens": 2}), ("yes", None, None, "stop", [])),
    (usage({"prompt_tokens": 3, "completion_tokens": None}), ("yes", 3, 0, "stop", [])),
    (usage({"prompt_tokens": "3", "completion_tokens": 2.0}), ("yes", 3, 2, "stop", [])),
    (as_json({"error": {}, **json.loads(reply("yes").body)}), ("yes", 3, 2, "stop", [])),
    (Raw(201, reply("yes").body, "text/plain"), ("yes", 3, 2, "stop", [])),
    (Raw(body=b"\xef\xbb\xbf" + reply("yes").body), None),
]


@pytest.mark.parametrize(("answer", "expected"), REPLIES, ids=range(len(REPLIES)))
def test_reply_is_equal_in_both_clients(server: Loopback, answer: Raw, expected: Outcome | None) -> None:
    outcome = both(server, answer)
    if expected is not None:
        assert outcome == ("replied", *expected, [])


@pytest.mark.parametrize("arguments", ['{"of": ', "", None, {"of": "Main"}])
def test_tool_call_arguments_are_text(server: Loopback, arguments: object) -> None:
    call = {"id": "c1", "type": "function", "function": {"name": "tasks", "arguments": arguments}}
    outcome = both(server, reply(None, message={"tool_calls": [call]}))
    calls = outcome[5]
    assert isinstance(calls, list)
    assert [type(call["function"]["arguments"]) for call in calls] == [str]


@pytest.mark.parametrize(
    ("answer", "expected"),
    [
        (
            embedded([1.0, 0.5], [0.0, -2], usage={"prompt_tokens": 7}),
            ("replied", "", 7, 0, "stop", [], [[1.0, 0.5], [0.0, -2]]),
        ),
        (embedded([1.0], [2.0]), ("replied", "", None, None, "stop", [], [[1.0], [2.0]])),
        (refuse(429, "slow down"), ("failed", "rate-limit", None)),
        (refuse(404, "no such model"), ("failed", "not-found", None)),
        (BROKEN_JSON, ("failed", "malformed", None)),
        (as_json([]), ("failed", "malformed", None)),
        *((as_json({"data": data}), ("failed", "malformed", None)) for data in DATA),
        *((embedded([1.0], vector), ("failed", "malformed", None)) for vector in VECTORS),
        (embedded([1.0]), ("failed", "malformed", None)),
        (embedded([1.0], [1.0], [1.0]), ("failed", "malformed", None)),
        (embedded([1.0], [2.0], usage={"prompt_tokens": "many"}), ("failed", "malformed", None)),
    ],
)
def test_embeddings_are_equal_in_both_clients(server: Loopback, answer: Raw, expected: Outcome) -> None:
    assert both(server, answer, EMBED) == expected


@pytest.mark.parametrize(
    ("headers", "seconds"),
    [
        ({"Retry-After": "7"}, 7.0),
        ({"Retry-After": "0.5"}, 0.5),
        ({"Retry-After": "-3"}, 0.0),
        ({"Retry-After": "9", "retry-after-ms": "1500"}, 1.5),
        ({"Retry-After": "Wed, 21 Oct 2015 07:28:00 GMT"}, 0.0),
        ({"Retry-After": "soon"}, None),
        ({"Retry-After": "nan"}, None),
        ({}, None),
    ],
)
@pytest.mark.parametrize("status", [429, 503])
def test_failure_states_retry_after(
    server: Loopback, status: int, headers: dict[str, str], seconds: float | None
) -> None:
    answer = Raw(status, b'{"error": {"message": "slow"}}', headers=headers)
    assert both(server, answer)[2] == seconds
    if status == 429:
        assert both(server, answer, EMBED)[2] == seconds


@pytest.mark.parametrize(
    ("answer", "expected"),
    [
        (refuse(400, "any does not support tools"), "not asked"),
        (refuse(400, '"auto" tool choice requires --enable-auto-tool-choice'), "not asked"),
        (refuse(404, "No endpoints found that support tool use"), "not asked"),
        (refuse(500, "tools are not supported"), "not asked"),
        (refuse(400, "temperature is out of range"), "failed"),
        (refuse(429, "tools are not supported that fast"), "failed"),
    ],
)
def test_request_with_unsupported_tools_raises_not_asked(server: Loopback, answer: Raw, expected: str) -> None:
    assert both(server, answer, WITH_TOOLS)[0] == expected
    assert both(server, answer)[0] == "failed"


@pytest.mark.parametrize("request_", [CHAT, EMBED], ids=["chat", "embed"])
@pytest.mark.parametrize("host", ["127.0.0.1:{port}", "nonesuch.invalid"])
def test_unreachable_host_is_connection_error_naming_host(request_: Request, host: str) -> None:
    where = host.format(port=closed_port())
    for model in CLIENTS:
        outcome, words = asked_through(model, f"http://{where}/v1", request_)
        assert outcome == ("failed", "connection", None)
        assert where in words


def test_unencodable_request_is_bad_request_and_unsent(server: Loopback) -> None:
    odd = Request([{"role": "user", "content": "a\ud800b"}])
    no_number = Request(CHAT.messages, settings={"temperature": float("nan")})
    for request in (odd, no_number):
        outcomes = [asked_through(model, server.url, request)[0] for model in CLIENTS]
        assert outcomes == [("failed", "bad-request", None)] * 2
    assert server.requests == []


def test_request_holds_settings_tools_and_headers(server: Loopback) -> None:
    request = Request(CHAT.messages, tools=[TOOL], settings={"temperature": 0.5})
    settings: dict[str, Json] = {"temperature": 0.0, "max_tokens": 7, "seed": 3, "extra_headers": {"X-Team": "blue"}}
    for model in CLIENTS:
        asked_through(model, server.url, request, settings)
    for received in server.requests:
        expected = {"model": "any", "messages": CHAT.messages, "tools": [TOOL], "temperature": 0.5}
        assert (received.path, received.body) == ("/v1/chat/completions", expected | {"max_tokens": 7, "seed": 3})
        names = ("authorization", "x-team", "content-type")
        assert [received.headers[name] for name in names] == [f"Bearer {KEY}", "blue", "application/json"]
