from __future__ import annotations

import asyncio
from collections import Counter
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from scripted_model import ScriptedModel

from pytest_taskgraph.asking import Model
from pytest_taskgraph.errors import NotAskedError, ProviderError, UsageError
from pytest_taskgraph.models.clients.simulated import SimulatedModel
from pytest_taskgraph.trial import Reply, Request, digest_of


def request(prompt: str, repetition: int = 1) -> Request:
    return Request([{"role": "user", "content": prompt}], repetition=repetition)


def ask(model: Model, prompt: str = "Which?", repetition: int = 1) -> str:
    return asyncio.run(model.answer(request(prompt, repetition))).text


def simulated(accuracy: float, seed: int = 0) -> SimulatedModel:
    return SimulatedModel(lambda digest: ("right", "wrong"), accuracy, seed)


def test_scripted_lines_are_returned_in_order_and_requests_kept() -> None:
    model = ScriptedModel(["a", Reply("b", cost=0.5)], name="parrot")
    assert asyncio.run(model.answer(request("1"))) == Reply("a", source="parrot")
    assert asyncio.run(model.answer(request("2"))) == Reply("b", cost=0.5)
    with pytest.raises(NotAskedError, match="no scripted reply"):
        asyncio.run(model.answer(request("3")))
    assert [r.prompt for r in model.requests] == ["1", "2", "3"]


def test_scripted_exception_is_raised() -> None:
    model = ScriptedModel([ProviderError("rate-limit", "slow down"), "a"])
    with pytest.raises(ProviderError, match="slow down"):
        ask(model)
    assert ask(model) == "a"


def test_scripted_function_receives_request() -> None:
    model = ScriptedModel(lambda r: f"to {r.prompt}, {r.repetition}")
    assert ask(model, "x", 2) == "to x, 2"


@pytest.mark.parametrize("accuracy", [0.0, 0.3, 0.8, 1.0])
def test_simulated_model_has_stated_accuracy(accuracy: float) -> None:
    replies = Counter(ask(simulated(accuracy), str(i)) for i in range(1000))
    assert replies["right"] / 1000 == pytest.approx(accuracy, abs=0.04 if 0 < accuracy < 1 else 0)


@given(st.permutations(range(8)), st.integers())
def test_simulated_model_answers_equally_in_any_order(order: list[int], seed: int) -> None:
    model = simulated(0.5, seed)
    assert {i: ask(model, str(i)) for i in order} == {i: ask(simulated(0.5, seed), str(i)) for i in range(8)}


def test_simulated_model_depends_on_repetition_and_seed() -> None:
    assert {ask(simulated(0.5), "x", repetition) for repetition in range(1, 20)} == {"right", "wrong"}
    assert {ask(simulated(0.5, seed), "x") for seed in range(20)} == {"right", "wrong"}


def test_simulated_model_looks_up_digests_and_names_purpose() -> None:
    model = SimulatedModel({digest_of("known"): ("yes", "no")}.get, 1.0)
    assert ask(model, "known") == "yes"
    assert model.name == "simulated:1 (knows the answers; for testing the machinery)"
    assert simulated(0.8).name.startswith("simulated:0.8 (")
    with pytest.raises(NotAskedError, match="knows no answer"):
        ask(model, "unknown")


def test_simulated_model_answers_conversation_equally() -> None:
    model = SimulatedModel({digest_of(f"question {at}"): (f"yes {at}", f"no {at}") for at in range(20)}.get, 0.5)

    def answers(at: int) -> set[str]:
        opening: list[dict[str, Any]] = [{"role": "user", "content": f"question {at}"}]
        revised = [*opening, {"role": "assistant", "content": None}, {"role": "user", "content": "Revise it."}]
        return {asyncio.run(model.answer(Request(messages=messages))).text for messages in (opening, revised)}

    texts = [answers(at) for at in range(20)]
    assert {len(texts) for texts in texts} == {1}
    assert {text.split()[0] for texts in texts for text in texts} == {"yes", "no"}


def test_digest_of_prompt_is_sha_256() -> None:
    assert digest_of("") == "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"
    assert len(digest_of("\ud800")) == 64


@pytest.mark.parametrize("accuracy", [-0.1, 1.1, float("nan")])
def test_simulated_accuracy_outside_range_is_usage_error(accuracy: float) -> None:
    with pytest.raises(UsageError, match=r"0\.0 to 1\.0"):
        simulated(accuracy)
