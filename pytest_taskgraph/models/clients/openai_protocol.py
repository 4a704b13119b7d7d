"""The OpenAI protocol in JSON: request bodies and responses.

Other providers' finish reasons are translated, and a response of any other shape is malformed. Reasoning is kept apart
from the text.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import replace
from math import isfinite
from typing import Any, NoReturn

from ...errors import ProviderError
from ...redaction import scrub
from ...trial import Json, Reply, Request
from .provider_errors import RefusalError, refusal_within
from .reasoning import MOST_TOKENS, content_text, count_reasoning, fields_to_send_back, reasoning_text, split_reasoning

_LONGEST_REASON = 40  # characters of a finish reason that is not known
# Words of providers in lower case, by the finish reason of the protocol that they mean; any other word is kept.
_MEANINGS = {
    "stop": (
        *("", "stop", "end", "eos", "eos_token", "end_turn", "stop_sequence", "stop_string", "complete", "completed"),
        *("finished", "finish_reason_stop", "finish_reason_unspecified"),
    ),
    "length": (
        *("length", "max_tokens", "max_length", "model_length", "model_context_window_exceeded", "compaction"),
        *("continuation", "pause_turn", "finish_reason_max_tokens"),
    ),
    "tool_calls": ("tool_calls", "tool_call", "tool_use"),
    "function_call": ("function_call",),
    # DeepSeek, vLLM and SGLang, Cohere, Zhipu; any word that begins with "error" means a failure as well.
    "error": ("insufficient_system_resource", "abort", "aborted", "cancelled", "canceled", "timeout", "network_error"),
    "content_filter": (
        *("content_filter", "content_filtered", "refusal", "sensitive", "guardrail_intervened", "error_toxic"),
        *("safety", "recitation", "language", "other", "blocklist", "prohibited_content", "spii", "escalation"),
        *("image_safety", "image_prohibited_content", "no_image", "image_recitation", "image_other"),
    ),
}
_FINISH_REASONS = {word: reason for reason, words in _MEANINGS.items() for word in words}
_ROLES = (None, "assistant", "user", "system", "tool", "function")


def request_body(name: str, request: Request, settings: Mapping[str, Json]) -> bytes:
    """Return the request as JSON in UTF-8: the settings unchanged, and the messages or texts.

    Raises:
        UnicodeEncodeError: if a text has lone surrogates.
        ValueError: if a number cannot be written as JSON.
    """
    body: dict[str, Any] = {"model": name}
    if request.kind == "embed":
        body["input"] = request.texts
    elif request.kind == "score" and not request.messages:
        body["prompt"] = score_prompts(request)
    else:
        body["messages"] = request.messages
        if request.tools:
            body["tools"] = request.tools
    return json.dumps({**settings, **body}, ensure_ascii=False, allow_nan=False, separators=(",", ":")).encode()


def score_prompts(request: Request) -> str | list[str]:
    """Return the context followed by each text to be scored; a string for one text, which all servers accept."""
    prompts = [request.context + text for text in request.texts]
    return prompts if len(prompts) > 1 else prompts[0]


def read_chat(response: Any, name: str, latency: float) -> Reply:  # noqa: ANN401 - any JSON value
    """Return the reply that a chat completion holds, scrubbed; its cost is unknown.

    Raises:
        RefusalError: if there is an error in place of the choice.
        ProviderError: of the kind malformed, if the response has another shape.
    """
    choice = first_choice(response)
    refuse_failed(choice.get("error"), choice.get("finish_reason"))
    message = expect(choice.get("message"), dict, "a message")
    if message.get("role") not in _ROLES:
        _malformed("a role")
    calls = [tool_call(call, i) for i, call in enumerate(expect(message.get("tool_calls") or [], list, "tool calls"))]
    content = _words(content_text(message.get("content")), "a text")
    content = content or _words(message.get("refusal"), "the words of a refusal")
    finish_reason = finish_reason_of(choice.get("finish_reason"), bool(calls))
    source, tokens_in, tokens_out = source_and_tokens(response, name)
    reply = Reply(scrub(content), tokens_in, tokens_out, None, latency, finish_reason, calls, source)
    return with_reasoning(reply, message, response.get("usage") or {})


def with_reasoning(reply: Reply, message: Mapping[str, Any], usage: Mapping[str, Any]) -> Reply:
    """Return the reply with its reasoning, taken from the message or from the start of its text, and its tokens.

    A cost that leaves out tokens of reasoning becomes unknown.

    Args:
        reply: The reply, with its whole content as text.
        message: The message of the provider.
        usage: The usage of the response.
    """
    reasoning, text = reasoning_text(message), reply.text
    if not reasoning:
        reasoning, text = split_reasoning(text, reply.cut_off)
    tokens_reasoning, apart = count_reasoning(usage, reply.tokens_in, reply.tokens_out)
    return replace(
        reply,
        text=text,
        reasoning=reasoning,
        tokens_reasoning=tokens_reasoning,
        tokens_out=reply.tokens_out + apart if reply.tokens_out is not None else None,
        cost=None if apart else reply.cost,
        message_fields=fields_to_send_back(message) if reply.tool_calls else {},
    )


def read_embeddings(response: Any, texts: int, name: str, latency: float) -> Reply:  # noqa: ANN401 - any JSON value
    """Return a reply without text, with a vector for each of `texts` texts.

    Raises:
        ProviderError: of the kind malformed, if the response has another shape.
    """
    embeddings = vectors(expect(expect(response, dict, "an object").get("data"), list, "a list of embeddings"), texts)
    source, tokens_in, tokens_out = source_and_tokens(response, name)
    return Reply("", tokens_in, tokens_out, None, latency, source=source, embeddings=embeddings)


def vectors(items: Iterable[Any], texts: int) -> list[list[float]]:
    """Return the vectors of embeddings unchanged, in the order of the texts, by the index that each states.

    Raises:
        ProviderError: of the kind malformed, unless there is a vector of finite numbers for each text.
    """
    objects = [expect(item, dict, "an embedding") for item in items]
    embeddings = [item.get("embedding") for item in sorted(objects, key=lambda item: item.get("index") or 0)]
    for vector in embeddings:
        if not isinstance(vector, list) or not all(map(is_finite_number, vector)):
            raise ProviderError("malformed", "an embedding that is no list of finite numbers")
    if len(embeddings) != texts:
        raise ProviderError("malformed", f"{len(embeddings)} embeddings for {texts} texts")
    return [vector for vector in embeddings if vector is not None]


def refuse_failed(error: Any, reason: Any) -> None:  # noqa: ANN401 - any JSON values
    """Raise the RefusalError of a failure inside a choice, if there is one.

    Args:
        error: The error of the choice.
        reason: Its finish reason, as the provider names it.
    """
    if refused := refusal_within({"error": error}):
        raise refused
    if _meaning(reason) == "error":
        raise RefusalError(f"the provider failed while it replied (finish_reason {reason!r})", 500, {})


def is_finite_number(number: object) -> bool:
    """Return True for a number that is finite as a float."""
    try:
        return isinstance(number, int | float) and isfinite(number)
    except OverflowError:  # an integer beyond every float
        return False


def first_choice(response: Any) -> dict[str, Any]:  # noqa: ANN401 - any JSON value
    """Return the first choice of a response.

    Raises:
        ProviderError: of the kind malformed, if there is none.
    """
    choices = expect(expect(response, dict, "an object").get("choices"), list, "a list of choices")
    if not choices:
        raise ProviderError("malformed", "the reply holds no choices")
    choice: dict[str, Any] = expect(choices[0], dict, "a choice")
    return choice


def finish_reason_of(reason: Any, calls: bool) -> str:  # noqa: ANN401 - any JSON value
    """Return the finish reason in the words of the protocol; one that is not known stays as it is, scrubbed.

    Raises:
        ProviderError: of the kind malformed, if the reason is a list or an object.
    """
    if isinstance(reason, list | dict):
        _malformed("the reason of the end")
    meaning = _meaning(reason)
    if calls and meaning == "stop":
        return "tool_calls"
    return meaning or scrub(str(reason))[:_LONGEST_REASON]


def _meaning(reason: object) -> str:
    """Return the finish reason of the protocol that a provider's word means; "" if it is not known."""
    word = "" if reason is None else str(reason).strip().lower()
    return _FINISH_REASONS.get(word) or ("error" if word.startswith("error") else "")


def tool_call(call: Any, number: int) -> dict[str, Any]:  # noqa: ANN401 - any JSON value
    """Return a tool call, scrubbed; `number` identifies a call without id.

    Raises:
        ProviderError: of the kind malformed, if the call has another shape.
    """
    function = expect(expect(call, dict, "a tool call").get("function"), dict, "a function")
    arguments = function.get("arguments")
    text = json.dumps(arguments) if isinstance(arguments, dict) else _words(arguments, "arguments")
    called_function = {"name": scrub(_words(function.get("name"), "a name")), "arguments": scrub(text)}
    identity = call.get("id")
    call_id = f"call_{number}" if identity is None else _words(identity, "the id of a tool call")
    return {"id": scrub(call_id), "type": "function", "function": called_function}


def source_and_tokens(response: Mapping[str, Any], name: str) -> tuple[str, int | None, int | None]:
    """Return the model that the response names, or else `name`, and the input and output tokens, None if not stated."""
    return scrub(str(response.get("model") or name)), *_tokens(response)


def is_withheld(reason: object) -> bool:
    """Return True if the finish reason says that a content filter withheld the reply or part of it."""
    return _meaning(reason) == "content_filter"


def _tokens(response: Mapping[str, Any]) -> tuple[int, int] | tuple[None, None]:
    """Return the numbers of input and output tokens; both None if that of the input is missing."""
    usage = response.get("usage")
    counted = {} if usage is None else expect(usage, dict, "an object of usage")
    return counts(counted.get("prompt_tokens"), counted.get("completion_tokens"))


def counts(tokens_in: object, tokens_out: object) -> tuple[int, int] | tuple[None, None]:
    """Return the token counts as integers; both None if that of the input is missing or 0.

    Raises:
        ProviderError: of the kind malformed, unless a count is an integer from 0 to `MOST_TOKENS`; a text of digits is
            accepted.
    """
    first = _count(tokens_in)
    return (first, _count(tokens_out)) if first else (None, None)


def _count(value: object) -> int:
    try:
        number = float(value or 0)  # type: ignore[arg-type]  # TypeError is caught
    except (TypeError, ValueError, OverflowError):
        number = -1.0
    if isinstance(value, bool) or not number.is_integer() or not 0 <= number <= MOST_TOKENS:
        _malformed(f"a number of tokens from 0 to {MOST_TOKENS:,}, found {str(value)[:40]}")
    return int(number)


def _words(value: Any, expected: str) -> str:  # noqa: ANN401 - any JSON value
    return "" if value is None else str(expect(value, str, expected))


def expect(value: Any, kind: type, expected: str) -> Any:  # noqa: ANN401 - any JSON value
    """Return the value if it is of this type.

    Raises:
        ProviderError: of the kind malformed, which names the expected shape.
    """
    if not isinstance(value, kind):
        _malformed(expected)
    return value


def _malformed(expected: str) -> NoReturn:
    raise ProviderError("malformed", f"the reply has another shape: expected {expected}")
