"""The identity of a request: model, texts, tools, repetition, and the settings that change the output.

Secrets are no part of it (`redaction` defines them). A secret of 8 characters or more is hidden wherever else it occurs
in the settings.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from typing import Any

from ..redaction import SURE, cut_addresses, hide, is_secret, public_name, redact_all, scrub, secrets
from ..trial import Json, Request

_NEUTRAL = {
    "timeout",
    "stream_timeout",
    "max_retries",
    "num_retries",
}  # these change when a reply arrives, not its text
# Descriptions of output, whose names are a user's own words: a property may be called `key` or `author`.
_DESCRIBED = {"response_format", "json_schema", "guided_json", "tools", "functions", "tool_choice", "function_call"}


def request_entry(name: str, settings: Mapping[str, Json], request: Request) -> dict[str, Any]:
    """Return the request as the store keeps it, which is all that `digest` reads.

    Settings of the request override those of the model.
    """
    content: dict[str, Any] = {"texts": request.texts} if request.kind != "chat" else {"messages": request.messages}
    if request.kind == "score":
        content |= {"messages": request.messages, "context": request.context}
    return {
        "model": stored_name(name),
        "kind": request.kind,
        **redact_all(content),
        "tools": redact_all(request.tools),
        "settings": public_settings({**settings, **request.settings}),
        "repetition": request.repetition,
    }


def stored_name(name: str) -> str:
    """Return the name of a model as the store keeps it: without secrets and control characters."""
    return public_name(scrub(name))


def request_key(name: str, settings: Mapping[str, Json], request: Request) -> str:
    """Return the SHA-256, in hexadecimal digits, of the canonical JSON of the request's entry."""
    return digest(request_entry(name, settings, request))


def digest(entry: Mapping[str, Any]) -> str:
    """Return the key of an entry, also of an entry that was read back from the store."""
    return hashlib.sha256(canonical(entry).encode()).hexdigest()


def canonical(value: Any) -> str:  # noqa: ANN401 - any JSON value
    """Return the canonical JSON of a value: names sorted, no white space, ASCII only."""
    return json.dumps(value, sort_keys=True, separators=(",", ":"))


def public_settings(settings: Mapping[str, Json]) -> dict[str, Any]:
    """Return the settings that change the output, without secrets; a number without a fraction becomes an integer."""
    secret_values = {"key": [value for value in secrets(_omit(settings, _DESCRIBED)) if len(value) >= SURE]}
    return {
        name: _public(value, name in _DESCRIBED, secret_values)
        for name, value in _omit(settings, _NEUTRAL).items()
        if not _secret(name, value, name in _DESCRIBED)
    }


def request_text(entry: Mapping[str, Any]) -> str:
    """Return the entry as text for people: its settings first, then its messages, line by line."""
    lines = [f"{name}: {canonical(value)}" for name, value in sorted(entry.get("settings", {}).items())]
    lines += [f"tool: {canonical(tool)}" for tool in entry.get("tools", ())]
    if (repetition := entry.get("repetition", 1)) != 1:
        lines.append(f"repetition: {repetition}")
    if (kind := entry.get("kind", "chat")) != "chat":
        lines.append(f"kind: {kind}")
    for message in entry.get("messages", ()):
        lines += [f"[{message.get('role')}]", _content(message)]
    if context := entry.get("context"):
        lines += ["[context]", str(context), "[texts]"]
    return "\n".join([*lines, *map(str, entry.get("texts", ()))])


def _omit(settings: Mapping[str, Any], names: set[str]) -> dict[str, Any]:
    return {name: value for name, value in settings.items() if name not in names}


def _content(message: Mapping[str, Any]) -> str:
    content = message.get("content")
    others = {name: value for name, value in message.items() if name not in ("role", "content")}
    text = content if isinstance(content, str) else canonical(content)
    return f"{text}\n{canonical(others)}" if others else text


def _public(value: Any, described: bool, secret_values: Mapping[str, list[str]]) -> Any:  # noqa: ANN401 - any JSON value
    if isinstance(value, Mapping):
        return {
            str(name): _public(inner, described or name in _DESCRIBED, secret_values)
            for name, inner in value.items()
            if not _secret(str(name), inner, described)
        }
    if isinstance(value, list | tuple):
        return [_public(inner, described, secret_values) for inner in value]
    if isinstance(value, str):
        return hide(cut_addresses(value), secret_values, {})
    return int(value) if isinstance(value, float) and value.is_integer() else value


def _secret(name: str, value: Any, described: bool) -> bool:  # noqa: ANN401 - any JSON value
    """Return True if the value is a secret by its name; within a description of output, only texts can be secrets."""
    return is_secret(name, value) and (isinstance(value, str) or not described)
