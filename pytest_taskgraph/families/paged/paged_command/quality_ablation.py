"""The ablation of document quality (Du et al. 2024, section 3.3): the same graphs, written in several ways.

The paper compares the concatenation of all fragments, its paraphrase, and its pipeline, the last step of which is a
paraphrase, too. Here the pipeline stands in two rows: by rules alone, and paraphrased. Without a model the rows that
need none are left.
"""

from __future__ import annotations

import argparse
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Final

from ....reports.table import table
from ....trial import Json
from ..document_quality.paraphrase import Paraphrase, sentence_groups
from ..document_sets.document_counts import DocumentCounts
from ..document_sets.document_set import DocumentPair
from ..documents.written_document import Document, write_document
from ..entailment_models.entailment_scores import EntailmentModel
from .document_checks import CheckedDocument, check_documents, document_ratios, ratio_to_json, share
from .document_paraphrases import ParaphraseTask, failure_lines, paraphrase_documents
from .stated_documents import StatedDocuments

CONCATENATED: Final = "concatenated"
PARAPHRASED: Final = "paraphrased"
PIPELINE: Final = "pipeline"
WHOLE_PIPELINE: Final = "pipeline, paraphrased"
VARIATIONS: Final = (CONCATENATED, PARAPHRASED, PIPELINE, WHOLE_PIPELINE)
"""The variations in the order of the table; the second and the last need a model."""


@dataclass(frozen=True, slots=True)
class DocumentVariation:
    """Documents of the same graphs, written in one way.

    Args:
        name: One of VARIATIONS.
        counts: What they hold.
        documents: What they say of their graphs.
    """

    name: str
    counts: DocumentCounts
    documents: tuple[CheckedDocument, ...]

    def to_json(self) -> dict[str, Json]:
        """Return the scores and what single documents lost, as JSON."""
        numbers = self.counts.numbers
        return {
            "name": self.name,
            **{name: numbers[name] for name in ("documents", "sentences", "tokens")},
            "scores": {name: ratio_to_json(*ratio) for name, ratio in document_ratios(self.documents).items()},
            "faulty": [document.to_json() for document in self.documents if not document.is_faultless],
        }


@dataclass(frozen=True, slots=True)
class DocumentAblation:
    """The variations, a line on each document that could not be paraphrased, and one on what the model was asked."""

    variations: tuple[DocumentVariation, ...]
    failures: tuple[str, ...] = ()
    usage: str = ""

    def lines(self) -> list[str]:
        """Return the table of the variations."""
        scores = {variation.name: document_ratios(variation.documents) for variation in self.variations}
        names = [*dict.fromkeys(name for ratios in scores.values() for name in ratios)]
        header = ("variation", "documents", "sentences each", "tokens each", *names)
        rows = [_row(variation, scores[variation.name], names) for variation in self.variations]
        return table(header, rows, "l" + "r" * (len(header) - 1))


def ablate(
    options: argparse.Namespace, stated: StatedDocuments, entailment: EntailmentModel | None = None
) -> DocumentAblation:
    """Return how good documents of the stated graphs are in each variation.

    Args:
        options: The options of the command; if they state a model, it paraphrases.
        stated: The graphs; their own documents are not looked at.
        entailment: The model for the FINE scores; without one they are not computed.

    Raises:
        UsageError: if a model cannot be used.
    """
    documents_by_quality = {
        PIPELINE: [(pair, write_document(pair.graph, "pipeline", stated.seed)) for pair in stated.pairs],
        CONCATENATED: [(pair, write_document(pair.graph, "concatenated", stated.seed)) for pair in stated.pairs],
    }
    pairs = {
        name: [replace(pair, document=document.text) for pair, document in documents]
        for name, documents in documents_by_quality.items()
    }
    failures: list[str] = []
    usage = ""
    if options.model is not None:
        tasks = {
            PARAPHRASED: _tasks(documents_by_quality[CONCATENATED]),
            WHOLE_PIPELINE: _tasks(documents_by_quality[PIPELINE]),
        }
        answers = paraphrase_documents(options, [task for each in tasks.values() for task in each])
        results, usage = iter(answers.results), answers.usage
        for name, each in tasks.items():
            own = [next(results) for _ in each]
            failures += (f"{name}: {line}" for line in failure_lines(each, own))
            pairs[name] = [
                replace(task.pair, document=result.text)
                for task, result in zip(each, own, strict=True)
                if isinstance(result, Paraphrase)
            ]
    variations = (_variation(name, pairs[name], entailment) for name in VARIATIONS if pairs.get(name))
    return DocumentAblation(tuple(variations), tuple(failures), usage)


def _tasks(documents: Sequence[tuple[DocumentPair, Document]]) -> list[ParaphraseTask]:
    """Return the tasks to paraphrase documents; concatenated fragments are one group."""
    return [ParaphraseTask(pair, sentence_groups(document)) for pair, document in documents]


def _variation(name: str, pairs: Sequence[DocumentPair], entailment: EntailmentModel | None) -> DocumentVariation:
    return DocumentVariation(name, DocumentCounts.of(pairs), tuple(check_documents(pairs, entailment)))


def _row(variation: DocumentVariation, ratios: Mapping[str, tuple[int, int]], names: Sequence[str]) -> list[str]:
    numbers = variation.counts.numbers
    each = [f"{numbers[name] / numbers['documents']:.1f}" for name in ("sentences", "tokens")]
    return [variation.name, str(numbers["documents"]), *each, *(share(*ratios[name]) for name in names)]
