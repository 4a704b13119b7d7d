"""Which charts draw START and END, and which leave them to the reader, so that no question should name them."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from .mermaid_chart import Chart, charts
from .mermaid_labels import EDGES
from .source import Source


@dataclass(frozen=True, slots=True)
class DrawnEnds:
    """Whether all charts draw START and END outside of subgraphs, and how many subgraphs draw both."""

    whole: bool
    subgraphs: int


def drawn_ends(texts: Iterable[str]) -> DrawnEnds:
    """Return where the Mermaid charts of some texts draw START and END."""
    found = [_by_subgraph(chart) for text in texts for chart in charts(Source(text, ""))]
    inner = sum(drawn >= EDGES for chart in found for owner, drawn in chart.items() if owner)
    return DrawnEnds(all(chart.get("", set()) >= EDGES for chart in found), inner)


def _by_subgraph(chart: Chart) -> dict[str, set[str]]:
    """Return which of "start" and "end" stand in each subgraph; those outside of all under the empty name."""
    drawn: dict[str, set[str]] = {}
    for vertex in chart.vertices.values():
        text = (vertex.id if vertex.label is None else vertex.label).strip("`").strip().lower()
        if text in EDGES and vertex.shape != "[(":
            drawn.setdefault(chart.owner.get(vertex.id) or "", set()).add(text)
    return drawn
