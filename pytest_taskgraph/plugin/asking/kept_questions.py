"""Built questions on disk, beside the stored replies, so that a run that asks them again does not build them.

A question is kept under the SHA-256 of all that determines it: its reference, every setting, and the fingerprint of the
code that builds it. Kept are questions that nothing else determines (`Family.is_self_contained`), in runs that store
replies. Questions that cannot be read are built, and nothing that goes wrong here ends a run.
"""

from __future__ import annotations

import hashlib
import json
import platform
import sqlite3
import zlib
from collections.abc import Callable
from contextlib import closing, suppress
from dataclasses import fields
from functools import cache, cached_property
from importlib.metadata import version
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from ... import catalog
from ...trial import Question

if TYPE_CHECKING:
    from ...benchmarks.settings import Settings
    from ..suites import CollectedQuestion

FILE: Final = "questions.sqlite"
MOST: Final = 100_000
"""Largest number of questions in a file, some 200 MB; the oldest are deleted."""

_BATCH = 2_000  # questions of one transaction
_WAIT = 5.0  # seconds to wait for another process that writes
_LIBRARIES = ("networkx", "Jinja2")  # they take part in building
_HARMLESS = frozenset({"model", "report", "family"})  # kinds of registered objects that change no question
_CREATE = "CREATE TABLE IF NOT EXISTS questions (key TEXT PRIMARY KEY, code TEXT NOT NULL, question BLOB NOT NULL)"


class KeptQuestions:
    """The questions of a file.

    Args:
        folder: The folder of the file.
        keeps: Function that returns True if the run may write to the folder; called at the first question.
    """

    def __init__(self, folder: Path, keeps: Callable[[], bool]) -> None:
        self._path, self._may_keep = folder / FILE, keeps
        self._connection: sqlite3.Connection | None = None
        self._built: dict[str, bytes] = {}
        self._settings: tuple[Settings, str] | None = None  # the last settings, with their text

    def question(self, collected: CollectedQuestion) -> Question:
        """Return the question as it was kept, else build it. Raises UsageError."""
        if not (self._keeps or self._readable):
            return collected.question()
        if not collected.family.is_self_contained(collected.reference, collected.settings) or _is_extended():
            return collected.question()
        key = self._key(collected)
        kept = self._read(key)
        if kept is not None and (kept.id, kept.family) == (collected.reference.id, collected.family.name):
            return kept
        question = collected.question()
        if self._keeps and (text := _text(question)):
            self._built[key] = zlib.compress(text.encode("utf-8", "surrogatepass"), 1)
            if len(self._built) >= _BATCH:
                self.save()
        return question

    def save(self) -> None:
        """Write the questions that were built."""
        built, self._built = self._built, {}
        if not built:
            return
        try:
            with closing(sqlite3.connect(self._path, timeout=_WAIT)) as connection, connection:
                connection.execute(_CREATE)
                connection.execute("DELETE FROM questions WHERE code != ?", (code_fingerprint(),))
                rows = [(key, code_fingerprint(), question) for key, question in built.items()]
                connection.executemany("INSERT OR IGNORE INTO questions VALUES (?, ?, ?)", rows)
                newest = "(SELECT max(rowid) FROM questions)"
                connection.execute(f"DELETE FROM questions WHERE rowid <= {newest} - ?", (MOST,))
        except sqlite3.OperationalError:  # a full disk, a folder that cannot be written, another process that writes
            return
        except sqlite3.DatabaseError:  # not a database: the next run begins a new one
            with suppress(OSError):
                self._path.unlink(missing_ok=True)

    def close(self) -> None:
        """Write the questions that were built, and close the file."""
        self.save()
        if self._connection is not None:
            self._connection.close()
            self._connection = None

    @cached_property
    def _keeps(self) -> bool:
        return self._may_keep()

    @cached_property
    def _readable(self) -> bool:
        return self._path.exists()

    def _key(self, collected: CollectedQuestion) -> str:
        if self._settings is None or self._settings[0] is not collected.settings:
            self._settings = collected.settings, _canonical(_plain(collected.settings))
        reference = _canonical(_plain(collected.reference))
        parts = (code_fingerprint(), collected.family.name, self._settings[1], reference)
        return hashlib.sha256("\n".join(parts).encode("utf-8", "surrogatepass")).hexdigest()

    def _read(self, key: str) -> Question | None:
        """Return a question that was built before, in this run or another; None if there is none or it is damaged."""
        compressed = self._built.get(key) or self._stored(key)
        if not compressed:
            return None
        try:
            return _question(zlib.decompress(compressed).decode("utf-8", "surrogatepass"))
        except (zlib.error, ValueError, TypeError):
            return None

    def _stored(self, key: str) -> bytes | None:
        if not self._readable:
            return None
        try:
            if self._connection is None:
                self._connection = sqlite3.connect(f"{self._path.absolute().as_uri()}?mode=ro", uri=True, timeout=_WAIT)
            row = self._connection.execute("SELECT question FROM questions WHERE key = ?", (key,)).fetchone()
        except sqlite3.Error:  # there is no such file, or it is damaged
            self._readable = False
            return None
        return bytes(row[0]) if row else None


@cache
def code_fingerprint() -> str:
    """Return a SHA-256 of all that builds questions: the files of this package, and the versions beside it."""
    package = Path(__file__).parents[2]
    found = hashlib.sha256()
    for path in sorted(path for path in package.rglob("*") if path.suffix != ".pyc" and path.is_file()):
        content = path.read_bytes()
        found.update(f"{path.relative_to(package).as_posix()}\n{len(content)}\n".encode())
        found.update(content)
    versions = [platform.python_version(), *(f"{name} {version(name)}" for name in _LIBRARIES)]
    found.update("\n".join(versions).encode())
    return found.hexdigest()


def _is_extended() -> bool:
    """Return True if the session registered objects that may change the questions of any family."""
    return not catalog.registered_kinds() <= _HARMLESS


def _text(question: Question) -> str:
    """Return the question as JSON; empty if the JSON does not hold all of it."""
    text = _canonical({field.name: getattr(question, field.name) for field in fields(question)})
    return text if _question(text) == question else ""


def _question(text: str) -> Question:
    return Question(**json.loads(text))


def _plain(value: Any) -> Any:  # noqa: ANN401 - settings and references hold any plain data
    """Return settings or a reference as JSON data."""
    names = [field.name for field in fields(value)]
    return {name: sorted(part) if isinstance(part := getattr(value, name), frozenset) else part for name in names}


def _canonical(value: Any) -> str:  # noqa: ANN401 - any JSON value
    return json.dumps(value, sort_keys=True, separators=(",", ":"), default=dict)  # mappings that are no dicts
