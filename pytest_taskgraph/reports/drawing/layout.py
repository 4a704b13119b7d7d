"""Where all of a diagram stands: the boxes and links of each level, and one level inside another.

What leads back up leaves and enters at the right side of its boxes; all else leads from a lower to an upper side. A
link runs straight down through the layers that it passes and turns only between layers. Lengths are in pixels.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from ...diagram import Diagram
from .grid import BETWEEN, GAP, Item, LevelGrid, Wire, apart

Point = tuple[float, float]
PORT = 14.0  # between the ends of two links on one side, where there is room
WIDEST = 560.0  # boxes without links stand below, in rows of that width or the drawing's own


@dataclass(slots=True)
class Arranged:
    """Where all is: the upper left corners of items and labels, and for each wire the points that it passes, in order.

    From a point to one that is neither below nor beside it leads a curve that begins and ends upright.
    """

    width: float
    height: float
    places: list[Point]
    routes: list[list[Point]]
    labels: list[Point | None]


def arrange(items: Sequence[Item], wires: Sequence[Wire]) -> Arranged:
    """The level, as large as it needs to be; the same for the same arguments."""
    drawing = _Routed(items, wires)
    drawing.set_columns()
    drawing.set_rows()
    return drawing.arranged()


class _Routed(LevelGrid):
    """A level whose columns and rows are set, with the ways of its links."""

    def arranged(self) -> Arranged:
        """All of it, with the items that nothing is linked to in rows below."""
        width = max((self.x[at] + self.vertices[at].right for layer in self.layers for at in layer), default=0.0)
        places = [self._corner(at) for at in range(len(self.items))]
        width, height = self._place_others(places, width, self.bottoms[-1] if self.bottoms else 0.0)
        ports = self._ports()
        routes = [self._route(number, ports, places) for number in range(len(self.wires))]
        return Arranged(width, height, places, routes, [self._label(at, places) for at in range(len(self.wires))])

    def _corner(self, at: int) -> Point:
        item, vertex = self.items[at], self.vertices[at]
        if at not in self.linked:
            return 0.0, 0.0
        middle = (self.tops[vertex.rank] + self.bottoms[vertex.rank]) / 2
        return self.x[at] - item.width / 2, round(middle - item.height / 2)

    def _place_others(self, places: list[Point], width: float, height: float) -> tuple[float, float]:
        """Width and height with the unlinked items, whose places are set."""
        most, x, y, low = max(width, WIDEST), 0.0, height + (BETWEEN if self.linked else 0.0), height
        for at in (at for at in range(len(self.items)) if at not in self.linked):
            vertex = self.vertices[at]
            if x and x + vertex.left + vertex.right > most:
                x, y = 0.0, low + GAP
            places[at] = (x, y)
            self.x[at] = x + vertex.left
            low, width = max(low, y + vertex.height), max(width, self.x[at] + vertex.right)
            x = self.x[at] + vertex.right + GAP
        return width, low

    def _ports(self) -> dict[tuple[int, int], float]:
        """For each wire and end of it, the x at which it leaves the lower or enters the upper side."""
        ports: dict[tuple[int, int], float] = {}
        down = [(number, chain) for number, chain in enumerate(self.chains) if chain and number not in self.back]
        for first, ahead in ((0, 1), (-1, -2)):
            ends: dict[int, list[tuple[float, int]]] = {}
            for number, chain in down:
                towards = ports.get((number, chain[ahead]), self.x[chain[ahead]])
                ends.setdefault(chain[first], []).append((towards, number))
            for at, found in ends.items():
                ports.update(self._side(at, sorted(found)))
        return ports

    def _side(self, at: int, ends: list[tuple[float, int]]) -> Iterator[tuple[tuple[int, int], float]]:
        """The ends of wires on one side of an item, each as close to where it comes from as the others let it."""
        x, half = self.x[at], self.items[at].spread / 2
        step = min(PORT, 2 * half / (len(ends) - 1)) if len(ends) > 1 else 0.0
        wanted = apart([min(half, max(-half, towards - x)) for towards, _ in ends], [1.0] * len(ends),
                       [step] * (len(ends) - 1))  # fmt: skip
        for place, ((_, number), offset) in enumerate(zip(ends, wanted, strict=True)):
            inside = min(half - (len(ends) - 1 - place) * step, max(place * step - half, offset))
            yield (number, at), round(x + inside)

    def _route(self, number: int, ports: dict[tuple[int, int], float], places: list[Point]) -> list[Point]:
        wire, chain = self.wires[number], self.chains[number]
        if not chain:
            return self._loop(number, places)
        points: list[Point] = []
        for at in chain:
            column = self.x[at] + self.lane.get((number, at), 0.0)
            x, rank = ports.get((number, at), column), self.vertices[at].rank
            points += [(x, self.tops[rank]), (x, self.bottoms[rank])]
        if number in self.back:
            points = [*self._aside(number, wire.source, places), *points[-2:0:-1],
                      *self._aside(number, wire.target, places)[::-1]]  # fmt: skip
        else:
            points[0] = (points[0][0], places[wire.source][1] + self.items[wire.source].height)
            points[-1] = (points[-1][0], places[wire.target][1])
        return _straightened(points)

    def _aside(self, number: int, at: int, places: list[Point]) -> list[Point]:
        """From the right side of an item to the lane of a wire beside it."""
        item, (x, y) = self.items[at], places[at]
        share = (self.lanes[at].index(number) + 1) / (len(self.lanes[at]) + 1) if item.spread else 0.5
        middle = round(y + item.height * share)
        return [(x + item.width, middle), (self.x[at] + self.lane[number, at], middle)]

    def _loop(self, number: int, places: list[Point]) -> list[Point]:
        """Out of the right side of an item, and in again above."""
        at = self.wires[number].source
        item, (x, y) = self.items[at], places[at]
        right, lane = x + item.width, self.x[at] + self.lane[number, at]
        low, high = round(y + item.height * 0.8), round(y + item.height * 0.2)
        return [(right, low), (lane, low), (lane, high), (right, high)]

    def _label(self, number: int, places: list[Point]) -> Point | None:
        wire = self.wires[number]
        if not wire.label[0]:
            return None
        if wire.source == wire.target:
            at = wire.source
            middle = places[at][1] + self.items[at].height / 2 - wire.label[1] / 2
            return self.x[at] + self.lane[number, at] + 5, round(middle)
        at = self.chains[number][-2 if number in self.back else 1]
        vertex = self.vertices[at]
        return self.x[at] + 5, round((self.tops[vertex.rank] + self.bottoms[vertex.rank] - vertex.height) / 2)


def _straightened(points: list[Point]) -> list[Point]:
    """The points without those that lie on the straight way, upright or level, between their neighbours."""
    kept: list[Point] = []
    for point in points:
        if kept and kept[-1] == point:
            continue
        if len(kept) > 1 and any(kept[-2][axis] == kept[-1][axis] == point[axis] for axis in (0, 1)):
            kept.pop()
        kept.append(point)
    return kept


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
