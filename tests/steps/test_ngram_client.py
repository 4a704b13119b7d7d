"""The n-gram model as a model under test."""

from __future__ import annotations

import asyncio
import json
from math import fsum

import pytest

from pytest_taskgraph.asking import Model
from pytest_taskgraph.benchmarks.steps.ngram.language_model import KneserNeyModel
from pytest_taskgraph.benchmarks.steps.ngram.ngram_client import NgramClient
from pytest_taskgraph.errors import CannotScoreError, NotAskedError
from pytest_taskgraph.trial import Reply, Request, TextScore

RECIPES = [["boil", "water", ".", "add", "pasta"], ["heat", "oil", ".", "add", "garlic"]]


def trained() -> KneserNeyModel:
    return KneserNeyModel().fit(RECIPES)


def ask(model: Model, request: Request) -> Reply:
    return asyncio.run(model.answer(request))


def test_answer_score_request_has_a_row_for_each_text_behind_the_context() -> None:
    request = Request(kind="score", context="Boil water .", texts=[" Add pasta", " Add saffron, 2 g", ""])
    reply = ask(NgramClient("ngram", trained), request)
    before, model = ["boil", "water", "."], trained()
    pasta = fsum(model.logprobs(["add", "pasta"], before))
    saffron = fsum(model.logprobs(["add", "saffron", ",", "2", "g"], before))
    assert reply.scores == [TextScore(pasta, 2, None), TextScore(saffron, 5, None), TextScore(0.0, 0, None)]
    assert reply.source == "baseline:ngram"
    json.dumps(reply.logprobs, allow_nan=False)


def test_answer_without_context_scores_the_first_token_too() -> None:
    (score,) = ask(NgramClient("ngram", trained), Request(kind="score", texts=["Boil water"])).scores
    assert score.tokens == 2
    assert score.perplexity == pytest.approx(trained().perplexity(["boil", "water"]))


def test_answer_perplexity_prefers_the_step_that_follows() -> None:
    texts = ["boil water . add pasta", "boil water . garlic oil"]
    right, wrong = ask(NgramClient("ngram", trained), Request(kind="score", texts=texts)).scores
    assert right.perplexity is not None
    assert wrong.perplexity is not None
    assert right.perplexity < wrong.perplexity


def test_answer_trains_once_and_not_before_the_first_request() -> None:
    calls = []

    def train() -> KneserNeyModel:
        calls.append("train")
        return trained()

    client = NgramClient("ngram", train)
    assert calls == []
    for _ in range(3):
        ask(client, Request(kind="score", texts=["boil"]))
    assert calls == ["train"]


@pytest.mark.parametrize(
    ("request_", "reason"),
    [
        (Request(messages=[{"role": "user", "content": "Yes or No?"}]), "of kind 'chat'"),
        (Request(kind="embed", texts=["boil"]), "of kind 'embed'"),
        (Request(kind="score", messages=[{"role": "user", "content": "Yes?"}], texts=["Yes"]), "replies to messages"),
    ],
)
def test_answer_any_other_request_is_not_asked(request_: Request, reason: str) -> None:
    with pytest.raises(NotAskedError, match=f"^baseline:ngram cannot .*{reason}"):
        ask(NgramClient("ngram", trained), request_)


def test_answer_score_of_replies_to_messages_cannot_be_given() -> None:
    request = Request(kind="score", messages=[{"role": "user", "content": "Yes?"}], texts=["Yes"])
    with pytest.raises(CannotScoreError):
        ask(NgramClient("ngram", trained), request)
