"""The rows of replies, with conversion from and to JSON."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import fields
from datetime import UTC, datetime

from ...trial import Reply
from ..request_key import canonical
from .operations import ReplyWrite

_FIELDS = frozenset(field.name for field in fields(Reply)) - {"stored"}  # it depends on the run that reads the reply


def reply_to_text(reply: Reply) -> str:
    """Return the JSON of the reply."""
    return canonical({name: getattr(reply, name) for name in _FIELDS})


def reply_from_text(text: str) -> Reply:
    """Return the reply that `reply_to_text` wrote; fields that a later version added are ignored."""
    return Reply(**{name: value for name, value in json.loads(text).items() if name in _FIELDS})


def write_replies(connection: sqlite3.Connection, writes: Sequence[ReplyWrite], run: str) -> None:
    """Store the replies, in place of earlier ones of their keys."""
    at = datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
    rows = [[write.key, write.entry["model"], canonical(write.entry), reply_to_text(write.reply)] for write in writes]
    connection.execute(
        "INSERT OR REPLACE INTO replies (key, model, request, reply, run, at) SELECT json_extract(value, '$[0]'), "
        "json_extract(value, '$[1]'), json_extract(value, '$[2]'), json_extract(value, '$[3]'), ?, ? FROM json_each(?)",
        (run, at, json.dumps(rows)),
    )


def stored_requests(connection: sqlite3.Connection, model: str, most: int) -> Iterable[str]:
    """Return the JSON of the latest `most` stored requests of the model."""
    rows = connection.execute("SELECT request FROM replies WHERE model = ? ORDER BY id DESC LIMIT ?", (model, most))
    return (request for (request,) in rows)


def stored_lengths(connection: sqlite3.Connection, model: str, most: int) -> list[int]:
    """Return the output tokens of the latest `most` replies of the model, of those that state them."""
    rows = connection.execute(
        "SELECT CASE WHEN json_valid(reply) THEN json_extract(reply, '$.tokens_out') END FROM replies "
        "WHERE model = ? ORDER BY id DESC LIMIT ?",
        (model, most),
    )
    return [tokens for (tokens,) in rows if isinstance(tokens, int) and tokens >= 0]


def replies_longer_than(connection: sqlite3.Connection, characters: int) -> Iterator[tuple[str, str, str]]:
    """Yield model, request and reply (both as JSON) of replies whose JSON has more characters, oldest first."""
    query = "SELECT model, request, reply FROM replies WHERE length(reply) > ? ORDER BY id"
    yield from connection.execute(query, (characters,))


def stored_models(connection: sqlite3.Connection) -> tuple[str, ...]:
    """Return the models with stored replies, sorted."""
    return tuple(model for (model,) in connection.execute("SELECT DISTINCT model FROM replies ORDER BY model"))
