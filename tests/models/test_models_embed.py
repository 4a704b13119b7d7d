from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from loopback import BROKEN_JSON, Loopback, Raw, as_json, refuse

from pytest_taskgraph.errors import ProviderError
from pytest_taskgraph.trial import Reply, Request

Ask = Callable[..., Reply]
BOTH = Request(role="embedder", kind="embed", texts=["the answer", "the reference"])


def embedded(*vectors: object, model: str = "any", usage: int | None = 7) -> Raw:
    """Return the vectors in OpenAI's protocol, in reverse order: the index states the order."""
    data = [{"object": "embedding", "index": at, "embedding": vector} for at, vector in enumerate(vectors)]
    body: dict[str, Any] = {"object": "list", "model": model, "data": data[::-1]}
    return as_json(body | ({"usage": {"prompt_tokens": usage, "total_tokens": usage}} if usage else {}))


def test_embed_texts_returns_vectors_in_order(server: Loopback, ask: Ask) -> None:
    server.script(embedded([1.0, 0.5], [0.0, -2.0], model="any-2024"))
    got = ask(request=BOTH)
    assert got.embeddings == [[1.0, 0.5], [0.0, -2.0]]
    assert (got.text, got.tokens_in, got.tokens_out, got.source) == ("", 7, 0, "any-2024")
    assert got.latency is not None


def test_embed_sends_texts_as_input(server: Loopback, ask: Ask) -> None:
    server.script(embedded([1.0], [1.0]))
    ask(request=BOTH)
    assert server.requests[0].path.endswith("/embeddings")
    body = server.requests[0].body
    assert (body["model"], body["input"]) == ("any", ["the answer", "the reference"])
    assert set(body) <= {"model", "input", "encoding_format"}


def test_embed_cost_follows_price_list(server: Loopback, ask: Ask) -> None:
    server.script(embedded([1.0], [1.0], model="text-embedding-3-small", usage=1000))
    assert ask(model="openai/text-embedding-3-small", request=BOTH).cost == pytest.approx(1000 * 2e-8)


def test_embed_without_price_or_count_has_unknown_cost(server: Loopback, ask: Ask) -> None:
    server.script(embedded([1.0], [1.0]), embedded([1.0], [1.0], model="text-embedding-3-small", usage=None))
    assert ask(request=BOTH).cost is None
    got = ask(model="openai/text-embedding-3-small", request=BOTH)
    assert (got.tokens_in, got.tokens_out, got.cost) == (None, None, None)


@pytest.mark.parametrize(
    ("answer", "kind"),
    [
        (refuse(429, "slow down"), "rate-limit"),
        (refuse(401, "no such key"), "authentication"),
        (refuse(500, "broken"), "server"),
        (BROKEN_JSON, "malformed"),
        (embedded([1.0], "AAAA"), "malformed"),
        (embedded([1.0], [1.0, None]), "malformed"),
        (embedded([1.0], [float("nan")]), "malformed"),
        (embedded([1.0], None), "malformed"),
        (as_json({"object": "list", "model": "any", "data": [{"index": 0}]}), "malformed"),
        (as_json({"object": "list", "model": "any", "data": ["vector"]}), "malformed"),
        (as_json({"object": "list", "model": "any"}), "malformed"),
        (as_json([]), "malformed"),
    ],
)
def test_embed_failure_has_kind_after_one_request(server: Loopback, ask: Ask, answer: Raw, kind: str) -> None:
    server.script(answer)
    with pytest.raises(ProviderError) as failed:
        ask(request=BOTH)
    assert failed.value.kind == kind
    assert len(server.requests) == 1
