"""What documents say of their graphs: the names that they cover, and what they omit and add by an entailment model."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from ....trial import Json
from ..document_quality.quality_metrics import (
    FineScores,
    GraphName,
    NameCoverage,
    NameSort,
    fine_scores,
    fragment_sentences,
    name_coverage,
)
from ..document_sets.document_set import DocumentPair
from ..entailment_models.entailment_scores import EntailmentModel

_TITLES: Final[Mapping[NameSort, str]] = {"action": "actions", "actor": "actors", "data": "data"}


@dataclass(frozen=True, slots=True)
class CheckedDocument:
    """A document with the names that it covers, and its FINE scores if an entailment model judged it."""

    id: str
    coverage: NameCoverage
    fine: FineScores | None = None

    @property
    def is_faultless(self) -> bool:
        """Return True if no name is lost, and nothing is omitted or added."""
        return not self.coverage.lost and not (self.fine and (self.fine.omitted or self.fine.hallucinated))

    def to_json(self) -> dict[str, Json]:
        """Return what the document lost, omitted and added, as JSON."""
        fields: dict[str, Json] = {
            "id": self.id,
            "coverage": ratio_to_json(*self.coverage.ratio()),
            "lost": [{"sort": name.sort, "text": name.text} for name in self.coverage.lost],
        }
        if self.fine:
            fields["omitted"] = list(self.fine.omitted)
            fields["hallucinated"] = list(self.fine.hallucinated)
            fields["confidence"] = self.fine.confidence
        return fields

    def lines(self) -> Iterator[str]:
        """Yield what is wrong with the document, a line each."""
        if self.coverage.lost:
            yield f"lost: {listed_names(self.coverage.lost)}"
        for text in self.fine.omitted if self.fine else ():
            yield f'omitted: "{text}"'
        for text in self.fine.hallucinated if self.fine else ():
            yield f'hallucinated: "{text}"'


def check_documents(pairs: Iterable[DocumentPair], entailment: EntailmentModel | None = None) -> list[CheckedDocument]:
    """Return what the documents say of their graphs.

    Args:
        pairs: The documents with their graphs.
        entailment: The model for the FINE scores; without one they are not computed.

    Raises:
        UsageError: if the model cannot take a text.
    """
    return [
        CheckedDocument(pair.id, name_coverage(pair.graph, pair.document), _fine(pair, entailment)) for pair in pairs
    ]


def _fine(pair: DocumentPair, entailment: EntailmentModel | None) -> FineScores | None:
    return None if entailment is None else fine_scores(entailment, fragment_sentences(pair.graph), pair.document)


def document_ratios(documents: Sequence[CheckedDocument]) -> dict[str, tuple[int, int]]:
    """Return numerator and denominator of each score over all documents, by its name.

    These are the coverage of each sort of names and of all, then what is not omitted of the fragments and not
    hallucinated of the sentences, if an entailment model judged the documents.
    """
    by_score = {title: _sum(document.coverage.ratio(sort) for document in documents) for sort, title in _TITLES.items()}
    by_score["all names"] = _sum(document.coverage.ratio() for document in documents)
    scores = [document.fine for document in documents if document.fine]
    if scores:
        by_score["omission"] = _sum((fine.fragments - len(fine.omitted), fine.fragments) for fine in scores)
        by_score["hallucination"] = _sum((fine.sentences - len(fine.hallucinated), fine.sentences) for fine in scores)
    return by_score


def ratio_to_json(numerator: int, denominator: int) -> dict[str, Json]:
    """Return a ratio as JSON, with its value; None if it is undefined."""
    value = numerator / denominator if denominator else None
    return {"numerator": numerator, "denominator": denominator, "value": value}


def share(numerator: int, denominator: int) -> str:
    """Return a ratio with three decimals, rounded down so that only a whole one is 1.000."""
    return f"{numerator * 1000 // denominator / 1000:.3f}" if denominator else "-"


def listed_names(names: Sequence[GraphName]) -> str:
    """Return names with their sorts, for a line."""
    return ", ".join(f'{name.sort} "{name.text}"' for name in names)


def _sum(ratios: Iterable[tuple[int, int]]) -> tuple[int, int]:
    all_ratios = [*ratios]
    return sum(numerator for numerator, _ in all_ratios), sum(denominator for _, denominator in all_ratios)
