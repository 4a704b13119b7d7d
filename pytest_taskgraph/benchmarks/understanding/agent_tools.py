"""The tools by which an agent asks for specifications, and what each of its calls is answered."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final, Literal

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
class Answered:
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


def answered(call: Mapping[str, Any], specifications: Mapping[str, str]) -> Answered:
    """The call of an OpenAI message, {"function": {"name": …, "arguments": JSON text}}, with its answer.

    Whatever cannot be done is answered with what is known instead; nothing is raised.
    """
    function = call.get("function") or {}
    tool, sent = str(function.get("name") or ""), str(function.get("arguments") or "")
    if tool == LIST:
        return Answered(tool, sent, "ok", _names(specifications))
    if tool != READ:
        return Answered(tool, sent, "unknown tool", f"There is no tool {_cut(tool)}. The tools are {LIST} and {READ}.")
    name = (_object(sent) or {}).get("name")
    if not isinstance(name, str):
        text = (
            f'The arguments {_cut(sent)} are not of the form {{"name": "the name of a workflow"}}. '
            f"The workflows are {_names(specifications)}."
        )
        return Answered(tool, sent, "malformed arguments", text)
    return _specification(name, sent, specifications)


def _specification(name: str, sent: str, specifications: Mapping[str, str]) -> Answered:
    found = meant(name, specifications)
    if found is None:
        text = f"There is no workflow {_cut(name)}. The workflows are {_names(specifications)}."
        return Answered(READ, sent, "unknown name", text)
    return Answered(READ, sent, "ok", specifications[found], found)


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
