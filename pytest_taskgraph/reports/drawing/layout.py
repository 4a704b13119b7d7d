"""Where all of a diagram stands: level by level, from the inside out, each group a box of the level around it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from ...diagram import Diagram
from .grid import Item, Wire
from .level import Arranged, Point, arrange

PADDING = 12.0  # of a group


@dataclass(frozen=True, slots=True)
class Box:
    """A rectangle, by its upper left corner."""

    x: float
    y: float
    width: float
    height: float


@dataclass(frozen=True, slots=True)
class DrawingLayout:
    """A diagram with places: boxes by the ids of nodes and groups; routes and labels in the order of the edges.

    The route of an edge whose ends are not known, or not in one group, has no points. Routes are as in level.Arranged.
    """

    width: float
    height: float
    boxes: dict[str, Box]
    routes: list[list[Point]]
    labels: list[Box | None]


def layout(
    diagram: Diagram,
    sizes: Mapping[str, Item],
    headings: Mapping[str, tuple[float, float]],
    labels: Sequence[tuple[float, float]],
) -> DrawingLayout:
    """The layout of a diagram, from the sizes of its nodes, of the headings of its groups and of its edges' labels.

    Deterministic. A group whose parent does not stand before it is taken to stand in none.
    """
    return _Nested(diagram, dict(sizes), headings, labels).placed()


class _Nested:
    """The levels of a diagram, by the id of their group."""

    def __init__(self, diagram: Diagram, sizes: dict[str, Item], headings: Mapping[str, tuple[float, float]],
                 labels: Sequence[tuple[float, float]]) -> None:  # fmt: skip
        self.sizes, self.headings, self.sizes_of_labels = sizes, headings, labels
        self.members: dict[str, list[str]] = {"": []}
        self.inside: dict[str, str] = {}
        for group in diagram.groups:
            if group.id in self.members:
                continue
            self.members[group.id] = []
            self._put(group.id, group.parent if group.parent != group.id else "")
        for node in diagram.nodes:
            self._put(node.id, node.group)
        self.wires: dict[str, list[int]] = {group: [] for group in self.members}
        self.edges = diagram.edges
        for number, edge in enumerate(diagram.edges):
            within = self.inside.get(edge.source)
            if within is not None and within == self.inside.get(edge.target):
                self.wires[within].append(number)

    def _put(self, id: str, group: str) -> None:
        if id not in self.inside:
            self.inside[id] = group if group in self.members else ""
            self.members[self.inside[id]].append(id)

    def placed(self) -> DrawingLayout:
        """The layout, groups arranged before those that they stand in, and placed after them."""
        groups = list(self.members)
        levels: dict[str, Arranged] = {}
        for group in reversed(groups):
            members = self.members[group] = sorted(self.members[group], key=self._declared)
            levels[group] = arrange([self.sizes[id] for id in members], self._wires(group))
            if group:
                self.sizes[group] = self._around(group, levels[group])
        boxes: dict[str, Box] = {}
        routes: list[list[Point]] = [[] for _ in self.edges]
        labels: list[Box | None] = [None for _ in self.edges]
        for group in groups:
            self._place(group, levels[group], boxes, routes, labels)
        return DrawingLayout(levels[""].width, levels[""].height, boxes, routes, labels)

    def _declared(self, id: str) -> bool:
        """Nodes before groups: the search for layers begins at START."""
        return id in self.headings

    def _wires(self, group: str) -> list[Wire]:
        numbers = {id: at for at, id in enumerate(self.members[group])}
        return [
            Wire(numbers[edge.source], numbers[edge.target], edge.kind == "data", self.sizes_of_labels[number])
            for number, edge in ((number, self.edges[number]) for number in self.wires[group])
        ]

    def _around(self, group: str, level: Arranged) -> Item:
        width, height = self.headings[group]
        whole = max(level.width, width) + 2 * PADDING
        return Item(whole, level.height + height + 2 * PADDING, whole - 2 * PADDING)

    def _place(self, group: str, level: Arranged, boxes: dict[str, Box], routes: list[list[Point]],
               labels: list[Box | None]) -> None:  # fmt: skip
        left = top = 0.0
        if group:
            left = boxes[group].x + round((boxes[group].width - level.width) / 2)
            top = boxes[group].y + self.headings[group][1] + PADDING
        for id, (x, y) in zip(self.members[group], level.places, strict=True):
            boxes[id] = Box(left + x, top + y, self.sizes[id].width, self.sizes[id].height)
        for number, route, label in zip(self.wires[group], level.routes, level.labels, strict=True):
            routes[number] = [(left + x, top + y) for x, y in route]
            if label is not None:
                labels[number] = Box(left + label[0], top + label[1], *self.sizes_of_labels[number])
