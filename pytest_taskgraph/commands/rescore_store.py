"""Replies that a record holds only head and tail of, found whole in the store of replies. The store is only read.

A record needs no key for that: what it holds of a long reply, head, tail and full length, tells the reply.
"""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from ..benchmarks.episodes.single import opening
from ..errors import UsageError
from ..models.request_key import stored_name
from ..models.store.replies import longer
from ..models.store.schema import FILE, read_store
from ..results.plain import LONGEST_REPLY, cut
from ..trial import Question, Reply, Trial

Key = tuple[str, str]  # a question's id and a model


def whole_texts(store: Path, trials: Iterable[Trial], names: Mapping[str, str]) -> dict[Key, str]:
    """The whole replies to trials whose replies were shortened in a record, of those that the store holds.

    `store` is its folder, or a file of any name; `names` are the own names of models by their short ones.

    A stored reply is that of a trial if the same model gave it, in the same repetition, to messages that begin with
    those that put the question, and if a record would shorten it to what this record holds. Where several do that have
    another middle, there is none.

    Raises:
        UsageError: for a store that is missing, damaged, foreign or of a newer schema.
    """
    wanted: dict[tuple[str, str], list[Trial]] = {}
    for one in trials:
        wanted.setdefault((stored_name(names.get(one.model, one.model)), _text(one.reply)), []).append(one)
    path = store / FILE if store.is_dir() else store
    try:
        found = read_store(path, lambda connection: _found(connection, wanted))
    except (ValueError, TypeError, KeyError, AttributeError, RecursionError) as error:
        raise UsageError(f"the store {path} holds what is no reply: {error!r:.200}; it is damaged") from error
    return {key: text for key, texts in found.items() for text in texts if len(texts) == 1}


def _found(connection: sqlite3.Connection, wanted: Mapping[tuple[str, str], list[Trial]]) -> dict[Key, set[str]]:
    """All whole texts that fit, by trial."""
    found: dict[Key, set[str]] = {}
    for model, request, reply in longer(connection, LONGEST_REPLY):
        text = json.loads(reply)["text"]
        for trial in wanted.get((model, cut(text)), ()):
            if _puts(json.loads(request), trial.question):
                found.setdefault((trial.question.id, trial.model), set()).add(text)
    return found


def _puts(request: Mapping[str, Any], question: Question) -> bool:
    """Whether a stored request puts the question, or goes on asking it: an agent is asked several times."""
    begin = opening(question)
    return bool(request["repetition"] == question.repetition and request.get("messages", [])[: len(begin)] == begin)


def _text(reply: Reply | None) -> str:
    return reply.text if reply else ""
