"""`paged quality`: which names of the graphs documents cover (ESA), what they omit and add (FINE), and the ablation.

The ablation of document quality (Du et al. 2024, section 3.3): the same graphs, written in several ways.

The paper compares the concatenation of all fragments, its paraphrase, and its pipeline, the last step of which is a
paraphrase, too. Here the pipeline stands in two rows: by rules alone, and paraphrased. Without a model the rows that
need none are left.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Final

from ....benchmarks.asked_models import add_model_arguments
from ....errors import UsageError
from ....redaction import public_name
from ....reports.escape import json_text, one_line
from ....reports.table import table
from ....trial import Json
from ..document_quality.paraphrase import Paraphrase, sentence_groups
from ..document_sets.document_set import DocumentCounts, DocumentPair
from ..documents.written_document import Document, write_document
from ..entailment_models.entailment_scores import EntailmentModel
from .document_checks import CheckedDocument, check_documents, document_ratios, ratio_to_json, share
from .document_paraphrases import ParaphraseTask, add_template_argument, failure_lines, paraphrase_documents
from .stated_documents import StatedDocuments, add_document_arguments, stated_documents, warn

CONCATENATED: Final = "concatenated"
PARAPHRASED: Final = "paraphrased"
PIPELINE: Final = "pipeline"
WHOLE_PIPELINE: Final = "pipeline, paraphrased"
VARIATIONS: Final = (CONCATENATED, PARAPHRASED, PIPELINE, WHOLE_PIPELINE)
"""The variations in the order of the table; the second and the last need a model."""
SUMMARY: Final = "measure how far documents state what is in their graphs: coverage of names (ESA), entailment (FINE)"
SHOWN_DOCUMENTS: Final = 20
SHOWN_LINES: Final = 5  # of a document
NEEDS_MODEL: Final = "The two paraphrased variations need a model: add --model=SPEC."
_WIDTH: Final = 200
_HEADER: Final = ("score", "kept", "of", "share")


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


def arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of the command to the parser."""
    add_document_arguments(parser)
    parser.add_argument(
        "--nli",
        metavar="MODEL",
        help="also judge omissions and hallucinations (FINE) by this model of natural language inference, such as "
        "FacebookAI/roberta-large-mnli: a folder, or a name in the local cache (extra nli)",
    )
    parser.add_argument(
        "--ablation",
        action="store_true",
        help="compare documents of the same graphs: concatenated, pipeline, and both paraphrased by the model",
    )
    parser.add_argument("--json", action="store_true", help="print one JSON object instead of text")
    add_model_arguments(parser, "that paraphrases, for --ablation")
    add_template_argument(parser)


def run(options: argparse.Namespace) -> int:
    """Print the scores, and what single documents lost.

    Returns:
        0; 1 if a document of the ablation has no paraphrase.

    Raises:
        UsageError: if there are no documents, or a model cannot be used.
    """
    if options.model is not None and not options.ablation:
        raise UsageError(f"--model={public_name(options.model)}: it is asked for paraphrases alone; add --ablation")
    entailment = load_stated_entailment(options)
    stated = stated_documents(options)
    if options.ablation:
        return _print_ablation(options, stated, ablate(options, stated, entailment))
    return _print_documents(options, stated, check_documents(stated.pairs, entailment))


def load_stated_entailment(options: argparse.Namespace) -> EntailmentModel | None:
    """Return the entailment model that the options state, if they do. Raises UsageError."""
    if options.nli is None:
        return None
    from ..entailment_models.entailment_weights import load_entailment_model

    try:
        return load_entailment_model(options.nli)
    except UsageError as error:
        raise UsageError(f"--nli={options.nli}: {error}") from None


def _print_documents(options: argparse.Namespace, stated: StatedDocuments, documents: Sequence[CheckedDocument]) -> int:
    ratios = document_ratios(documents)
    if options.json:
        print(
            json_text(
                {
                    "source": stated.source,
                    "scores": {name: ratio_to_json(*ratio) for name, ratio in ratios.items()},
                    "documents": [document.to_json() for document in documents],
                    "problems": list(stated.problems),
                }
            )
        )
        return 0
    print("\n".join([one_line(stated.heading), "", *score_lines(ratios), ""]))
    print("\n".join(_fault_lines(documents)))
    warn(stated.problems)
    return 0


def _print_ablation(options: argparse.Namespace, stated: StatedDocuments, ablation: DocumentAblation) -> int:
    if options.json:
        print(
            json_text(
                {
                    "source": stated.source,
                    "variations": [variation.to_json() for variation in ablation.variations],
                    "usage": ablation.usage,
                    "problems": [*stated.problems, *ablation.failures],
                }
            )
        )
        return 1 if ablation.failures else 0
    print("\n".join([one_line(stated.heading), "", *ablation.lines(), ""]))
    print(f"model: {ablation.usage}" if options.model is not None else NEEDS_MODEL)
    warn([*stated.problems, *ablation.failures])
    return 1 if ablation.failures else 0


def score_lines(ratios: Mapping[str, tuple[int, int]]) -> list[str]:
    """Return the table of the scores over all documents."""
    return table(
        _HEADER, [(name, str(count), str(of), share(count, of)) for name, (count, of) in ratios.items()], "lrrr"
    )


def _fault_lines(documents: Sequence[CheckedDocument]) -> Iterator[str]:
    """Yield what is wrong with single documents."""
    faulty = [document for document in documents if not document.is_faultless]
    if not faulty:
        yield "No document lost a name, omitted or added anything." if documents[0].fine else "No document lost a name."
        return
    yield f"{len(faulty)} of {len(documents)} documents lost something:"
    for document in faulty[:SHOWN_DOCUMENTS]:
        lines = [*document.lines()]
        yield from (f"  {one_line(f'{document.id} {line}', _WIDTH)}" for line in lines[:SHOWN_LINES])
        if len(lines) > SHOWN_LINES:
            yield f"  {document.id}: and {len(lines) - SHOWN_LINES} more (--json lists all)"
    if len(faulty) > SHOWN_DOCUMENTS:
        yield f"  and {len(faulty) - SHOWN_DOCUMENTS} more documents (--json lists all)"
