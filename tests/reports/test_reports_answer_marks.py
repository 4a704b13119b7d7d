"""Answers marked in drawings: where names stand, what the drawing shows and says of them."""

from __future__ import annotations

import re
from xml.etree import ElementTree as ET

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pytest_taskgraph.diagram import Diagram, DiagramEdge, DiagramGroup, DiagramNode
from pytest_taskgraph.reports.drawing.answer_marks import AnswerMarks, MarkedSubject
from pytest_taskgraph.reports.drawing.marks import MARK_LOOKS, Mark, Marks
from pytest_taskgraph.reports.drawing.svg import STYLE, svg
from pytest_taskgraph.trial import Json, Question, Score, Trial

SVG = "{http://www.w3.org/2000/svg}"
SHOP = Diagram(
    "shop",
    [
        DiagramNode("n0", "START", "start"),
        DiagramNode("n1", "Pick2"),
        DiagramNode("n2", "Fork", "parallel"),
        DiagramNode("n3", "Pack2"),
        DiagramNode("n4", "Weigh2"),
        DiagramNode("n5", "Label", group="g0"),
        DiagramNode("n6", "Seal", group="g0"),
        DiagramNode("n7", "Seal"),
        DiagramNode("n8", "Pick2", "data"),
    ],
    [
        DiagramEdge("n0", "n1"),
        DiagramEdge("n1", "n2"),
        DiagramEdge("n2", "n3", "size > 1"),
        DiagramEdge("n2", "n4", "otherwise"),
        DiagramEdge("n4", "g0", "otherwise"),
        DiagramEdge("n1", "n8", kind="data"),
    ],
    [DiagramGroup("g0", "Ship")],
)
CHAIN: Json = {"tasks": ["Pick2", "Pack2", "Weigh2"], "before": [[0, 1], [0, 2]]}


def answer(form: str, reference: Json, given_: Json, text: str = "Which?", value: float = 0.0) -> AnswerMarks:
    question = Question("q", "f", "g", "", text, "prompt", form, reference, "jaccard")
    return MarkedSubject(SHOP).marks(Trial(question, "m", "wrong", score=Score(value, given=given_)))


def plain(marks: AnswerMarks) -> dict[str, str]:
    signs = {kind: look.sign for kind, look in MARK_LOOKS.items()}
    return {part: " ".join(f"{signs[mark.kind]}{mark.tag}" for mark in own) for part, own in marks.marks.parts.items()}


def draw_marks(marks: Marks, diagram: Diagram = SHOP) -> ET.Element:
    return ET.fromstring(svg(diagram.to_json(), marks=marks))


def part(root: ET.Element, number: int) -> ET.Element:
    return next(element for element in root.iter(f"{SVG}g") if element.get("data-n") == str(number))


def test_answer_marks_of_names_stand_at_their_nodes() -> None:
    marks = answer("task-set", ["Pick2", "Ship"], ["Ship", "Label"])
    assert plain(marks) == {"n1": "−", "g0": "✓", "n5": "+"}
    assert marks.unplaced_text == ""


def test_answer_marks_of_unknown_name_are_unplaced() -> None:
    marks = answer("task-set", ["Pick2", "Lost"], ["Pick2", "X\x1b[31m"])
    assert plain(marks) == {"n1": "✓"}
    assert marks.unplaced_text == "Lost (missing from the answer); X\\x1b[31m (not expected)"


def test_answer_marks_of_name_in_two_places_follow_path() -> None:
    assert plain(answer("task", "Seal", "Ship.Seal")) == {"n7": "−", "n6": "+"}
    inside = answer("task", "Seal", "Ship.Seal", "Which task in composite task 'Ship'?")
    assert plain(inside) == {"n6": "+", "g0": "?"}
    assert inside.unplaced_text == "Seal (missing from the answer)"


def test_answer_marks_of_order_have_places_and_links_against_it() -> None:
    marks = answer("task-order", CHAIN, ["Pack2", "Weigh2", "Pick2"])
    assert plain(marks) == {"n1": "↕3", "n3": "✓1", "n4": "✓2"}
    assert {(edge.source, edge.target) for edge in marks.marks.edges} == {("n1", "n2"), ("n2", "n3"), ("n2", "n4")}
    assert marks.tags == "place in the given order"


def test_answer_marks_of_right_order_mark_no_link() -> None:
    marks = answer("task-order", CHAIN, ["Pick2", "Weigh2", "Pack2"], value=1.0)
    assert plain(marks) == {"n1": "✓1", "n3": "✓3", "n4": "✓2"}
    assert not marks.marks.edges


def test_answer_marks_of_name_in_two_groups_have_both_signs() -> None:
    marks = answer("groups", [["Pick2", "Pack2"], ["Weigh2"]], [["Pick2"], ["Weigh2", "Pack2"]])
    assert plain(marks) == {"n1": "✓1", "n3": "−1 +2", "n4": "✓2"}
    assert marks.tags == "number of the group"


def test_answer_marks_of_condition_stand_at_its_only_link() -> None:
    marks = answer("condition", {"condition": "size > 1", "domains": {}}, "otherwise")
    assert [(edge.label, mark.kind) for edge, mark in marks.marks.edges.items()] == [("size > 1", "missing")]
    assert marks.unplaced_text == "otherwise (not expected)"


def test_answer_marks_of_answer_in_words_are_none() -> None:
    marks = answer("text", "Label", "Label")
    assert not marks.marks
    assert marks.unplaced_text == ""


@pytest.mark.parametrize(
    ("text", "ids"),
    [
        ("Does 'Pack2' follow Pick2?", {"n3", "n1"}),
        ("Pick22 or Pick2_b?", set()),
        ("Label the tasks; what of “Label”?", {"n5"}),
        ("Label the tasks.", set()),
        ("Is Pick2\x00 there?", {"n1"}),
    ],
)
def test_answer_marks_of_question_are_names_in_its_text(text: str, ids: set[str]) -> None:
    marks = answer("yes-no", "yes", "no", text)
    assert plain(marks) == dict.fromkeys(ids, "?")


def test_answer_marks_of_answer_precede_those_of_question() -> None:
    assert plain(answer("task", "Pick2", "Pick2", "Is it Pick2 or Pack2?")) == {"n1": "✓", "n3": "?"}


def test_marked_drawing_shows_class_sign_title_and_description() -> None:
    root = draw_marks(answer("task-order", CHAIN, ["Pack2", "X", "Pick2"]).marks)
    pick = part(root, 2)
    assert pick.get("class") == MARK_LOOKS["misplaced"].code
    assert pick.findtext(f"{SVG}title") == "Pick2: against the order (3)"
    assert [text.text for text in pick.iter(f"{SVG}text")] == ["Pick2", "3"]
    paths = [path.get("d") for path in pick.iter(f"{SVG}path")]
    assert paths == [MARK_LOOKS["misplaced"].path]
    assert part(root, 5).findtext(f"{SVG}title") == "Weigh2: missing from the answer"
    assert root.findtext(f"{SVG}desc", "").startswith(
        "Expected and given: 1 node: Pack2 (1). Missing from the answer: 1 node: Weigh2. "
        "Against the order: 1 node, 2 links: Pick2 (3). 7 tasks and 6 links."
    )
    assert "Not expected" not in root.findtext(f"{SVG}desc", "")


def test_marked_drawing_without_marks_is_plain_drawing() -> None:
    assert svg(SHOP.to_json(), marks=Marks()) == svg(SHOP.to_json())


def test_mark_looks_differ_in_sign_line_and_words() -> None:
    looks = MARK_LOOKS.values()
    for values in ([look.sign for look in looks], [look.path for look in looks], [look.words for look in looks]):
        assert len(set(values)) == len(MARK_LOOKS)
    lines = {look.code: re.search(rf"\.tg \.{look.code} \.n[^{{]*{{([^}}]*)}}", STYLE) for look in looks}
    assert len({rule[1] for rule in lines.values() if rule}) == len(MARK_LOOKS)


def test_drawing_numbers_every_node_group_and_link() -> None:
    root = ET.fromstring(svg(SHOP.to_json()))
    numbers = sorted(int(element.get("data-n", "-1")) for element in root.iter(f"{SVG}g") if "data-n" in element.attrib)
    assert numbers == list(range(len(SHOP.parts)))
    links = [int(path.get("data-e", "-1")) for path in root.iter(f"{SVG}path") if "data-e" in path.attrib]
    assert links == list(range(len(SHOP.edges)))


@given(st.text(max_size=30), st.text(max_size=30), st.text(max_size=200))
def test_answer_marks_of_any_label_are_drawn_as_text(label: str, other: str, text: str) -> None:
    diagram = Diagram(
        "W", [DiagramNode("a", label, group="g"), DiagramNode("b", other)], [], [DiagramGroup("g", label)]
    )
    question = Question("q", "f", "g", "", f"{text} '{label}' {other}", "", "task-set", [label], "jaccard")
    marks = MarkedSubject(diagram).marks(Trial(question, "m", "wrong", score=Score(0.0, given=[other, text])))
    root = draw_marks(marks.marks, diagram)
    assert {element.tag.removeprefix(SVG) for element in root.iter()} <= {
        "svg", "title", "desc", "style", "g", "rect", "path", "text", "circle",
    }  # fmt: skip
    assert re.search("[\x00-\x08\x0b-\x1f\x7f-\x9f]", marks.unplaced_text) is None


def test_answer_marks_name_few_of_many_unplaced() -> None:
    text = answer("task-set", [], [f"T{at}" for at in range(500)]).unplaced_text
    assert text.endswith("T18, T19 and 480 more (not expected)")


def test_tag_of_mark_is_printable_and_short() -> None:
    root = draw_marks(Marks({"n1": [Mark("right", "\x1b<b>" * 50)]}))
    tag = [text.text or "" for text in part(root, 2).iter(f"{SVG}text")][-1]
    assert len(tag) <= 12
