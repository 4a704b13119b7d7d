"""What makes two requests the same, and that no secret is part of it."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pytest_taskgraph.models.request_key import (
    canonical,
    digest,
    public_settings,
    request_entry,
    request_key,
    request_text,
)
from pytest_taskgraph.redaction import cut_addresses
from pytest_taskgraph.trial import Request

REQUEST = Request([{"role": "user", "content": "Which task?"}])
CALCULATE = {"type": "function", "function": {"name": "add", "parameters": {"properties": {"key": {"type": "string"}}}}}


def key(name: str = "m", request: Request = REQUEST, **settings: Any) -> str:  # noqa: ANN401
    return request_key(name, settings, request)


@pytest.mark.parametrize(
    ("first", "second"),
    [
        ({}, {"api_key": "sk-1234567890"}),
        ({"api_key": "none"}, {"api_key": "EMPTY"}),
        ({}, {"timeout": 3, "stream_timeout": 4, "max_retries": 2, "num_retries": 1}),
        ({"extra_headers": {"X-Team": "a"}}, {"extra_headers": {"X-Team": "a", "Authorization": "Bearer abcdef"}}),
        ({"api_base": "http://host/v1"}, {"api_base": "http://user:word@host/v1"}),
        ({"api_base": "http://host/v1?key=a"}, {"api_base": "http://host/v1?key=b"}),
        ({"temperature": 0}, {"temperature": 0.0}),
        ({"a": 1, "b": 2}, {"b": 2, "a": 1}),
    ],
)
def test_key_ignores_settings_without_effect_on_output(first: dict[str, Any], second: dict[str, Any]) -> None:
    assert key(**first) == key(**second)


def answer_schema(name: str) -> dict[str, Any]:
    return {"type": "json_schema", "json_schema": {"schema": {"properties": {name: {"type": "string"}}}}}


@pytest.mark.parametrize(
    ("first", "second"),
    [
        ({"temperature": 0}, {"temperature": 1}),
        ({"temperature": 0.5}, {"temperature": 0.25}),
        ({}, {"max_tokens": 100}),
        ({"max_tokens": 100}, {"max_tokens": 200}),
        ({"logprobs": True}, {"logprobs": 1}),
        ({"stop_token_ids": [12345678]}, {"stop_token_ids": [12345679]}),
        ({"api_base": "http://host/v1"}, {"api_base": "http://other/v1"}),
        ({"api_base": "http://host/v1?version=1"}, {"api_base": "http://host/v1?version=2"}),
        ({"response_format": answer_schema("key")}, {"response_format": answer_schema("author")}),
        ({"extra_body": {"guided_json": answer_schema("key")}}, {"extra_body": {"guided_json": answer_schema("auth")}}),
        ({"extra_headers": {"X-Team": "a"}}, {"extra_headers": {"X-Team": "b"}}),
    ],
)
def test_key_changes_with_settings_of_output(first: dict[str, Any], second: dict[str, Any]) -> None:
    assert key(**first) != key(**second)


@pytest.mark.parametrize(
    "other",
    [
        Request([{"role": "user", "content": "Which tasks?"}]),
        Request([{"role": "system", "content": "Which task?"}]),
        Request([{"role": "system", "content": "Be brief."}, *REQUEST.messages]),
        Request(REQUEST.messages, tools=[CALCULATE]),
        Request(REQUEST.messages, settings={"temperature": 0}),
        Request(REQUEST.messages, repetition=2),
        Request(kind="embed", texts=["Which task?"]),
        Request(kind="score", texts=["Which task?"]),
        Request(kind="score", texts=["Which", "task?"]),
        Request(REQUEST.messages, kind="score", texts=["Yes"]),
    ],
)
def test_key_differs_between_requests(other: Request) -> None:
    assert key(request=other) != key()
    assert key(request=other) == key(request=other)


@pytest.mark.parametrize(
    "other",
    [
        Request(kind="score", context="Which", texts=[" task", " tasks"]),
        Request(kind="score", context="Which task", texts=["", "s"]),
        Request(kind="score", texts=["Which task", "Which tasks"]),
        Request(kind="score", context="Which", texts=[" tasks", " task"]),
        Request([{"role": "user", "content": "Which"}], kind="score", texts=[" task", " tasks"]),
        Request(kind="score", context="Which", texts=[" task", " tasks"], repetition=2),
        Request(kind="score", context="Which", texts=[" task", " tasks"], settings={"seed": 1}),
    ],
)
def test_key_of_score_request_depends_on_context_and_texts(other: Request) -> None:
    request = Request(kind="score", context="Which ", texts=["task", "tasks"])
    assert len({key(request=request), key(request=other), key(request=REQUEST)}) == 3


def test_request_text_of_score_request_shows_context_and_texts() -> None:
    entry = request_entry("m", {}, Request(kind="score", context="Which", texts=[" task", " tasks"]))
    assert set(entry) == {"model", "kind", "context", "messages", "texts", "tools", "settings", "repetition"}
    assert request_text(entry) == "kind: score\n[context]\nWhich\n[texts]\n task\n tasks"


def test_key_ignores_role_and_depends_on_model() -> None:
    assert key(request=Request(REQUEST.messages, role="judge")) == key()
    assert key("other") != key()
    assert key("http://u:p@host/v1#m") == key("http://host/v1#m")


def test_key_settings_of_request_override_model() -> None:
    assert key(request=Request(REQUEST.messages, settings={"temperature": 1}), temperature=0) == key(temperature=1)


def test_key_equals_digest_of_stored_entry() -> None:
    settings: dict[str, Any] = {"temperature": 0.5, "x": 1e300, "y": [None, "ä\ud800"]}
    entry = request_entry("m", settings, REQUEST)
    assert digest(json.loads(canonical(entry))) == request_key("m", settings, REQUEST)
    assert set(entry) == {"model", "kind", "messages", "tools", "settings", "repetition"}
    assert set(request_entry("m", {}, Request(kind="embed", texts=["a"]))) == {
        "model", "kind", "texts", "tools", "settings", "repetition",
    }  # fmt: skip


def test_key_is_stable_between_versions() -> None:
    expected = (
        '{"kind":"chat","messages":[{"content":"Which task?","role":"user"}],"model":"m","repetition":1,'
        '"settings":{"temperature":0},"tools":[]}'
    )
    assert canonical(request_entry("m", {"temperature": 0.0, "api_key": "x"}, REQUEST)) == expected
    assert key(temperature=0.0) == "602e48a29faed57cadea986ad0fba16d691371d0d51bed6657b2588ffb6e0b1b"


@pytest.mark.parametrize(
    ("settings", "left"),
    [
        ({"api_key": "sk-1234567890", "temperature": 0}, {"temperature": 0}),
        ({"vertex_credentials": {"type": "account", "private": "words"}}, {}),
        ({"extra_headers": {"Authorization": "Bearer abc", "n": "1"}}, {"extra_headers": {"n": "1"}}),
        ({"a": [{"deep": {"password": "x", "b": 1}}]}, {"a": [{"deep": {"b": 1}}]}),
        ({"extra_headers": {"X-Proxy": "Bearer abcdefgh"}}, {"extra_headers": {"X-Proxy": "[key]"}}),
        ({"api_key": "quite-long-one", "user": "it is quite-long-one"}, {"user": "it is [key]"}),
        ({"api_key": "none", "reasoning_effort": "none"}, {"reasoning_effort": "none"}),
        ({"proxy": "https://token@proxy:80/a@b"}, {"proxy": "https://proxy:80/a@b"}),
        ({"api_base": "https://h/v1?api_key=abc&x=1#f"}, {"api_base": "https://h/v1?x=1#f"}),
        ({"api_base": "https://h/v1?x=1&key=abc"}, {"api_base": "https://h/v1?x=1"}),
        ({"tools": [{"headers": {"Authorization": "abc"}, "key": {"type": "string"}}]},
         {"tools": [{"headers": {}, "key": {"type": "string"}}]}),
    ],
)  # fmt: skip
def test_entry_omits_secrets_at_any_depth(settings: dict[str, Any], left: dict[str, Any]) -> None:
    assert public_settings(settings) == left


def test_key_ignores_environment_variables(monkeypatch: pytest.MonkeyPatch) -> None:
    before = key(user="production")
    monkeypatch.setenv("AUTH_MODE", "production")
    assert key(user="production") == before


secret_names = st.sampled_from(
    ["api_key", "Authorization", "aws_secret_access_key", "token", "password", "credentials"]
)
places = st.sampled_from(["{}", "http://host?key={}", "http://{}@host/v1", "Bearer {}", "x {} y"])


@given(st.lists(st.sampled_from(["extra", "list"]), max_size=3), secret_names, st.integers(10**9, 10**12), places)
def test_entry_hides_secrets_anywhere(path: list[str], name: str, number: int, place: str) -> None:
    secret = f"secret{number}"
    value: Any = {name: secret, "other": place.format(secret)}
    for step in path:
        value = {"extra": value} if step == "extra" else [value]
    assert secret not in canonical(public_settings({"outer": value}))


def test_entry_keeps_texts_without_addresses() -> None:
    assert cut_addresses("a@b ?key=1") == "a@b ?key=1"


def test_request_text_shows_all_differences() -> None:
    messages: list[dict[str, Any]] = [
        {"role": "system", "content": "Be brief."},
        {"role": "assistant", "content": None, "tool_calls": [{"id": "1"}]},
        {"role": "user", "content": [{"type": "text", "text": "Which?"}]},
    ]
    request = Request(messages, tools=[{"name": "add"}], settings={"temperature": 1.5}, repetition=2)
    assert request_text(request_entry("m", {}, request)).splitlines() == [
        "temperature: 1.5",
        'tool: {"name":"add"}',
        "repetition: 2",
        "[system]",
        "Be brief.",
        "[assistant]",
        "null",
        '{"tool_calls":[{"id":"1"}]}',
        "[user]",
        '[{"text":"Which?","type":"text"}]',
    ]
    assert request_text(request_entry("m", {}, Request(kind="score", texts=["A", "B"]))) == "kind: score\nA\nB"
