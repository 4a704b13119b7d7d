"""The rule-based extractor as a model: it answers prompts that contain a document, in the form that they ask for.

What the baselines go by in a prompt of PAGED: the document, and in which form the answer is asked for.

The document stands below a line "Document:", the last one of the prompt; worked examples of the same form stand above.
It is what a fence encloses, or else ends before a line such as "Graph:", before a paragraph that asks for an answer, or
with the prompt. What is asked for stands before the first document, and behind the last one.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from typing import Final

from ....errors import NotAskedError, PromptNotUnderstoodError, unsupported_kind
from ....notations.procedural_text import write_procedural_graph
from ....trial import Reply, Request
from ..extraction_rules.document_elements import list_elements, write_elements
from ..extraction_rules.document_sentences import MOST_READ_CHARACTERS
from ..extraction_rules.tree_builder import extract_graph

LONGEST_PROMPT: Final = 2 * MOST_READ_CHARACTERS  # characters behind the last line "Document:" that are read
_DOCUMENT = re.compile(r"^[ \t*#]*(?:the )?(?:procedural )?document:[ \t*]*", re.IGNORECASE | re.MULTILINE)
_HEADING = re.compile(r"[ \t*#]*(?:graph|reasoning|elements?|answer|output|result|feedback):[ \t*]*", re.IGNORECASE)
_INSTRUCTION = re.compile(
    r"(?:please |now |first |then |finally )?"
    r"(?:write|reason|answer|extract|give|list|state|draw|reply|return|think|name)\b"
    r".*\b(?:graph|elements?|flows?|nothing else|step by step|line)\b",
    re.IGNORECASE,
)
_FENCE = re.compile(r"[ \t]*(```|~~~|<document>)", re.IGNORECASE)
_ELEMENTS = re.compile(r"^[ \t*#>-]{0,20}(?:activity[*`]{0,2}:|(?:the )?elements[*`]{0,2}:[ \t*]*$)", re.I | re.M)
_MARKER = re.compile(r"final answer:", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class DocumentPrompt:
    """What a prompt asks for.

    Args:
        document: The document.
        elements: Whether a list of elements is asked for, not a graph.
        wants_marker: Whether the answer is to stand behind "Final answer:".
    """

    document: str
    elements: bool
    wants_marker: bool


def read_document_prompt(prompt: str) -> DocumentPrompt:
    """Return the last document of a prompt, and the form of the answer.

    Raises:
        PromptNotUnderstoodError: if it has no line "Document:" with a document below it.
    """
    first = next((match.start() for match in _DOCUMENT.finditer(prompt)), len(prompt))
    document, behind = _document_and_rest(prompt)
    instructions = f"{prompt[:first]}\n{behind}"
    return DocumentPrompt(document, bool(_ELEMENTS.search(instructions)), asks_for_marker(instructions))


def asks_for_marker(text: str) -> bool:
    """Return True if a text without a document in it names the marker of final answers."""
    return bool(_MARKER.search(text))


def _document_and_rest(prompt: str) -> tuple[str, str]:
    last = max((match.end() for match in _DOCUMENT.finditer(prompt)), default=len(prompt))
    lines = prompt[last : last + LONGEST_PROMPT].splitlines()
    start, end = _document_span(lines)
    document = "\n".join(lines[start:end]).strip()
    if not document:
        raise PromptNotUnderstoodError(
            "the baseline finds no document below a line 'Document:' in the prompt; add it to the template"
        )
    return document, "\n".join(lines[end:])


def _document_span(lines: list[str]) -> tuple[int, int]:
    """Return where the document begins and ends, of the lines that follow its heading."""
    start = next((at for at, line in enumerate(lines) if line.strip()), len(lines))
    if start < len(lines) and _FENCE.match(lines[start]):
        close = next((at for at in range(start + 1, len(lines)) if _closes(lines[at])), len(lines))
        return start + 1, close
    for at in range(start, len(lines)):
        first_of_paragraph = at > start and not lines[at - 1].strip()
        if _HEADING.fullmatch(lines[at]) or (first_of_paragraph and _INSTRUCTION.match(lines[at])):
            return start, at
    return start, len(lines)


def _closes(line: str) -> bool:
    return line.strip().lower() in ("```", "~~~", "</document>")


class RuleBaseline:
    """Answers with what the rules extract from the document of a prompt: the text form of its graph, or its elements.

    It goes by the last message with a document, and so gives the same answer to feedback on it. "Final answer:" stands
    before the answer where that message, or feedback behind it, asks for it.
    """

    name = "baseline:rules"

    async def answer(self, request: Request) -> Reply:
        """Return the reply.

        Raises:
            NotAskedError: for anything but chat, for tools, and for messages that show no document.
        """
        if request.kind != "chat":
            raise unsupported_kind(request.kind, f"{self.name} cannot answer a request of kind {request.kind!r}")
        if request.tools:
            raise NotAskedError(f"{self.name} cannot call tools: it goes by the document in the prompt")
        prompt = _read_prompt(request)
        if prompt.elements:
            answer = write_elements(list_elements(prompt.document))
        else:
            answer = write_procedural_graph(extract_graph(prompt.document))
        return Reply(f"Final answer:\n{answer}" if prompt.wants_marker else answer, source=self.name)


def _read_prompt(request: Request) -> DocumentPrompt:
    """Return what the last message that has a document asks for, and the messages behind it.

    Raises:
        PromptNotUnderstoodError: if none has.
    """
    problem = PromptNotUnderstoodError("the baseline finds no prompt in the request; ask it with a document")
    wants_marker = False
    for message in reversed(request.messages):
        content = message.get("content")
        if message.get("role") == "assistant" or not isinstance(content, str):
            continue
        try:
            prompt = read_document_prompt(content)
        except PromptNotUnderstoodError as error:
            problem, wants_marker = error, wants_marker or asks_for_marker(content)
        else:
            return replace(prompt, wants_marker=prompt.wants_marker or wants_marker)
    raise problem
