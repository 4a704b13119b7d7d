"""Diagrams as SVG without script, font or address, in the colour of the surrounding text, light or dark.

Labels come from outside: what does not print is shown as an escape (escape.py). A label too long for its box is
shortened there and complete in the title of the node. The description lists the links as sentences, for
those who listen to the page.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import lru_cache
from itertools import pairwise
from typing import Any
from xml.sax.saxutils import escape

from ...diagram import Diagram, DiagramEdge, DiagramGroup, DiagramNode
from ..escape import columns, one_line, shorten
from .gantt import chart_sentences, gantt_body, of_diagram
from .grid import LayoutNode
from .layout import Box, DrawingLayout, Point, layout
from .marks import LONGEST_TAG, MARK_LOOKS, NO_MARKS, Marks, badges, mark_class, mark_counts, marked_title

COLUMN = 7.3  # pixels that a column of text takes
LINE = 15.0
BROAD = 3.5  # additional pixels of a broad letter
WIDEST = 22  # columns of a line in a box
WIDEST_NOTE = 32
LINES = 3
LONGEST_TITLE = 300  # columns of a label in a title; a third of it in the description
MOST_SENTENCES = 300  # links
MOST_NAMES = 20  # marked nodes of a kind that the description names
MARGIN = 4
HEAD = 4.0  # half the width of an arrow's head

# The style that a page needs once if it calls `svg` with style=False.
STYLE = """
.tg{color:inherit;max-width:100%;height:auto;overflow:visible}
.tg text{font:12px system-ui,-apple-system,"Segoe UI",sans-serif;fill:currentColor;text-anchor:middle}
.tg .h,.tg .l{text-anchor:start}
.tg .h{font-weight:600}
.tg .l,.tg .s{font-size:11px}
.tg .s{opacity:.8}
.tg .n,.tg .g{stroke:currentColor;fill:currentColor;fill-opacity:.07;stroke-width:1.2}
.tg .g{fill-opacity:.03;stroke-opacity:.55;stroke-dasharray:5 3}
.tg .d{fill-opacity:0;stroke-opacity:.75;stroke-width:1}
.tg .b{stroke-width:2.4}
.tg .k{fill:none;stroke:currentColor;stroke-width:1.6}
.tg .e{fill:none;stroke:currentColor;stroke-linejoin:round;stroke-width:1.2}
.tg .f{stroke-dasharray:2 3;stroke-opacity:.75}
.tg .a{fill:currentColor}
.tg .y{color:var(--c2,currentColor)}
.tg .u{color:var(--c1,currentColor)}
.tg .v{color:var(--c0,currentColor)}
.tg .x{color:var(--c3,currentColor)}
.tg .y .n,.tg .y .g,.tg .y .e{stroke-dasharray:none;stroke-opacity:1;stroke-width:2}
.tg .u .n,.tg .u .g,.tg .u .e{stroke-dasharray:7 4;stroke-opacity:1;stroke-width:2}
.tg .v .n,.tg .v .g,.tg .v .e{stroke-dasharray:none;stroke-opacity:1;stroke-width:3.2}
.tg .x .n,.tg .x .g,.tg .x .e{stroke-dasharray:2 3;stroke-opacity:1;stroke-width:3}
.tg .z{color:var(--c3,currentColor)}
.tg .z .n,.tg .z .g,.tg .z .e{stroke-dasharray:9 3 2 3;stroke-opacity:1;stroke-width:2.8}
.tg .c{fill-opacity:.5}
.tg .r{stroke:currentColor;stroke-opacity:.2}
.tg .q .n{fill-opacity:.2;stroke-width:2}
.tg .q .g{stroke-opacity:1;stroke-width:2.4}
.tg .v .f{stroke-dasharray:2 3}
.tg .o{fill:currentColor}
.tg .p{fill:none;stroke:var(--paper,Canvas);stroke-width:2}
.tg .t{font-size:10px;font-weight:600;text-anchor:start;fill:var(--paper,Canvas)}
""".strip()
_ALONE = "svg.tg{color:#1a1a1a}@media(prefers-color-scheme:dark){svg.tg{color:#e6e6e6}}"
GATEWAYS = {
    "parallel": "M-7 0H7M0-7V7",
    "exclusive": "M-5-5L5 5M5-5L-5 5",
    "inclusive": "M-6 0a6 6 0 1 0 12 0a6 6 0 1 0-12 0",
}
_DIAMOND = 34.0
_BROAD = re.compile("[MWmw@%]")
_PIECE = re.compile(r"[^\s_\-./:]*[\s_\-./:]+|[A-Z]+(?![a-z])[0-9]*|[A-Z]?[^A-Z\s_\-./:]+|.", re.DOTALL)
_one_line = lru_cache(maxsize=1_000)(one_line)  # a label is needed for its box, its title and the sentences


@dataclass(frozen=True, slots=True)
class DrawingSizes:
    """The lines in the boxes of a diagram, and the sizes of its nodes, group headings and link labels."""

    lines: dict[str, list[str]]
    sizes: dict[str, LayoutNode]
    headings: dict[str, tuple[float, float]]
    labels: list[tuple[float, float]]


def svg(diagram: Mapping[str, Any], title: str = "", marks: Marks = NO_MARKS, *, style: bool = True) -> str:
    """Return the drawing of a diagram as an `<svg>` element; the same for the same arguments.

    Args:
        diagram: The JSON of a diagram.Diagram.
        title: The title of the drawing; that of the diagram if empty.
        marks: Its marked parts; the description names them before all else.
        style: True to include the style, in the colours that the reader prefers. If False, the page holds STYLE once
            for all drawings, and sets the colour of the text.

    Raises:
        KeyError, TypeError: if the JSON is not that of a diagram.
    """
    return PlacedDiagram.of(Diagram.from_json(diagram)).svg(title, marks, style=style)


@dataclass(frozen=True, slots=True)
class PlacedDiagram:
    """A diagram with its layout, which takes most of the time of a drawing and is the same for all marks."""

    diagram: Diagram
    lines: dict[str, list[str]]
    places: DrawingLayout

    @classmethod
    def of(cls, diagram: Diagram) -> PlacedDiagram:
        """Lay out a diagram."""
        sizes = measure(diagram)
        return cls(diagram, sizes.lines, layout(diagram, sizes.sizes, sizes.headings, sizes.labels))

    def svg(self, title: str = "", marks: Marks = NO_MARKS, *, style: bool = True) -> str:
        """Return the drawing as an `<svg>` element; the arguments are those of the function `svg`."""
        chart = of_diagram(self.diagram)
        times = (f"{chart.title}, {chart.summary}.", *chart_sentences(chart)) if chart else ()
        description = " ".join((*mark_sentences(self.diagram, marks), *link_sentences(self.diagram), *times))
        return draw(self.diagram, self.lines, self.places, title or self.diagram.title, description, marks, style=style)


def measure(diagram: Diagram) -> DrawingSizes:
    """Return the sizes of the parts of a diagram."""
    lines = {node.id: _lines(node) for node in diagram.nodes}
    sizes = {node.id: _size(node, lines[node.id]) for node in diagram.nodes}
    headings = {group.id: _heading_size(group) for group in diagram.groups}
    return DrawingSizes(lines, sizes, headings, [_label_size(edge) for edge in diagram.edges])


def draw(
    diagram: Diagram, lines: Mapping[str, list[str]], places: DrawingLayout, title: str, description: str,
    marks: Marks = NO_MARKS, *, style: bool,
) -> str:  # fmt: skip
    """Return the `<svg>` element of a diagram with a layout and its marks."""
    width, height = (round(side) + 2 * MARGIN for side in (places.width, places.height))
    times, below, own = gantt_body(chart, heading=True) if (chart := of_diagram(diagram)) else ("", 0.0, 0.0)
    if times:
        times = f'<g transform="translate(0 {height})">{times}</g>'
        width, height = max(width, round(below)), height + round(own)
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" class="tg" role="img" width="{width}" height="{height}" '
        f'viewBox="-{MARGIN} -{MARGIN} {width} {height}">',
        f"<title>{_escaped_line(title, LONGEST_TITLE)}</title><desc>{escape(description)}</desc>",
        f"<style>{STYLE}{_ALONE}</style>" if style else "",
        *(
            _group(group, places.boxes[group.id], marks, number)
            for number, group in enumerate(diagram.groups)
            if group.id in places.boxes
        ),
        *_edges(diagram, places, marks),
        *(
            _node(node, lines[node.id], places.boxes[node.id], marks, number)
            for number, node in enumerate(diagram.nodes, len(diagram.groups))
        ),
        times,
        "</svg>",
    ]
    return "".join(parts)


def _escaped_line(text: str, limit: int) -> str:
    return escape(_one_line(text, limit))


def _lines(node: DiagramNode) -> list[str]:
    """Return the label in the lines that stand in the box."""
    return wrap_label(_one_line(node.label, WIDEST * (LINES + 1)), WIDEST, LINES)


def wrap_label(text: str, width: int, most: int) -> list[str]:
    """Return the printable text in at most `most` lines of at most `width` columns.

    Lines are broken between words, also CamelCase; a word longer than a line is broken anywhere. The last line ends in
    an ellipsis if the text was cut.
    """
    lines = [""]
    for piece in _PIECE.findall(text):
        if columns(lines[-1] + piece.rstrip()) > width and lines[-1]:
            lines.append("")
        while columns(piece.rstrip()) > width:
            start = next(at for at in range(len(piece), 0, -1) if columns(piece[:at]) <= width)
            lines[-1], piece = piece[:start], piece[start:]
            lines.append("")
        lines[-1] += piece
    if len(lines) > most:
        lines = [*lines[: most - 1], shorten("".join(lines[most - 1 :]), width)]
    return [line.strip() for line in lines]


def _size(node: DiagramNode, lines: list[str]) -> LayoutNode:
    if node.kind in GATEWAYS:
        return LayoutNode(_DIAMOND, _DIAMOND)
    note = _note(node.note)
    width = max(46.0, max(_width(note) * 0.92, *map(_width, lines)) + (24 if node.kind == "data" else 16))
    height = LINE * (len(lines) + bool(note)) + (8 if node.kind in ("start", "end", "data") else 14)
    return LayoutNode(round(width), height, round(width) - 20)


def _width(text: str) -> float:
    """Return about how many pixels the printable text takes in the font of the drawing, whichever that is."""
    return COLUMN * columns(text) + BROAD * len(_BROAD.findall(text))


def _note(note: str) -> str:
    return _one_line(note, WIDEST_NOTE)


def _label_with_note(part: DiagramGroup | DiagramNode) -> str:
    return f"{part.label} ({part.note})" if part.note else part.label


def part_title(part: DiagramGroup | DiagramNode) -> str:
    """Return the printable title of a node or group: its label with its note, and the kind of a gateway."""
    name = _one_line(_label_with_note(part), LONGEST_TITLE)
    return f"{name} ({part.kind})" if isinstance(part, DiagramNode) and part.kind in GATEWAYS else name


def _heading(group: DiagramGroup) -> str:
    return _one_line(_label_with_note(group), 2 * WIDEST)


def _heading_size(group: DiagramGroup) -> tuple[float, float]:
    return round(_width(_heading(group)) * 1.08), LINE + 6


def _guard(edge: DiagramEdge) -> str:
    return _one_line(edge.label, 2 * WIDEST)


def _label_size(edge: DiagramEdge) -> tuple[float, float]:
    return (round(_width(guard) * 0.93) + 2, LINE) if (guard := _guard(edge)) else (0.0, 0.0)


def mark_sentences(diagram: Diagram, marks: Marks) -> Iterator[str]:
    """Yield a sentence for each kind of mark, with the marked nodes and groups by their titles."""
    all_counts = mark_counts(diagram, marks) if marks else {}
    for kind, look in MARK_LOOKS.items():
        if counts := all_counts.get(kind):
            names = [
                f"{part_title(part)}{f' ({_one_line(mark.tag, LONGEST_TAG)})' if mark.tag else ''}"
                for part in diagram.parts
                for mark in marks.parts.get(part.id, ())
                if mark.kind == kind
            ]
            more = f", and {len(names) - MOST_NAMES} more" if len(names) > MOST_NAMES else ""
            names_text = f": {', '.join(names[:MOST_NAMES])}{more}" if names else ""
            yield f"{look.words.capitalize()}: {counts}{names_text}."


def link_sentences(diagram: Diagram) -> Iterator[str]:
    """Yield the number of tasks and links, and a sentence for each link."""
    names = {part.id: _one_line(_label_with_note(part), LONGEST_TITLE // 3) for part in diagram.parts}
    tasks = sum(node.kind in ("task", "composite") for node in diagram.nodes) + len(diagram.groups)
    yield f"{tasks} tasks and {len(diagram.edges)} links."
    for edge in diagram.edges[:MOST_SENTENCES]:
        if edge.source in names and edge.target in names:
            guard = _one_line(edge.label, LONGEST_TITLE // 3)
            yield f"{names[edge.source]} → {names[edge.target]}{f' if {guard}' if guard else ''}."
    if len(diagram.edges) > MOST_SENTENCES:
        yield f"{len(diagram.edges) - MOST_SENTENCES} more links."
    for group in diagram.groups:
        inside = [
            names[node.id] for node in diagram.nodes if node.group == group.id and node.kind not in ("start", "end")
        ]
        yield f"Inside {names[group.id]}: {', '.join(inside[:MOST_SENTENCES])}."
    if diagram.omitted:
        yield f"{diagram.omitted} nodes and links are not drawn."


def _group(group: DiagramGroup, box: Box, marks: Marks, number: int) -> str:
    own = marks.parts.get(group.id, ())
    title = escape(marked_title(part_title(group), own))
    return (
        f'<g{mark_class(own)} data-n="{number}"><title>{title}</title><rect class="g" x="{box.x:.0f}" y="{box.y:.0f}" '
        f'width="{box.width:.0f}" height="{box.height:.0f}" rx="8"/>'
        f'<text class="h" x="{box.x + 12:.0f}" y="{box.y + 18:.0f}">{escape(_heading(group))}</text>'
        f"{badges(own, box.x + 2, box.y - 1)}</g>"
    )


def _node(node: DiagramNode, lines: list[str], box: Box, marks: Marks, number: int) -> str:
    own = marks.parts.get(node.id, ())
    inset = 7 if node.kind in GATEWAYS else 0  # the corner of a diamond is empty
    badge = badges(own, box.x + 2 + inset, box.y - 1 + inset)
    opening = f'<g{mark_class(own)} data-n="{number}">'
    x = box.x + box.width / 2 - 4 * (node.kind == "data")
    title = escape(marked_title(part_title(node), own))
    if node.kind in GATEWAYS:
        return (
            f'{opening}<title>{title}</title><path class="n" d="M{x:.0f} {box.y:.0f}l17 17l-17 17l-17-17z"/>'
            f'<path class="k" transform="translate({x:.0f} {box.y + 17:.0f})" d="{GATEWAYS[node.kind]}"/>{badge}</g>'
        )
    note = _note(node.note)
    y = box.y + (box.height - LINE * (len(lines) + bool(note))) / 2 + 11
    texts = [(line, "") for line in lines] + [(note, ' class="s"')] * bool(note)
    text_elements = "".join(
        f'<text{kind} x="{x:.0f}" y="{y + LINE * at:.0f}">{escape(line)}</text>'
        for at, (line, kind) in enumerate(texts)
    )
    return f"{opening}<title>{title}</title>{_shape(node, box)}{text_elements}{badge}</g>"


def _shape(node: DiagramNode, box: Box) -> str:
    """Return a page for data, rounded ends for START and END, a box for tasks, a double box for composite tasks."""
    x, y, width, height = box.x, box.y, box.width, box.height
    if node.kind == "data":
        return (
            f'<path class="n d" d="M{x:.0f} {y:.0f}h{width - 8:.0f}l8 8v{height - 8:.0f}h-{width:.0f}z'
            f'M{x + width - 8:.0f} {y:.0f}v8h8"/>'
        )
    rectangle = '<rect class="{}" x="{:.0f}" y="{:.0f}" width="{:.0f}" height="{:.0f}" rx="{:.0f}"/>'
    if node.kind in ("start", "end"):
        return rectangle.format("n b" if node.kind == "end" else "n", x, y, width, height, height / 2)
    inner = rectangle.format("e", x + 3, y + 3, width - 6, height - 6, 3) if node.kind == "composite" else ""
    return rectangle.format("n", x, y, width, height, 5) + inner


def _edges(diagram: Diagram, places: DrawingLayout, marks: Marks) -> Iterator[str]:
    for number, (edge, route, label) in enumerate(zip(diagram.edges, places.routes, places.labels, strict=True)):
        if not route:
            continue
        own = [marks.edges[edge]] if edge in marks.edges else []
        yield f"<g{mark_class(own)}><title>{marked_title('', own)}</title>" if own else ""
        yield f'<path class="{"e f" if edge.kind == "data" else "e"}" data-e="{number}" d="{_path(route)}"/>'
        yield f'<path class="a" d="{_head(route)}"/>'
        if label is not None:
            whole = (
                f"<title>{_escaped_line(edge.label, LONGEST_TITLE)}</title>"
                if columns(_guard(edge)) >= 2 * WIDEST
                else ""
            )
            yield f'<text class="l" x="{label.x:.0f}" y="{label.y + 11:.0f}">{whole}{escape(_guard(edge))}</text>'
        yield badges(own, *_middle(route)) + "</g>" if own else ""


def _middle(route: list[Point]) -> Point:
    """Return the middle of the longest stretch of a route."""
    stretches = [(abs(a[0] - b[0]) + abs(a[1] - b[1]), ((a[0] + b[0]) / 2, (a[1] + b[1]) / 2))
                 for a, b in pairwise(route)]  # fmt: skip
    return max(stretches)[1]


def _path(route: list[Point]) -> str:
    """Return the route as path data: straight if it is upright or level, else a curve that begins and ends upright."""
    x, y = route[0]
    data = [f"M{x:.0f} {y:.0f}"]
    for to_x, to_y in route[1:]:
        if to_x == x:
            data.append(f"V{to_y:.0f}")
        elif to_y == y:
            data.append(f"H{to_x:.0f}")
        else:
            middle = (y + to_y) / 2
            data.append(f"C{x:.0f} {middle:.0f} {to_x:.0f} {middle:.0f} {to_x:.0f} {to_y:.0f}")
        x, y = to_x, to_y
    return "".join(data)


def _head(route: list[Point]) -> str:
    """Return the head of an arrow at the end of the route."""
    (before_x, before_y), (x, y) = route[-2:]
    if before_y == y:
        away = HEAD * 2 if before_x > x else -HEAD * 2
        return f"M{x:.0f} {y:.0f}l{away:.0f}-{HEAD:.0f}v{2 * HEAD:.0f}z"
    away = HEAD * 2 if before_y > y else -HEAD * 2
    return f"M{x:.0f} {y:.0f}l-{HEAD:.0f} {away:.0f}h{2 * HEAD:.0f}z"
