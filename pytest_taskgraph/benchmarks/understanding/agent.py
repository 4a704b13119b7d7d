"""An agent: the prompt holds no workflow, the model asks for specifications by tools until it answers.

The set-up of the study's ReAct agent, on the tool calls of the OpenAI protocol.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import Any

from ...asking import Transcript, Turns
from ...trial import Question, Reply, Request, Trial
from ..episodes.single import opening
from .agent_tools import TOOLS, Answered, answered

ROUNDS = 12  # requests in which the model may call tools
LAST_CALL = "You cannot call tools any more. Give your final answer now, in the form that was asked for."


def agent(question: Question) -> Turns:
    """Up to ROUNDS requests with tools; the reply is the first one without a call.

    Where every round brings calls, one more request without tools, with all that the tools said, asks for the answer.
    """
    messages: list[dict[str, Any]] = list(opening(question))
    exchanges: list[tuple[Request, Reply]] = []
    for _ in range(ROUNDS):
        request = Request(messages=list(messages), tools=list(TOOLS))
        (reply,) = yield [request]
        exchanges.append((request, reply))
        if not reply.tool_calls:
            return Transcript(reply, tuple(exchanges))
        messages += _continued(reply, calls_of(question, reply))
    request = Request(messages=[*opening(question), _all_told(question, exchanges)])
    (reply,) = yield [request]
    return Transcript(reply, (*exchanges, (request, reply)))


def calls_of(question: Question, reply: Reply) -> list[Answered]:
    """The calls of a reply, each with its answer, in order."""
    return [answered(call, question.specifications) for call in reply.tool_calls]


def said(question: Question, transcript: Transcript) -> list[dict[str, Any]]:
    """What an agent said, an entry a request: role, text, calls with the status of their answers, tokens, cost and
    latency. Nothing for any other episode: one prompt and its reply stand in the trial already.
    """
    return [
        {
            "role": request.role, "text": reply.text,
            "calls": [call.to_json() for call in calls_of(question, reply)],
            "tokens_in": reply.tokens_in, "tokens_out": reply.tokens_out, "cost": reply.cost, "latency": reply.latency,
            "stored": reply.stored,
        }
        for request, reply in _own(question, transcript)
    ]  # fmt: skip


def marked_agent(trial: Trial, transcript: Transcript) -> Trial:
    """The trial, its score with what the tools were used for; any trial but a marked one of an agent as it is.

    The metric "specifications_read" is the share of the needed specifications that the model was given, 0.0 to 1.0,
    None where none is needed; the part of that name holds both numbers, the part "tool_calls" how many calls could
    be done, and how many there were.
    """
    question, own = trial.question, _own(trial.question, transcript)
    if trial.score is None or not own:
        return trial
    calls = [call for _, reply in own for call in calls_of(question, reply)]
    read, needed = specifications_read(question, (reply for _, reply in own))
    parts = {
        "specifications_read": [float(read), float(needed)],
        "tool_calls": [float(sum(call.status == "ok" for call in calls)), float(len(calls))],
    }
    share = {"specifications_read": read / needed if needed else None}
    score = replace(trial.score, metrics=trial.score.metrics | share, parts=trial.score.parts | parts)
    return replace(trial, score=score)


def _own(question: Question, transcript: Transcript) -> list[tuple[Request, Reply]]:
    """The exchanges with the agent; none where the question is put in another way."""
    return [one for one in transcript.exchanges if question.episode == "agent" and one[0].role == "subject"]


def specifications_read(question: Question, replies: Iterable[Reply]) -> tuple[int, int]:
    """How many of the needed specifications the model was given, and how many are needed.

    Where one text is the specification of several workflows, reading it under any of their names counts for all.
    """
    calls = [call for reply in replies for call in calls_of(question, reply)]
    texts = {call.text for call in calls if call.read}
    return sum(question.specifications.get(name) in texts for name in question.needed), len(question.needed)


def _continued(reply: Reply, calls: Sequence[Answered]) -> list[dict[str, Any]]:
    """The messages that follow a reply with calls: the reply itself, and an answer for each call."""
    ids = _ids(reply)
    echoed = [
        {"id": one, "type": "function", "function": {"name": call.tool, "arguments": call.valid_arguments}}
        for one, call in zip(ids, calls, strict=True)
    ]
    told = [{"role": "tool", "tool_call_id": i, "content": c.text} for i, c in zip(ids, calls, strict=True)]
    return [{"role": "assistant", "content": reply.text or None, "tool_calls": echoed}, *told]


def _ids(reply: Reply) -> list[str]:
    """The ids of the calls; a new one where a provider left it out or gave it twice."""
    ids: list[str] = []
    for place, call in enumerate(reply.tool_calls):
        one = str(call.get("id") or f"call_{place}")
        while one in ids:
            one += "_"
        ids.append(one)
    return ids


def _all_told(question: Question, exchanges: Iterable[tuple[Request, Reply]]) -> dict[str, str]:
    """One message with all calls and answers: without tools, providers take no messages that hold calls."""
    calls = [call for _, reply in exchanges for call in calls_of(question, reply)]
    told = {f"{call.tool} {call.arguments}".strip(): call.text for call in calls}
    answers = [f"{called}\n{text}" for called, text in told.items()]
    return {"role": "user", "content": "\n\n".join(["You called tools, which answered:", *answers, LAST_CALL])}
