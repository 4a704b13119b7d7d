"""`paged quality`: which names of the graphs documents cover (ESA), what they omit and add (FINE), and the ablation."""

from __future__ import annotations

import argparse
from collections.abc import Iterator, Mapping, Sequence
from typing import Final

from ....benchmarks.asked_models import add_model_arguments
from ....errors import UsageError
from ....redaction import public_name
from ....reports.escape import json_text, one_line
from ....reports.table import table
from ..entailment_models.entailment_scores import EntailmentModel
from .document_checks import CheckedDocument, check_documents, document_ratios, ratio_to_json, share
from .document_paraphrases import add_template_argument
from .quality_ablation import DocumentAblation, ablate
from .stated_documents import StatedDocuments, add_document_arguments, stated_documents, warn

SUMMARY: Final = "measure how far documents state what is in their graphs: coverage of names (ESA), entailment (FINE)"
SHOWN_DOCUMENTS: Final = 20
SHOWN_LINES: Final = 5  # of a document
NEEDS_MODEL: Final = "The two paraphrased variations need a model: add --model=SPEC."
_WIDTH: Final = 200
_HEADER: Final = ("score", "kept", "of", "share")


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
