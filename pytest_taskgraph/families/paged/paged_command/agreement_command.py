"""`paged agreement FILE`: ratings of documents by people, and how far they agree (Du et al. 2024, section 3.3)."""

from __future__ import annotations

import argparse
from collections.abc import Iterator, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Final

from ....errors import UsageError
from ....reports.escape import json_text, one_line
from ....reports.table import table
from ....trial import Json
from ..document_quality.document_annotations import (
    CRITERIA,
    LEAST,
    MOST,
    AnnotatedDocuments,
    CriterionAgreement,
    criterion_agreements,
    read_document_annotations,
)
from .stated_documents import warn

SUMMARY: Final = "show the means of ratings of documents by people, and how far the raters agree"
RELIABLE: Final = 0.75
"""The intraclass correlation from which ratings count as reliable (Koo and Li 2016), as Du et al. (2024) have it."""
MOST_SYSTEMS: Final = 50
ALL: Final = "all"
_HEADER: Final = ("system", "criterion", "mean", "ICC", "documents", "ratings each", "left out")


def arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of the command to the parser."""
    parser.add_argument(
        "file",
        metavar="FILE",
        type=Path,
        help="a CSV file with the columns document, rater, "
        f"{', '.join(CRITERIA)} (whole numbers from {LEAST} to {MOST}, or nothing) and perhaps system",
    )
    parser.add_argument("--json", action="store_true", help="print one JSON object instead of a table")


def run(options: argparse.Namespace) -> int:
    """Print the mean and the intraclass correlation of each criterion, over all documents and for each system.

    Returns:
        0.

    Raises:
        UsageError: if the file cannot be read, or has too many systems.
    """
    annotated = read_document_annotations(options.file)
    by_system = agreements_by_system(annotated, options.file)
    if options.json:
        systems = {name: [*map(_plain, agreements)] for name, agreements in by_system}
        print(json_text({"file": str(options.file), "systems": systems, "problems": list(annotated.problems)}))
        return 0
    rows = [row for name, agreements in by_system for row in _rows(name, agreements)]
    print("\n".join([one_line(f"{options.file}: {_ratings(annotated)}"), "", *table(_HEADER, rows, "llrrrrr"), ""]))
    print("\n".join(_notes(by_system)))
    warn(annotated.problems)
    return 0


def agreements_by_system(annotated: AnnotatedDocuments, file: Path) -> list[tuple[str, tuple[CriterionAgreement, ...]]]:
    """Return the agreements by criterion for each system in the order of the file, and those over all documents.

    Raises:
        UsageError: if the systems are more than MOST_SYSTEMS.
    """
    systems = [*dict.fromkeys(annotation.system for annotation in annotated.annotations)]
    if len(systems) > MOST_SYSTEMS:
        raise UsageError(
            f"{file}: the column system names {len(systems)} systems; expected {MOST_SYSTEMS} at most, each of which "
            "wrote several documents"
        )
    by_system: list[tuple[str, tuple[CriterionAgreement, ...]]] = []
    if len(systems) > 1:
        for system in systems:
            own = (annotation for annotation in annotated.annotations if annotation.system == system)
            by_system.append((system or "not stated", criterion_agreements(own)))
    return [*by_system, (ALL, criterion_agreements(annotated.annotations))]


def _ratings(annotated: AnnotatedDocuments) -> str:
    documents = {(annotation.system, annotation.document) for annotation in annotated.annotations}
    raters = {annotation.rater for annotation in annotated.annotations}
    return f"{len(documents)} documents, {len(raters)} raters"


def _rows(system: str, agreements: Sequence[CriterionAgreement]) -> Iterator[tuple[str, ...]]:
    for agreement in agreements:
        yield (
            system,
            agreement.criterion,
            _decimal(agreement.mean, 2),
            _decimal(agreement.correlation, 3),
            str(agreement.documents),
            str(agreement.raters),
            str(agreement.left_out),
        )


def _decimal(value: float | None, places: int) -> str:
    return "-" if value is None else f"{value:.{places}f}"


def _plain(agreement: CriterionAgreement) -> dict[str, Json]:
    fields: dict[str, Json] = asdict(agreement)
    return fields


def _notes(by_system: Sequence[tuple[str, Sequence[CriterionAgreement]]]) -> Iterator[str]:
    """Yield what the numbers mean, and which of them are not reliable."""
    yield (
        "ICC: one-way random, single ratings (Shrout and Fleiss 1979), over the documents that have as many ratings as "
        "most have."
    )
    (_, over_all) = by_system[-1]
    correlations = {agreement.criterion: agreement.correlation for agreement in over_all if agreement.mean is not None}
    low = [criterion for criterion, value in correlations.items() if value is not None and value < RELIABLE]
    undefined = [criterion for criterion, value in correlations.items() if value is None]
    if low:
        yield f"Below {RELIABLE}, so not reliable (Koo and Li 2016): {', '.join(low)}."
    elif len(undefined) < len(correlations):
        yield f"All are {RELIABLE} or more, so reliable (Koo and Li 2016)."
    if undefined:
        yield f"Undefined, for documents or raters are too few, or all ratings are the same: {', '.join(undefined)}."
