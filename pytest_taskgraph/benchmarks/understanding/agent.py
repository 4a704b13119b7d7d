"""An agent: the prompt holds no workflow, the model asks for specifications by tools until it answers.

The set-up of the study's ReAct agent, on the tool calls of the OpenAI protocol.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final, Literal

from ...asking import Transcript, Turns
from ...trial import Question, Reply, Request
from ..episodes import opening

Status = Literal["ok", "unknown name", "malformed arguments", "unknown tool"]

LIST: Final = "list_workflows"
READ: Final = "workflow_specification"
_SHOWN = 200  # characters of what a model sent that it is told again


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
    """A call of a tool as it was read, and the answer to it."""

    tool: str
    arguments: str  # as they were sent
    status: Status
    text: str  # what the model is told
    read: str = ""  # the name of the specification that was given

    @property
    def valid_arguments(self) -> str:
        """The arguments, or the empty object where they are no JSON object: providers parse what they get back."""
        return self.arguments if _object(self.arguments) and self.arguments.strip() else "{}"

    def to_json(self) -> dict[str, Any]:
        """What was called, and how it was answered, without the answer's text."""
        return {"name": self.tool, "arguments": self.arguments, "answer": self.status}


def answered(call: Mapping[str, Any], specifications: Mapping[str, str]) -> ToolResult:
    """The call of an OpenAI message, {"function": {"name": …, "arguments": JSON text}}, with its answer.

    Whatever cannot be done is answered with what is known instead; nothing is raised.
    """
    function = call.get("function") or {}
    tool, sent = str(function.get("name") or ""), str(function.get("arguments") or "")
    if tool == LIST:
        return ToolResult(tool, sent, "ok", _names(specifications))
    if tool != READ:
        return ToolResult(
            tool, sent, "unknown tool", f"There is no tool {_cut(tool)}. The tools are {LIST} and {READ}."
        )
    name = (_object(sent) or {}).get("name")
    if not isinstance(name, str):
        text = (
            f'The arguments {_cut(sent)} are not of the form {{"name": "the name of a workflow"}}. '
            f"The workflows are {_names(specifications)}."
        )
        return ToolResult(tool, sent, "malformed arguments", text)
    return _specification(name, sent, specifications)


def _specification(name: str, sent: str, specifications: Mapping[str, str]) -> ToolResult:
    found = meant(name, specifications)
    if found is None:
        text = f"There is no workflow {_cut(name)}. The workflows are {_names(specifications)}."
        return ToolResult(READ, sent, "unknown name", text)
    return ToolResult(READ, sent, "ok", specifications[found], found)


def meant(name: str, specifications: Mapping[str, str]) -> str | None:
    """The full name that a name means: itself, or the only one that is it behind a package; None if there is none."""
    name = name.strip()
    if name in specifications:
        return name
    same = [known for known in specifications if name and known.endswith(f".{name}")]
    return same[0] if len(same) == 1 else None


def _object(text: str) -> dict[str, Any] | None:
    """The JSON object that the text is, the empty one for an empty text; None for anything else."""
    try:
        found = json.loads(text or "{}")
    except (ValueError, RecursionError):
        return None
    return found if isinstance(found, dict) else None


def _names(specifications: Mapping[str, str]) -> str:
    return json.dumps(list(specifications), ensure_ascii=False)


def _cut(text: str) -> str:
    return json.dumps(text[:_SHOWN], ensure_ascii=False)


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


def calls_of(question: Question, reply: Reply) -> list[ToolResult]:
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


def _continued(reply: Reply, calls: Sequence[ToolResult]) -> list[dict[str, Any]]:
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
