"""Log-probabilities through the server equal those of the same weights, computed another way."""

from __future__ import annotations

import asyncio
from math import exp, fsum, log

import pytest
from real_server import RealServer

from pytest_taskgraph.models import close, open_model
from pytest_taskgraph.trial import Request, TextScore

CONTEXT = "Boil the water. Put the pasta in."
TEXTS = [" Drain the pasta and serve it.", " Fly to the moon — 月 é.", " Salt"]


def scores(server: RealServer, request: Request) -> list[TextScore]:
    async def run() -> list[TextScore]:
        try:
            return (await open_model(server.model, {}).answer(request)).scores
        finally:
            await close()

    return asyncio.run(run())


def distribution(server: RealServer, ids: list[int]) -> dict[int, float]:
    """The log-probability of each token behind these, normalized here, whatever the server normalizes."""
    plain = [[ids[0], 1000]]  # the token that is written: of one that holds part of a character nothing is listed
    body = {"prompt": ids, "n_predict": 1, "n_probs": 100_000, "logit_bias": plain}
    listed = server.post("/completion", body)["completion_probabilities"][0]["top_logprobs"]
    total = log(fsum(exp(entry["logprob"]) for entry in listed))
    return {entry["id"]: entry["logprob"] - total for entry in listed}


def direct(server: RealServer, text: str) -> tuple[float, int]:
    """The perplexity of a text behind the context, and the number of its tokens."""
    whole, start = (server.post("/tokenize", {"content": part})["tokens"] for part in (CONTEXT + text, CONTEXT))
    assert whole[: len(start)] == start
    values = [distribution(server, whole[:at])[whole[at]] for at in range(len(start), len(whole))]
    return exp(-fsum(values) / len(values)), len(values)


@pytest.mark.parametrize("text", TEXTS)
def test_perplexity_is_that_of_a_direct_computation(real_server: RealServer, text: str) -> None:
    (score,) = scores(real_server, Request(kind="score", context=CONTEXT, texts=[text]))
    perplexity, tokens = direct(real_server, text)
    assert score.tokens == tokens
    assert score.perplexity == pytest.approx(perplexity, rel=1e-3)


def test_first_tokens_behind_messages_are_scored(real_server: RealServer) -> None:
    question = [{"role": "user", "content": "Is water wet? Answer Yes or No."}]
    yes, no = scores(real_server, Request(question, kind="score", texts=["Yes", "No"]))
    assert yes.logprob is not None
    assert no.logprob is not None
    assert exp(yes.logprob) + exp(no.logprob) <= 1.0
