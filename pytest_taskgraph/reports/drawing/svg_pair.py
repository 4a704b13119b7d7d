"""Pairs of diagrams as two drawings side by side: what is the same stands at the same place in both.

What only one of them has is marked by a sign, a line and a colour, and named in the description. Bounds and text are as
in svg.py.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, TypeVar

from ...diagram import Diagram, DiagramEdge, DiagramPair
from ...scoring.trial_explanation import explain_trial
from ...trial import Trial
from ..wording import count
from .gantt import gantt_svg, schedule_charts
from .grid import LayoutNode
from .layout import DrawingLayout, layout
from .marks import Mark, MarkKind, Marks
from .svg import GATEWAYS, DrawingSizes, draw, link_sentences, mark_sentences, measure

_T = TypeVar("_T")


@dataclass(frozen=True, slots=True)
class DrawnPair:
    """Two `<svg>` elements, and texts that say how much is missing, extra and the same."""

    expected: str
    given: str
    missing: str
    extra: str
    same: str  # empty where each part is judged by itself
    broken: str = ""


def draw_pair(pair: Mapping[str, Any], *, style: bool = True) -> DrawnPair:
    """Return the drawings of a pair (JSON of diagram.DiagramPair); `style` as in `svg`.

    Raises:
        KeyError, TypeError: if the JSON is not that of a pair.
    """
    bounded = DiagramPair.from_json(pair).bounded()
    expected, given = bounded.expected, bounded.given
    sizes = measure(expected), measure(given)
    places = _places(expected, given, *sizes)
    missing, extra = difference_marks(bounded)
    return DrawnPair(
        _draw_one("Expected", expected, sizes[0], places[0], missing, style),
        _draw_one("Given", given, sizes[1], places[1], extra, style),
        _counts(len(missing.parts), len(missing.edges)),
        _counts(len(extra.parts), len(extra.edges)),
        _counts(len(expected.parts) - len(missing.parts), len(expected.edges) - len(missing.edges)),
    )


def draw_schedules(trial: Trial) -> DrawnPair | None:
    """Return the Gantt charts of the expected and the given schedule of a trial; None for other trials."""
    charts = schedule_charts(trial)
    if charts is None:
        return None
    faults = " ".join(f"{sentence}." for sentence in explain_trial(trial))
    kinds = Counter(row.kind for row in charts[1].rows)
    missing, extra, broken = (
        count(kinds[kind], "task") if kinds[kind] else "" for kind in ("missing", "extra", "broken")
    )
    return DrawnPair(gantt_svg(charts[0]), gantt_svg(charts[1], faults), missing, extra, "", broken)


def difference_marks(pair: DiagramPair) -> tuple[Marks, Marks]:
    """Return the marks of what the given diagram lacks, in the expected one, and of what only the given one has."""
    return _marks(pair.expected, pair.given, "missing"), _marks(pair.given, pair.expected, "extra")


def _marks(diagram: Diagram, other: Diagram, kind: MarkKind) -> Marks:
    """Return the parts of the diagram that the other does not have."""
    ids, edges = {part.id for part in other.parts}, set(other.edges)
    return Marks(
        {part.id: [Mark(kind)] for part in diagram.parts if part.id not in ids},
        {edge: Mark(kind) for edge in diagram.edges if edge not in edges},
    )


def _draw_one(
    name: str, diagram: Diagram, sizes: DrawingSizes, places: DrawingLayout, marks: Marks, style: bool
) -> str:
    description = " ".join((*mark_sentences(diagram, marks), *link_sentences(diagram)))
    return draw(diagram, sizes.lines, places, f"{name}: {diagram.title}", description, marks, style=style)


def _counts(nodes: int, links: int) -> str:
    return f"{count(nodes, 'node')}, {count(links, 'link')}"


def _places(
    expected: Diagram, given: Diagram, ours: DrawingSizes, theirs: DrawingSizes
) -> tuple[DrawingLayout, DrawingLayout]:
    """Return the layouts of both, from one layout of their union unless the two contradict each other."""
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
        _joint_sizes(ours.sizes, theirs.sizes, _larger),
        _joint_sizes(ours.headings, theirs.headings, max),
        [labels[edge] for edge in edges],
    )
    numbers = {edge: number for number, edge in enumerate(edges)}
    return _part_of_layout(whole, expected, numbers), _part_of_layout(whole, given, numbers)


def _contradict(expected: Diagram, given: Diagram) -> bool:
    """Return True if an id is in different groups, or is a group in one diagram and a node in the other."""
    places = _kinds_and_groups(expected)
    return any(places.get(part_id, place) != place for part_id, place in _kinds_and_groups(given).items())


def _kinds_and_groups(diagram: Diagram) -> dict[str, tuple[str, str]]:
    """Return for each id what it denotes, and its group."""
    nodes = {node.id: ("gateway" if node.kind in GATEWAYS else "box", node.group) for node in diagram.nodes}
    return nodes | {group.id: ("group", group.parent) for group in diagram.groups}


def _joint_sizes(ours: Mapping[str, _T], theirs: Mapping[str, _T], of: Callable[[_T, _T], _T]) -> dict[str, _T]:
    """Return the sizes of all parts; of a part with two sizes, one that holds both."""
    return {
        **theirs,
        **{part_id: of(size, theirs[part_id]) if part_id in theirs else size for part_id, size in ours.items()},
    }


def _larger(ours: LayoutNode, theirs: LayoutNode) -> LayoutNode:
    return LayoutNode(max(ours.width, theirs.width), max(ours.height, theirs.height), max(ours.spread, theirs.spread))


def _part_of_layout(whole: DrawingLayout, diagram: Diagram, numbers: Mapping[DiagramEdge, int]) -> DrawingLayout:
    """Return the layout of one of the two diagrams within the layout of both."""
    own = [numbers[edge] for edge in diagram.edges]
    routes, labels = [whole.routes[number] for number in own], [whole.labels[number] for number in own]
    return DrawingLayout(whole.width, whole.height, whole.boxes, routes, labels)
