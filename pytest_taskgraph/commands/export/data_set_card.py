"""The card of a data set: what the Hugging Face Hub reads of it as YAML, and what people read."""

from __future__ import annotations

import json
import shlex
from collections.abc import Iterator, Mapping, Sequence
from typing import Final

from ...reports.markdown.elements import cell, fenced_block, pipe_table
from ...version import __version__
from .data_columns import DataColumn
from .row_spool import ExportedRun

_TYPES: Final = {
    "text": "string",
    "whole": "int64",
    "number": "float64",
    "boolean": "bool",
    "texts": "list of string",
    "json": "string (JSON)",
}


def card_text(
    runs: Sequence[ExportedRun], columns: Sequence[DataColumn], rows_by_split: Mapping[str, int], command: Sequence[str]
) -> str:
    """Return the card.

    Args:
        runs: The runs that were exported.
        columns: The columns of every split.
        rows_by_split: The number of rows of each split.
        command: The words of the command that writes the data set.
    """
    lines = [*_front_matter(rows_by_split), "", *_body(runs, columns, rows_by_split, command)]
    return "\n".join([*lines, ""])


def _front_matter(rows_by_split: Mapping[str, int]) -> Iterator[str]:
    yield from ("---", 'pretty_name: "Trials of pytest-taskgraph-bench"', "tags:", "- evaluation", "- pytest-taskgraph")
    if rows_by_split:
        yield from ("configs:", "- config_name: default", "  data_files:")
        for split in rows_by_split:
            yield f"  - split: {json.dumps(split)}"
            yield f"    path: {json.dumps(f'data/{split}-00000-of-00001.parquet')}"
    yield "---"


def _body(
    runs: Sequence[ExportedRun], columns: Sequence[DataColumn], rows_by_split: Mapping[str, int], command: Sequence[str]
) -> Iterator[str]:
    yield from ("# Trials of pytest-taskgraph-bench", "")
    yield "Each row is one trial: a question, the reply of a model, the parsed answer and its score."
    yield from ("", f"pytest-taskgraph-bench {__version__} wrote this data set with")
    yield from ("", *fenced_block([shlex.join(command)]))
    yield from ("", "## Runs")
    titles = ["run", "started", "models", "seed", "version", "python", "rows"]
    yield from pipe_table(titles, map(_run_cells, runs), len(titles) - 1)
    yield from ("", "## Splits", "", "There is a split for each benchmark family. All splits have the same columns.")
    yield from pipe_table(["split", "rows"], ([cell(split), f"{rows:,}"] for split, rows in rows_by_split.items()))
    yield from ("", "## Columns", "", "Unknown, undefined and empty values are null.")
    rows = ([cell(column.name), _TYPES[column.kind], column.meaning] for column in columns)
    yield from pipe_table(["column", "type", "meaning"], rows, 3)
    yield from ("", "## Before you publish it", "")
    yield "- State the licence: add `license:` to the YAML at the top. Terms of providers may bind the replies."
    yield "- Prompts and right answers become training data of future models; publish those of a set of questions that"
    yield "  you no longer compare models by."
    yield "- Prompts hold the project's own files where the questions are about them."


def _run_cells(run: ExportedRun) -> list[str]:
    about, provenance = run.about, run.about.provenance
    return [
        cell(run.name),
        cell(provenance.started if provenance else ""),
        cell(", ".join(about.models)),
        str(about.seed),
        cell(about.version),
        cell(provenance.versions.get("python", "") if provenance else ""),
        f"{run.rows:,}",
    ]
