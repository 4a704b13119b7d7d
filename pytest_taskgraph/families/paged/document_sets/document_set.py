"""A set of documents with their graphs and its splits, which are dealt 3 : 1 : 2 as in Du et al. (2024)."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Final

from ....benchmarks.data_sets.split_set import SplitSet
from ....benchmarks.data_sets.splits import Split
from ....workflow.procedural_graph import ProceduralGraph
from ..paged_options import DocumentSource

DEALT: Final[tuple[Split, ...]] = ("train", "test", "train", "validation", "train", "test")
"""The splits of six documents in a row, in the order of the draw."""


@dataclass(frozen=True, slots=True)
class DocumentPair:
    """A document and the graph that it describes.

    Args:
        id: A short name, unlike those of the other pairs of its set.
        title: What the procedure is called.
        graph: The graph.
        document: The text.
        split: The split that it belongs to.
    """

    id: str
    title: str
    graph: ProceduralGraph
    document: str
    split: Split = "test"


class DocumentSet(SplitSet[DocumentSource, DocumentPair]):
    """The pairs of one source: generated, or the user's own."""

    __slots__ = ()

    @property
    def pairs(self) -> tuple[DocumentPair, ...]:
        """All pairs, split by split."""
        return (*self.train, *self.validation, *self.test)


def deal_splits(pairs: Sequence[DocumentPair], seed: int) -> Iterator[DocumentPair]:
    """Yield the pairs in their order with the splits that the seed and their ids decide.

    Of each six in a row three are for training, one is for validation and two are for the test. So pairs that are added
    at the end change nothing for the others, but for those of a last row that was not full.
    """
    for start in range(0, len(pairs), len(DEALT)):
        row = pairs[start : start + len(DEALT)]
        shuffled = sorted(row, key=lambda pair: hashlib.sha256(f"{seed}|{pair.id}".encode()).digest())
        splits = dict(zip((pair.id for pair in shuffled), DEALT, strict=False))
        yield from (replace(pair, split=splits[pair.id]) for pair in row)
