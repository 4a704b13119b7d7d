"""An agent: the prompt holds no workflow, the model asks for specifications by tools until it answers.

The set-up of the study's ReAct agent, on the tool calls of the OpenAI protocol.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from ...asking import Transcript, Turns
from ...trial import Question, Reply, Request
from ..episodes.single import opening
from .agent_tools import TOOLS, Answered, answered

ROUNDS = 12  # requests in which the model may call tools
LAST_CALL = "You cannot call tools any more. Give your final answer now, in the form that was asked for."


def agent(question: Question) -> Turns:
    """Up to ROUNDS requests with tools; the reply is the first one without a call.

    Where every round brings calls, one more request without tools, with all that the tools said, asks for the answer.
    """
    messages: list[dict[str, Any]] = list(opening(question))
    replies: list[Reply] = []
    for _ in range(ROUNDS):
        (reply,) = yield [Request(messages=list(messages), tools=list(TOOLS))]
        replies.append(reply)
        if not reply.tool_calls:
            return _transcript(question, replies)
        messages += _continued(reply, calls_of(question, reply))
    (reply,) = yield [Request(messages=[*opening(question), _all_told(question, replies)])]
    return _transcript(question, [*replies, reply])


def calls_of(question: Question, reply: Reply) -> list[Answered]:
    """The calls of a reply, each with its answer, in order."""
    return [answered(call, question.specifications) for call in reply.tool_calls]


def _transcript(question: Question, replies: Sequence[Reply]) -> Transcript:
    """The last reply, with what the tools were used for, and the calls of each reply with the status of their answers.

    The metric "specifications_read" is the share of the needed specifications that the model was given, 0.0 to 1.0,
    None where none is needed; the part of that name holds both numbers, the part "tool_calls" how many calls could
    be done, and how many there were.
    """
    calls = [calls_of(question, reply) for reply in replies]
    statuses = [call.status for some in calls for call in some]
    read, needed = specifications_read(question, replies)
    return Transcript(
        replies[-1],
        metrics={"specifications_read": read / needed if needed else None},
        parts={
            "specifications_read": [float(read), float(needed)],
            "tool_calls": [float(statuses.count("ok")), float(len(statuses))],
        },
        notes=[{"calls": [call.to_json() for call in some]} for some in calls],
    )


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


def _all_told(question: Question, replies: Iterable[Reply]) -> dict[str, str]:
    """One message with all calls and answers: without tools, providers take no messages that hold calls."""
    calls = [call for reply in replies for call in calls_of(question, reply)]
    told = {f"{call.tool} {call.arguments}".strip(): call.text for call in calls}
    answers = [f"{called}\n{text}" for called, text in told.items()]
    return {"role": "user", "content": "\n\n".join(["You called tools, which answered:", *answers, LAST_CALL])}
