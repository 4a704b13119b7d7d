from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

from described_runs import about_run
from html_page import Page

from pytest_taskgraph.asking import Exchange
from pytest_taskgraph.errors import ProviderError
from pytest_taskgraph.reports.html import html
from pytest_taskgraph.reports.html.question_view import SHOWN_PROMPT, transcript
from pytest_taskgraph.results.record import build
from pytest_taskgraph.results.record.exchanges import keep_exchanges
from pytest_taskgraph.trial import Json, Question, Reply, Request, Score, Trial

HOSTILE = "</script><script>alert(1)</script><img src=x onerror=alert(2)>"
SPECIFICATION = "A then B"
QUESTION = Question(
    "q", "f", "g", "s", "Which?", "Which is it?", "task-set", ["A"], "jaccard", specifications={"W": SPECIFICATION}
)
OPENING = {"role": "user", "content": "Which is it?"}
FINAL = Reply("Final answer: A", 30, 4, 0.25, 1.5)


def call(identity: str, name: str, arguments: str) -> dict[str, Any]:
    return {"id": identity, "type": "function", "function": {"name": name, "arguments": arguments}}


def calling(*calls: dict[str, Any], text: str = "") -> Reply:
    return Reply(text, 10, 2, finish_reason="tool_calls", tool_calls=list(calls))


def after(reply: Reply, *results: str) -> list[dict[str, Any]]:
    answers = [
        {"role": "tool", "tool_call_id": call["id"], "content": result}
        for call, result in zip(reply.tool_calls, results, strict=True)
    ]
    return [{"role": "assistant", "content": reply.text or None, "tool_calls": reply.tool_calls}, *answers]


def trial_of(*exchanges: Exchange, reply: Reply | None = FINAL, name: str = "q") -> Trial:
    exchanges_json, texts = keep_exchanges(QUESTION, exchanges, reply)
    question = replace(QUESTION, id=name)
    return Trial(question, "m", "right", reply, Score(1.0, given=["A"]), exchanges=exchanges_json, texts=texts)


def agent_trial(name: str = "q") -> Trial:
    first = calling(call("a", "read", '{"name": "W", "deep": true}'), call("b", "list", "{}"), text="I look.")
    second = calling(call("c", "read", "{broken"))
    odd: Json = {"name": "read", "arguments": "{broken", "answer": "odd"}
    messages = [OPENING, *after(first, SPECIFICATION, '["W"]')]
    last = [*messages, *after(second, "No such name.")]
    return trial_of(
        Exchange(Request([OPENING]), first),
        Exchange(Request(messages), second, note={"calls": [odd]}),
        Exchange(Request(last), FINAL),
        name=name,
    )


def page(*trials: Trial) -> Page:
    return Page(html(build(trials, about_run("0.1.0", ("m",)))))


def test_transcript_tool_calls_have_arguments_and_results() -> None:
    view = transcript(agent_trial())
    first, second, last = view.turns
    assert first["turn_messages"] == [["asked", SHOWN_PROMPT]]
    assert [c["call_name"] for c in first["turn_calls"]] == ["read", "list"]
    assert first["turn_calls"][0]["call_arguments"] == [["name", "W"], ["deep", "true"]]
    results = [view.texts[c["call_result"]] for turn in view.turns for c in turn.get("turn_calls", [])]
    assert results == [SPECIFICATION, '["W"]', "No such name."]
    assert second["turn_calls"][0]["call_arguments"] == [["arguments", "{broken"]]
    assert second["turn_calls"][0]["call_status"] == "odd"
    assert "turn_messages" not in second
    assert last["turn_final"]


def test_transcript_same_result_twice_stands_at_both_calls() -> None:
    first, second = calling(call("a", "list", "")), calling(call("b", "list", ""))
    messages = [OPENING, *after(first, "[]")]
    last = [*messages, *after(second, "[]")]
    view = transcript(
        trial_of(
            Exchange(Request([OPENING]), first), Exchange(Request(messages), second), Exchange(Request(last), FINAL)
        )
    )
    assert [view.texts[c["call_result"]] for turn in view.turns[:2] for c in turn["turn_calls"]] == ["[]", "[]"]


def test_transcript_single_prompt_and_reply_has_no_turns() -> None:
    assert transcript(trial_of(Exchange(Request([OPENING]), FINAL))).turns == []


def test_transcript_turns_state_usage_and_failure() -> None:
    judge = Request([{"role": "user", "content": "How good?"}], role="judge")
    view = transcript(
        trial_of(
            Exchange(Request([OPENING]), FINAL),
            Exchange(judge, Reply("Good.", 5, 1), note={"metric": "fit", "value": 0.5, "seen": [1]}),
            Exchange(judge, failure=ProviderError("timeout", "late")),
        )
    )
    to_model, to_judge, failed = view.turns
    assert to_model["turn_title"] == "Request 1 of 3: model under test"
    assert to_model["turn_usage"] == "30 tokens in, 4 out, $0.250000, 1.50 s"
    assert to_judge["turn_title"] == "Request 2 of 3: judge, fit 0.500"
    assert to_judge["turn_reply"] == "Good."
    assert to_judge["turn_notes"] == [["seen", "[1]"]]
    assert [view.texts[key] for _, key in to_judge["turn_messages"]] == ["How good?"]
    assert failed["turn_failure"] == "timeout"


def test_transcript_reasoning_has_title_with_its_tokens() -> None:
    exchange = {"role": "subject", "text": "B", "reasoning": "Perhaps B.", "tokens_reasoning": 1234, "messages": []}
    final = {"role": "subject", "final": True, "messages": []}
    view = transcript(Trial(QUESTION, "m", "right", FINAL, exchanges=[exchange, final]))
    assert view.turns[0]["turn_reasoning"] == "Perhaps B."
    assert view.turns[0]["turn_reasoning_title"] == "Reasoning, 1,234 tokens"


def test_transcript_calls_of_any_shape_are_shown() -> None:
    calls = ["read", {"tool": "read", "status": "ok", "depth": 2}, {"arguments": [1]}, 7]
    exchange = {"role": "subject", "messages": [], "calls": calls}
    view = transcript(Trial(QUESTION, "m", "right", FINAL, exchanges=[exchange, exchange]))
    assert [(c["call_name"], c.get("call_arguments")) for c in view.turns[0]["turn_calls"]] == [
        ("(no name)", [["call", "read"]]), ("read", [["depth", "2"]]), ("(no name)", [["arguments", "[1]"]]),
        ("(no name)", [["call", "7"]]),
    ]  # fmt: skip


def test_html_transcript_texts_stand_once_in_page() -> None:
    report = page(agent_trial("q1"), agent_trial("q2"))
    assert list(report.data("details")["texts"].values()).count(SPECIFICATION) == 1
    assert len(report.data("details")["questions"][1]["turns"]) == 3


def test_html_transcript_without_script_has_all_texts() -> None:
    report = page(agent_trial())
    assert report.all("ul", class_="calls")[0] == (
        'called read name W deep true result A then B called list result ["W"]'
    )
    assert report.all("pre", data_slot="turn_reply")[:2] == ["I look.", "Final answer: A"]
    assert "Transcript, 3 requests" in report.all("summary")


def test_html_transcript_hostile_texts_are_text() -> None:
    reply = calling(call("a", HOSTILE, json.dumps({HOSTILE: HOSTILE})), text=HOSTILE)
    messages = [OPENING, *after(reply, HOSTILE), {"role": HOSTILE, "content": HOSTILE}]
    report = page(trial_of(Exchange(Request([OPENING]), reply), Exchange(Request(messages), Reply(HOSTILE))))
    assert "img" not in {tag for tag, _, _ in report.elements}
    assert report.all("bdi", data_slot="call_name")[0] == HOSTILE
    assert not set("<>&") & set(report.raw("details"))


def test_transcript_scored_texts_have_lines_of_scores() -> None:
    request = Request(kind="score", context="First.", texts=["Then A", "Then B"])
    first, final = (Reply("", logprobs=[[-1.5, 3, None], [None, 2, False]]) for _ in range(2))
    turns = transcript(trial_of(Exchange(request, first), Exchange(request, final), reply=final)).turns
    assert [speaker for speaker, _ in turns[0]["turn_messages"]] == ["context", "text", "text"]
    assert turns[0]["turn_scores"] == turns[1]["turn_scores"]
    assert turns[0]["turn_scores"].split("\n") == [
        "text 1: log-probability -1.500, 3 tokens, perplexity 1.649", "text 2: no log-probability",
    ]  # fmt: skip


def test_transcript_single_reply_with_reasoning_shows_it_beside_reply() -> None:
    reply = replace(FINAL, reasoning="Perhaps A.", tokens_reasoning=2)
    report = page(trial_of(Exchange(Request([OPENING]), reply), reply=reply))
    assert report.all("details", class_="reasoning")[0] == "Reasoning, 2 tokens Perhaps A."
    assert report.data("details")["questions"][0]["reasoning"] == "Perhaps A."
