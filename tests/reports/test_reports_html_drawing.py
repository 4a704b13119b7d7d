"""The drawings of the HTML page: what they hold without a script, and what its script finds."""

from __future__ import annotations

import re
from base64 import b64decode
from dataclasses import replace
from zlib import decompress

from described_runs import about_run
from html_page import Page

from pytest_taskgraph.diagram import Diagram, DiagramEdge, DiagramNode, DiagramPair, pack
from pytest_taskgraph.reports.drawing.marks import MARK_LOOKS
from pytest_taskgraph.reports.html import html
from pytest_taskgraph.results.record import build
from pytest_taskgraph.trial import Question, Reply, Score, Trial

ABC = Diagram(
    "W",
    [DiagramNode("n0", "START", "start"), *(DiagramNode(f"n{at}", name) for at, name in enumerate("ABC", 1))],
    [DiagramEdge("n0", "n1"), DiagramEdge("n1", "n2"), DiagramEdge("n2", "n3")],
)


def make_trial(name: str, *, pair: DiagramPair | None = None) -> Trial:
    question = Question(name, "f", "g", "", f"Which, {name}?", "prompt", "task-set", ["B"], "jaccard", cluster="c")
    packed = pack(pair.to_json()) if pair else ""
    return Trial(question, "m", "wrong", Reply("Final answer: A"), Score(0.0, given=["A"]), diagram_pair=packed)


def page(*trials: Trial, diagram: Diagram | None = None) -> Page:
    record = build(list(trials), about_run("1"))
    return Page(html(record | ({"diagrams": {"c": diagram.to_json()}} if diagram else {})))


def test_html_drawn_question_has_tools_to_zoom_once() -> None:
    report = page(make_trial("a"), make_trial("b"), diagram=ABC)
    names = [attributes["data-zoom"] for tag, attributes, _ in report.elements if "data-zoom" in attributes]
    assert names == ["out", "in", "width", "whole", "actual"]
    assert [attributes["id"] for tag, attributes, _ in report.elements if tag == "template"] == ["mould", "tools"]


def test_html_nothing_drawn_has_no_tools() -> None:
    report = page(make_trial("a"))
    assert [attributes["id"] for tag, attributes, _ in report.elements if tag == "template"] == ["mould"]


def test_html_pair_stands_on_one_canvas() -> None:
    report = page(make_trial("a", pair=DiagramPair(ABC, ABC)))
    canvas = [attributes for tag, attributes, _ in report.elements if "data-canvas" in attributes]
    assert [attributes.get("class") for attributes in canvas] == ["pair", None, "pair"]  # the template has both


def test_html_drawing_has_view_box_and_fits_by_style() -> None:
    report = page(make_trial("a"), diagram=ABC)
    svg = next(attributes for tag, attributes, _ in report.elements if tag == "svg" and "viewbox" in attributes)
    assert svg["viewbox"].split()[2:] == [svg["width"], svg["height"]]
    style = next("".join(text) for tag, _, text in report.elements if tag == "style")
    assert re.search(r"\.drawing svg \{[^}]*max-width: 100%", style)


def test_html_answer_is_marked_in_drawing_and_data() -> None:
    report = page(make_trial("a"), diagram=ABC)
    detail = report.data("details")["questions"][0]
    assert detail["nodes"] == [[1, MARK_LOOKS["extra"].code], [2, MARK_LOOKS["missing"].code]]
    assert not {"links", "tags", "unplaced"} & set(detail)
    nodes = [(attributes["data-n"], attributes["class"]) for tag, attributes, _ in report.elements
              if tag == "g" and "data-n" in attributes and "class" in attributes]  # fmt: skip
    assert nodes == [(str(number), code) for number, code in detail["nodes"]]
    key = [text for text in report.all("li") if text.endswith(": 1 node") and "#" not in text]
    assert key == ["missing from the answer: 1 node", "not expected: 1 node"]


def test_html_packed_drawing_has_no_marks_of_one_answer() -> None:
    report = page(make_trial("a"), make_trial("b"), diagram=ABC)
    (packed,) = report.data("drawings").values()
    assert "class=" not in "".join(re.findall(r"<g[^>]*>", decompress(b64decode(packed)).decode()))


def test_html_template_has_key_of_every_mark() -> None:
    report = page(make_trial("a"), diagram=ABC)
    looks = [attributes["data-look"] for _, attributes, _ in report.elements if "data-look" in attributes]
    assert looks == ["u", "v", *(look.code for look in MARK_LOOKS.values())]


def test_html_unplaced_names_are_text_below_key() -> None:
    hostile = "<img src=x onerror=alert(1)>\x1b"
    trial = make_trial("a")
    report = page(replace(trial, score=Score(0.0, given=[hostile])), diagram=ABC)
    text = report.data("details")["questions"][0]["unplaced"]
    assert text == "<img src=x onerror=alert(1)>\\x1b (not expected)"
    assert text in report.all("bdi", data_slot="unplaced")
    assert not report.all("img")


def test_html_question_without_drawing_has_no_marks() -> None:
    detail = page(make_trial("a")).data("details")["questions"][0]
    assert not {"nodes", "links", "tags", "unplaced"} & set(detail)
