"""How results are shown.

terminal                 the summary after a run, and the line or two before it
terminal.forecast_lines  what a run would ask and cost
terminal.progress_line   how far it is, in a line
failure                  one wrong answer
gate_lines               the verdicts over the whole run, in words
comparison_lines         what changed since another run
markdown                 a run for a pull request or the summary of a CI step
html                     a run as one page: what was asked, drawn, replied, expected
csv                      a row a trial, or a row a number of the tables
junit                    properties for pytest's own --junitxml
headline                 the head of html and markdown: whether all is right
drawing.svg              a diagram as a drawing, its boxes where drawing.layout puts them
drawing.svg_pair         an expected and a given diagram side by side, their differences marked
drawing.diagram_text     a diagram as lines of text
trial_text               one trial in full, for the command `show`
table                    aligned columns, for every report made of text
escape                   text of others made fit to print; nothing of a model's reply is shown without it
written                  where a report is put
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from ..catalog import Catalog

if TYPE_CHECKING:
    from ..results.comparison import RunComparison

Report = Callable[[dict[str, Any], "RunComparison | None"], str]
"""From the record of a run, and its comparison with another one if there is any, to the text of the report."""

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
