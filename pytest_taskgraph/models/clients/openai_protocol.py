"""The OpenAI protocol in JSON: what a request says, and what a response holds.

A response is read as litellm reads it, so that either client gives the same reply: thoughts in tags before the text are
cut off, names of other providers for the reason of an end are translated, and what has another shape is malformed.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping
from math import isfinite
from typing import Any, NoReturn

from ...errors import ProviderError
from ...redaction import scrub
from ...trial import Json, Reply, Request
from .provider_errors import RefusalError, refusal_within

_THOUGHTS = re.compile(r"<(?:think|thinking|budget:thinking)>.*?</(?:think|thinking|budget:thinking)>", re.DOTALL)
# Reasons of an end that tell of a failure of the provider: of OpenRouter, Cohere and Zhipu.
FAILED_ENDS = ("error", "ERROR", "network_error")
_ENDS = {
    "length": ("length", "max_tokens", "MAX_TOKENS", "compaction"),
    "tool_calls": ("tool_calls", "tool_use"),
    "function_call": ("function_call",),
    "error": FAILED_ENDS,
    "content_filter": (
        *("content_filter", "content_filtered", "refusal", "sensitive", "guardrail_intervened", "ERROR_TOXIC"),
        *("SAFETY", "RECITATION", "LANGUAGE", "OTHER", "BLOCKLIST", "PROHIBITED_CONTENT", "SPII"),
        *("IMAGE_SAFETY", "IMAGE_PROHIBITED_CONTENT", "NO_IMAGE", "IMAGE_RECITATION", "IMAGE_OTHER"),
    ),
}
_ROLES = (None, "assistant", "user", "system", "tool", "function")
_END = {said: meant for meant, words in _ENDS.items() for said in words}  # all others are "stop"


def request_body(name: str, request: Request, settings: Mapping[str, Json]) -> bytes:
    """The request as JSON in UTF-8: the settings as they are, and what is asked.

    Raises UnicodeEncodeError for lone surrogates and ValueError for numbers that JSON has not.
    """
    asked: dict[str, Any] = {"model": name}
    if request.kind == "embed":
        asked["input"] = request.texts
    elif request.kind == "score" and not request.messages:
        asked["prompt"] = score_prompts(request)
    else:
        asked["messages"] = request.messages
        if request.tools:
            asked["tools"] = request.tools
    return json.dumps({**settings, **asked}, ensure_ascii=False, allow_nan=False, separators=(",", ":")).encode()


def score_prompts(request: Request) -> str | list[str]:
    """Return the context with each text to be scored behind it; of one alone no list, which not all servers accept."""
    prompts = [request.context + text for text in request.texts]
    return prompts if len(prompts) > 1 else prompts[0]


def read_chat(response: Any, name: str, latency: float) -> Reply:  # noqa: ANN401 - any JSON value
    """The reply that a chat completion holds, scrubbed; its cost is not known.

    Raises:
        RefusalError: for an error in the place of the choice.
        ProviderError: of the kind malformed, for any other shape.
    """
    choice = first_choice(response)
    refuse_failed(choice.get("error"), choice.get("finish_reason"))
    message = expect(choice.get("message"), dict, "a message")
    if message.get("role") not in _ROLES:
        _malformed("a role")
    calls = [tool_call(call, i) for i, call in enumerate(expect(message.get("tool_calls") or [], list, "tool calls"))]
    text = _text(message)
    finish_reason = finish_reason_of(choice.get("finish_reason"), bool(calls))
    source, tokens_in, tokens_out = source_and_tokens(response, name)
    return Reply(text, tokens_in, tokens_out, None, latency, finish_reason, calls, source)


def read_embeddings(response: Any, texts: int, name: str, latency: float) -> Reply:  # noqa: ANN401 - any JSON value
    """A reply without text, with a vector for each of so many texts. Raises ProviderError for any other shape."""
    found = vectors(expect(expect(response, dict, "an object").get("data"), list, "a list of embeddings"), texts)
    source, tokens_in, tokens_out = source_and_tokens(response, name)
    return Reply("", tokens_in, tokens_out, None, latency, source=source, embeddings=found)


def vectors(items: Iterable[Any], texts: int) -> list[list[float]]:
    """The vectors of embeddings as they arrived, in the order of the texts, which the index of each tells.

    Raises ProviderError (malformed) unless there is a vector of finite numbers for each text.
    """
    whole = [expect(item, dict, "an embedding") for item in items]
    found = [item.get("embedding") for item in sorted(whole, key=lambda item: item.get("index") or 0)]
    for vector in found:
        if not isinstance(vector, list) or not all(map(finite, vector)):
            raise ProviderError("malformed", "an embedding that is no list of finite numbers")
    if len(found) != texts:
        raise ProviderError("malformed", f"{len(found)} embeddings for {texts} texts")
    return [vector for vector in found if vector is not None]


def refuse_failed(error: Any, end: Any) -> None:  # noqa: ANN401 - any JSON values
    """Raise the RefusalError that tells of a failure inside a choice, if there is one.

    Args:
        error: what the choice has for its error.
        end: its reason of the end, as the provider names it.
    """
    if refused := refusal_within({"error": error}):
        raise refused
    if end in FAILED_ENDS:
        raise RefusalError(f"the provider failed while it replied (finish_reason {end!r})", 500, {})


def finite(number: object) -> bool:
    """Return True for a number that is neither infinite nor beyond every float."""
    try:
        return isinstance(number, int | float) and isfinite(number)
    except OverflowError:  # an integer beyond every float
        return False


def first_choice(response: Any) -> dict[str, Any]:  # noqa: ANN401 - any JSON value
    """Return the first choice of a response. Raises ProviderError (malformed) where there is none."""
    choices = expect(expect(response, dict, "an object").get("choices"), list, "a list of choices")
    if not choices:
        raise ProviderError("malformed", "the reply holds no choices")
    choice: dict[str, Any] = expect(choices[0], dict, "a choice")
    return choice


def _text(message: Mapping[str, Any]) -> str:
    """The text without thoughts, or the words of a refusal, which the protocol keeps apart."""
    content = _words(message.get("content"), "a text")
    if "reasoning_content" not in message and "reasoning" not in message:
        thoughts = _THOUGHTS.match(content)
        content = content[thoughts.end() :] if thoughts else content
    return scrub(content or _words(message.get("refusal"), "the words of a refusal"))


def finish_reason_of(said: Any, calls: bool) -> str:  # noqa: ANN401 - any JSON value
    """Return the reason of the end in the words of the protocol. Raises ProviderError (malformed) for a table."""
    if calls and said in (None, "stop"):
        return "tool_calls"
    if isinstance(said, list | dict):
        _malformed("the reason of the end")
    return _END.get(said, "stop")


def tool_call(call: Any, place: int) -> dict[str, Any]:  # noqa: ANN401 - any JSON value
    """Return a tool call, scrubbed; `place` numbers it where it has no id. Raises ProviderError (malformed)."""
    function = expect(expect(call, dict, "a tool call").get("function"), dict, "a function")
    arguments = function.get("arguments")
    said = json.dumps(arguments) if isinstance(arguments, dict) else _words(arguments, "arguments")
    made = {"name": scrub(_words(function.get("name"), "a name")), "arguments": scrub(said)}
    identity = call.get("id")
    called = f"call_{place}" if identity is None else _words(identity, "the id of a tool call")
    return {"id": scrub(called), "type": "function", "function": made}


def source_and_tokens(response: Mapping[str, Any], name: str) -> tuple[str, int | None, int | None]:
    """Return the model that the response names, else `name`, and the tokens in and out where they are told."""
    return scrub(str(response.get("model") or name)), *_tokens(response)


def withheld(end: object) -> bool:
    """Return True if the reason of an end says that a content filter withheld the reply or a part of it."""
    return isinstance(end, str) and _END.get(end) == "content_filter"


def _tokens(response: Mapping[str, Any]) -> tuple[int, int] | tuple[None, None]:
    """Tokens in and out; both unknown where the tokens in are."""
    usage = response.get("usage")
    found = {} if usage is None else expect(usage, dict, "an object of usage")
    return counts(found.get("prompt_tokens"), found.get("completion_tokens"))


def counts(tokens_in: object, tokens_out: object) -> tuple[int, int] | tuple[None, None]:
    """The counts of tokens as whole numbers; both unknown where that of the tokens in is.

    Raises ProviderError (malformed) for what is no whole number; a text of digits is one.
    """
    first = _count(tokens_in)
    return (first, _count(tokens_out)) if first else (None, None)


def _count(value: object) -> int:
    try:
        number = float(value or 0)  # type: ignore[arg-type]  # TypeError is caught
        return int(number) if number.is_integer() else _malformed("a whole number of tokens")
    except (TypeError, ValueError, OverflowError):
        _malformed("a number of tokens")


def _words(value: Any, expected: str) -> str:  # noqa: ANN401 - any JSON value
    return "" if value is None else str(expect(value, str, expected))


def expect(value: Any, kind: type, expected: str) -> Any:  # noqa: ANN401 - any JSON value
    """Return the value, if it is of this type. Raises ProviderError (malformed), which names what was expected."""
    if not isinstance(value, kind):
        _malformed(expected)
    return value


def _malformed(expected: str) -> NoReturn:
    raise ProviderError("malformed", f"the reply has another shape: expected {expected}")
