"""The rule-based extractor as a model: it answers prompts that contain a document, in the form that they ask for."""

from __future__ import annotations

from dataclasses import replace

from ....errors import NotAskedError, PromptNotUnderstoodError, unsupported_kind
from ....notations.procedural_text import write_procedural_graph
from ....trial import Reply, Request
from ..extraction_rules.document_elements import list_elements, write_elements
from ..extraction_rules.tree_builder import extract_graph
from .document_prompts import DocumentPrompt, asks_for_marker, read_document_prompt


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
