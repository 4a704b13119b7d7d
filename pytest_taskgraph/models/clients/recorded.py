"""Replies from a file: JSON lines, each with a prompt or a question and the reply that it received.

    {"question": "Which task comes first?", "reply": "Final answer: Load"}
    {"prompt": "…", "reply": "…", "tokens_in": 9, "tokens_out": 4, "cost": 0.1, "latency": 0.7}

A row with the exact prompt, without outer white space, takes precedence. Otherwise the longest recorded question that
occurs in the prompt as a whole is used, and the last of several of that length. *As a whole* means token by token, a
token being a run of letters, digits and underscores or one other visible character: white space does not matter, and
"Is it A" does not occur in "Is it AB". Rows of the same key are its repetitions, in order. If a question sends one
request several times, `sample` states for which time the row is, from 1; the rows of each `sample` are its repetitions.
All fields but the key and the reply are optional; `finish_reason`, `reasoning` and `tokens_reasoning` may be stated as
well, and other fields are ignored.
"""

from __future__ import annotations

import json
import math
import os
import re
import stat
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from ...errors import NotAskedError, ReadError, UsageError, unsupported_kind
from ...redaction import scrub
from ...trial import MOST_REPETITIONS, Json, Reply, Request
from ...usage import TOKENS

_TOKEN = re.compile(r"\w+|[^\w\s]")
_Row = tuple[Mapping[str, str], Reply, int]  # keys, reply, sample
_Samples = dict[int, list[Reply]]  # the repetitions of each sample
_END = ""  # no token is empty, so this key marks in a node of the trie that a question ends there


class RecordedModel:
    """A model that repeats the replies of a file; `rows` are those of `read_rows`."""

    def __init__(self, name: str, rows: Iterable[_Row]) -> None:
        self.name = name
        self._prompts: dict[str, _Samples] = {}
        self._questions: dict[str, _Samples] = {}
        for keys, reply, sample in rows:
            for samples_of_key, key in ((self._prompts, keys.get("prompt")), (self._questions, keys.get("question"))):
                if key:
                    samples_of_key.setdefault(key, {}).setdefault(sample, []).append(reply)
        self._trie = _trie(self._questions)

    async def answer(self, request: Request) -> Reply:
        """Return the recorded reply of the request's sample and repetition.

        Raises:
            NotAskedError: if the file has none.
        """
        if request.kind != "chat":
            words = f"the model {self.name} cannot {request.kind} texts; it holds recorded replies only"
            raise unsupported_kind(request.kind, words)
        if request.tools:
            raise NotAskedError(f"the model {self.name} cannot call tools; it holds recorded replies only")
        prompt = request.prompt.strip()
        samples = self._prompts.get(prompt) or self._questions.get(_longest_question(self._trie, prompt) or "", {})
        if not samples:
            raise NotAskedError(f"no recorded reply in {self.name} to this prompt")
        sample, place = divmod(request.repetition - 1, MOST_REPETITIONS)
        replies = samples.get(sample + 1, [])
        if not replies:
            raise NotAskedError(
                f"no recorded reply in {self.name} for sample {sample + 1} of this prompt, which is sent repeatedly; "
                f'add a row with "sample": {sample + 1}'
            )
        if place >= len(replies):
            raise NotAskedError(f"no recorded reply in {self.name} for repetition {place + 1} of {len(replies)}")
        return replies[place]


def open_recorded(path: str, settings: Mapping[str, Json]) -> RecordedModel:
    """Return the model of the file at `path`, which is read whole; the settings have no effect.

    Raises:
        UsageError: if the file cannot be read, or is a device, a pipe or a folder, which may have no end.
        ReadError: with line and column, if a row is malformed.
    """
    try:
        if not stat.S_ISREG(os.stat(path).st_mode):  # before it is opened, which waits at a pipe
            raise UsageError(
                f"the recorded replies {path!r} cannot be read: this is no regular file; expected a file of JSON lines"
            )
        data = Path(path).read_bytes()
    except (OSError, MemoryError) as error:
        reason = getattr(error, "strerror", "") or str(error) or "it does not fit into memory"
        raise UsageError(f"the recorded replies {path!r} cannot be read: {reason}") from None
    return RecordedModel(f"recorded:{path}", read_rows(data, path))


def read_rows(data: bytes, path: str) -> list[_Row]:
    """Return the rows of a file: keys (`prompt`, `question`, stripped), reply and sample; empty lines are skipped.

    Raises:
        ReadError: with the line and column of what is malformed.
    """
    lines = data.removeprefix(b"\xef\xbb\xbf").split(b"\n")
    return [_row(_object(line, path, number), path, number) for number, line in enumerate(lines, 1) if line.strip()]


def _object(line: bytes, path: str, number: int) -> dict[str, Any]:
    try:
        row = json.loads(line.decode())
    except UnicodeDecodeError as error:
        before = line[: error.start].decode()
        raise ReadError(path, number, len(before) + 1, f"the byte 0x{line[error.start]:02x}", "UTF-8") from None
    except json.JSONDecodeError as error:
        raise ReadError(path, number, error.colno, f"no JSON ({error.msg})", "one JSON object a line") from None
    except (ValueError, RecursionError) as error:  # a number of thousands of digits, a nesting of thousands of lists
        raise ReadError(path, number, 1, f"no usable JSON ({error})", "one JSON object a line") from None
    if not isinstance(row, dict):
        raise ReadError(path, number, 1, f"JSON that is no object: {str(row)[:40]!r}", "one JSON object a line")
    return row


def _row(row: dict[str, Any], path: str, number: int) -> _Row:
    def field(name: str, kinds: tuple[type, ...], expected: str) -> Any:  # noqa: ANN401 - a JSON value
        value = row.get(name)
        if value is not None and (not isinstance(value, kinds) or isinstance(value, bool)):
            raise ReadError(path, number, 1, f"{name!r}: {str(value)[:40]!r}", expected)
        if isinstance(value, int | float) and not 0 <= value < math.inf:
            raise ReadError(path, number, 1, f"{name!r}: {value}", expected)
        return value

    keys = {
        name: text.strip() for name in ("prompt", "question") if (text := field(name, (str,), "a text")) is not None
    }
    text = field("reply", (str,), "a text")
    if text is None or not any(keys.values()):
        raise ReadError(path, number, 1, f"an object of {_names(row)}", "'reply' and one of 'prompt' and 'question'")
    number_of, amount = "a whole number from 0", "a number from 0"
    reply = Reply(
        scrub(text),
        cost=field("cost", (int, float), amount),
        latency=field("latency", (int, float), amount),
        finish_reason=scrub(field("finish_reason", (str,), "a text") or "stop"),
        source=f"{path}:{number}",
        reasoning=scrub(field("reasoning", (str,), "a text") or ""),
        **{name: field(name, (int,), number_of) for name in TOKENS},
    )
    sample = field("sample", (int,), "a whole number from 1")
    if sample == 0:
        raise ReadError(path, number, 1, "'sample': 0", "a whole number from 1")
    return keys, reply, sample or 1


def _names(row: Mapping[str, object]) -> str:
    return ", ".join(map(repr, list(row)[:8])) or "no fields"


def _trie(questions: Iterable[str]) -> dict[str, Any]:
    """Return the questions as a tree of tokens, so that a single pass over a prompt finds all of them."""
    root: dict[str, Any] = {}
    for question in questions:
        node = root
        for token in _TOKEN.findall(question):
            node = node.setdefault(token, {})
        node.setdefault(_END, question)
    root.pop(_END, None)
    return root


def _longest_question(trie: dict[str, Any], prompt: str) -> str | None:
    """Return the longest question of the trie that occurs in the prompt as a whole; the last of equal length."""
    tokens = _TOKEN.findall(prompt) if trie else []
    best: str | None = None
    for start, first in enumerate(tokens):
        node = trie.get(first)
        position = start
        while node is not None:
            if (question := node.get(_END)) is not None and len(question) >= len(best or ""):
                best = question
            position += 1
            node = node.get(tokens[position]) if position < len(tokens) else None
    return best
