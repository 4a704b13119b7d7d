"""The command `patterns`: lists the catalogue as text, as JSON, or as the page docs/reference/patterns.md."""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from itertools import groupby
from typing import Final

from ...reports.table import table
from ...scoring.forms import form
from .patterns import catalogue
from .patterns.pattern import Pattern
from .questions.chance import MOST_FREQUENT_NUMBER, MOST_FREQUENT_TIME

SUMMARY = "list every question pattern, with its phrasing, answer form, metrics, needs and chance"
NO_VALUE: Final = "-"
BY_QUESTION: Final = "by question"
# The chance level of each form in words; questions/chance.py computes the numbers.
CHANCE: Final = {
    "yes-no": "0.5",
    "yes-no-reason": "0.5",
    "task": "1/n",
    "letter": "none",
    "task-set": BY_QUESTION,
    "task-reasons": BY_QUESTION,
    "pair-reason": BY_QUESTION,
    "groups": BY_QUESTION,
    "task-order": BY_QUESTION,
    "schedule": BY_QUESTION,
    "number": f"{MOST_FREQUENT_NUMBER}",
    "condition": BY_QUESTION,
    "text": BY_QUESTION,
    "task-graph": "none",
    "composed-task-graph": "none",
    "procedural-graph": "none",
}
HEADER: Final = ("pattern", "rationale", "question", "answer", "metric", "further metrics", "needs", "chance")
INTRODUCTION: Final = """\
# Question patterns

<!-- Generated from the code: python -m pytest_taskgraph patterns --markdown > docs/reference/patterns.md -->

On this page you look up the question patterns: their words, answer forms, metrics and chance levels. A pattern is a
kind of question. Its answers are computed from the workflow, never written down. A suite selects patterns by name
(`patterns="flow_end"`), by category (`"structure"`), or by a glob (`"flow_*"`).
[What the patterns ask](../explanation/patterns.md) defines the terms of the questions.

- **question**: the first of its phrasings, as a template. The others mean the same and are equally likely.
- **answer**: the form of the answer, which determines its instruction and its parsing.
- **metric**: the metric of the main score; **further metrics** are measured as well.
- **needs**: the features that each generated workflow has and that the notation must support
  ([notations](notations.md)).
- **chance**: the main score of the [best guess](metrics.md#chance-level): 1/n is one of the n names that the text
  offers; "by question" depends on the names and the right answer, so it is computed for each question. Questions that
  ask for a text are [graded](../explanation/graded.md), and their chance level is that of repeating a description that
  the workflow shows.
"""


@dataclass(frozen=True, slots=True)
class PatternRow:
    """A pattern as the command lists it."""

    pattern: str
    category: str
    rationale: str
    question: str
    answer: str
    metric: str
    further: tuple[str, ...]
    needs: tuple[str, ...]
    chance: str


def arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of the command to the parser."""
    shape = parser.add_mutually_exclusive_group()
    shape.add_argument("--markdown", action="store_true", help="print docs/reference/patterns.md")
    shape.add_argument("--json", action="store_true", help="print one JSON list instead of text")


def run(options: argparse.Namespace) -> int:
    """Print the patterns and return the exit code, 0."""
    rows = pattern_rows()
    if options.json:
        json.dump([asdict(row) for row in rows], sys.stdout, indent=2)
        print()
    else:
        print("\n".join(as_markdown(rows) if options.markdown else as_text(rows)))
    return 0


def pattern_rows() -> list[PatternRow]:
    """Return the built-in patterns in the order of the catalogue."""
    return [describe(pattern) for pattern in catalogue().values() if pattern.category != "custom"]


def describe(pattern: Pattern) -> PatternRow:
    """Return the row of a pattern.

    Raises:
        UnknownNameError: if its form is not registered.
    """
    shape = form(pattern.form)
    metric = pattern.metric or shape.metric
    return PatternRow(
        pattern.name,
        pattern.category,
        pattern.rationale.splitlines()[0],
        pattern.templates[0],
        pattern.form,
        metric,
        tuple(name for name in shape.further if name != metric),
        tuple(sorted(pattern.needs)),
        _chance_of(pattern) if metric == shape.metric else NO_VALUE,
    )


def _chance_of(pattern: Pattern) -> str:
    if pattern.form == "number" and pattern.timed:
        return f"{MOST_FREQUENT_TIME}"
    return f"{1 / pattern.options:.2g}" if pattern.options else CHANCE[pattern.form]


def as_text(rows: Sequence[PatternRow]) -> list[str]:
    """Return a table with a row for each pattern, each followed by its rationale and its question."""
    header = ["pattern", "category", "answer", "metric", "further", "needs", "chance"]
    cells = [[row.pattern, row.category, row.answer, row.metric, *_joined(row), row.chance] for row in rows]
    first, *lines = table(header, cells, "lllllll")
    below = [[line, f"    {row.rationale}", f"    {row.question}"] for line, row in zip(lines, rows, strict=True)]
    return [first, *(line for lines in below for line in lines)]


def as_markdown(rows: Sequence[PatternRow]) -> list[str]:
    """Return the lines of docs/reference/patterns.md: an introduction, and a table for each category."""
    lines = INTRODUCTION.splitlines()
    for category, rows_of_category in groupby(rows, key=lambda row: row.category):
        lines += ["", f"## {category.capitalize()}", "", _table_line(HEADER), _table_line(["---"] * len(HEADER))]
        lines += [_table_line(_cells(row)) for row in rows_of_category]
    return lines


def _cells(row: PatternRow) -> list[str]:
    further, needs = _joined(row)
    return [_code(row.pattern), row.rationale, _code(row.question), row.answer, row.metric, further, needs, row.chance]


def _joined(row: PatternRow) -> tuple[str, str]:
    return ", ".join(row.further) or NO_VALUE, ", ".join(row.needs) or NO_VALUE


def _code(text: str) -> str:
    marks = "``" if "`" in text else "`"
    return f"{marks}{text}{marks}"


def _table_line(cells: Sequence[str]) -> str:
    bare = [" ".join(cell.split()).replace("|", "\\|") for cell in cells]
    return f"| {' | '.join(bare)} |"
