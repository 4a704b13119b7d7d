from __future__ import annotations

import json
import re
from dataclasses import fields, replace
from pathlib import Path
from typing import get_args
from xml.etree import ElementTree as ET

import pytest
from described_runs import about_run
from hypothesis import given, settings
from hypothesis import strategies as st

from pytest_taskgraph.diagram import Diagram, DiagramEdge, DiagramGroup, DiagramNode, DiagramPair, NodeKind, pack
from pytest_taskgraph.generation.builder import generate
from pytest_taskgraph.generation.recipe import Recipe
from pytest_taskgraph.generation.strategies import workflows
from pytest_taskgraph.reports.drawing.svg import STYLE, svg, wrap_label
from pytest_taskgraph.reports.escape import columns, one_line
from pytest_taskgraph.results import record
from pytest_taskgraph.trial import Question, Trial
from pytest_taskgraph.workflow.model import Workflow
from pytest_taskgraph.workflow.workflow_diagram import diagram

SVG = "{http://www.w3.org/2000/svg}"
HOSTILE = [
    "<script>alert(1)</script>",
    "]]>",
    "a\u202eb",
    "\x00\x1b[31mred",
    "\ud800",
    "&amp;",
    '"><b>',
    "\ufffe",
    "漢" * 40,
]


def drawn(made: Diagram) -> ET.Element:
    return ET.fromstring(svg(made.to_json()))


def texts(root: ET.Element) -> str:
    return "\n".join("".join(one.itertext()) for one in root.iter() if one.tag in (f"{SVG}text", f"{SVG}title"))


def paths(root: ET.Element, kind: str) -> list[ET.Element]:
    return [one for one in root.iter(f"{SVG}path") if kind in one.get("class", "").split()]


def one_of(label: str) -> Diagram:
    """A diagram that says the label wherever a diagram can."""
    return Diagram(
        label,
        [DiagramNode("n0", label), DiagramNode("n1", label, "data", note=label), DiagramNode("n2", label, "exclusive")],
        [DiagramEdge("n0", "n1", label, "data"), DiagramEdge("n0", "n0", label), DiagramEdge("n2", "g0", label)],
        [DiagramGroup("g0", label, note=label)],
    )


@given(workflows())
@settings(max_examples=40, deadline=None)
def test_every_label_stands_in_the_drawing_and_every_link_is_a_line_with_a_head(workflow: Workflow) -> None:
    made = diagram(workflow)
    root = drawn(made)
    shown = texts(root)
    assert all(one.label in shown for one in made.nodes)
    assert all(one.label in shown for one in made.groups)
    assert all(edge.label in shown for edge in made.edges)
    assert len(paths(root, "e")) == len(paths(root, "a")) == len(made.edges)
    assert len(paths(root, "f")) == sum(edge.kind == "data" for edge in made.edges)


@given(st.text(st.characters(), max_size=60) | st.sampled_from(HOSTILE))
@settings(max_examples=120, deadline=None)
def test_any_label_stands_there_as_text(label: str) -> None:
    made = one_of(label)
    root = drawn(made)
    allowed = {"svg", "title", "desc", "style", "g", "rect", "path", "text"}
    assert {one.tag.removeprefix(SVG) for one in root.iter()} <= allowed
    assert one_line(label) in texts(root)
    assert re.search("[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]", svg(made.to_json())) is None


@pytest.mark.parametrize("label", ["\u202eevil", "\x1b[31m"])
def test_what_does_not_print_is_shown_as_an_escape(label: str) -> None:
    assert one_line(label) in texts(drawn(one_of(label)))
    assert label not in svg(one_of(label).to_json())


def test_a_label_of_a_megabyte_is_cut_and_soon_done() -> None:
    assert len(svg(one_of("a_B" * 300_000).to_json())) < 20_000


def test_no_address_script_font_or_id_is_in_it() -> None:
    text = svg(diagram(generate(Recipe(tasks=12, features=frozenset({"data", "loop"})), 1)).to_json())
    assert re.findall(r"https?://[^\"]*", text) == ["http://www.w3.org/2000/svg"]
    assert re.search(r"<script|@import|@font-face|url\(|\bid=|\bon\w+=|href", text) is None


def test_it_tells_the_links_in_words_for_those_who_do_not_see_them() -> None:
    made = Diagram(
        "shop.Sale",
        [DiagramNode("n0", "Pick"), DiagramNode("n1", "Pack"), DiagramNode("n2", "Weigh", group="g0")],
        [DiagramEdge("n0", "n1", "items > 1"), DiagramEdge("n1", "g0")],
        [DiagramGroup("g0", "Ship")],
        omitted=4,
    )
    root = drawn(made)
    assert root.get("role") == "img"
    assert root.findtext(f"{SVG}title") == "shop.Sale"
    assert root.findtext(f"{SVG}desc") == (
        "4 tasks and 2 links. Pick → Pack if items > 1. Pack → Ship. Inside Ship: Weigh. "
        "4 nodes and links are not drawn."
    )


def test_the_style_stands_once_in_a_page_of_many_drawings() -> None:
    made = one_of("x").to_json()
    assert STYLE in svg(made)
    assert svg(made, style=False) == re.sub("<style>.*</style>", "", svg(made), flags=re.DOTALL)


def test_it_takes_the_colour_of_the_text_around_it_and_the_width_that_there_is() -> None:
    assert "currentColor" in STYLE
    assert "max-width:100%" in STYLE
    assert "#" not in STYLE
    root = drawn(one_of("x"))
    assert root.get("viewBox") == f"-4 -4 {root.get('width')} {root.get('height')}"


def test_data_composite_tasks_and_gateways_look_different_from_tasks() -> None:
    kinds = ("task", "composite", "start", "end", "parallel", "exclusive", "inclusive", "data")
    shapes = []
    for kind in kinds:
        root = drawn(Diagram("W", [DiagramNode("n0", "x", kind)]))  # type: ignore[arg-type]
        shapes.append(b"".join(ET.tostring(one) for one in root.iter() if one.tag in (f"{SVG}rect", f"{SVG}path")))
    assert len(set(shapes)) == len(kinds)


@given(workflows())
@settings(max_examples=20, deadline=None)
def test_the_drawing_is_the_same_each_time(workflow: Workflow) -> None:
    assert svg(diagram(workflow).to_json()) == svg(diagram(workflow).to_json())


@given(st.text(st.characters(categories=("L", "Nd", "Pc", "Zs")), max_size=120), st.integers(2, 30), st.integers(1, 4))
@settings(max_examples=150, deadline=None)
def test_a_label_is_broken_into_lines_that_fit(text: str, width: int, most: int) -> None:
    printable = one_line(text)
    lines = wrap_label(printable, width, most)
    assert 1 <= len(lines) <= most
    assert all(columns(line) <= width for line in lines)
    if not lines[-1].endswith("…"):
        assert "".join(lines).replace(" ", "") == printable.replace(" ", "")


@pytest.mark.parametrize(
    ("label", "lines"),
    [
        ("CheckStockOfArticle", ["CheckStock", "OfArticle"]),
        ("check_stock_of_article", ["check_", "stock_of_", "article"]),
        ("Check the stock", ["Check the", "stock"]),
        ("PDFExport", ["PDFExport"]),
        ("xxxxxxxxxxxxxxx", ["xxxxxxxxxx", "xxxxx"]),
        ("", [""]),
    ],
)
def test_labels_break_between_words(label: str, lines: list[str]) -> None:
    assert wrap_label(label, 10, 3) == lines


def test_a_drawing_stands_alone_as_a_file(tmp_path: Path) -> None:
    (tmp_path / "w.svg").write_text(svg(one_of("x").to_json()), encoding="utf-8")
    assert ET.parse(tmp_path / "w.svg").getroot().tag == f"{SVG}svg"


def test_a_record_keeps_a_diagram_once_for_all_questions_about_a_workflow_and_gives_it_back() -> None:
    made = one_of("x").to_json()
    question = Question("a", "f", "p", "c", "Which?", "prompt", "task", "x", "correctness", cluster="w")
    trials = [
        Trial(question, "m", "right", diagram=pack(made)),
        Trial(replace(question, id="b"), "m", "right"),
        Trial(replace(question, id="c", cluster="v"), "m", "right"),
    ]
    kept = record.build(trials, about_run("1"))
    assert kept["diagrams"] == {"w": made}
    assert not any("diagram" in one for one in kept["trials"])
    assert [one.diagram for one in record.trials(kept)] == [pack(made), pack(made), ""]
    assert record.build(record.trials(kept), about_run("1")) == kept
    assert record.trials({name: value for name, value in kept.items() if name != "diagrams"})[0].diagram == ""


def test_a_record_keeps_a_pair_of_diagrams_with_its_trial_and_gives_it_back() -> None:
    pair = DiagramPair(one_of("x"), one_of("sk-" + "a1B2" * 12)).to_json()
    question = Question("a", "f", "p", "c", "Which?", "prompt", "task", "x", "correctness", cluster="w")
    trials = [Trial(question, "m", "right", diagram_pair=pack(pair)), Trial(question, "n", "wrong")]
    kept = record.build(trials, about_run("1"))
    assert ["diagram_pair" in one for one in kept["trials"]] == [True, False]
    assert kept["trials"][0]["diagram_pair"]["expected"] == pair["expected"]
    assert "sk-a1B2" not in str(kept)
    assert record.build(record.trials(kept), about_run("1")) == kept
    assert [bool(one.diagram_pair) for one in record.trials(kept)] == [True, False]


def test_the_schema_of_the_record_knows_all_that_a_diagram_has() -> None:
    defs = json.loads((Path(__file__).parents[2] / "docs" / "reference" / "record.schema.json").read_text())["$defs"][
        "diagram"
    ]
    assert {one.name for one in fields(Diagram)} == set(defs["properties"])
    for name, kind in (("nodes", DiagramNode), ("edges", DiagramEdge), ("groups", DiagramGroup)):
        assert {one.name for one in fields(kind)} == set(defs["properties"][name]["items"]["properties"])
    assert defs["properties"]["nodes"]["items"]["properties"]["kind"]["enum"] == list(get_args(NodeKind))
    pair = json.loads((Path(__file__).parents[2] / "docs" / "reference" / "record.schema.json").read_text())["$defs"][
        "diagram_pair"
    ]
    assert {one.name for one in fields(DiagramPair)} == set(pair["properties"])
