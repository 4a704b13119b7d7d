"""Diagrams as lines of text: each node with the links that leave it, in the order of the flow."""

from __future__ import annotations

from collections.abc import Iterator

from ...diagram import Diagram, DiagramEdge, DiagramNode
from ..escape import one_line
from .gantt import gantt_lines, of_diagram
from .grid import flow_order
from .marks import MARK_LOOKS, NO_MARKS, Marks, mark_text

_INDENT = "  "
_ARROWS = {"control": "->", "data": "..>"}


def diagram_lines(diagram: Diagram, marks: Marks = NO_MARKS) -> list[str]:
    """Return the printable lines of a diagram: its title, then its nodes; the content of a group is indented below it.

    A link of the control flow is `->` with its guard in brackets; one of the data flow is `..>`. What the marks say of
    a node stands after `#` at the end of its line, of a link in braces behind it.
    """
    names = {part.id: one_line(part.label) or one_line(part.id) for part in diagram.parts}
    names |= {node.id: f"<{node.kind} {names[node.id]}>" for node in diagram.nodes if node.kind not in _PLAIN}
    lines = [one_line(diagram.title), *_group_lines(diagram, names, marks, "", 1)]
    omitted = [f"({diagram.omitted} nodes and links left out)"] * bool(diagram.omitted)
    chart = of_diagram(diagram)
    return [*lines, *omitted, *(gantt_lines(chart) if chart else ())]


_PLAIN = ("task", "composite", "start", "end")


def _group_lines(diagram: Diagram, names: dict[str, str], marks: Marks, group: str, depth: int) -> Iterator[str]:
    for node in _nodes_in_flow_order(diagram, group):
        note = f" ({one_line(node.note)})" if node.note else ""
        links = _link_texts(diagram.edges, names, marks, node.id)
        yield f"{_INDENT * depth}{names[node.id]}{note}{links}{_remark(marks, node.id)}"
    for inner in diagram.groups:
        if inner.parent == group:
            note = f" ({one_line(inner.note)})" if inner.note else ""
            links = _link_texts(diagram.edges, names, marks, inner.id)
            yield f"{_INDENT * depth}{names[inner.id]}{note}{links}, inside:{_remark(marks, inner.id)}"
            yield from _group_lines(diagram, names, marks, inner.id, depth + 1)


def _nodes_in_flow_order(diagram: Diagram, group: str) -> list[DiagramNode]:
    """Return the nodes of a group in the order of the flow."""
    nodes = [node for node in diagram.nodes if node.group == group]
    places = {node.id: at for at, node in enumerate(nodes)}
    pairs: dict[str, list[tuple[int, int]]] = {kind: [] for kind in _ARROWS}
    for edge in diagram.edges:
        if edge.source in places and edge.target in places:
            pairs[edge.kind].append((places[edge.source], places[edge.target]))
    return [nodes[at] for at in flow_order(len(nodes), pairs["control"], pairs["data"])]


def _link_texts(edges: list[DiagramEdge], names: dict[str, str], marks: Marks, source: str) -> str:
    """Return the links that leave a node, each kind after its arrow; empty if there are none."""
    parts = []
    for kind, arrow in _ARROWS.items():
        targets = [
            names.get(edge.target, one_line(edge.target))
            + (f" [{one_line(edge.label)}]" if edge.label else "")
            + (f" {{{MARK_LOOKS[marks.edges[edge].kind].words}}}" if edge in marks.edges else "")
            for edge in edges
            if edge.source == source and edge.kind == kind
        ]
        parts += [f" {arrow} {', '.join(targets)}"] if targets else []
    return "".join(parts)


def _remark(marks: Marks, part_id: str) -> str:
    """Return what the marks of a node or group say; empty if it has none."""
    texts = "; ".join(mark_text(mark) for mark in marks.parts.get(part_id, ()))
    return f"  # {texts}" if texts else ""
