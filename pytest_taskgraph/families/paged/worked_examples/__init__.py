"""Three worked examples of extraction, our own: files NAME.PART.txt, a part for each field."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Final

NAMES: Final = ("return", "concert", "breakfast")
"""In the order in which they are shown; of fewer, the first ones."""


@dataclass(frozen=True, slots=True)
class WorkedExample:
    """A document with its procedural graph.

    Args:
        document: The document.
        reasoning: How a reader gets from the document to the graph.
        graph: The graph in its text form.
        elements: The elements of the document, of which rules build a graph.
    """

    document: str
    reasoning: str
    graph: str
    elements: str


@cache
def read_worked_examples() -> tuple[WorkedExample, ...]:
    """Return the worked examples, in the order in which they are shown."""
    folder = Path(__file__).parent

    def read(name: str, part: str) -> str:
        return folder.joinpath(f"{name}.{part}.txt").read_text(encoding="utf-8").strip()

    return tuple(
        WorkedExample(*(read(name, part) for part in ("document", "reasoning", "graph", "elements"))) for name in NAMES
    )
