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
    sum_replies,
    sum_spending,
    trial_replies,
)
from pytest_taskgraph.results.record.json_values import LONGEST_REPLY
from pytest_taskgraph.trial import Question, Reply, Request, Trial, digest_of

QUESTION = Question(
    "q", "f", "g", "s", "Which?", "Which is it?", "task", "A", "jaccard", system="Be brief.",
    specifications={"W": "The text of W."},
)  # fmt: skip
ABOUT = record.About("0.1.0", ("m",))
REPLY = Reply("Final answer: A", 10, 2, 0.25, 1.5, source="m-2026")


def put(*contents: Any, role: Any = "subject") -> Request:  # noqa: ANN401
    return Request(messages=[{"role": "user", "content": one} for one in contents], role=role)


def trial(exchanges: list[Exchange], reply: Reply | None = REPLY) -> Trial:
    said, texts = keep_exchanges(QUESTION, exchanges, reply)
    return Trial(QUESTION, "m", "right", reply, requests=len(said), exchanges=said, texts=texts)


def test_keep_exchanges_of_one_prompt_and_reply_takes_few_bytes() -> None:
    opening = Request(
        messages=[{"role": "system", "content": "Be brief."}, {"role": "user", "content": "Which is it?"}]
    )
    (said,), texts = keep_exchanges(QUESTION, [Exchange(opening, REPLY)], REPLY)
    assert said == {
        "role": "subject",
        "messages": [
            {"role": "system", "digest": digest_of("Be brief.")},
            {"role": "user", "digest": digest_of("Which is it?")},
        ],
        "final": True,
    }
    assert texts == {}
    assert len(json.dumps(said)) < 300


def test_record_says_what_the_final_exchange_took() -> None:
    made = trial([Exchange(put("Which is it?"), REPLY)])
    (said,) = record.build([made], ABOUT)["trials"][0]["exchanges"]
    assert {name: said[name] for name in ("tokens_in", "tokens_out", "cost", "latency", "stored", "source")} == {
        "tokens_in": 10, "tokens_out": 2, "cost": 0.25, "latency": 1.5, "stored": False, "source": "m-2026",
    }  # fmt: skip


def test_keep_exchanges_text_of_a_message_stands_once() -> None:
    first, second = put("Which is it?", "Draft."), put("Which is it?", "Draft.", "The text of W.", "Check.")
    made = trial([Exchange(first, Reply("B")), Exchange(second, REPLY)])
    assert made.texts == {digest_of(text): text for text in ("Draft.", "Check.")}
    assert [len(one["messages"]) for one in made.exchanges] == [2, 4]
    assert [(one.get("text"), one.get("final")) for one in made.exchanges] == [("B", None), (None, True)]


def test_keep_exchanges_composed_reply_leaves_all_texts() -> None:
    said = trial([Exchange(put("a"), Reply("A")), Exchange(put("b"), Reply("B"))], Reply("A and B")).exchanges
    assert [one["text"] for one in said] == ["A", "B"]
    assert not any("final" in one for one in said)


def test_keep_exchanges_one_of_equal_replies_is_final() -> None:
    said = trial([Exchange(put("a"), REPLY), Exchange(put("b"), replace(REPLY))]).exchanges
    assert [one.get("final") for one in said] == [True, None]


def test_keep_exchanges_failed_stays_and_unsent_does_not() -> None:
    said = trial([
        Exchange(put("a"), failure=ProviderError("server", "out of order")),
        Exchange(put("b"), failure=NotAskedError("the budget is spent")),
        Exchange(put("c")),  # when the time for the question ran out
    ], None).exchanges  # fmt: skip
    assert [one["failure"] for one in said] == ["server", "timeout"]
    assert trial_replies(trial([Exchange(put("c"))], None)) == []


def test_keep_exchanges_scores_embeddings_and_calls_of_tools() -> None:
    score = Request(kind="score", context="Which is it?", texts=[" A", " B"])
    embed = Request(kind="embed", texts=["A"], role="embedder")
    call = {"id": "1", "type": "function", "function": {"name": "read", "arguments": "{}"}}
    echo = Request(
        messages=[
            {"role": "assistant", "content": None, "tool_calls": [call]},
            {"role": "tool", "tool_call_id": "1", "content": "done"},
        ]
    )
    made = trial([
        Exchange(score, Reply("", logprobs=[[-1.0, 1, True], [-2.0, 1, False]])),
        Exchange(embed, Reply("", embeddings=[[0.5]])),
        Exchange(put("c"), Reply("", tool_calls=[call], finish_reason="tool_calls")),
        Exchange(echo, REPLY),
    ])  # fmt: skip
    scored, embedded, called, echoed = made.exchanges
    assert (scored["kind"], scored["logprobs"]) == ("score", [[-1.0, 1, True], [-2.0, 1, False]])
    assert [one["role"] for one in scored["messages"]] == ["context", "text", "text"]
    assert (embedded["kind"], embedded["messages"]) == ("embed", [{"role": "text", "digest": digest_of("A")}])
    assert "embeddings" not in embedded
    assert (called["calls"], called["finish_reason"]) == ([{"name": "read", "arguments": "{}"}], "tool_calls")
    texts = [made.texts[one["digest"]] for one in echoed["messages"]]
    assert json.loads(texts[0]) == {"content": None, "tool_calls": [call]}
    assert texts[1] == "done"


def test_keep_exchanges_note_replaces_nothing_but_calls() -> None:
    called = Reply("", tool_calls=[{"function": {"name": "read"}}])
    note: dict[str, Any] = {"calls": [{"name": "read", "answer": "ok"}], "metric": "judge"}
    (said,) = trial([Exchange(put("a"), called, note=note)], None).exchanges
    assert (said["calls"], said["metric"]) == (note["calls"], "judge")
    with pytest.raises(ValueError, match="the name 'cost'"):
        keep_exchanges(QUESTION, [Exchange(put("a"), REPLY, note={"cost": 0.0})], REPLY)


def test_keep_exchanges_texts_and_notes_hold_no_secret(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(redaction, "_known", {})
    redaction.register({"api_key": "hush-hush-123"})
    said, texts = keep_exchanges(
        QUESTION, [Exchange(put("Use hush-hush-123."), REPLY, note={"n": ["hush-hush-123"]})], REPLY
    )
    assert list(texts.values()) == ["Use [key]."]
    assert [one["digest"] for one in said[0]["messages"]] == [digest_of("Use [key].")]
    assert "hush" not in json.dumps([said, texts])


TEXTS = st.text(max_size=9) | st.sampled_from(
    ["Which is it?", "Be brief.", "The text of W.", "𝄞", "\ud834\udd1e", "\ud834"]
)


@given(st.lists(st.lists(TEXTS, max_size=3), min_size=1, max_size=4))
def test_record_gives_exchanges_and_texts_back(contents: list[list[str]]) -> None:
    exchanges = [Exchange(put(*texts), Reply("said", at, None, 0.5)) for at, texts in enumerate(contents)]
    made = trial([*exchanges, Exchange(put("last"), REPLY)])
    written = json.loads(json.dumps(record.build([made], ABOUT)))
    assert not list(_faults(written))
    assert record.trials(written) == [made]


def _faults(written: dict[str, Any]) -> list[tuple[str, str]]:
    from pytest_taskgraph.results.record.shape import find_faults

    return list(find_faults(written))


def test_record_cuts_long_texts_of_messages_but_never_a_prompt() -> None:
    long = "x" * (LONGEST_REPLY + 5)
    asking = trial([Exchange(put(long), REPLY)])
    other = Trial(replace(QUESTION, id="r", prompt=long, digests={"workflow": "w"}), "m", "skipped")
    (alone,) = record.build([asking], ABOUT)["texts"].keys() - {digest_of("Which is it?")}
    assert len(record.build([asking], ABOUT)["texts"][alone]) == LONGEST_REPLY
    assert record.trials(record.build([asking, other], ABOUT))[1].question.prompt == long


OLD_CALLS: list[Any] = [{"name": "read", "arguments": "{}", "answer": "ok"}]


def test_subject_replies_are_equal_in_old_and_new_records() -> None:
    alone = Trial(QUESTION, "m", "right", REPLY)
    judge = {"role": "judge", "text": "Score: 5", "metric": "judge", "value": 1.0}
    new = trial([Exchange(put("Which is it?"), REPLY), Exchange(put("Judge.", role="judge"), Reply("Score: 5"))])
    assert model_replies(alone) == model_replies(replace(alone, exchanges=[judge])) == model_replies(new)
    old_agent = replace(
        alone,
        exchanges=[
            {"role": "subject", "text": "I ask", "calls": OLD_CALLS, "tokens_in": 1},
            {"role": "subject", "text": REPLY.text, "calls": [], "tokens_in": 2},
        ],
    )
    asked = Exchange(put("a"), Reply("I ask", tool_calls=[{}]), note={"calls": OLD_CALLS})
    agent = trial([asked, Exchange(put("b"), REPLY, note={"calls": []})])
    assert model_replies(old_agent) == model_replies(agent)
    assert model_replies(agent) != model_replies(new)
    assert model_replies(trial([Exchange(put("a"), Reply("I asked")), Exchange(put("b"), REPLY)])) != model_replies(
        agent
    )


NUMBERS = st.none() | st.integers(0, 10**6)
ANSWERS = st.builds(Reply, st.just("x"), NUMBERS, NUMBERS, st.none() | st.integers(0, 99).map(lambda n: n / 64))


@given(st.lists(ANSWERS, min_size=1, max_size=6), st.integers(0, 3), st.booleans())
def test_sums_count_every_reply_once(answers: list[Reply], failed: int, composed: bool) -> None:
    exchanges = [Exchange(put(f"{at}"), reply) for at, reply in enumerate(answers)]
    exchanges += [Exchange(put("f"), failure=ProviderError("server", "no"))] * failed
    reply = None if failed else replace(answers[-1]) if composed else answers[-1]
    made = replace(trial(exchanges, reply), outcome="error" if failed else "right")
    sums, found = sum_spending([made]), sum_replies(made)
    known = {name: [getattr(one, name) for one in answers] for name in ("tokens_in", "tokens_out", "cost")}
    for name, values in known.items():
        told = [one for one in values if one is not None]
        assert getattr(sums, name) == sum(told)
        assert getattr(found, name) == (sum(told) if told else None)
    assert (sums.priced, sums.unpriced) == (len(answers) - known["cost"].count(None), known["cost"].count(None))
    assert found.stored is False


def test_sum_replies_of_an_old_record_counts_reply_and_judge() -> None:
    judge = {"role": "judge", "tokens_in": 5, "tokens_out": 1, "cost": 0.5, "stored": True}
    found = sum_replies(Trial(QUESTION, "m", "right", replace(REPLY, stored=True), exchanges=[judge]))
    assert (found.tokens_in, found.tokens_out, found.cost, found.latency, found.stored) == (15, 3, 0.75, 1.5, True)
    assert sum_replies(Trial(QUESTION, "m", "skipped")).stored is None
