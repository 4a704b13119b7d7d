"""Agent: the prompt contains no workflow; the model reads specifications with tools until it answers.

The setup of the ReAct agent of Töpfer et al. (2025), with the tool calls of the OpenAI protocol.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final, Literal

from ...asking import Transcript, Turns
from ...benchmarks.episodes import opening
from ...trial import Question, Reply, Request

Status = Literal["ok", "unknown name", "malformed arguments", "unknown tool"]

LIST: Final = "list_workflows"
READ: Final = "workflow_specification"
_EXCERPT = 200  # characters of a model's text that an answer repeats


def _tool(name: str, description: str, properties: dict[str, Any]) -> dict[str, Any]:
    parameters = {"type": "object", "properties": properties, "required": sorted(properties)}
    return {"type": "function", "function": {"name": name, "description": description, "parameters": parameters}}


TOOLS: Final[tuple[dict[str, Any], ...]] = (
    _tool(LIST, "The names of all workflows whose specifications there are, as a JSON list.", {}),
    _tool(
        READ,
        "The text of the specification of one workflow.",
        {
            "name": {
                "type": "string",
                "description": f"The name of the workflow, as {LIST} or a specification tells it.",
            }
        },
    ),
)


@dataclass(frozen=True, slots=True)
class ToolResult:
    """A parsed tool call and the answer to it."""

    tool: str
    arguments: str  # as the model sent them
    status: Status
    text: str  # the answer to the model
    read: str = ""  # name of the specification in the answer

    @property
    def valid_arguments(self) -> str:
        """Return the arguments, or the empty object if they are no JSON object: providers parse what they get back."""
        return self.arguments if _parse_object(self.arguments) and self.arguments.strip() else "{}"

    def to_json(self) -> dict[str, Any]:
        """Return the call and the status of its answer, without the answer's text."""
        return {"name": self.tool, "arguments": self.arguments, "answer": self.status}


def answer_call(call: Mapping[str, Any], specifications: Mapping[str, str]) -> ToolResult:
    """Return the call of an OpenAI message, {"function": {"name": …, "arguments": JSON text}}, with its answer.

    A call that is not possible is answered with the available names; nothing is raised.
    """
    function = call.get("function") or {}
    tool, sent = str(function.get("name") or ""), str(function.get("arguments") or "")
    if tool == LIST:
        return ToolResult(tool, sent, "ok", _names(specifications))
    if tool != READ:
        return ToolResult(
            tool, sent, "unknown tool", f"There is no tool {_quote_excerpt(tool)}. The tools are {LIST} and {READ}."
        )
    name = (_parse_object(sent) or {}).get("name")
    if not isinstance(name, str):
        text = (
            f'The arguments {_quote_excerpt(sent)} are not of the form {{"name": "the name of a workflow"}}. '
            f"The workflows are {_names(specifications)}."
        )
        return ToolResult(tool, sent, "malformed arguments", text)
    return _specification(name, sent, specifications)


def _specification(name: str, sent: str, specifications: Mapping[str, str]) -> ToolResult:
    full_name = full_name_of(name, specifications)
    if full_name is None:
        text = f"There is no workflow {_quote_excerpt(name)}. The workflows are {_names(specifications)}."
        return ToolResult(READ, sent, "unknown name", text)
    return ToolResult(READ, sent, "ok", specifications[full_name], full_name)


def full_name_of(name: str, specifications: Mapping[str, str]) -> str | None:
    """Return the full name that a name stands for: itself, or the only one that ends in it; None if there is none."""
    name = name.strip()
    if name in specifications:
        return name
    same = [candidate for candidate in specifications if name and candidate.endswith(f".{name}")]
    return same[0] if len(same) == 1 else None


def _parse_object(text: str) -> dict[str, Any] | None:
    """Return the JSON object in a text, the empty one for an empty text; None for anything else."""
    try:
        value = json.loads(text or "{}")
    except (ValueError, RecursionError):
        return None
    return value if isinstance(value, dict) else None


def _names(specifications: Mapping[str, str]) -> str:
    return json.dumps(list(specifications), ensure_ascii=False)


def _quote_excerpt(text: str) -> str:
    return json.dumps(text[:_EXCERPT], ensure_ascii=False)


ROUNDS = 12  # requests in which the model may call tools
LAST_CALL = "You cannot call tools any more. Give your final answer now, in the form that was asked for."


def agent(question: Question) -> Turns:
    """Yield up to ROUNDS requests with tools; the reply is the first one without a call.

    If every round brings calls, one more request without tools, with all results of the tools, asks for the answer.
    """
    messages: list[dict[str, Any]] = list(opening(question))
    replies: list[Reply] = []
    for _ in range(ROUNDS):
        (reply,) = yield [Request(messages=list(messages), tools=list(TOOLS))]
        replies.append(reply)
        if not reply.tool_calls:
            return _transcript(question, replies)
        messages += _messages_after(reply, calls_of(question, reply))
    (reply,) = yield [Request(messages=[*opening(question), _calls_as_text(question, replies)])]
    return _transcript(question, [*replies, reply])


def calls_of(question: Question, reply: Reply) -> list[ToolResult]:
    """Return the calls of a reply, each with its answer, in order."""
    return [answer_call(call, question.specifications) for call in reply.tool_calls]


def _transcript(question: Question, replies: Sequence[Reply]) -> Transcript:
    """Return the last reply with metrics of the use of tools, and the calls of each reply with their status.

    The metric "specifications_read" is the share of the needed specifications that the model read, 0.0 to 1.0, None if
    none is needed; the part of that name holds both numbers, the part "tool_calls" the numbers of successful and of all
    calls.
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
    """Return the number of needed specifications that the model read, and the number of needed ones.

    Where one text is the specification of several workflows, reading it under any of their names counts for all.
    """
    calls = [call for reply in replies for call in calls_of(question, reply)]
    texts = {call.text for call in calls if call.read}
    return sum(question.specifications.get(name) in texts for name in question.needed), len(question.needed)


def _messages_after(reply: Reply, calls: Sequence[ToolResult]) -> list[dict[str, Any]]:
    """Return the messages that follow a reply with calls: the reply itself, and an answer to each call."""
    ids = _call_ids(reply)
    echoed = [
        {"id": call_id, "type": "function", "function": {"name": call.tool, "arguments": call.valid_arguments}}
        for call_id, call in zip(ids, calls, strict=True)
    ]
    results = [
        {"role": "tool", "tool_call_id": call_id, "content": call.text}
        for call_id, call in zip(ids, calls, strict=True)
    ]
    message = {"role": "assistant", "content": reply.text or None, "tool_calls": echoed}
    return [{**reply.message_fields, **message}, *results]


def _call_ids(reply: Reply) -> list[str]:
    """Return the ids of the calls, with a new one where a provider omitted or repeated it."""
    ids: list[str] = []
    for place, call in enumerate(reply.tool_calls):
        call_id = str(call.get("id") or f"call_{place}")
        while call_id in ids:
            call_id += "_"
        ids.append(call_id)
    return ids


def _calls_as_text(question: Question, replies: Iterable[Reply]) -> dict[str, str]:
    """Return one message with all calls and answers: without tools, providers accept no messages with calls."""
    calls = [call for reply in replies for call in calls_of(question, reply)]
    texts_by_call = {f"{call.tool} {call.arguments}".strip(): call.text for call in calls}
    answers = [f"{call}\n{text}" for call, text in texts_by_call.items()]
    return {"role": "user", "content": "\n\n".join(["You called tools, which answered:", *answers, LAST_CALL])}
