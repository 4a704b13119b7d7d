"""Which charts draw START and END, and which leave them to the reader, so that no question should name them."""

from __future__ import annotations

from dataclasses import dataclass

from ..source import Source
from ..workflow.model import END, START
from .mermaid_chart import Chart, charts
from .mermaid_level import is_end

ENDS = frozenset({START, END})


@dataclass(frozen=True, slots=True)
class DrawnEnds:
    """Whether all charts draw START and END outside of subgraphs, and how many subgraphs draw both."""

    whole: bool
    subgraphs: int


def drawn_ends(text: str) -> DrawnEnds:
    """Return where the Mermaid charts of a text draw START and END."""
    found = [_by_subgraph(chart) for chart in charts(Source(text, ""))]
    inner = sum(drawn >= ENDS for chart in found for owner, drawn in chart.items() if owner)
    return DrawnEnds(all(chart.get("", set()) >= ENDS for chart in found), inner)


def _by_subgraph(chart: Chart) -> dict[str, set[str]]:
    """Return which of START and END stand in each subgraph; those outside of all under the empty name."""
    drawn: dict[str, set[str]] = {}
    for vertex in chart.vertices.values():
        if end := is_end(vertex):
            drawn.setdefault(chart.owner.get(vertex.id) or "", set()).add(end)
    return drawn
