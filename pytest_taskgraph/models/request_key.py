"""What makes two requests the same: model, texts, tools, repetition, and the settings that change the output.

Secrets are no part of it (`redaction` says what one is). One of 8 characters and more is hidden wherever else it stands
in the settings.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from typing import Any

from ..redaction import SURE, cut_addresses, hide, is_secret, public_name, redact_all, scrub, secrets
from ..trial import Json, Request

_NEUTRAL = {"timeout", "stream_timeout", "max_retries", "num_retries"}  # these change when a reply comes, not which
# Descriptions of output, whose names are a user's own words: a property may be called `key` or `author`.
_DESCRIBED = {"response_format", "json_schema", "guided_json", "tools", "functions", "tool_choice", "function_call"}


def request_entry(name: str, settings: Mapping[str, Json], request: Request) -> dict[str, Any]:
    """The request as the store keeps it; all that `digest` looks at. Settings of the request win over the model's."""
    content: dict[str, Any] = {"texts": request.texts} if request.kind != "chat" else {"messages": request.messages}
    if request.kind == "score":
        content |= {"messages": request.messages, "context": request.context}
    return {
        "model": stored_name(name),
        "kind": request.kind,
        **redact_all(content),
        "tools": redact_all(request.tools),
        "settings": public({**settings, **request.settings}),
        "repetition": request.repetition,
    }


def stored_name(name: str) -> str:
    """Return the name of a model as the store keeps it: without secrets and control characters."""
    return public_name(scrub(name))


def request_key(name: str, settings: Mapping[str, Json], request: Request) -> str:
    """The SHA-256, in hexadecimal digits, of the canonical JSON of the request's entry."""
    return digest(request_entry(name, settings, request))


def digest(entry: Mapping[str, Any]) -> str:
    """The key of an entry, also of one read back from the store."""
    return hashlib.sha256(canonical(entry).encode()).hexdigest()


def canonical(value: Any) -> str:  # noqa: ANN401 - any JSON value
    """The one JSON text of a value: names sorted, no white space, ASCII only."""
    return json.dumps(value, sort_keys=True, separators=(",", ":"))


def public(settings: Mapping[str, Json]) -> dict[str, Any]:
    """The settings that change the output, without secrets. A number without a fraction is a whole one."""
    known = {"key": [value for value in secrets(_without(settings, _DESCRIBED)) if len(value) >= SURE]}
    return {
        name: _public(value, name in _DESCRIBED, known)
        for name, value in _without(settings, _NEUTRAL).items()
        if not _secret(name, value, name in _DESCRIBED)
    }


def request_text(entry: Mapping[str, Any]) -> str:
    """The entry as text for people: its settings first, then what is said, line by line."""
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


def _without(settings: Mapping[str, Any], names: set[str]) -> dict[str, Any]:
    return {name: value for name, value in settings.items() if name not in names}


def _content(message: Mapping[str, Any]) -> str:
    content = message.get("content")
    others = {name: value for name, value in message.items() if name not in ("role", "content")}
    text = content if isinstance(content, str) else canonical(content)
    return f"{text}\n{canonical(others)}" if others else text


def _public(value: Any, described: bool, known: Mapping[str, list[str]]) -> Any:  # noqa: ANN401 - any JSON value
    if isinstance(value, Mapping):
        return {
            str(name): _public(inner, described or name in _DESCRIBED, known)
            for name, inner in value.items()
            if not _secret(str(name), inner, described)
        }
    if isinstance(value, list | tuple):
        return [_public(inner, described, known) for inner in value]
    if isinstance(value, str):
        return hide(cut_addresses(value), known, {})
    return int(value) if isinstance(value, float) and value.is_integer() else value


def _secret(name: str, value: Any, described: bool) -> bool:  # noqa: ANN401 - any JSON value
    """Whether the value is a secret by its name. In a description of output only texts are, not what describes them."""
    return is_secret(name, value) and (isinstance(value, str) or not described)
