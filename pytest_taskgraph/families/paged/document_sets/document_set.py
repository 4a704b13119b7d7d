"""A set of documents with their graphs and its splits, which are dealt 3 : 1 : 2 as in Du et al. (2024).

The numbers of Table 4 of Du et al. (2024) for a set of documents, beside the paper's own.

Actors are counted as the metric for them does: the actions that have one. Tokens are words and punctuation marks.

The paper does not define its numbers, and ours differ in one: a graph whose nodes are all reached from Start needs more
flows than the paper's have, unless it counts Start and End among the actions. Ours are not counted.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Final

from ....benchmarks.data_sets.splits import SplitSet
from ....benchmarks.option import Split
from ....reports.table import table
from ....trial import Json
from ....workflow.procedural_graph import ProceduralGraph
from ..paged_options import DocumentSource

DEALT: Final[tuple[Split, ...]] = ("train", "test", "train", "validation", "train", "test")
"""The splits of six documents in a row, in the order of the draw."""
PAPER_COUNTS: Final[Mapping[str, int]] = {
    "documents": 3_394, "sentences": 37_226, "tokens": 566_639, "actors": 22_775, "actions": 36_537,
    "exclusive gateways": 7_024, "inclusive gateways": 1_204, "parallel gateways": 2_050,
    "data constraints": 3_500, "action constraints": 2_307,
    "sequence flows": 36_438, "condition flows": 10_598, "constraint flows": 5_807,
}  # fmt: skip
"""Table 4, in our words and order."""
_NODES: Final = {
    "action": "actions", "exclusive": "exclusive gateways", "inclusive": "inclusive gateways",
    "parallel": "parallel gateways", "data": "data constraints", "notice": "action constraints",
}  # fmt: skip
_SENTENCE_END: Final = re.compile(r"[.!?][\"'”’)\]]?(?=\s(?!\s*[a-z])|\Z)")  # "e.g. at noon" goes on
_TOKEN: Final = re.compile(r"\w+|[^\w\s]")
HEADER: Final = ("", "number", "per document", "paper", "per document")


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


@dataclass(frozen=True, slots=True)
class DocumentCounts:
    """How many there are of everything that Table 4 counts, by its name in `PAPER_COUNTS`."""

    numbers: Mapping[str, int]

    @classmethod
    def of(cls, pairs: Iterable[DocumentPair]) -> DocumentCounts:
        """Count what the pairs hold."""
        numbers = dict.fromkeys(PAPER_COUNTS, 0)
        for pair in pairs:
            numbers["documents"] += 1
            numbers["sentences"] += count_sentences(pair.document)
            numbers["tokens"] += len(_TOKEN.findall(pair.document))
            for node in pair.graph.nodes:
                if node.sort in _NODES:
                    numbers[_NODES[node.sort]] += 1
                numbers["actors"] += bool(node.actor)
            for flow in pair.graph.flows:
                numbers[f"{flow.sort} flows"] += 1
        return cls(numbers)

    def rows(self) -> list[Sequence[str]]:
        """Return the rows of the table: name, number, the same for each document, and both of the paper."""
        return [
            (name, str(number), _share(number, self.numbers), str(PAPER_COUNTS[name]), _share(PAPER_COUNTS[name]))
            for name, number in self.numbers.items()
        ]

    def lines(self) -> list[str]:
        """Return the table as text."""
        return table(HEADER, self.rows(), "lrrrr")

    def to_json(self) -> dict[str, Json]:
        """Return the table as JSON: by name the number and that of the paper, and both for each document."""
        documents = self.numbers["documents"]
        return {
            name: {
                "number": number,
                "per_document": number / documents if documents else None,
                "paper": PAPER_COUNTS[name],
                "paper_per_document": PAPER_COUNTS[name] / PAPER_COUNTS["documents"],
            }
            for name, number in self.numbers.items()
        }


def count_sentences(document: str) -> int:
    """Return the number of sentences: ends of sentences, and lines that end without one, such as headings."""
    return sum(
        len(ends) + (not ends or ends[-1] < len(line))
        for line in filter(None, map(str.strip, document.splitlines()))
        for ends in [[match.end() for match in _SENTENCE_END.finditer(line)]]
    )


def _share(number: int, numbers: Mapping[str, int] = PAPER_COUNTS) -> str:
    return f"{number / numbers['documents']:.2f}" if numbers["documents"] else "-"
