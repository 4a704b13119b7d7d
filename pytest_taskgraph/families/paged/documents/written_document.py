"""A procedural document written from a graph, in one of two qualities of Du et al. (2024), section 3.3."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from random import Random
from typing import Final

from ....errors import UnknownNameError
from ....workflow.procedural_graph import ProceduralGraph
from ..paged_options import QUALITIES, DocumentQuality
from .aggregation import DocumentSentence, aggregate
from .document_phrases import lower_first
from .unit_grouping import UnitGroup, UnitGrouping, group_by_part
from .unit_templates import Fragment, fragments_of
from .units import Unit, decompose

_FUNCTION_WORDS: Final = ("If ", "In ", "The ", "To ", "For ", "After ")  # other first words may be names


@dataclass(frozen=True, slots=True)
class Document:
    """A document, and what it says where.

    Args:
        text: The sentences in a row, with blanks between them.
        sentences: The sentences, with the units that each says.
        fragments: What the units say by themselves, in the order in which the document states them.
    """

    text: str
    sentences: tuple[DocumentSentence, ...]
    fragments: tuple[Fragment, ...]


def write_document(
    graph: ProceduralGraph,
    quality: DocumentQuality = "pipeline",
    seed: int = 0,
    grouping: UnitGrouping = group_by_part,
) -> Document:
    """Write the document of a graph; the same for the same graph and seed anywhere.

    Every text of the graph stands in it as it is, but for the case of its first letter, and every actor is named.

    Args:
        graph: The graph.
        quality: "pipeline" groups and orders the units and aggregates them into sentences; "concatenated" puts the
            fragments of the units in a row, in the order of the breadth-first walk.
        seed: Decides between words that mean the same.
        grouping: How units are grouped and ordered; only the pipeline does that.

    Raises:
        UnknownNameError: if there is no such quality.
    """
    units = decompose(graph)
    if quality == "concatenated":
        fragments = fragments_of(graph, units)
        sentences = _concatenate(fragments)
    elif quality == "pipeline":
        groups = grouping(graph, units)
        fragments = fragments_of(graph, _each_once(groups))
        sentences = aggregate(graph, groups, Random(f"{seed}|document"))
    else:
        raise UnknownNameError("quality of PAGED documents", quality, QUALITIES)
    return Document(" ".join(sentence.text for sentence in sentences), sentences, fragments)


def _each_once(groups: Sequence[UnitGroup]) -> list[Unit]:
    return [*dict.fromkeys(unit for group in groups for unit in group.units)]


def _concatenate(fragments: Sequence[Fragment]) -> tuple[DocumentSentence, ...]:
    """Return the fragments as sentences of a single group; one that ends in a comma runs into the next."""
    sentences: list[DocumentSentence] = []
    words: list[str] = []
    units: list[Unit] = []
    for number, fragment in enumerate(fragments, 1):
        text = fragment.text
        words.append(lower_first(text) if words and text.startswith(_FUNCTION_WORDS) else text)
        units.append(fragment.unit)
        if text.endswith(".") or number == len(fragments):
            sentences.append(DocumentSentence(" ".join(words), tuple(units), 0))
            words, units = [], []
    return tuple(sentences)
