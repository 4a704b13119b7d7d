r"""The style in which this package writes BPMN, told from files of other tools by `exporter`, BPMN's place for it.

In files of this style
- a character that XML or its reader would change is written `\u{a}`, in hexadecimal;
- documentation such as "kind: user" states an attribute of its element, "inner …" one of what is inside it;
- gateways whose names begin with IMPLIED are no part of the workflow;
- a node without a flow out of it leads nowhere.
"""

from __future__ import annotations

import re
from typing import Final

from ...workflow.features import features
from ...workflow.model import Workflow
from ..notation import DURATIONS, EXCEPTIONAL_LINKS, IMPLIED

EXPORTER: Final = "pytest-taskgraph"
INNER: Final = "inner "
"""How keys begin that state an attribute of the workflow inside a sub-process, not of the task."""

WRITTEN_GUIDE: Final = (
    "Each process of this BPMN 2.0 model, in XML and without its diagram, is a workflow: its tasks and "
    "sub-processes are the tasks, called by their names; the start event is START, the end event is END, and "
    "these and gateways are no tasks. A sequence flow is control flow, taken only under the condition in its "
    'conditionExpression; the default flow of a node has the condition "otherwise", which means that no other '
    "condition at that node holds. By the token semantics of BPMN, all flows out of a task that have no "
    "condition, or whose condition holds, are taken. A gateway with several flows out of it is a split that "
    "starts all branches (parallel), exactly one (exclusive) or one or more (inclusive); one with several "
    "flows into it is a join that brings them together. A gateway whose name begins with "
    f'"{IMPLIED.strip()}" is no part of '
    "the workflow: a flow into it, followed by a flow out of it, counts as one link straight from the one "
    "node to the other. A node that no flow leaves does not lead to END. A dataObject is data, which "
    "a task reads by a dataInputAssociation and writes by a dataOutputAssociation. A subProcess is a "
    "composite task that contains the tasks inside it. Documentation states what its first word says, such as "
    '"kind: user", of the element around it, or, behind "inner", of what that element contains.'
)
ERROR_EVENT: Final = (
    "The flow out of an error boundary event is an exceptional link out of the task to which the event is attached."
)
DURATION_DOCUMENTATION: Final = 'The documentation "duration: 30 minutes" inside a task is its duration.'

_ESCAPE: Final = re.compile(r"\\u\{([0-9a-f]{1,6})\}")


def encode(text: str) -> str:
    """Return a text in which nothing is left that an XML parser or the reader's single spaces would change."""
    return "".join(_encode_character(text, i) for i in range(len(text)))


def _encode_character(text: str, place: int) -> str:
    character = text[place]
    if character == "\\" and text.startswith("u{", place + 1):
        return r"\u{5c}"
    is_single = character == " " and 0 < place < len(text) - 1 and text[place - 1] != " "
    if is_single or (character.isprintable() and character != " "):
        return character
    return f"\\u{{{ord(character):x}}}"


def decode(text: str) -> str:
    """Return the text that `encode` was given."""
    return _ESCAPE.sub(_decode_match, text)


def _decode_match(escape: re.Match[str]) -> str:
    code = int(escape[1], 16)
    return chr(code) if code < 0x110000 and not 0xD800 <= code < 0xE000 else "\ufffd"


def guide_to(workflows: tuple[Workflow, ...]) -> tuple[str, ...]:
    """Return the guide to a file in this style that holds the workflows."""
    special = {feature for each in workflows for feature in features(each, ("exceptional", "durations"))}
    exceptional = (ERROR_EVENT, EXCEPTIONAL_LINKS) if "exceptional" in special else ()
    return (WRITTEN_GUIDE, *exceptional, *((DURATION_DOCUMENTATION, DURATIONS) if "durations" in special else ()))
