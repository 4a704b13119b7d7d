"""`patterns`: every pattern of the catalogue, as text, as JSON, or as the page `docs/reference/patterns.md`."""

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

SUMMARY = "list every question pattern, with its phrasing, answer form, metrics, needs and chance"
UNSAID: Final = "-"
BY_QUESTION: Final = "by question"
# The chance level of each form in words; its numbers: questions/chance.py.
CHANCE: Final = {
    "yes-no": "0.5",
    "yes-no-reason": "0.5",
    "task": "1/n",
    "letter": "1/n",
    "task-set": BY_QUESTION,
    "task-reasons": BY_QUESTION,
    "pair-reason": BY_QUESTION,
    "groups": BY_QUESTION,
    "task-order": BY_QUESTION,
    "number": BY_QUESTION,
    "condition": BY_QUESTION,
    "text": BY_QUESTION,
    "task-graph": "none",
    "procedural-graph": "none",
}
HEADER: Final = ("pattern", "rationale", "question", "answer", "metric", "further metrics", "needs", "chance")
INTRODUCTION: Final = """\
# Question patterns

<!-- Generated from the code: python -m pytest_taskgraph patterns --markdown > docs/reference/patterns.md -->

A pattern is a kind of question. Its answers are computed from the workflow, never written down. These are all that a
suite can name, by pattern (`patterns="flow_end"`), by category (`"structure"`), or by what names fit (`"flow_*"`).

- **question**: the first of its phrasings, as a template. Others mean the same and are drawn as often.
- **answer**: the form of the answer, which decides how it is asked for and how it is read.
- **metric**: what the main score is; **further metrics** are measured beside it.
- **needs**: what each generated workflow is given, and the notation must be able to say
  ([notations](notations.md)).
- **chance**: the main score that guessing is expected to reach: 1/n is one of the n names there are; "by question"
  depends on the names and on the right answer, so it is computed for each question. Questions that ask for a text are
  [graded](../explanation/graded.md), and their chance level is that of repeating a description that the workflow shows.
"""


@dataclass(frozen=True, slots=True)
class Listed:
    """What is told of a pattern; `further` and `needs` are sorted as they stand in the form, or by name."""

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
    """Print the patterns. Return the exit code, 0."""
    patterns = listed()
    if options.json:
        json.dump([asdict(one) for one in patterns], sys.stdout, indent=2)
        print()
    else:
        print("\n".join(as_markdown(patterns) if options.markdown else as_text(patterns)))
    return 0


def listed() -> list[Listed]:
    """The patterns of this package, in the order of the catalogue; a user's own are left out."""
    return [describe(one) for one in catalogue().values() if one.category != "custom"]


def describe(pattern: Pattern) -> Listed:
    """What is told of the pattern. Raises UnknownNameError where its form is not known."""
    shape = form(pattern.form)
    metric = pattern.metric or shape.metric
    return Listed(
        pattern.name,
        pattern.category,
        pattern.rationale.splitlines()[0],
        pattern.templates[0],
        pattern.form,
        metric,
        tuple(name for name in shape.further if name != metric),
        tuple(sorted(pattern.needs)),
        CHANCE[pattern.form] if metric == shape.metric else UNSAID,
    )


def as_text(patterns: Sequence[Listed]) -> list[str]:
    """A table with a row a pattern, each followed by its rationale and its question."""
    header = ["pattern", "category", "answer", "metric", "further", "needs", "chance"]
    rows = [[one.pattern, one.category, one.answer, one.metric, *_joined(one), one.chance] for one in patterns]
    first, *lines = table(header, rows, "lllllll")
    below = [[line, f"    {one.rationale}", f"    {one.question}"] for line, one in zip(lines, patterns, strict=True)]
    return [first, *(line for lines in below for line in lines)]


def as_markdown(patterns: Sequence[Listed]) -> list[str]:
    """The lines of `docs/reference/patterns.md`: an introduction, and a table for each category."""
    lines = INTRODUCTION.splitlines()
    for category, ones in groupby(patterns, key=lambda one: one.category):
        lines += ["", f"## {category.capitalize()}", "", _row(HEADER), _row(["---"] * len(HEADER))]
        lines += [_row(_cells(one)) for one in ones]
    return lines


def _cells(one: Listed) -> list[str]:
    further, needs = _joined(one)
    return [_code(one.pattern), one.rationale, _code(one.question), one.answer, one.metric, further, needs, one.chance]


def _joined(one: Listed) -> tuple[str, str]:
    return ", ".join(one.further) or UNSAID, ", ".join(one.needs) or UNSAID


def _code(text: str) -> str:
    marks = "``" if "`" in text else "`"
    return f"{marks}{text}{marks}"


def _row(cells: Sequence[str]) -> str:
    bare = [" ".join(cell.split()).replace("|", "\\|") for cell in cells]
    return f"| {' | '.join(bare)} |"
