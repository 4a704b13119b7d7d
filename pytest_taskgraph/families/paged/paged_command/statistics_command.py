"""`paged statistics`: the numbers of Table 4 of Du et al. (2024) for a set of documents, beside the paper's."""

from __future__ import annotations

import argparse
from typing import Final

from ....reports.escape import json_text, one_line
from ..document_sets.document_set import DocumentCounts
from .stated_documents import add_document_arguments, stated_documents, warn

SUMMARY: Final = "count what documents and graphs hold, as Table 4 of Du et al. (2024) does"
NOTE: Final = (
    "Start and End are not counted as actions. The paper has fewer sequence flows than graphs need in which Start "
    "reaches all nodes, unless it counts them."
)


def arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of the command to the parser."""
    add_document_arguments(parser)
    parser.add_argument("--json", action="store_true", help="print one JSON object instead of a table")


def run(options: argparse.Namespace) -> int:
    """Print the numbers.

    Returns:
        0.

    Raises:
        UsageError: if there are no documents.
    """
    stated = stated_documents(options)
    counts = DocumentCounts.of(stated.pairs)
    if options.json:
        print(json_text({"source": stated.source, "counts": counts.to_json(), "problems": list(stated.problems)}))
        return 0
    print("\n".join([one_line(stated.heading), "", *counts.lines(), "", NOTE]))
    warn(stated.problems)
    return 0
