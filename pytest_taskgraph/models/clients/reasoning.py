"""What a reasoning model writes before its answer: the text, the number of its tokens, what is sent back of it.

Providers state the text in a field of the message beside the content. Servers without a reasoning parser leave it in
the content, in tags before the answer.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from ...redaction import scrub

MOST_TOKENS = 10**8  # of a request or its reply; a server that counts more is wrong

_TAG = r"(?:think|thinking)"
_CLOSED = re.compile(rf"\s*<{_TAG}>(.*?)</{_TAG}>", re.DOTALL)
_OPENED = re.compile(rf"\s*<{_TAG}>(?!.*</{_TAG}>)", re.DOTALL)
TEXT_FIELDS = ("reasoning_content", "reasoning")  # DeepSeek, vLLM and litellm; OpenRouter, Groq and newer vLLM
SENT_BACK = (*TEXT_FIELDS, "reasoning_details", "thinking_blocks")


def split_reasoning(text: str, cut_off: bool) -> tuple[str, str]:
    """Split a text into the reasoning in tags at its start, and the rest.

    Only one block at the start counts, up to its first closing tag; white space before it is allowed. A block that is
    never closed is reasoning if the reply was cut off; otherwise the model ended its reply within it, and the text
    stays whole.

    Args:
        text: The text of a reply.
        cut_off: Whether the reply ended at the token limit.
    """
    if closed := _CLOSED.match(text):
        return closed[1].strip(), text[closed.end() :]
    if cut_off and (opened := _OPENED.match(text)):
        return text[opened.end() :].strip(), ""
    return "", text


def reasoning_text(message: Mapping[str, Any]) -> str:
    """Return the reasoning that the fields of a message hold, scrubbed; empty if they hold none.

    Of several fields the first counts: text, thinking blocks (Anthropic), details (OpenRouter), blocks of the content
    (Mistral). A field of another shape holds no text.
    """
    for name in TEXT_FIELDS:
        if isinstance(message.get(name), str) and message[name].strip():
            return scrub(message[name].strip())
    thoughts = _texts(message.get("thinking_blocks"), ("thinking",))
    thoughts = thoughts or _texts(message.get("reasoning_details"), ("text", "summary"))
    return scrub("\n".join(thoughts or _thoughts_in(message.get("content"))).strip())


def _thoughts_in(content: object) -> list[str]:
    """Return the texts of the blocks of reasoning in a content of blocks."""
    blocks = [block for block in content if isinstance(block, Mapping)] if isinstance(content, list) else []
    return [text for block in blocks for text in _texts(block.get("thinking"), ("text",))]


def content_text(content: Any) -> Any:  # noqa: ANN401 - any JSON value
    """Return the text of a content of blocks, which Mistral's reasoning models write; any other content unchanged."""
    is_blocks = isinstance(content, list) and content and all(isinstance(block, Mapping) for block in content)
    return "".join(_texts(content, ("text",))) if is_blocks else content


def _texts(blocks: object, names: tuple[str, ...]) -> list[str]:
    """Return the texts under these names in a list of objects; encrypted blocks have none."""
    members = [block for block in blocks if isinstance(block, Mapping)] if isinstance(blocks, list) else []
    return [block[name] for block in members for name in names if isinstance(block.get(name), str) and block[name]]


def fields_to_send_back(message: Mapping[str, Any]) -> dict[str, Any]:
    """Return the fields of a message with calls that the next request repeats, scrubbed, under their names.

    Anthropic, DeepSeek and Moonshot refuse the results of tools without the reasoning that led to the calls; others
    reason better with it. A field goes back to the endpoint that sent it, so none receives a name that it does not
    know.
    """
    return {name: _scrub_all(message[name]) for name in SENT_BACK if message.get(name)}


def _scrub_all(value: Any) -> Any:  # noqa: ANN401 - any JSON value
    if isinstance(value, str):
        return scrub(value)
    if isinstance(value, Mapping):
        return {scrub(str(name)): _scrub_all(member) for name, member in value.items()}
    return [_scrub_all(member) for member in value] if isinstance(value, list) else value


def count_reasoning(usage: Mapping[str, Any], tokens_in: int | None, tokens_out: int | None) -> tuple[int | None, int]:
    """Return the reasoning tokens, None if unknown, and how many of them `tokens_out` does not contain yet.

    By the protocol the output tokens contain the reasoning. Some providers count it apart: xAI states it, Google's
    endpoint of the protocol only includes it in the total. It counts as apart if it makes up exactly what the total has
    beyond input and output, or exceeds the output.

    Args:
        usage: The usage of the response: `total_tokens`, and `reasoning_tokens` in it or in its details.
        tokens_in: The input tokens.
        tokens_out: The output tokens as the provider counts them.
    """
    details = usage.get("completion_tokens_details")
    stated = _count(details.get("reasoning_tokens")) if isinstance(details, Mapping) else None
    stated = _count(usage.get("reasoning_tokens")) if stated is None else stated
    if tokens_in is None or tokens_out is None:
        return stated, 0
    beyond = max(0, (_count(usage.get("total_tokens")) or 0) - tokens_in - tokens_out)
    if stated is None:
        return beyond or None, beyond
    is_apart = stated > tokens_out or 0 < stated == beyond
    return stated, stated if is_apart else 0


def _count(value: object) -> int | None:
    """Return a whole number from 0 to `MOST_TOKENS`; None for any other value: a detail of usage loses no reply."""
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 <= value <= MOST_TOKENS:
        return None
    return int(value) if value == int(value) else None
