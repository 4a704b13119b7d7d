"""The rule-based extractor as a model: it answers prompts that contain a document."""

from __future__ import annotations

from ....errors import NotAskedError, PromptNotUnderstoodError, unsupported_kind
from ....notations.procedural_text import write_procedural_graph
from ....trial import Reply, Request
from ..extraction_rules.rule_extractor import extract_graph
from .document_prompts import document_of_prompt


class RuleBaseline:
    """Answers with the text form of the graph that the rules extract from the document of a prompt.

    It goes by the last message with a document, and so gives the same answer to feedback on it.
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
        return Reply(write_procedural_graph(extract_graph(_document(request))), source=self.name)


def _document(request: Request) -> str:
    """Return the document of the last message that has one.

    Raises:
        PromptNotUnderstoodError: if none has.
    """
    problem = PromptNotUnderstoodError("the baseline finds no prompt in the request; ask it with a document")
    for message in reversed(request.messages):
        content = message.get("content")
        if message.get("role") == "assistant" or not isinstance(content, str):
            continue
        try:
            return document_of_prompt(content)
        except PromptNotUnderstoodError as error:
            problem = error
    raise problem
