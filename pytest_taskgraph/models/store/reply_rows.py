"""The rows of replies: JSON on the way in and out."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import fields
from datetime import UTC, datetime

from ...trial import Reply
from ..request_key import canonical
from .operations import Keep

_FIELDS = frozenset(field.name for field in fields(Reply)) - {"stored"}  # that depends on who asks


def reply_to_text(reply: Reply) -> str:
    """The JSON of the reply."""
    return canonical({name: getattr(reply, name) for name in _FIELDS})


def reply_from_text(text: str) -> Reply:
    """The reply that `reply_to_text` wrote; fields that a later version added are passed over."""
    return Reply(**{name: value for name, value in json.loads(text).items() if name in _FIELDS})


def write_replies(connection: sqlite3.Connection, keeps: Sequence[Keep], run: str) -> None:
    """Stores the replies; one that a key had before gives way."""
    at = datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
    rows = [[one.key, one.entry["model"], canonical(one.entry), reply_to_text(one.reply)] for one in keeps]
    connection.execute(
        "INSERT OR REPLACE INTO replies (key, model, request, reply, run, at) SELECT json_extract(value, '$[0]'), "
        "json_extract(value, '$[1]'), json_extract(value, '$[2]'), json_extract(value, '$[3]'), ?, ? FROM json_each(?)",
        (run, at, json.dumps(rows)),
    )


def stored_requests(connection: sqlite3.Connection, model: str, most: int) -> Iterable[str]:
    """The JSON of the latest `most` stored requests of the model."""
    rows = connection.execute("SELECT request FROM replies WHERE model = ? ORDER BY id DESC LIMIT ?", (model, most))
    return (request for (request,) in rows)


def stored_lengths(connection: sqlite3.Connection, model: str, most: int) -> list[int]:
    """Return the tokens out of the latest `most` replies of the model, of those that tell them."""
    rows = connection.execute(
        "SELECT CASE WHEN json_valid(reply) THEN json_extract(reply, '$.tokens_out') END FROM replies "
        "WHERE model = ? ORDER BY id DESC LIMIT ?",
        (model, most),
    )
    return [tokens for (tokens,) in rows if isinstance(tokens, int) and tokens >= 0]


def longer(connection: sqlite3.Connection, characters: int) -> Iterator[tuple[str, str, str]]:
    """Model, request and reply, the latter two as JSON, of replies whose JSON is longer than that, oldest first."""
    found = "SELECT model, request, reply FROM replies WHERE length(reply) > ? ORDER BY id"
    yield from connection.execute(found, (characters,))


def stored_models(connection: sqlite3.Connection) -> tuple[str, ...]:
    """The models of which there are replies, sorted."""
    return tuple(model for (model,) in connection.execute("SELECT DISTINCT model FROM replies ORDER BY model"))
