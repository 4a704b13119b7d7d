from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path
from xml.etree import ElementTree as ET

import pytest
from described_runs import about_run
from drawn_workflows import generate
from hypothesis import given, settings
from hypothesis import strategies as st

from pytest_taskgraph.diagram import Diagram, DiagramEdge, DiagramGroup, DiagramNode, DiagramPair, pack
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


def parse_drawing(chart: Diagram) -> ET.Element:
    return ET.fromstring(svg(chart.to_json()))


def texts(root: ET.Element) -> str:
    return "\n".join(
        "".join(element.itertext()) for element in root.iter() if element.tag in (f"{SVG}text", f"{SVG}title")
    )


def paths(root: ET.Element, kind: str) -> list[ET.Element]:
    return [element for element in root.iter(f"{SVG}path") if kind in element.get("class", "").split()]


def one_of(label: str) -> Diagram:
    """A diagram that says the label wherever a diagram can."""
    return Diagram(
        label,
        [DiagramNode("n0", label), DiagramNode("n1", label, "data", note=label), DiagramNode("n2", label, "exclusive")],
        [DiagramEdge("n0", "n1", label, "data"), DiagramEdge("n0", "n0", label), DiagramEdge("n2", "g0", label)],
        [DiagramGroup("g0", label, note=label)],
    )


@given(workflows())
def test_svg_shows_every_label_and_link(workflow: Workflow) -> None:
    chart = diagram(workflow)
    root = parse_drawing(chart)
    output = texts(root)
    assert all(node.label in output for node in chart.nodes)
    assert all(group.label in output for group in chart.groups)
    assert all(edge.label in output for edge in chart.edges)
    assert len(paths(root, "e")) == len(paths(root, "a")) == len(chart.edges)
    assert len(paths(root, "f")) == sum(edge.kind == "data" for edge in chart.edges)


@given(st.text(st.characters(), max_size=60) | st.sampled_from(HOSTILE))
def test_svg_any_label_is_text(label: str) -> None:
    chart = one_of(label)
    root = parse_drawing(chart)
    allowed = {"svg", "title", "desc", "style", "g", "rect", "path", "text"}
    assert {element.tag.removeprefix(SVG) for element in root.iter()} <= allowed
    assert one_line(label) in texts(root)
    assert re.search("[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]", svg(chart.to_json())) is None


@pytest.mark.parametrize("label", ["\u202eevil", "\x1b[31m"])
def test_svg_unprintable_label_is_escaped(label: str) -> None:
    assert one_line(label) in texts(parse_drawing(one_of(label)))
    assert label not in svg(one_of(label).to_json())


def test_svg_megabyte_label_is_cut() -> None:
    assert len(svg(one_of("a_B" * 300_000).to_json())) < 20_000


def test_svg_has_no_address_script_font_or_id() -> None:
    text = svg(diagram(generate(Recipe(tasks=12, features=frozenset({"data", "loop"})), 1)).to_json())
    assert re.findall(r"https?://[^\"]*", text) == ["http://www.w3.org/2000/svg"]
    assert re.search(r"<script|@import|@font-face|url\(|\bid=|\bon\w+=|href", text) is None


def test_svg_description_lists_links() -> None:
    chart = Diagram(
        "shop.Sale",
        [DiagramNode("n0", "Pick"), DiagramNode("n1", "Pack"), DiagramNode("n2", "Weigh", group="g0")],
        [DiagramEdge("n0", "n1", "items > 1"), DiagramEdge("n1", "g0")],
        [DiagramGroup("g0", "Ship")],
        omitted=4,
    )
    root = parse_drawing(chart)
    assert root.get("role") == "img"
    assert root.findtext(f"{SVG}title") == "shop.Sale"
    assert root.findtext(f"{SVG}desc") == (
        "4 tasks and 2 links. Pick → Pack if items > 1. Pack → Ship. Inside Ship: Weigh. "
        "4 nodes and links are not drawn."
    )


def test_svg_without_style_omits_style() -> None:
    chart = one_of("x").to_json()
    assert STYLE in svg(chart)
    assert svg(chart, style=False) == re.sub("<style>.*</style>", "", svg(chart), flags=re.DOTALL)


def test_svg_takes_colour_and_width_of_page() -> None:
    assert "currentColor" in STYLE
    assert "max-width:100%" in STYLE
    assert "#" not in STYLE
    root = parse_drawing(one_of("x"))
    assert root.get("viewBox") == f"-4 -4 {root.get('width')} {root.get('height')}"


def test_svg_kinds_of_nodes_have_different_shapes() -> None:
    kinds = ("task", "composite", "start", "end", "parallel", "exclusive", "inclusive", "data")
    shapes = []
    for kind in kinds:
        root = parse_drawing(Diagram("W", [DiagramNode("n0", "x", kind)]))  # type: ignore[arg-type]
        shapes.append(
            b"".join(ET.tostring(element) for element in root.iter() if element.tag in (f"{SVG}rect", f"{SVG}path"))
        )
    assert len(set(shapes)) == len(kinds)


@given(workflows())
@settings(max_examples=20, deadline=None)
def test_svg_is_deterministic(workflow: Workflow) -> None:
    assert svg(diagram(workflow).to_json()) == svg(diagram(workflow).to_json())


@given(st.text(st.characters(categories=("L", "Nd", "Pc", "Zs")), max_size=120), st.integers(2, 30), st.integers(1, 4))
def test_wrap_label_lines_fit(text: str, width: int, most: int) -> None:
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
def test_wrap_label_breaks_between_words(label: str, lines: list[str]) -> None:
    assert wrap_label(label, 10, 3) == lines


def test_svg_is_valid_file(tmp_path: Path) -> None:
    (tmp_path / "w.svg").write_text(svg(one_of("x").to_json()), encoding="utf-8")
    assert ET.parse(tmp_path / "w.svg").getroot().tag == f"{SVG}svg"


def test_record_keeps_diagram_once_for_each_cluster() -> None:
    chart = one_of("x").to_json()
    question = Question("a", "f", "p", "c", "Which?", "prompt", "task", "x", "correctness", cluster="w")
    trials = [
        Trial(question, "m", "right", diagram=pack(chart)),
        Trial(replace(question, id="b"), "m", "right"),
        Trial(replace(question, id="c", cluster="v"), "m", "right"),
    ]
    run_record = record.build(trials, about_run("1"))
    assert run_record["diagrams"] == {"w": chart}
    assert not any("diagram" in trial for trial in run_record["trials"])
    assert [trial.diagram for trial in record.trials(run_record)] == [pack(chart), pack(chart), ""]
    assert record.build(record.trials(run_record), about_run("1")) == run_record


def test_record_keeps_diagram_pair_with_its_trial() -> None:
    pair = DiagramPair(one_of("x"), one_of("sk-" + "a1B2" * 12)).to_json()
    question = Question("a", "f", "p", "c", "Which?", "prompt", "task", "x", "correctness", cluster="w")
    trials = [Trial(question, "m", "right", diagram_pair=pack(pair)), Trial(question, "n", "wrong")]
    run_record = record.build(trials, about_run("1"))
    assert ["diagram_pair" in trial for trial in run_record["trials"]] == [True, False]
    assert run_record["trials"][0]["diagram_pair"]["expected"] == pair["expected"]
    assert "sk-a1B2" not in str(run_record)
    assert record.build(record.trials(run_record), about_run("1")) == run_record
    assert [bool(trial.diagram_pair) for trial in record.trials(run_record)] == [True, False]
