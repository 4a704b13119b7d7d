from __future__ import annotations

import re
import xml.etree.ElementTree as ET
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pytest_taskgraph.diagram import Diagram, DiagramEdge, DiagramGroup, DiagramNode, DiagramPair
from pytest_taskgraph.reports.drawing.svg_pair import DrawnPair, draw_pair
from pytest_taskgraph.reports.escape import one_line

SVG = "{http://www.w3.org/2000/svg}"
EXPECTED = Diagram(
    "Tea",
    [DiagramNode("1", "Boil water"), DiagramNode("2", "Warm the pot"), DiagramNode("3", "Brew")],
    [DiagramEdge("1", "3"), DiagramEdge("2", "3"), DiagramEdge("1", "2")],
)
GIVEN = Diagram(
    "Tea",
    [DiagramNode("1", "Heat the water until it boils"), DiagramNode("3", "Brew"), DiagramNode("4", "Add milk")],
    [DiagramEdge("1", "3"), DiagramEdge("3", "4")],
)
TEA = DiagramPair(EXPECTED, GIVEN)
HOSTILE = ["</svg><script>alert(1)</script>", "a\u202eb", "\x00\x1b[31m", "\ud800", '"><b>', "\ufffe", "--></style>"]


def parse_pair(pair: DiagramPair) -> tuple[ET.Element, ET.Element]:
    drawings = draw_pair(pair.to_json())
    return ET.fromstring(drawings.expected), ET.fromstring(drawings.given)


def groups_of(root: ET.Element, mark: str) -> list[ET.Element]:
    return [element for element in root.iter(f"{SVG}g") if element.get("class") == mark]


def titles(root: ET.Element, mark: str) -> list[str]:
    return [element.findtext(f"{SVG}title", "") for element in groups_of(root, mark)]


def boxes(root: ET.Element) -> Mapping[str, tuple[Any, ...]]:
    """The places of the boxes, by the title of the node without its mark."""
    places = {}
    for element in root.iter(f"{SVG}g"):
        shape = element.find(f"{SVG}rect")
        if shape is not None:
            name = element.findtext(f"{SVG}title", "").split(":")[0]
            places[name] = tuple(shape.get(side) for side in ("x", "y", "width", "height"))
    return places


def test_draw_pair_differences_are_marked_in_their_side() -> None:
    expected, given_ = parse_pair(TEA)
    missing = ["Warm the pot: missing from the answer", "missing from the answer", "missing from the answer"]
    assert sorted(titles(expected, "u")) == sorted(missing)
    assert titles(expected, "v") == []
    assert sorted(titles(given_, "v")) == ["Add milk: not expected", "not expected"]
    assert titles(given_, "u") == []


def test_draw_pair_marks_have_sign_and_line() -> None:
    expected, given_ = parse_pair(TEA)
    for root, mark, sign in ((expected, "u", "M-3.5 0h7"), (given_, "v", "M-3.5 0h7M0-3.5v7")):
        for element in groups_of(root, mark):
            assert [path.get("d") for path in element.iter(f"{SVG}path") if path.get("class") == "p"] == [sign]
    style = expected.findtext(f"{SVG}style", "")
    lines = [re.search(rf"\.tg \.{mark} \.e{{([^}}]*)}}", style) for mark in "uv"]
    assert lines[0]
    assert lines[1]
    assert lines[0][1] != lines[1][1]
    assert "stroke-dasharray:7 4" in lines[0][1]


def test_draw_pair_same_nodes_have_same_place() -> None:
    expected, given_ = parse_pair(TEA)
    ours, theirs = boxes(expected), boxes(given_)
    assert ours["Boil water"] == theirs["Heat the water until it boils"]
    assert ours["Brew"] == theirs["Brew"]
    assert expected.get("viewBox") == given_.get("viewBox")
    assert "Add milk" not in ours
    assert "Warm the pot" not in theirs


def test_draw_pair_description_lists_differences() -> None:
    drawings = draw_pair(TEA.to_json())
    assert (drawings.missing, drawings.extra, drawings.same) == ("1 node, 2 links", "1 node, 1 link", "2 nodes, 1 link")
    expected, given_ = parse_pair(TEA)
    assert expected.findtext(f"{SVG}title") == "Expected: Tea"
    assert given_.findtext(f"{SVG}title") == "Given: Tea"
    description = expected.findtext(f"{SVG}desc", "")
    assert description.startswith("Missing from the answer: 1 node, 2 links: Warm the pot. 3 tasks and 3 links.")
    assert given_.findtext(f"{SVG}desc", "").startswith("Not expected: 1 node, 1 link: Add milk. 3 tasks and 2 links.")


def test_draw_pair_equal_diagrams_have_no_marks() -> None:
    drawings = draw_pair(DiagramPair(EXPECTED, EXPECTED).to_json())
    assert (drawings.missing, drawings.extra) == ("0 nodes, 0 links", "0 nodes, 0 links")
    assert groups_of(ET.fromstring(drawings.expected), "u") == groups_of(ET.fromstring(drawings.given), "v") == []
    assert drawings.expected.replace("Expected: Tea", "") == drawings.given.replace("Given: Tea", "")


def test_draw_pair_changed_link_is_missing_and_extra() -> None:
    for other in (DiagramEdge("1", "3", "late"), DiagramEdge("1", "3", kind="data"), DiagramEdge("3", "1")):
        chart = replace(EXPECTED, edges=[DiagramEdge("1", "3")])
        drawings = draw_pair(DiagramPair(chart, replace(chart, edges=[other])).to_json())
        assert (drawings.missing, drawings.extra, drawings.same) == (
            "0 nodes, 1 link",
            "0 nodes, 1 link",
            "3 nodes, 0 links",
        )


@pytest.mark.parametrize(
    "other",
    [
        replace(GIVEN, nodes=[replace(node, group="g") for node in GIVEN.nodes], groups=[DiagramGroup("g", "Kitchen")]),
        replace(GIVEN, nodes=[replace(node, kind="parallel") for node in GIVEN.nodes]),
        replace(GIVEN, nodes=[], groups=[DiagramGroup("1", "Boil"), DiagramGroup("3", "Brew")]),
    ],
)
def test_draw_pair_contradicting_diagrams_are_drawn(other: Diagram) -> None:
    expected, given_ = parse_pair(DiagramPair(EXPECTED, other))
    assert boxes(expected).keys() == {"Boil water", "Warm the pot", "Brew"}
    assert "Brew" in "".join(given_.itertext())
    assert len([element for element in given_.iter(f"{SVG}path") if element.get("class") == "e"]) >= 1


@given(st.text(st.characters(), max_size=60) | st.sampled_from(HOSTILE))
def test_draw_pair_any_label_is_text(label: str) -> None:
    chart = Diagram(
        label,
        [DiagramNode(label, label, note=label), DiagramNode(f"{label}2", label, "data", group=f"{label}3")],
        [DiagramEdge(label, label, label), DiagramEdge(label, f"{label}3", label)],
        [DiagramGroup(f"{label}3", label, note=label)],
    )
    pair = DiagramPair(chart, Diagram("W", [DiagramNode("other", label)]))
    drawings = draw_pair(pair.to_json())
    allowed = {"svg", "title", "desc", "style", "g", "rect", "path", "text", "circle"}
    for text in (drawings.expected, drawings.given):
        root = ET.fromstring(text)
        assert {chart.tag.removeprefix(SVG) for chart in root.iter()} <= allowed
        assert {name for chart in root.iter() for name in chart.attrib} <= {
            "class", "role", "width", "height", "viewBox", "x", "y", "rx", "d", "transform", "r", "data-n", "data-e",
        }  # fmt: skip
        assert one_line(label) in "\n".join("".join(chart.itertext()) for chart in root.iter(f"{SVG}title"))
        assert re.search("[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]", text) is None


def test_draw_pair_is_deterministic_and_style_is_optional() -> None:
    first, bare = draw_pair(TEA.to_json()), draw_pair(TEA.to_json(), style=False)
    assert draw_pair(TEA.to_json()) == first
    assert bare == DrawnPair(*(re.sub("<style>.*</style>", "", getattr(first, name), flags=re.DOTALL)
                               for name in DrawnPair.__slots__))  # fmt: skip


def test_draw_pair_hostile_answer_keeps_bounds() -> None:
    ids = [f"n{at}" for at in range(3_000)]
    nodes = [DiagramNode(node_id, node_id * 500) for node_id in ids]
    links = [DiagramEdge(ids[at], ids[at * 7 % len(ids)], "x" * 5_000) for at in range(len(ids))]
    deep = [DiagramGroup(f"g{at}", "G", f"g{at - 1}") for at in range(900)]
    drawings = draw_pair(DiagramPair(EXPECTED, Diagram("W", nodes, links, deep)).to_json())
    assert len(drawings.given) < 1_500_000
    assert "not drawn" in ET.fromstring(drawings.given).findtext(f"{SVG}desc", "")
    assert "Boil water" in drawings.expected
