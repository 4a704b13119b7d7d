from __future__ import annotations

from itertools import combinations, pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st
from steps import growth

from pytest_taskgraph.diagram import Diagram, DiagramEdge, DiagramGroup, DiagramNode
from pytest_taskgraph.reports.drawing.grid import (
    LayoutLink,
    LayoutNode,
    closest_positions,
    crossings,
    flow_order,
    ranks,
    reduce_crossings,
)
from pytest_taskgraph.reports.drawing.layout import Box, DrawingLayout, LevelLayout, Point, arrange, layout

Rectangle = tuple[float, float, float, float]


@st.composite
def levels(draw: st.DrawFn) -> tuple[list[LayoutNode], list[LayoutLink]]:
    """Any level: cycles, self-loops, parallel links, labels, boxes of any size, boxes without links."""
    boxes = st.builds(
        lambda wide, high, narrow: LayoutNode(wide, high, 0.0 if narrow else wide - 16),
        st.integers(20, 300), st.integers(16, 200), st.booleans(),
    )  # fmt: skip
    nodes = draw(st.lists(boxes, min_size=1, max_size=9))
    ends = st.integers(0, len(nodes) - 1)
    label = st.just((0.0, 0.0)) | st.tuples(st.integers(10, 200), st.just(15))
    return nodes, draw(st.lists(st.builds(LayoutLink, ends, ends, st.booleans(), label), max_size=16))


def rectangles(
    nodes: list[LayoutNode], links: list[LayoutLink], level_layout: LevelLayout
) -> tuple[list[Rectangle], list[Rectangle]]:
    boxes = [(x, y, x + node.width, y + node.height) for (x, y), node in zip(level_layout.places, nodes, strict=True)]
    labels = [(at[0], at[1], at[0] + link.label[0], at[1] + link.label[1])
              for at, link in zip(level_layout.labels, links, strict=True) if at is not None]  # fmt: skip
    return boxes, labels


def overlap(a: Rectangle, b: Rectangle) -> bool:
    return a[0] < b[2] and b[0] < a[2] and a[1] < b[3] and b[1] < a[3]


def around(a: Point, b: Point) -> Rectangle:
    """The rectangle that a step of a route stays in, curves included."""
    return min(a[0], b[0]), min(a[1], b[1]), max(a[0], b[0]), max(a[1], b[1])


@given(levels())
def test_arrange_boxes_and_labels_do_not_overlap(level: tuple[list[LayoutNode], list[LayoutLink]]) -> None:
    level_layout = arrange(*level)
    boxes, labels = rectangles(*level, level_layout)
    assert not [pair for pair in combinations([*boxes, *labels], 2) if overlap(*pair)]


@given(levels())
def test_arrange_all_is_within_level(level: tuple[list[LayoutNode], list[LayoutLink]]) -> None:
    level_layout = arrange(*level)
    boxes, labels = rectangles(*level, level_layout)
    corners = [point for a, b, c, d in [*boxes, *labels] for point in ((a, b), (c, d))]
    for x, y in [*corners, *(point for route in level_layout.routes for point in route)]:
        assert -1 <= x <= level_layout.width + 1
        assert -1 <= y <= level_layout.height + 1


@given(levels())
def test_arrange_links_connect_ends_and_cross_no_box(
    level: tuple[list[LayoutNode], list[LayoutLink]],
) -> None:
    nodes, links = level
    level_layout = arrange(nodes, links)
    boxes, _ = rectangles(nodes, links, level_layout)
    for link, route in zip(links, level_layout.routes, strict=True):
        for end, (x, y) in ((link.source, route[0]), (link.target, route[-1])):
            left, top, right, bottom = boxes[end]
            assert left <= x <= right
            assert top <= y <= bottom
            assert x == right or y in (top, bottom)
        for step in pairwise(route):
            assert not [box for box in boxes if overlap(around(*step), box)]


@given(levels())
def test_arrange_is_deterministic(level: tuple[list[LayoutNode], list[LayoutLink]]) -> None:
    assert arrange(*level) == arrange(*level)


def test_arrange_sequence_stands_in_one_column() -> None:
    level_layout = arrange(
        [LayoutNode(60, 20, 40), LayoutNode(100, 30, 80), LayoutNode(60, 20, 40)], [LayoutLink(0, 1), LayoutLink(1, 2)]
    )
    assert [x + width / 2 for (x, _), width in zip(level_layout.places, (60, 100, 60), strict=True)] == [50, 50, 50]
    assert [y for _, y in level_layout.places] == sorted(y for _, y in level_layout.places)
    assert all(len(route) == 2 and route[0][0] == route[1][0] for route in level_layout.routes)


def test_arrange_back_link_uses_right_side() -> None:
    level_layout = arrange([LayoutNode(60, 20, 40), LayoutNode(60, 20, 40)], [LayoutLink(0, 1), LayoutLink(1, 0)])
    assert level_layout.routes[1][0] == (60, level_layout.places[1][1] + 10)
    assert level_layout.routes[1][-1] == (60, level_layout.places[0][1] + 10)


def test_arrange_long_link_without_obstacle_is_straight() -> None:
    links = [LayoutLink(at, at + 1) for at in range(6)] + [LayoutLink(0, 6)]
    level_layout = arrange([LayoutNode(60, 20, 40)] * 7, links)
    turns = [step for step in pairwise(level_layout.routes[-1]) if step[0][0] != step[1][0]]
    assert len(turns) <= 2


links = st.lists(st.tuples(st.integers(0, 7), st.integers(0, 7)), max_size=20)


@given(links, links)
def test_flow_order_control_flow_decides(control: list[tuple[int, int]], data: list[tuple[int, int]]) -> None:
    places = {node: at for at, node in enumerate(flow_order(8, control, data))}
    assert sorted(places) == list(range(8))
    forward = [(a, b) for a, b in control if places[a] < places[b]]
    acyclic = all(a < b for a, b in control)
    if acyclic:
        assert forward == control


@given(links)
def test_ranks_links_span_required_layers(pairs: list[tuple[int, int]]) -> None:
    lengths = [(min(pair), max(pair), 1 + (sum(pair) % 2)) for pair in pairs if pair[0] != pair[1]]
    layers = ranks(range(8), lengths)
    assert all(layers[b] - layers[a] >= length for a, b, length in lengths)
    assert min(layers) == 0


@given(st.lists(st.tuples(st.integers(0, 4), st.integers(5, 9)), max_size=14))
def test_reduce_crossings_never_adds_crossings(pairs: list[tuple[int, int]]) -> None:
    layers = [[0, 1, 2, 3, 4], [5, 6, 7, 8, 9]]
    below = [[b for a, b in pairs if a == node] for node in range(10)]
    above = [[a for a, b in pairs if b == node] for node in range(10)]
    brute = sum((a - c) * (b - d) < 0 for (a, b), (c, d) in combinations(pairs, 2))
    assert crossings(layers, below) == brute
    better = reduce_crossings(layers, above, below)
    assert [sorted(layer) for layer in better] == layers
    assert crossings(better, below) <= brute


def test_reduce_crossings_removes_single_crossing() -> None:
    assert (
        crossings(reduce_crossings([[0, 1], [2, 3]], [[], [], [1], [0]], [[3], [2], [], []]), [[3], [2], [], []]) == 0
    )


@given(st.lists(st.tuples(st.integers(-50, 50), st.integers(1, 9), st.integers(0, 30)), min_size=1, max_size=12))
def test_closest_positions_are_least_squares(rows: list[tuple[int, int, int]]) -> None:
    from scipy.optimize import isotonic_regression

    targets, weights, distances = ([float(row[at]) for row in rows] for at in range(3))
    offsets = [sum(distances[:at]) for at in range(len(rows))]
    expected = isotonic_regression([a - b for a, b in zip(targets, offsets, strict=True)], weights=weights).x
    assert closest_positions(targets, weights, distances[:-1]) == pytest.approx(
        [a + b for a, b in zip(expected, offsets, strict=True)]
    )


def placed(diagram: Diagram) -> DrawingLayout:
    return layout(
        diagram,
        {node.id: LayoutNode(60, 20, 40) for node in diagram.nodes},
        {group.id: (80, 20) for group in diagram.groups},
        [(0, 0)] * len(diagram.edges),
    )


def within(inner: Box, outer: Box) -> bool:
    return (outer.x <= inner.x and outer.y <= inner.y and inner.x + inner.width <= outer.x + outer.width
            and inner.y + inner.height <= outer.y + outer.height)  # fmt: skip


def test_layout_nested_groups_contain_their_nodes() -> None:
    groups = [DiagramGroup("g0", "A"), *(DiagramGroup(f"g{at}", "B", f"g{at - 1}") for at in range(1, 60))]
    level_layout = placed(Diagram("W", [DiagramNode("n0", "x", group="g59"), DiagramNode("n1", "y")], groups=groups))
    assert all(within(level_layout.boxes[f"g{at}"], level_layout.boxes[f"g{at - 1}"]) for at in range(1, 60))
    assert within(level_layout.boxes["n0"], level_layout.boxes["g59"])
    assert (
        level_layout.boxes["n1"].x >= level_layout.boxes["g0"].x + level_layout.boxes["g0"].width
        or level_layout.boxes["n1"].y == 0
    )


def test_layout_dangling_links_and_cyclic_groups_are_tolerated() -> None:
    groups = [DiagramGroup("g0", "A", "g1"), DiagramGroup("g1", "B", "g1"), DiagramGroup("", "C", "g0")]
    nodes = [DiagramNode("n0", "x", group="nowhere"), DiagramNode("n0", "again"), DiagramNode("n1", "y", group="g0")]
    edges = [DiagramEdge("n0", "n9"), DiagramEdge("n0", "n1"), DiagramEdge("n0", "g0")]
    level_layout = placed(Diagram("W", nodes, edges, groups))
    assert [bool(route) for route in level_layout.routes] == [False, False, True]


def test_layout_of_many_tasks_takes_few_calls() -> None:
    def lay_out(size: int) -> None:
        edges = [
            DiagramEdge(f"n{at}", f"n{at + step}") for at in range(size) for step in (1, 7, 31) if at + step < size
        ]
        placed(Diagram("W", [DiagramNode(f"n{at}", "x") for at in range(size)], edges))

    assert growth(lay_out, 100) < 5
