"""Reports: how results are shown in the terminal, in files and in pytest's own reports.

terminal                 the summary after a run, and its first lines
terminal.forecast_lines  the requests and the cost of a planned run
terminal.progress_line   the progress of a run, in a line
failure                  the parts of one trial as text: exchanges, expected and given answer
failure_text             the text of a failed test, by verbosity
gate_lines               the verdicts of gates, in words
comparison_lines         what changed since another run
markdown                 a run for a pull request or the summary of a CI step
html                     a run as one page: questions, diagrams, replies, expected answers
csv                      a row for each trial, or a row for each number of the tables
junit                    properties for pytest's own --junitxml
headline                 the head of html and markdown: the verdict
drawing.svg              a diagram as a drawing, with the boxes where drawing.layout places them
drawing.svg_pair         an expected and a given diagram side by side, with their differences marked
drawing.diagram_text     a diagram as lines of text
trial_text               one trial in full, for the command `show`
table                    aligned columns, for every text report
escape                   text from outside made safe to print; every reply passes it
report_file              the file that a report is written to
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from ..catalog import Catalog

if TYPE_CHECKING:
    from ..results.comparison import RunComparison

Report = Callable[[dict[str, Any], "RunComparison | None"], str]
"""Function from the record of a run and its comparison with another run, if there is one, to the text of the report."""

JSON = "json"  # the record itself


def _json(record: dict[str, Any], comparison: RunComparison | None) -> str:
    from ..results.record.record_builder import encode_record

    return "".join(encode_record(record)) + "\n"


def _markdown(record: dict[str, Any], comparison: RunComparison | None) -> str:
    from .markdown import markdown

    return markdown(record, comparison)


def _html(record: dict[str, Any], comparison: RunComparison | None) -> str:
    from .html import html

    return html(record, comparison)


def _csv(record: dict[str, Any], comparison: RunComparison | None) -> str:
    from .csv import csv

    return csv(record)


def _tables(record: dict[str, Any], comparison: RunComparison | None) -> str:
    from .csv import tables_csv

    return tables_csv(record)


REPORTS: Catalog[Report] = Catalog(
    "kind of --taskgraph-report", {JSON: _json, "md": _markdown, "html": _html, "csv": _csv, "tables": _tables}
)
