"""`show ID`: what it prints of a trial, and which trial an id names."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest
from described_runs import about_run

from pytest_taskgraph.__main__ import USAGE_ERROR, main
from pytest_taskgraph.diagram import Diagram, DiagramEdge, DiagramGroup, DiagramNode, DiagramPair, pack
from pytest_taskgraph.reports.drawing.diagram_text import diagram_lines
from pytest_taskgraph.reports.drawing.marks import Mark, Marks
from pytest_taskgraph.results import record
from pytest_taskgraph.results.record.saved import save
from pytest_taskgraph.trial import Json, Question, Reply, Score, Trial

DRAWING = Diagram(
    "shop.Process",
    [
        DiagramNode("e", "END", "end"),
        DiagramNode("b", "Bake"),
        DiagramNode("g", "g1", "exclusive"),
        DiagramNode("i", "Knead", group="m"),
        DiagramNode("d", "dough", "data"),
    ],
    [
        DiagramEdge("m", "g"),
        DiagramEdge("g", "b", "hot > 3"),
        DiagramEdge("g", "e"),
        DiagramEdge("b", "e"),
        DiagramEdge("m", "d", kind="data"),
        DiagramEdge("d", "b", kind="data"),
    ],
    [DiagramGroup("m", "Mix", note="calls Dough")],
    2,
)


def trial(id_: str = "next-1", model: str = "m", reply: str = "Final answer: Mix", **changes: object) -> Trial:
    question = Question(
        id_, "understanding", "next_tasks", "structure", "What is next?", "Begin.\nWhat is next?", "task-set",
        ["Bake", "Mix"], "jaccard", ["recall"], names=["Bake", "Mix"], cluster="w",
    )  # fmt: skip
    score = Score(0.5, {"recall": 0.25}, given=["Mix"], missing=["Bake"])
    shown_trial = Trial(question, model, "wrong", Reply(reply, 120, 7, 0.25), score, diagram=pack(DRAWING.to_json()))
    return replace(shown_trial, **changes)  # type: ignore[arg-type]


def show(tmp_path: Path, capsys: pytest.CaptureFixture[str], trials: list[Trial], *arguments: str) -> tuple[int, str]:
    path = tmp_path / "run.json"
    record.save(path, record.build(trials, about_run("0.1.0", ("m",), 7, ("wadl",), "chain-of-thought")))
    code = main(["show", *arguments, "--record", str(path)])
    printed = capsys.readouterr()
    return code, printed.out or printed.err


def test_show_prints_whole_trial(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    long = "x" * 5000
    code, text = show(tmp_path, capsys, [trial(reply=f"{long}\nFinal answer: Mix")], "next-1")
    lines = text.splitlines()
    assert (code, lines[0]) == (0, "next-1 (m): wrong, score 0.500")
    sections = ["question:", "prompt:", "reply:", "expected:", "parsed answer:", "missing (1):", "drawing:"]
    assert [line for line in lines if line in sections] == sections
    assert {"| Begin.", f"| {long}", "recall: 0.250", "cost: $0.250000", "tokens: 120 in, 7 out"} <= set(lines)
    assert "wrong: score 0.500, below the pass threshold 1.000" in lines
    assert "    Knead" in lines


def test_show_prints_every_exchange_in_full(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    exchange = {
        "role": "subject",
        "messages": [],
        "text": "",
        "calls": [{"name": "look", "arguments": "{}"}],
        "tokens_in": 9,
    }
    exchanges = [exchange, {"role": "judge", "messages": [], "text": "y" * 5000, "metric": "judge", "value": 0.5}]
    _, text = show(tmp_path, capsys, [trial(exchanges=exchanges)], "next-1")
    assert "exchange 1: subject, 9 tokens in, 1 call" in text
    assert '"name": "look"' in text
    assert "y" * 5000 in text


def test_show_says_why_answer_is_wrong(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    wrong = trial()
    chain: Json = {"tasks": ["Bake", "Mix"], "before": [[1, 0]]}
    ordered = replace(wrong.question, form="task-order", metric="order", reference=chain)
    score = Score(0.5, given=["Bake", "Mix"], remark="swapped")
    _, text = show(tmp_path, capsys, [replace(wrong, question=ordered, score=score)], "next-1")
    assert "why:\n| swapped\n| Bake stands before Mix, but has to come after it\n" in text


def test_show_escapes_what_a_terminal_obeys(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    hostile = "\x1b[2J\u202eoff\n::error::no\n##[group]"
    bad = trial(
        id_="q\x1b[1m-next", model="m\x1b[0m", reply=hostile, score=Score(0.0, status="unparseable", remark=hostile)
    )
    _, text = show(tmp_path, capsys, [replace(bad, outcome="unparseable")], "next")
    assert all(line.isprintable() for line in text.splitlines())
    assert not any(line.lstrip().startswith("::") or "##[" in line for line in text.splitlines())


def test_show_accepts_part_of_id_or_item_id(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    both = [trial("next-1"), trial("next-1-r2"), trial("first-1")]
    for text, id_ in (
        ("first", "first-1"),
        ("next-1", "next-1"),
        ("r2", "next-1-r2"),
        ("t[next-1-r2-m]", "next-1-r2"),
    ):
        assert show(tmp_path, capsys, both, text)[1].startswith(f"{id_} (m)")


def test_show_without_id_prints_first_answer_that_is_not_right(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    right = trial("a-1", outcome="right", score=Score(1.0, given=["Bake", "Mix"]))
    assert show(tmp_path, capsys, [right, trial("b-1"), trial("c-1", model="n")])[1].startswith("b-1 (m)")
    assert show(tmp_path, capsys, [right, trial("b-1"), trial("c-1", model="n")], "--model=n")[1].startswith("c-1 (n)")
    assert show(tmp_path, capsys, [right])[1].startswith("a-1 (m)")
    message = "error: the record holds no question that k was asked\n"
    assert show(tmp_path, capsys, [right], "--model=k") == (USAGE_ERROR, message)


def test_show_ambiguous_id_lists_candidates(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    two = [trial("next-1"), trial("next-2")]
    assert show(tmp_path, capsys, two, "next") == (USAGE_ERROR, "error: next: 2 ids contain this: next-1, next-2\n")


def test_show_unknown_id_names_closest_ids(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    message = "error: nxet-1: no id of the record contains this; the record holds next-1\n"
    assert show(tmp_path, capsys, [trial("next-1"), trial("order-27")], "nxet-1") == (USAGE_ERROR, message)


def test_show_several_models_need_a_choice(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    both = [trial(model="openai/a"), trial(model="openai/b")]
    message = "error: next-1: several models; choose one with --model: openai/a, openai/b\n"
    assert show(tmp_path, capsys, both, "next-1") == (USAGE_ERROR, message)
    assert show(tmp_path, capsys, both, "next-1", "--model=/b")[1].startswith("next-1 (openai/b)")
    assert "was sent to openai/a, openai/b" in show(tmp_path, capsys, both, "next-1", "--model=c")[1]


def test_show_reads_a_saved_run_and_prints_json(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    about = about_run("0.1.0", ("m",), 7, ("wadl",), "chain-of-thought")
    save(record.build([trial()], about), tmp_path, "last")
    assert main(["show", "next", "--store", str(tmp_path), "--json"]) == 0
    output = json.loads(capsys.readouterr().out)
    assert (output["question"]["prompt"], output["diagram"]) == ("Begin.\nWhat is next?", DRAWING.to_json())


def test_diagram_lines_follow_the_flow_and_nest_groups() -> None:
    assert diagram_lines(DRAWING) == [
        "shop.Process",
        "  <exclusive g1> -> Bake [hot > 3], END",
        "  <data dough> ..> Bake",
        "  Bake -> END",
        "  END",
        "  Mix (calls Dough) -> <exclusive g1> ..> <data dough>, inside:",
        "    Knead",
        "(2 nodes and links left out)",
    ]


def test_diagram_lines_say_what_is_marked() -> None:
    marks = Marks(
        {"m": [Mark("missing", "1×"), Mark("extra", "2")], "b": [Mark("right")]}, {DRAWING.edges[0]: Mark("misplaced")}
    )
    lines = diagram_lines(DRAWING, marks)
    assert [line for line in lines if "#" in line or "{" in line] == [
        "  Bake -> END  # expected and given",
        "  Mix (calls Dough) -> <exclusive g1> {against the order} ..> <data dough>, inside:"
        "  # missing from the answer (1×); not expected (2)",
    ]


def test_show_marks_answer_in_drawing(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    score = Score(0.5, given=["Mix", "Fry\x1b"], missing=["Bake"])
    lines = show(tmp_path, capsys, [trial(score=score)], "next-1")[1].splitlines()
    assert "  Bake -> END  # missing from the answer" in lines
    assert "  Mix (calls Dough) -> <exclusive g1> ..> <data dough>, inside:  # expected and given" in lines
    assert "(not in the drawing: Fry\\x1b (not expected))" in lines


def test_show_marks_differences_of_pair(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    given = replace(DRAWING, nodes=[*DRAWING.nodes[1:], DiagramNode("f", "Fry")], edges=DRAWING.edges[:2])
    pair = pack(DiagramPair(DRAWING, given).to_json())
    lines = show(tmp_path, capsys, [trial(diagram_pair=pair)], "next-1")[1].splitlines()
    assert "  Bake -> END {missing from the answer}" in lines
    assert "  END  # missing from the answer" in lines
    assert "  Fry  # not expected" in lines
