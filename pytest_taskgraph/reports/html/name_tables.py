"""Names that the page highlights in the texts of a question, in tables that questions about the same thing share."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from ...trial import Question
from .embedded_data import printable_text

MOST_NAMES = 1_000  # of a question
LONGEST_NAME = 200  # characters
_NODE_KINDS = ("task", "composite", "data")  # kinds of nodes; gateways have names that are everyday words


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
