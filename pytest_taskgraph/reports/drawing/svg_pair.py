"""A pair of diagrams as two drawings to stand side by side: what is the same stands at the same place in both.

What only one of them has is marked by a sign, a line and a colour, and told in words. Bounds and text are as in svg.py.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, TypeVar

from ...diagram import Diagram, DiagramEdge, DiagramPair
from ..escape import one_line
from ..wording import count
from .grid import Item
from .layout import DrawingLayout, layout
from .svg import GATEWAYS, MARKED, Mark, Marks, Measured, draw, links_told, measure

_T = TypeVar("_T")
NAMED = 20  # nodes that are named as missing or extra in the description of a drawing
LONGEST_NAME = 100  # columns


@dataclass(frozen=True, slots=True)
class DrawnPair:
    """Two `<svg>` elements, and in words how much is missing, extra and the same."""

    expected: str
    given: str
    missing: str
    extra: str
    same: str


def draw_pair(pair: Mapping[str, Any], *, style: bool = True) -> DrawnPair:
    """Return the drawings of a pair (JSON of diagram.DiagramPair); `style` as in svg.

    Raises:
        KeyError, TypeError: for what is no pair.
    """
    read = DiagramPair.from_json(pair).bounded()
    expected, given = read.expected, read.given
    measured = measure(expected), measure(given)
    places = _places(expected, given, *measured)
    missing, extra = _only(expected, given, "missing"), _only(given, expected, "extra")
    return DrawnPair(
        _drawn("Expected", expected, measured[0], places[0], missing, style),
        _drawn("Given", given, measured[1], places[1], extra, style),
        _counted(len(missing.parts), len(missing.edges)),
        _counted(len(extra.parts), len(extra.edges)),
        _counted(len(expected.parts) - len(missing.parts), len(expected.edges) - len(missing.edges)),
    )


def _only(diagram: Diagram, other: Diagram, mark: Mark) -> Marks:
    """Return what the diagram has and the other has not."""
    ids, edges = {part.id for part in other.parts}, set(other.edges)
    return Marks(
        {part.id: mark for part in diagram.parts if part.id not in ids},
        {edge: mark for edge in diagram.edges if edge not in edges},
    )


def _drawn(name: str, diagram: Diagram, sizes: Measured, placed: DrawingLayout, marks: Marks, style: bool) -> str:
    description = " ".join(_told(diagram, marks))
    return draw(diagram, sizes.lines, placed, f"{name}: {diagram.title}", description, marks, style=style)


def _told(diagram: Diagram, marks: Marks) -> Iterator[str]:
    """Yield the differences in words, then the links."""
    for mark, words in MARKED.items():
        names = [one_line(part.label, LONGEST_NAME) for part in diagram.parts if marks.parts.get(part.id) == mark]
        links = sum(found == mark for found in marks.edges.values())
        if names or links:
            listed = f": {', '.join(names[:NAMED])}{', and more' if len(names) > NAMED else ''}" if names else ""
            yield f"{words.capitalize()}: {_counted(len(names), links)}{listed}."
    yield from links_told(diagram)


def _counted(nodes: int, links: int) -> str:
    return f"{count(nodes, 'node')}, {count(links, 'link')}"


def _places(expected: Diagram, given: Diagram, ours: Measured, theirs: Measured) -> tuple[DrawingLayout, DrawingLayout]:
    """Return the places of both: those of a drawing that holds all of both, unless the two contradict each other."""
    if _contradict(expected, given):
        return (layout(expected, ours.sizes, ours.headings, ours.labels),
                layout(given, theirs.sizes, theirs.headings, theirs.labels))  # fmt: skip
    nodes = {node.id: node for node in (*expected.nodes, *given.nodes)}
    groups = {group.id: group for group in (*expected.groups, *given.groups)}
    edges = list(dict.fromkeys((*expected.edges, *given.edges)))
    both = Diagram("", list(nodes.values()), edges, list(groups.values()))
    labels = dict(zip((*expected.edges, *given.edges), (*ours.labels, *theirs.labels), strict=True))
    whole = layout(
        both,
        _joined(ours.sizes, theirs.sizes, _larger),
        _joined(ours.headings, theirs.headings, max),
        [labels[edge] for edge in edges],
    )
    numbers = {edge: number for number, edge in enumerate(edges)}
    return _part(whole, expected, numbers), _part(whole, given, numbers)


def _contradict(expected: Diagram, given: Diagram) -> bool:
    """Return True if an id stands in different groups, or for a group in one and for a node in the other."""
    places = _stands(expected)
    return any(places.get(id, place) != place for id, place in _stands(given).items())


def _stands(diagram: Diagram) -> dict[str, tuple[str, str]]:
    """Return for each id what it stands for, and in which group."""
    nodes = {node.id: ("gateway" if node.kind in GATEWAYS else "box", node.group) for node in diagram.nodes}
    return nodes | {group.id: ("group", group.parent) for group in diagram.groups}


def _joined(ours: Mapping[str, _T], theirs: Mapping[str, _T], of: Callable[[_T, _T], _T]) -> dict[str, _T]:
    """Return the sizes of all; of what has two, the one in which both find room."""
    return {**theirs, **{id: of(size, theirs[id]) if id in theirs else size for id, size in ours.items()}}


def _larger(ours: Item, theirs: Item) -> Item:
    return Item(max(ours.width, theirs.width), max(ours.height, theirs.height), max(ours.spread, theirs.spread))


def _part(whole: DrawingLayout, diagram: Diagram, numbers: Mapping[DiagramEdge, int]) -> DrawingLayout:
    """Return the places of one of the two diagrams in the layout of both."""
    own = [numbers[edge] for edge in diagram.edges]
    routes, labels = [whole.routes[number] for number in own], [whole.labels[number] for number in own]
    return DrawingLayout(whole.width, whole.height, whole.boxes, routes, labels)
