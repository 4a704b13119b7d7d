"""Documents written from generated graphs: as many as are asked for, the same ones first for every number."""

from __future__ import annotations

from functools import lru_cache
from typing import Final

from ....benchmarks.data_sets.item_ids import hyphenate, shorten
from ....benchmarks.data_sets.splits import Split
from ....catalog import catalog_cache
from ....errors import UsageError
from ..documents.written_document import write_document
from ..paged_options import DocumentQuality
from .document_set import DEALT, DocumentPair, DocumentSet, deal_splits
from .generated_graphs import generate_graph

MOST_DOCUMENTS: Final = 10_000  # of a split
LEAST_ROWS: Final = 6  # of six documents, so that every split has some
LONGEST_WORDS: Final = 48  # characters of an id before the number


def generate_documents(
    seed: int, least: int, split: Split = "test", quality: DocumentQuality = "pipeline"
) -> DocumentSet:
    """Return new documents with their graphs; the same for the same seed, and the first ones for fewer.

    Args:
        seed: Decides on the graphs, their documents and their splits.
        least: The number of pairs that the split has at least.
        split: The split that is to have so many.
        quality: How the documents are written.

    Raises:
        UsageError: if these are more than MOST_DOCUMENTS, or a vocabulary of the project's own allows no graph.
    """
    if least > MOST_DOCUMENTS:
        raise UsageError(
            f"PAGED, generated documents: {least} are asked for; expected at most {MOST_DOCUMENTS} "
            "(--taskgraph-instances); another --taskgraph-seed gives others"
        )
    rows = max(LEAST_ROWS, -(-least // DEALT.count(split)))
    return _generate(seed, rows * len(DEALT), quality)


def generate_pairs(seed: int, count: int, quality: DocumentQuality = "pipeline") -> tuple[DocumentPair, ...]:
    """Return the first so many pairs of a seed, in the order of the draw, each in the split that it always has.

    Raises:
        UsageError: if a vocabulary of the project's own allows no graph.
    """
    rows = -(-count // len(DEALT))
    whole = [_pair(seed, number, quality) for number in range(rows * len(DEALT))]
    return tuple(deal_splits(whole, seed))[:count]


@catalog_cache
@lru_cache(maxsize=4)
def _generate(seed: int, count: int, quality: DocumentQuality) -> DocumentSet:
    return DocumentSet.of_items("generated", generate_pairs(seed, count, quality))


def _pair(seed: int, number: int, quality: DocumentQuality) -> DocumentPair:
    procedure = generate_graph(seed, number)
    words = shorten(hyphenate(procedure.title), LONGEST_WORDS) or "procedure"
    return DocumentPair(
        f"{words}-{number + 1}", procedure.title, procedure.graph, write_document(procedure.graph, quality, seed).text
    )
