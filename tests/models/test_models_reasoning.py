"""Reasoning that a server on this machine sends is kept apart from the answer, by address and through litellm."""

from __future__ import annotations

import asyncio
import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from loopback import Loopback, Raw, as_json, reply

from pytest_taskgraph.errors import NotAskedError, ProviderError
from pytest_taskgraph.models import close, open_model
from pytest_taskgraph.models.clients.provider_errors import failure_in
from pytest_taskgraph.models.clients.reasoning import count_reasoning, split_reasoning
from pytest_taskgraph.models.request_key import request_key
from pytest_taskgraph.redaction import register
from pytest_taskgraph.trial import Json, Reply, Request

CLIENTS = ("{url}#any", "litellm:openai/any")
CHAT = Request([{"role": "user", "content": "Which?"}])
CALL = {"id": "c1", "type": "function", "function": {"name": "tasks", "arguments": "{}"}}
BLOCKS = [{"type": "thinking", "thinking": "First.", "signature": "c2ln"}, {"type": "redacted_thinking", "data": "x"}]


def ask(model: str, url: str, settings: dict[str, Json] | None = None, request: Request = CHAT) -> Reply:
    own: dict[str, Json] = {"api_key": "test-key-123456"}
    own |= {} if "#" in model else {"api_base": url}

    async def run() -> Reply:
        try:
            return await open_model(model.format(url=url), own | (settings or {})).answer(request)
        finally:
            await close()

    return asyncio.run(run())


def both(server: Loopback, answer: Raw) -> Reply:
    """The reply that both clients read; without what differs by nature."""
    server.script(answer, answer)
    replies = [replace(ask(model, server.url), latency=None, cost=None) for model in CLIENTS]
    assert replies[0] == replies[1]
    return replies[0]


def used(**usage: Any) -> Raw:  # noqa: ANN401 - JSON
    return as_json(json.loads(reply("yes").body) | {"usage": usage})


@pytest.mark.parametrize(
    ("message", "content", "expected"),
    [
        ({"reasoning_content": "First this."}, "yes", ("First this.", "yes")),
        ({"reasoning": "First this."}, "yes", ("First this.", "yes")),
        ({"reasoning_content": None}, "<think>\nso\n</think>\n\nyes", ("so", "\n\nyes")),
        ({"reasoning": ""}, "<think>so</think>yes", ("so", "yes")),
        ({}, "<think>so</think>yes", ("so", "yes")),
        ({}, "\n<think>so</think>yes", ("so", "yes")),
        ({}, "<thinking>so</thinking>yes", ("so", "yes")),
        ({}, "<think>a</think>b</think>c", ("a", "b</think>c")),
        ({}, "I say <think>so</think>yes", ("", "I say <think>so</think>yes")),
        ({}, "so</think>yes", ("", "so</think>yes")),
        ({}, "<think>never ends", ("", "<think>never ends")),
        ({"reasoning_content": "r"}, "<think>a</think>b", ("r", "<think>a</think>b")),
        ({"reasoning_content": "a\x1b[31mb"}, "yes", ("a\ufffd[31mb", "yes")),
        ({"thinking_blocks": BLOCKS}, "yes", ("First.", "yes")),
        ({"reasoning_details": [{"type": "reasoning.text", "text": "Details."}]}, "yes", ("Details.", "yes")),
    ],
)
def test_reasoning_is_kept_apart_from_text(
    server: Loopback, message: dict[str, Any], content: str, expected: tuple[str, str]
) -> None:
    read = both(server, reply(content, message=message))
    assert (read.reasoning, read.text) == expected


def test_unclosed_reasoning_of_cut_off_reply_leaves_no_text(server: Loopback) -> None:
    read = both(server, reply("<think>Final answer: maybe", finish_reason="length"))
    assert (read.reasoning, read.text, read.cut_off) == ("Final answer: maybe", "", True)


def test_reasoning_without_answer_is_an_empty_reply(server: Loopback) -> None:
    failed = failure_in(both(server, reply("", message={"reasoning_content": "So."})))
    assert failed is not None
    assert (failed.kind, failed.message) == ("empty", "the reply holds reasoning, and no answer")


def test_registered_secret_is_cut_from_reasoning(server: Loopback) -> None:
    register({"password": "quince-and-medlar"})
    message = {"reasoning_content": "quince-and-medlar", "tool_calls": [CALL]}
    read = both(server, reply("yes", message=message))
    assert "quince" not in repr(read)


@pytest.mark.parametrize(
    ("usage", "expected"),
    [
        (
            {"completion_tokens": 50, "total_tokens": 70, "completion_tokens_details": {"reasoning_tokens": 40}},
            (50, 40),
        ),
        (
            {"completion_tokens": 10, "total_tokens": 70, "completion_tokens_details": {"reasoning_tokens": 40}},
            (50, 40),
        ),
        ({"completion_tokens": 10, "completion_tokens_details": {"reasoning_tokens": 40}}, (50, 40)),
        ({"completion_tokens": 10, "total_tokens": 70}, (50, 40)),
        (
            {"completion_tokens": 50, "total_tokens": 99, "completion_tokens_details": {"reasoning_tokens": 40}},
            (50, 40),
        ),
        ({"completion_tokens": 50, "total_tokens": 70, "completion_tokens_details": {"reasoning_tokens": 0}}, (50, 0)),
        ({"completion_tokens": 50, "total_tokens": 70, "completion_tokens_details": None}, (50, None)),
        ({"completion_tokens": 50, "total_tokens": 70, "reasoning_tokens": 40}, (50, 40)),
    ],
)
def test_reasoning_tokens_are_part_of_output(
    server: Loopback, usage: dict[str, Any], expected: tuple[int, int | None]
) -> None:
    read = both(server, used(prompt_tokens=20, **usage))
    assert (read.tokens_in, read.tokens_out, read.tokens_reasoning) == (20, *expected)


@pytest.mark.parametrize("count", ["40", -1, 2.5, True, float("inf"), None, [40]])
def test_reasoning_tokens_of_another_shape_are_unknown(count: object) -> None:
    assert count_reasoning({"completion_tokens_details": {"reasoning_tokens": count}}, 20, 50) == (None, 0)


@pytest.mark.parametrize(("apart", "known"), [(0, True), (40, False)])
def test_cost_is_unknown_if_reasoning_is_counted_apart(server: Loopback, apart: int, known: bool) -> None:
    details = {"reasoning_tokens": 40}
    usage = used(prompt_tokens=20, completion_tokens=50, total_tokens=70 + apart, completion_tokens_details=details)
    server.script(replace(usage, body=usage.body.replace(b'"any"', b'"gpt-4o"')))
    assert (ask("litellm:openai/gpt-4o", server.url).cost is not None) == known


@pytest.mark.parametrize("name", ["reasoning_content", "reasoning", "reasoning_details", "thinking_blocks"])
def test_reasoning_before_tool_calls_is_kept_to_send_back(server: Loopback, name: str) -> None:
    fields = {"reasoning_details": [{"type": "reasoning.text", "text": "So."}], "thinking_blocks": BLOCKS}
    sent = {name: fields.get(name, "So.")}
    assert both(server, reply(None, message={"tool_calls": [CALL], **sent})).message_fields == sent
    assert both(server, reply("yes", message=sent)).message_fields == {}


@pytest.mark.parametrize("model", CLIENTS)
def test_effort_is_sent_unchanged(server: Loopback, model: str) -> None:
    ask(model, server.url, {"reasoning_effort": "low", "max_completion_tokens": 900})
    sent = server.requests[0].body
    assert (sent["reasoning_effort"], sent["max_completion_tokens"]) == ("low", 900)
    assert "max_tokens" not in sent


def test_thinking_of_endpoint_is_sent_unchanged(server: Loopback) -> None:
    ask(CLIENTS[0], server.url, {"thinking": {"type": "enabled", "budget_tokens": 800}})
    assert server.requests[0].body["thinking"] == {"type": "enabled", "budget_tokens": 800}


@pytest.mark.parametrize("model", CLIENTS)
def test_refused_effort_is_an_error_in_words_of_provider(server: Loopback, model: str) -> None:
    words = "Invalid value: 'huge'. Supported values are: 'low', 'medium', and 'high'."
    server.script(as_json({"error": {"message": words, "type": "invalid_request_error"}}, 400))
    with pytest.raises(ProviderError, match="Invalid value: 'huge'") as caught:
        ask(model, server.url, {"reasoning_effort": "huge"})
    assert caught.value.kind == "bad-request"


def test_different_efforts_have_different_keys() -> None:
    settings: list[dict[str, Json]] = [{}, {"reasoning_effort": "low"}, {"reasoning_effort": "high"}]
    settings += [{"thinking": {"type": "enabled", "budget_tokens": budget}} for budget in (1024, 2048)]
    assert len({request_key("m", stated, CHAT) for stated in settings}) == 5


def test_recorded_reply_has_reasoning_of_its_row(tmp_path: Path) -> None:
    row = {"prompt": "Which?", "reply": "<think>a</think>yes", "reasoning": "So.", "tokens_reasoning": 4}
    file = tmp_path / "replies.jsonl"
    file.write_text(json.dumps(row))
    read = ask(f"recorded:{file}", "")
    assert (read.reasoning, read.tokens_reasoning, read.text) == ("So.", 4, "<think>a</think>yes")


def test_application_states_reasoning(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    code = "from pytest_taskgraph import Reply\ndef answer(prompt, **_): return Reply('yes', {}, reasoning='So\\x1b.')"
    (tmp_path / "musing.py").write_text(code.format("tokens_out=9, tokens_reasoning=4"))
    (tmp_path / "faulty.py").write_text(code.format("tokens_reasoning=-4"))
    monkeypatch.syspath_prepend(tmp_path)
    read = ask("python:musing:answer", "")
    assert (read.text, read.reasoning, read.tokens_reasoning) == ("yes", "So\ufffd.", 4)
    with pytest.raises((ProviderError, NotAskedError), match="tokens_reasoning=-4"):
        ask("python:faulty:answer", "")


def test_split_of_long_unclosed_block_takes_linear_time() -> None:
    text = "<think>" + "<think>" * 200_000
    assert split_reasoning(text, cut_off=False) == ("", text)
