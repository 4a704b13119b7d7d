from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pytest_taskgraph import redaction
from pytest_taskgraph.asking import Exchange
from pytest_taskgraph.errors import NotAskedError, ProviderError
from pytest_taskgraph.results import record
from pytest_taskgraph.results.record.exchanges import (
    keep_exchanges,
    model_replies,
    sum_trials,
    trial_usages,
)
from pytest_taskgraph.results.record.json_values import LONGEST_REPLY
from pytest_taskgraph.trial import Question, Reply, Request, Trial, digest_of
from pytest_taskgraph.usage import Usage

QUESTION = Question(
    "q", "f", "g", "s", "Which?", "Which is it?", "task", "A", "jaccard", system="Be brief.",
    specifications={"W": "The text of W."},
)  # fmt: skip
ABOUT = record.About("0.1.0", ("m",))
REPLY = Reply("Final answer: A", 10, 2, 0.25, 1.5, source="m-2026")


def request_of(*contents: Any, role: Any = "subject") -> Request:  # noqa: ANN401
    return Request(messages=[{"role": "user", "content": content} for content in contents], role=role)


def trial(exchanges: list[Exchange], reply: Reply | None = REPLY) -> Trial:
    exchanges_json, texts = keep_exchanges(QUESTION, exchanges, reply)
    return Trial(QUESTION, "m", "right", reply, requests=len(exchanges_json), exchanges=exchanges_json, texts=texts)


def test_keep_exchanges_single_prompt_and_reply_is_small() -> None:
    opening = Request(
        messages=[{"role": "system", "content": "Be brief."}, {"role": "user", "content": "Which is it?"}]
    )
    (kept_exchange,), texts = keep_exchanges(QUESTION, [Exchange(opening, REPLY)], REPLY)
    assert kept_exchange == {
        "role": "subject",
        "messages": [
            {"role": "system", "digest": digest_of("Be brief.")},
            {"role": "user", "digest": digest_of("Which is it?")},
        ],
        "final": True,
    }
    assert texts == {}
    assert len(json.dumps(kept_exchange)) < 300


def test_record_final_exchange_states_usage() -> None:
    kept_trial = trial([Exchange(request_of("Which is it?"), REPLY)])
    (exchange,) = record.build([kept_trial], ABOUT)["trials"][0]["exchanges"]
    assert {name: exchange[name] for name in ("tokens_in", "tokens_out", "cost", "latency", "stored", "source")} == {
        "tokens_in": 10, "tokens_out": 2, "cost": 0.25, "latency": 1.5, "stored": False, "source": "m-2026",
    }  # fmt: skip


def test_keep_exchanges_repeated_message_stored_once() -> None:
    first, second = (
        request_of("Which is it?", "Draft."),
        request_of("Which is it?", "Draft.", "The text of W.", "Check."),
    )
    kept_trial = trial([Exchange(first, Reply("B")), Exchange(second, REPLY)])
    assert kept_trial.texts == {digest_of(text): text for text in ("Draft.", "Check.")}
    assert [len(exchange["messages"]) for exchange in kept_trial.exchanges] == [2, 4]
    assert [(exchange.get("text"), exchange.get("final")) for exchange in kept_trial.exchanges] == [
        ("B", None),
        (None, True),
    ]


def test_keep_exchanges_composed_reply_keeps_all_texts() -> None:
    exchanges = trial(
        [Exchange(request_of("a"), Reply("A")), Exchange(request_of("b"), Reply("B"))], Reply("A and B")
    ).exchanges
    assert [exchange["text"] for exchange in exchanges] == ["A", "B"]
    assert not any("final" in exchange for exchange in exchanges)


def test_keep_exchanges_equal_replies_have_single_final() -> None:
    exchanges = trial([Exchange(request_of("a"), REPLY), Exchange(request_of("b"), replace(REPLY))]).exchanges
    assert [exchange.get("final") for exchange in exchanges] == [True, None]


def test_keep_exchanges_failed_kept_unsent_left_out() -> None:
    exchanges = trial([
        Exchange(request_of("a"), failure=ProviderError("server", "out of order")),
        Exchange(request_of("b"), failure=NotAskedError("the budget is spent")),
        Exchange(request_of("c")),  # when the time for the question ran out
    ], None).exchanges  # fmt: skip
    assert [exchange["failure"] for exchange in exchanges] == ["server", "timeout"]
    assert trial_usages(trial([Exchange(request_of("c"))], None)) == []


def test_keep_exchanges_of_scores_embeddings_and_tool_calls() -> None:
    score = Request(kind="score", context="Which is it?", texts=[" A", " B"])
    embed = Request(kind="embed", texts=["A"], role="embedder")
    call = {"id": "1", "type": "function", "function": {"name": "read", "arguments": "{}"}}
    echo = Request(
        messages=[
            {"role": "assistant", "content": None, "tool_calls": [call]},
            {"role": "tool", "tool_call_id": "1", "content": "done"},
        ]
    )
    kept_trial = trial([
        Exchange(score, Reply("", logprobs=[[-1.0, 1, True], [-2.0, 1, False]])),
        Exchange(embed, Reply("", embeddings=[[0.5]])),
        Exchange(request_of("c"), Reply("", tool_calls=[call], finish_reason="tool_calls")),
        Exchange(echo, REPLY),
    ])  # fmt: skip
    scored, embedded, called, echoed = kept_trial.exchanges
    assert (scored["kind"], scored["logprobs"]) == ("score", [[-1.0, 1, True], [-2.0, 1, False]])
    assert [message["role"] for message in scored["messages"]] == ["context", "text", "text"]
    assert (embedded["kind"], embedded["messages"]) == ("embed", [{"role": "text", "digest": digest_of("A")}])
    assert "embeddings" not in embedded
    assert (called["calls"], called["finish_reason"]) == ([{"name": "read", "arguments": "{}"}], "tool_calls")
    texts = [kept_trial.texts[message["digest"]] for message in echoed["messages"]]
    assert json.loads(texts[0]) == {"content": None, "tool_calls": [call]}
    assert texts[1] == "done"


def test_keep_exchanges_note_replaces_calls_only() -> None:
    called = Reply("", tool_calls=[{"function": {"name": "read"}}])
    note: dict[str, Any] = {"calls": [{"name": "read", "answer": "ok"}], "metric": "judge"}
    (exchange,) = trial([Exchange(request_of("a"), called, note=note)], None).exchanges
    assert (exchange["calls"], exchange["metric"]) == (note["calls"], "judge")
    with pytest.raises(ValueError, match="the reserved name 'cost'"):
        keep_exchanges(QUESTION, [Exchange(request_of("a"), REPLY, note={"cost": 0.0})], REPLY)


def test_keep_exchanges_redacts_texts_and_notes(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(redaction, "_registered", {})
    redaction.register({"api_key": "hush-hush-123"})
    exchanges, texts = keep_exchanges(
        QUESTION, [Exchange(request_of("Use hush-hush-123."), REPLY, note={"n": ["hush-hush-123"]})], REPLY
    )
    assert list(texts.values()) == ["Use [key]."]
    assert [message["digest"] for message in exchanges[0]["messages"]] == [digest_of("Use [key].")]
    assert "hush" not in json.dumps([exchanges, texts])


TEXTS = st.text(max_size=9) | st.sampled_from(
    ["Which is it?", "Be brief.", "The text of W.", "𝄞", "\ud834\udd1e", "\ud834"]
)


@given(st.lists(st.lists(TEXTS, max_size=3), min_size=1, max_size=4))
def test_record_exchanges_and_texts_round_trip(contents: list[list[str]]) -> None:
    exchanges = [Exchange(request_of(*texts), Reply("said", at, None, 0.5)) for at, texts in enumerate(contents)]
    kept_trial = trial([*exchanges, Exchange(request_of("last"), REPLY)])
    record_read = json.loads(json.dumps(record.build([kept_trial], ABOUT)))
    assert not list(_faults(record_read))
    assert record.trials(record_read) == [kept_trial]


def _faults(record_read: dict[str, Any]) -> list[tuple[str, str]]:
    from pytest_taskgraph.results.record.record_schema import find_faults

    return list(find_faults(record_read))


def test_record_long_messages_cut_prompts_kept() -> None:
    long = "x" * (LONGEST_REPLY + 5)
    asking = trial([Exchange(request_of(long), REPLY)])
    other = Trial(replace(QUESTION, id="r", prompt=long, digests={"workflow": "w"}), "m", "skipped")
    (alone,) = record.build([asking], ABOUT)["texts"].keys() - {digest_of("Which is it?")}
    assert len(record.build([asking], ABOUT)["texts"][alone]) == LONGEST_REPLY
    assert record.trials(record.build([asking, other], ABOUT))[1].question.prompt == long


CALLS: list[Any] = [{"name": "read", "arguments": "{}", "answer": "ok"}]


def test_model_replies_are_those_of_the_model_under_test() -> None:
    judged = trial(
        [Exchange(request_of("Which is it?"), REPLY), Exchange(request_of("Judge.", role="judge"), Reply("Score: 5"))]
    )
    assert model_replies(Trial(QUESTION, "m", "right", REPLY)) == model_replies(judged)
    question_exchange = Exchange(request_of("a"), Reply("I ask", tool_calls=[{}]), note={"calls": CALLS})
    agent = trial([question_exchange, Exchange(request_of("b"), REPLY, note={"calls": []})])
    assert model_replies(agent) != model_replies(judged)
    assert model_replies(
        trial([Exchange(request_of("a"), Reply("I asked")), Exchange(request_of("b"), REPLY)])
    ) != model_replies(agent)


NUMBERS = st.none() | st.integers(0, 10**6)
ANSWERS = st.builds(Reply, st.just("x"), NUMBERS, NUMBERS, st.none() | st.integers(0, 99).map(lambda n: n / 64))


@given(st.lists(ANSWERS, min_size=1, max_size=6), st.integers(0, 3), st.booleans())
def test_sum_trials_counts_every_reply_once(answers: list[Reply], failed: int, composed: bool) -> None:
    exchanges = [Exchange(request_of(f"{at}"), reply) for at, reply in enumerate(answers)]
    exchanges += [Exchange(request_of("f"), failure=ProviderError("server", "no"))] * failed
    reply = None if failed else replace(answers[-1]) if composed else answers[-1]
    kept_trial = replace(trial(exchanges, reply), outcome="error" if failed else "right")
    sums = sum_trials([kept_trial])
    values_by_name = {
        name: [getattr(answer, name) for answer in answers] for name in ("tokens_in", "tokens_out", "cost")
    }
    for name, values in values_by_name.items():
        stated = [value for value in values if value is not None]
        assert getattr(sums, name) == (sum(stated) if stated else None)
    assert (sums.priced, sums.unpriced) == (
        len(answers) - values_by_name["cost"].count(None),
        values_by_name["cost"].count(None),
    )
    assert sums.from_store is False


def test_sum_trials_counts_reply_and_judge() -> None:
    reply = replace(REPLY, stored=True)
    judge = Exchange(request_of("Judge.", role="judge"), Reply("5", 5, 1, 0.5, stored=True))
    sums = sum_trials([trial([Exchange(request_of("Which is it?"), reply), judge], reply)])
    assert sums == Usage(2, 2, 15, 3, cost=0.75, latency=1.5)
    assert (sums.from_store, sum_trials([Trial(QUESTION, "m", "skipped")]).from_store) == (True, None)


def test_record_of_reasoning_is_read_back_and_summed() -> None:
    draft = Reply("B", 10, 9, reasoning="Perhaps B. " * LONGEST_REPLY, tokens_reasoning=7)
    reply = replace(REPLY, reasoning="Surely A.", tokens_reasoning=1)
    kept_trial = trial([Exchange(request_of("Which is it?"), draft), Exchange(request_of("Sure?"), reply)], reply)
    record_json = json.loads(json.dumps(record.build([kept_trial], ABOUT)))
    first, final = record_json["trials"][0]["exchanges"]
    assert (len(first["reasoning"]), first["tokens_reasoning"]) == (LONGEST_REPLY, 7)
    assert ("reasoning" in final, final["tokens_reasoning"]) == (False, 1)
    (read,) = record.trials(record_json)
    assert (read.reply, read.exchanges[1]) == (reply, kept_trial.exchanges[1])
    assert sum_trials([read]).tokens_reasoning == 8


def test_record_without_reasoning_has_unknown_sum() -> None:
    kept_trial = trial([Exchange(request_of("Which is it?"), REPLY)])
    record_json = record.build([kept_trial], ABOUT)
    assert "tokens_reasoning" not in record_json["trials"][0]["exchanges"][0]
    assert sum_trials([kept_trial]).tokens_reasoning is None
