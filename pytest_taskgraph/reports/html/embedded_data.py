"""Data embedded in the page: JSON that ends no HTML element, compressed drawings, addresses of questions."""

from __future__ import annotations

import json
from base64 import b64encode
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any
from urllib.parse import quote
from zlib import compress

from ...trial import Question
from ..escape import printable

if TYPE_CHECKING:
    from markupsafe import Markup

_ESCAPES = (("<", "\\u003c"), (">", "\\u003e"), ("&", "\\u0026"))
MOST_NAMES = 1_000  # of a question
LONGEST_NAME = 200  # characters
_NODE_KINDS = ("task", "composite", "data")  # kinds of nodes; gateways have names that are everyday words


def printable_text(text: str) -> str:
    """Return the text, printable; fast for ASCII prompts."""
    if text.isascii() and (text.isprintable() or text.replace("\n", "").isprintable()):
        return text
    return printable(text)


def permalink(question: str, model: str) -> str:
    """Return the address, within the page, that opens a question; question and model are printable."""
    return f"#question={quote(question, safe='')}&model={quote(model, safe='')}"


def embed_json(value: object) -> Markup:
    """Return the value as ASCII JSON for a script element of type application/json, without `<`, `>` and `&`.

    JSON has these in strings only, where an escape means the same. U+2028 and all else beyond ASCII is escaped too.
    """
    from markupsafe import Markup

    text = json.dumps(value, ensure_ascii=True, separators=(",", ":"))
    for character, escaped in _ESCAPES:  # str.translate takes ten times as long
        text = text.replace(character, escaped)
    return Markup(text)


def deflate(text: str) -> str:
    """Return the text as the Base64 of its UTF-8 in the zlib format (RFC 1950), which browsers read as "deflate"."""
    return b64encode(compress(text.encode("utf-8", "replace"))).decode("ascii")


class NameTables:
    """Tables of names: each is a list of a name and its further spellings, and stands once however many need it."""

    def __init__(self, diagrams: object) -> None:
        """Prepare the tables.

        Args:
            diagrams: The diagrams of a record by cluster; anything else counts as none.
        """
        self._diagrams = diagrams if isinstance(diagrams, Mapping) else {}
        self._labels: dict[str, tuple[str, ...]] = {}
        self._places: dict[tuple[tuple[str, ...], ...], int] = {}

    @property
    def tables(self) -> list[list[list[str]]]:
        """Return all tables in the order of their numbers."""
        return [[list(entry) for entry in table] for table in self._places]

    def place(self, question: Question) -> int:
        """Return the number of the table with the names of a question."""
        spellings: dict[str, list[str]] = {}
        for name in (*self._cluster_labels(question.cluster), *question.names, *question.spellings.values()):
            spellings.setdefault(name, [])
        for spelling, name in question.spellings.items():
            spellings[name].append(spelling)
        table = tuple(
            tuple(map(printable_text, filter(_is_markable, dict.fromkeys((name, *further)))))
            for name, further in spellings.items()
        )
        return self._places.setdefault(tuple(filter(None, table))[:MOST_NAMES], len(self._places))

    def _cluster_labels(self, cluster: str) -> tuple[str, ...]:
        if cluster not in self._labels:
            self._labels[cluster] = tuple(dict.fromkeys(_labels(self._diagrams.get(cluster))))
        return self._labels[cluster]


def _labels(diagram: Any) -> Iterator[str]:  # noqa: ANN401 - of a record
    """Yield the labels of nodes and groups that are names."""
    if not isinstance(diagram, Mapping):
        return
    for node in diagram.get("nodes") or ():
        if node.get("kind", "task") in _NODE_KINDS:
            yield str(node.get("label") or "")
    for group in diagram.get("groups") or ():
        yield str(group.get("label") or "")


def _is_markable(name: str) -> bool:
    return 0 < len(name) <= LONGEST_NAME and bool(name.strip())
