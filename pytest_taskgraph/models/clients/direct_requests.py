"""Which requests to a provider of the OpenAI protocol litellm would send unchanged; the others it translates.

Only such requests are sent without litellm, so that the provider receives the same either way. Options are compared
when a model is opened, messages, tools and the model itself with each request.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Mapping
from typing import Any

from ...trial import Json, Request
from ..prices import listed_entry
from .providers import ADDRESS_OPTIONS, Provider
from .reasoning import SENT_BACK
from .text_scores import scoring_settings

CLIENT_OPTIONS = ("api_key", "extra_headers", "timeout", *ADDRESS_OPTIONS)  # options that are not part of the body

_ROLES = frozenset({"system", "user", "assistant", "tool"})
_FIELDS = frozenset({"role", "content", "tool_calls", "tool_call_id", *SENT_BACK})
_EFFORTS = ("low", "medium", "high")
_CLEANED = frozenset({"strict", "additionalProperties"})  # entries of tools that litellm takes out for some providers
# OpenAI's models that reason, for which litellm renames or refuses further options.
_O_SERIES = re.compile(r"o[0-9]")
_GPT_SERIES = re.compile(r"gpt-[5-9]")
_OF_SERIES = frozenset({"max_completion_tokens", "seed", "n", "response_format", "reasoning_effort", "extra_body"})


def translated_option(provider: Provider, settings: Mapping[str, Json]) -> str:
    """Return the first model option that only litellm translates for the provider; "" if there is none."""
    for name, value in settings.items():
        if name in ADDRESS_OPTIONS and value is not None and (not isinstance(value, str) or "?" in value):
            return name
        if name not in CLIENT_OPTIONS and (name not in provider.options or value is None):
            return name
    return ""


def is_proxied() -> bool:
    """Return True if the environment directs every request of litellm to its proxy, whatever the provider."""
    return os.environ.get("USE_LITELLM_PROXY", "").strip().lower() in ("true", "1")


def is_unchanged(provider: Provider, name: str, request: Request, settings: Mapping[str, Json]) -> bool:
    """Return True if litellm would send the request as it is.

    Args:
        provider: The provider.
        name: The name of the model, with the provider's prefix.
        request: The request.
        settings: The model options with those of the request.
    """
    body = {key: value for key, value in settings.items() if key not in CLIENT_OPTIONS}
    if request.kind == "embed":
        return provider.embeds and not body
    if request.kind == "score":
        body = scoring_settings(request, body)
        body.pop("echo", None)
    model = name.partition("/")[2]
    return (
        not translated_option(provider, body)
        and _takes(provider, name, model, body, bool(request.tools))
        and all(map(_is_plain, request.messages))
        and not (_is_o_series(provider, model) and any(m["role"] == "system" for m in request.messages))
        and _are_plain(request.tools, provider.cleans_tools)
    )


def completes(provider: Provider, name: str) -> bool:
    """Return True if the model continues a text behind `/completions`; OpenAI's chat models do not."""
    entry = listed_entry(name) if provider.prefix == "openai" else None
    return provider.completes and not (entry is not None and entry.get("mode") == "chat")


def _takes(provider: Provider, name: str, model: str, body: Mapping[str, Any], tools: bool) -> bool:
    """Return True if litellm makes no difference for this model of the provider."""
    effort, form = body.get("reasoning_effort"), body.get("response_format")
    if effort is not None and effort not in _EFFORTS:
        return False
    if provider.prefix == "groq" and isinstance(form, Mapping) and not form.keys() <= {"type"}:
        return False
    if provider.prefix != "openai":
        return True
    entry = listed_entry(name) or {}
    if model.startswith("responses/") or entry.get("mode") == "responses":
        return False
    if _is_o_series(provider, model) or _GPT_SERIES.search(model):
        return not tools and body.keys() <= _OF_SERIES
    return effort is None or not entry or bool(entry.get("supports_reasoning"))


def _is_o_series(provider: Provider, model: str) -> bool:
    return provider.prefix == "openai" and _O_SERIES.match(model.rpartition("/")[2]) is not None


def _is_plain(message: Mapping[str, Any]) -> bool:
    """Return True for a message of a text alone, which only a message with calls may lack."""
    content = message.get("content")
    if message.get("role") not in _ROLES or not message.keys() <= _FIELDS:
        return False
    return bool(content) if isinstance(content, str) else content is None and bool(message.get("tool_calls"))


def _are_plain(tools: Iterable[Mapping[str, Any]], cleaned: bool) -> bool:
    return all(tool.get("type") == "function" and not (cleaned and _has_cleaned(tool)) for tool in tools)


def _has_cleaned(value: Any) -> bool:  # noqa: ANN401 - any JSON value
    """Return True if the value holds an entry that litellm takes out of tools."""
    if isinstance(value, Mapping):
        return any(name in _CLEANED or str(name).startswith("$") or _has_cleaned(item) for name, item in value.items())
    return isinstance(value, list) and any(map(_has_cleaned, value))
