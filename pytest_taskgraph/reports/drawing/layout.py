"""Layout of a diagram: the boxes and links of each level, and one level inside another.

Back links leave and enter at the right side of their boxes; all others lead from a lower to an upper side. A
link runs straight down through the layers that it passes and turns only between layers. Lengths are in pixels.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from ...diagram import Diagram
from .grid import BETWEEN, GAP, LayoutLink, LayoutNode, LevelGrid, closest_positions

Point = tuple[float, float]
PORT = 14.0  # between the ends of two links on one side, where there is room
WIDEST = 560.0  # width of the rows of boxes without links, unless the drawing is wider


@dataclass(slots=True)
class LevelLayout:
    """The layout of a level: the upper left corners of nodes and labels, and the points that each link passes.

    A curve that begins and ends upright leads between two points that are neither above nor beside each other.
    """

    width: float
    height: float
    places: list[Point]
    routes: list[list[Point]]
    labels: list[Point | None]


def arrange(nodes: Sequence[LayoutNode], links: Sequence[LayoutLink]) -> LevelLayout:
    """Return the layout of a level; it is the same for the same arguments."""
    drawing = _RoutedGrid(nodes, links)
    drawing.set_columns()
    drawing.set_rows()
    return drawing.level_layout()


class _RoutedGrid(LevelGrid):
    """A level whose columns and rows are set, with the routes of its links."""

    def level_layout(self) -> LevelLayout:
        """Return the layout, with the unlinked nodes in rows at the bottom."""
        width = max((self.x[at] + self.vertices[at].right for layer in self.layers for at in layer), default=0.0)
        places = [self._corner(at) for at in range(len(self.nodes))]
        width, height = self._place_others(places, width, self.bottoms[-1] if self.bottoms else 0.0)
        ports = self._ports()
        routes = [self._route(number, ports, places) for number in range(len(self.links))]
        return LevelLayout(width, height, places, routes, [self._label(at, places) for at in range(len(self.links))])

    def _corner(self, at: int) -> Point:
        node, vertex = self.nodes[at], self.vertices[at]
        if at not in self.linked:
            return 0.0, 0.0
        middle = (self.tops[vertex.rank] + self.bottoms[vertex.rank]) / 2
        return self.x[at] - node.width / 2, round(middle - node.height / 2)

    def _place_others(self, places: list[Point], width: float, height: float) -> tuple[float, float]:
        """Set the places of the unlinked nodes; return width and height with them."""
        most, x, y, low = max(width, WIDEST), 0.0, height + (BETWEEN if self.linked else 0.0), height
        for at in (at for at in range(len(self.nodes)) if at not in self.linked):
            vertex = self.vertices[at]
            if x and x + vertex.left + vertex.right > most:
                x, y = 0.0, low + GAP
            places[at] = (x, y)
            self.x[at] = x + vertex.left
            low, width = max(low, y + vertex.height), max(width, self.x[at] + vertex.right)
            x = self.x[at] + vertex.right + GAP
        return width, low

    def _ports(self) -> dict[tuple[int, int], float]:
        """Return the x of each link at the lower side of its source and at the upper side of its target."""
        ports: dict[tuple[int, int], float] = {}
        down = [(number, chain) for number, chain in enumerate(self.chains) if chain and number not in self.back]
        for first, ahead in ((0, 1), (-1, -2)):
            ends: dict[int, list[tuple[float, int]]] = {}
            for number, chain in down:
                towards = ports.get((number, chain[ahead]), self.x[chain[ahead]])
                ends.setdefault(chain[first], []).append((towards, number))
            for at, sides in ends.items():
                ports.update(self._side(at, sorted(sides)))
        return ports

    def _side(self, at: int, ends: list[tuple[float, int]]) -> Iterator[tuple[tuple[int, int], float]]:
        """Yield the ends of links on one side of a node, each as close to its neighbour as the other ends allow."""
        x, half = self.x[at], self.nodes[at].spread / 2
        if len(ends) == 1:
            [(towards, number)] = ends
            yield (number, at), round(x + min(half, max(-half, towards - x)))
            return
        step = min(PORT, 2 * half / (len(ends) - 1))
        offsets = closest_positions([min(half, max(-half, towards - x)) for towards, _ in ends], [1.0] * len(ends),
                       [step] * (len(ends) - 1))  # fmt: skip
        for place, ((_, number), offset) in enumerate(zip(ends, offsets, strict=True)):
            inside = min(half - (len(ends) - 1 - place) * step, max(place * step - half, offset))
            yield (number, at), round(x + inside)

    def _route(self, number: int, ports: dict[tuple[int, int], float], places: list[Point]) -> list[Point]:
        link, chain = self.links[number], self.chains[number]
        if not chain:
            return self._loop(number, places)
        points: list[Point] = []
        for at in chain:
            column = self.x[at] + self.lane.get((number, at), 0.0)
            x, rank = ports.get((number, at), column), self.vertices[at].rank
            points += [(x, self.tops[rank]), (x, self.bottoms[rank])]
        if number in self.back:
            points = [*self._aside(number, link.source, places), *points[-2:0:-1],
                      *self._aside(number, link.target, places)[::-1]]  # fmt: skip
        else:
            points[0] = (points[0][0], places[link.source][1] + self.nodes[link.source].height)
            points[-1] = (points[-1][0], places[link.target][1])
        return _drop_straight_points(points)

    def _aside(self, number: int, at: int, places: list[Point]) -> list[Point]:
        """Return the route from the right side of a node to the lane of a link beside it."""
        node, (x, y) = self.nodes[at], places[at]
        share = (self.lanes[at].index(number) + 1) / (len(self.lanes[at]) + 1) if node.spread else 0.5
        middle = round(y + node.height * share)
        return [(x + node.width, middle), (self.x[at] + self.lane[number, at], middle)]

    def _loop(self, number: int, places: list[Point]) -> list[Point]:
        """Return the route of a loop: out of the right side of a node, and in again above."""
        at = self.links[number].source
        node, (x, y) = self.nodes[at], places[at]
        right, lane = x + node.width, self.x[at] + self.lane[number, at]
        low, high = round(y + node.height * 0.8), round(y + node.height * 0.2)
        return [(right, low), (lane, low), (lane, high), (right, high)]

    def _label(self, number: int, places: list[Point]) -> Point | None:
        link = self.links[number]
        if not link.label[0]:
            return None
        if link.source == link.target:
            at = link.source
            middle = places[at][1] + self.nodes[at].height / 2 - link.label[1] / 2
            return self.x[at] + self.lane[number, at] + 5, round(middle)
        at = self.chains[number][-2 if number in self.back else 1]
        vertex = self.vertices[at]
        return self.x[at] + 5, round((self.tops[vertex.rank] + self.bottoms[vertex.rank] - vertex.height) / 2)


def _drop_straight_points(points: list[Point]) -> list[Point]:
    """Return the points without those on the straight line, upright or level, between their neighbours."""
    bends: list[Point] = []
    for point in points:
        if bends and bends[-1] == point:
            continue
        if len(bends) > 1 and any(bends[-2][axis] == bends[-1][axis] == point[axis] for axis in (0, 1)):
            bends.pop()
        bends.append(point)
    return bends


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
    """The layout of a diagram: boxes by the ids of nodes and groups; routes and labels in the order of the edges.

    The route of an edge has no points if its ends are unknown or not in one group. Routes are as in LevelLayout.
    """

    width: float
    height: float
    boxes: dict[str, Box]
    routes: list[list[Point]]
    labels: list[Box | None]


def layout(
    diagram: Diagram,
    sizes: Mapping[str, LayoutNode],
    headings: Mapping[str, tuple[float, float]],
    labels: Sequence[tuple[float, float]],
) -> DrawingLayout:
    """Return the layout of a diagram from the sizes of its nodes, of group headings and of edge labels.

    Deterministic. A group whose parent does not precede it is laid out at the top level.
    """
    return _NestedLayout(diagram, dict(sizes), headings, labels).diagram_layout()


class _NestedLayout:
    """The levels of a diagram, by the id of their group."""

    def __init__(self, diagram: Diagram, sizes: dict[str, LayoutNode], headings: Mapping[str, tuple[float, float]],
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
        self.edge_numbers: dict[str, list[int]] = {group: [] for group in self.members}
        self.edges = diagram.edges
        for number, edge in enumerate(diagram.edges):
            within = self.inside.get(edge.source)
            if within is not None and within == self.inside.get(edge.target):
                self.edge_numbers[within].append(number)

    def _put(self, part_id: str, group: str) -> None:
        if part_id not in self.inside:
            self.inside[part_id] = group if group in self.members else ""
            self.members[self.inside[part_id]].append(part_id)

    def diagram_layout(self) -> DrawingLayout:
        """Return the layout; inner groups are arranged before their parents, and placed after them."""
        groups = list(self.members)
        levels: dict[str, LevelLayout] = {}
        for group in reversed(groups):
            members = self.members[group] = sorted(self.members[group], key=self._is_group)
            levels[group] = arrange([self.sizes[part_id] for part_id in members], self._links(group))
            if group:
                self.sizes[group] = self._around(group, levels[group])
        boxes: dict[str, Box] = {}
        routes: list[list[Point]] = [[] for _ in self.edges]
        labels: list[Box | None] = [None for _ in self.edges]
        for group in groups:
            self._place(group, levels[group], boxes, routes, labels)
        return DrawingLayout(levels[""].width, levels[""].height, boxes, routes, labels)

    def _is_group(self, part_id: str) -> bool:
        """Return True for a group; sorts nodes before groups, as the search for layers begins at START."""
        return part_id in self.headings

    def _links(self, group: str) -> list[LayoutLink]:
        numbers = {part_id: at for at, part_id in enumerate(self.members[group])}
        return [
            LayoutLink(numbers[edge.source], numbers[edge.target], edge.kind == "data", self.sizes_of_labels[number])
            for number, edge in ((number, self.edges[number]) for number in self.edge_numbers[group])
        ]

    def _around(self, group: str, level: LevelLayout) -> LayoutNode:
        width, height = self.headings[group]
        whole = max(level.width, width) + 2 * PADDING
        return LayoutNode(whole, level.height + height + 2 * PADDING, whole - 2 * PADDING)

    def _place(self, group: str, level: LevelLayout, boxes: dict[str, Box], routes: list[list[Point]],
               labels: list[Box | None]) -> None:  # fmt: skip
        left = top = 0.0
        if group:
            left = boxes[group].x + round((boxes[group].width - level.width) / 2)
            top = boxes[group].y + self.headings[group][1] + PADDING
        for part_id, (x, y) in zip(self.members[group], level.places, strict=True):
            boxes[part_id] = Box(left + x, top + y, self.sizes[part_id].width, self.sizes[part_id].height)
        for number, route, label in zip(self.edge_numbers[group], level.routes, level.labels, strict=True):
            routes[number] = [(left + x, top + y) for x, y in route]
            if label is not None:
                labels[number] = Box(left + label[0], top + label[1], *self.sizes_of_labels[number])
