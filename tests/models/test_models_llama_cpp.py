"""Texts are scored by a server of llama.cpp, which echoes no prompt, token by token."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from math import fsum

import pytest
from llama_cpp_server import SPLIT, LlamaCppServer

from pytest_taskgraph.errors import NoLogprobsError
from pytest_taskgraph.models import close, open_model
from pytest_taskgraph.trial import Reply, Request

QUERY = Request(kind="score", context="Boil water. Then", texts=[" add rice.", f" add {SPLIT} soup.", " sleep."])


@pytest.fixture
def server() -> Iterator[LlamaCppServer]:
    with LlamaCppServer() as running:
        yield running


def ask(server: LlamaCppServer, *requests: Request) -> list[Reply]:
    async def run() -> list[Reply]:
        model = open_model(f"{server.url}#any", {})
        try:
            return [await model.answer(request) for request in requests]
        finally:
            await close()

    return asyncio.run(run())


def direct(server: LlamaCppServer, context: str, text: str) -> tuple[float, int]:
    """The sum of the log-probabilities of the tokens of a text that begins a token, and their number."""
    ids, first = server.spelled(context + text), len(server.spelled(context))
    values = [server.value(ids[at], ids[at - 1]) for at in range(first, len(ids))]
    return fsum(values), len(values)


def test_scores_are_those_of_each_token_behind_those_before(server: LlamaCppServer) -> None:
    (reply,) = ask(server, QUERY)
    expected = [direct(server, QUERY.context, text) for text in QUERY.texts]
    assert [score.logprob for score in reply.scores] == pytest.approx([value for value, _ in expected])
    assert [score.tokens for score in reply.scores] == [tokens for _, tokens in expected]
    assert [tokens for _, tokens in expected] == [2, 5, 1]


def test_a_text_of_the_most_probable_tokens_is_greedy(server: LlamaCppServer) -> None:
    texts = [f" {word}" for word in ["add", "stir", "cook", "peel"]]
    request = Request(kind="score", context="Then", texts=texts)
    ask(server, request)
    (reply,) = ask(server, request)
    before = server.spelled("Then")[-1]
    values = [server.value(token, before) for token in range(len(server._pieces))]
    assert [score.greedy for score in reply.scores] == [
        server.value(server.spelled(text)[-1], before) == max(values) for text in texts
    ]


def test_the_first_token_of_all_has_no_probability(server: LlamaCppServer) -> None:
    (reply,) = ask(server, Request(kind="score", texts=["Boil water."]))
    ids = server.spelled("Boil water.")
    assert reply.scores[0].tokens == 2  # the server puts a token before the text
    assert reply.scores[0].logprob == pytest.approx(server.value(ids[1], 0) + server.value(ids[2], ids[1]))


def test_echoes_are_asked_for_once(server: LlamaCppServer) -> None:
    ask(server, QUERY, QUERY)
    echoes = [received for received in server.requests if received.body.get("echo")]
    assert len(echoes) == 1


def test_the_key_goes_to_every_path(server: LlamaCppServer, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TASKGRAPH_API_KEY", "key-of-this-test")
    ask(server, QUERY)
    assert {"/tokenize", "/v1/completions"} == {received.path for received in server.requests}
    assert {received.headers["authorization"] for received in server.requests} == {"Bearer key-of-this-test"}


def test_a_server_that_ignores_the_bias_cannot_score(server: LlamaCppServer) -> None:
    server.biased = False
    with pytest.raises(NoLogprobsError, match="does not write the token that a bias demands"):
        ask(server, QUERY)


def test_a_server_without_a_tokenizer_cannot_score(server: LlamaCppServer) -> None:
    server.lists = False
    with pytest.raises(NoLogprobsError, match="neither echoes its prompt nor lists its tokens"):
        ask(server, QUERY)
