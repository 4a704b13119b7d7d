"""Built questions on disk, beside the stored replies, so that a run that asks them again does not build them.

A question is kept under the SHA-256 of all that determines it: its reference, every setting, what its family names
beside them (`Family.question_identity`), and the fingerprint of the code that builds it. Questions are kept in runs
that store replies, and in dry runs. Questions that cannot be read are built, and nothing that goes wrong here ends a
run.
"""

from __future__ import annotations

import hashlib
import json
import os
import platform
import sqlite3
import zlib
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import closing, suppress
from dataclasses import fields
from functools import cache, cached_property
from importlib.metadata import PackageNotFoundError, version
from math import isfinite
from operator import attrgetter
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
_SHARED_BATCH = 50  # the same of a worker, whose questions the other workers read
_WAIT = 5.0  # seconds to wait for another process that writes
_LIBRARIES = ("networkx", "Jinja2", "MarkupSafe")  # they take part in building
_HARMLESS = frozenset({"model", "report", "family"})  # kinds of registered objects that change no question
_PLAIN = frozenset({str, int, bool, type(None)})
_NAMES = tuple(field.name for field in fields(Question))
_values_of = attrgetter(*_NAMES)
_encode = json.JSONEncoder(separators=(",", ":")).encode
_canonical = json.JSONEncoder(sort_keys=True, separators=(",", ":"), default=dict).encode  # of any mappings
_CREATE = "CREATE TABLE IF NOT EXISTS questions (key TEXT PRIMARY KEY, code TEXT NOT NULL, question BLOB NOT NULL)"


class KeptQuestions:
    """The questions of a file.

    Args:
        folder: The folder of the file; it is created when questions are written.
        keeps: Function that returns True if the run may write to the folder; called once, before the first question.
        notify: Function that receives a notice about a damaged file.
        workers: The number of processes of the run that ask. Several read what the others have built.
    """

    def __init__(
        self, folder: Path, keeps: Callable[[], bool], notify: Callable[[str], None], workers: int = 1
    ) -> None:
        self._path, self._may_keep, self._notify = folder / FILE, keeps, notify
        self._batch = _BATCH if workers == 1 else _SHARED_BATCH
        self._connection: sqlite3.Connection | None = None
        self._is_damaged = False
        self._built: dict[str, bytes] = {}
        self._settings: tuple[Settings, str] | None = None  # the last settings, with their text

    def question(self, collected: CollectedQuestion) -> Question:
        """Return the question as it was kept, else build it. Raises UsageError."""
        key = self._key(collected) if self._keeps or self._readable else ""
        if not key:
            return collected.question()
        kept = self._read(key)
        if kept is not None and (kept.id, kept.family) == (collected.reference.id, collected.family.name):
            return kept
        question = collected.question()
        if self._keeps and (text := _text(question)):
            self._built[key] = _compress(key, text)
            if len(self._built) >= self._batch:
                self.save()
        return question

    def save(self) -> None:
        """Write the questions that were built."""
        built, self._built = self._built, {}
        if not built:
            return
        from ...models.store_folder import prepare_folder

        self.__dict__.pop("_readable", None)  # the file exists now
        # An error may be a full disk, a folder that cannot be written, or another process that writes.
        with suppress(OSError, sqlite3.Error):
            prepare_folder(self._path.parent)
            try:
                _write(self._path, built)
            except sqlite3.OperationalError:
                return
            except sqlite3.DatabaseError as error:
                self._note_damage(error)
                self._close_connection()
                self._path.unlink()
                _write(self._path, built)

    def close(self) -> None:
        """Write the questions that were built, and close the file."""
        self.save()
        self._close_connection()

    @cached_property
    def _keeps(self) -> bool:
        return self._may_keep()

    @cached_property
    def _readable(self) -> bool:
        return self._path.exists()

    def _key(self, collected: CollectedQuestion) -> str:
        """Return the key of a question; empty if it cannot be kept."""
        identity = collected.family.question_identity(collected.reference, collected.settings)
        if identity is None or _is_extended() or not (code := code_fingerprint()):
            return ""
        try:
            if self._settings is None or self._settings[0] is not collected.settings:
                self._settings = collected.settings, _canonical(_plain(collected.settings))
            parts = _canonical([code, collected.family.name, _plain(collected.reference), identity])
        except (TypeError, ValueError):  # settings of another plugin that are no JSON
            return ""
        return hashlib.sha256(f"{parts}\n{self._settings[1]}".encode()).hexdigest()

    def _read(self, key: str) -> Question | None:
        """Return a question that was built before, in this run or another; None if there is none or it is damaged."""
        compressed = self._built.get(key) or self._stored(key)
        if not compressed:
            return None
        try:
            head, question = _unpack(compressed)
            return question if head == key else None
        except (zlib.error, ValueError, TypeError):
            return None

    def _stored(self, key: str) -> bytes | None:
        if not self._readable:
            return None
        try:
            if self._connection is None:
                self._connection = sqlite3.connect(f"{self._path.absolute().as_uri()}?mode=ro", uri=True, timeout=_WAIT)
            row = self._connection.execute("SELECT question FROM questions WHERE key = ?", (key,)).fetchone()
        except sqlite3.Error as error:
            self._readable = False
            if not isinstance(error, sqlite3.OperationalError):
                self._note_damage(error)
            return None
        return bytes(row[0]) if row else None

    def _note_damage(self, error: sqlite3.Error) -> None:
        if not self._is_damaged:
            self._is_damaged = True
            self._notify(
                f"{self._path} is damaged ({error}); its questions are built again, and a new file replaces it"
            )

    def _close_connection(self) -> None:
        if self._connection is not None:
            self._connection.close()
            self._connection = None


def _write(path: Path, built: Mapping[str, bytes]) -> None:
    """Add questions; all questions in the file are of the same code, so those of other code are deleted."""
    code = code_fingerprint()
    rows = [(key, code, question) for key, question in built.items()]
    with closing(sqlite3.connect(path, timeout=_WAIT)) as connection, connection:
        connection.execute("BEGIN IMMEDIATE")
        connection.execute(_CREATE)
        first = connection.execute("SELECT code FROM questions LIMIT 1").fetchone()
        if first is not None and first[0] != code:
            connection.execute("DELETE FROM questions")
        connection.executemany("INSERT OR REPLACE INTO questions VALUES (?, ?, ?)", rows)  # it replaces damaged rows
        newest = "(SELECT max(rowid) FROM questions)"
        connection.execute(f"DELETE FROM questions WHERE rowid <= {newest} - ?", (MOST,))


@cache
def code_fingerprint() -> str:
    """Return a SHA-256 of all that builds questions: the files of this package, and the versions beside it.

    The content of the files counts, since neither size nor time shows each change: some archives set all times alike.
    It is empty if the package stands in no folder.
    """
    package = str(Path(__file__).parents[2])
    found = hashlib.sha256("\n".join([platform.python_version(), *map(_version, _LIBRARIES)]).encode())
    try:
        for path in sorted(_files(package)):
            with open(path, "rb", buffering=0) as file:
                content = file.read()
            found.update(f"{path[len(package) :]}\n{len(content)}\n".encode("utf-8", "surrogatepass"))
            found.update(content)
    except OSError:
        return ""
    return found.hexdigest()


def _files(folder: str) -> Iterator[str]:
    """Yield the paths of all files that are not compiled; `Path.rglob` takes four times as long."""
    with os.scandir(folder) as entries:
        for entry in entries:
            if entry.is_dir():
                yield from _files(entry.path)
            elif not entry.name.endswith(".pyc"):
                yield entry.path


def _version(library: str) -> str:
    try:
        return f"{library} {version(library)}"
    except PackageNotFoundError:  # its code was copied without its metadata
        return library


def _is_extended() -> bool:
    """Return True if the session registered objects that may change the questions of any family."""
    return not catalog.registered_kinds() <= _HARMLESS


def _text(question: Question) -> str:
    """Return the question as JSON; empty if the JSON does not hold all of it, with types and order."""
    try:
        text = _json(question)
    except (TypeError, ValueError):
        return ""
    # "\ud" begins half of a surrogate pair, and two halves are read as one character.
    if type(question) is Question and "\\ud" not in text and _is_plain_json(_values_of(question)):
        return text
    again = _question(text)
    return text if again == question and _json(again) == text else ""  # 1, 1.0 and True are equal


def _is_plain_json(values: Iterable[Any]) -> bool:
    """Return True if the values have only types that JSON gives back, at any depth, and no number that it does not.

    It takes a fifth of the time of writing and reading the values, which shows the same.
    """
    waiting = list(values)
    for value in waiting:  # grows while it is iterated
        kind = type(value)
        if kind is list:
            waiting += value
        elif kind is dict:
            if not {str}.issuperset(map(type, value)):
                return False
            waiting += value.values()
        elif not (kind in _PLAIN or (kind is float and isfinite(value))):
            return False
    return True


def _json(question: Question) -> str:
    return _encode(dict(zip(_NAMES, _values_of(question), strict=True)))


def _question(text: str) -> Question:
    return Question(**json.loads(text))


def _compress(key: str, text: str) -> bytes:
    """Return the text with its key, so that a damaged index cannot lead to another question."""
    return zlib.compress(f"{key}\n{text}".encode(), 1)


def _unpack(compressed: bytes) -> tuple[str, Question]:
    """Return key and question. Raises zlib.error, ValueError or TypeError if the bytes are damaged."""
    key, _, text = zlib.decompress(compressed).decode().partition("\n")
    return key, _question(text)


def _plain(value: Any) -> Any:  # noqa: ANN401 - settings and references hold any plain data
    """Return settings or a reference as JSON data."""
    names = [field.name for field in fields(value)]
    return {name: sorted(part) if isinstance(part := getattr(value, name), frozenset) else part for name in names}
