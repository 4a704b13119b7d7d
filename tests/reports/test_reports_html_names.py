from __future__ import annotations

import json
from base64 import b64decode
from typing import Any
from zlib import decompress

from described_runs import about_run
from html_page import Page

from pytest_taskgraph.reports.html import html
from pytest_taskgraph.reports.html.embedded_data import LONGEST_NAME, MOST_NAMES, NameTables
from pytest_taskgraph.results.record import build
from pytest_taskgraph.trial import Question, Trial


def question(name: str = "q", cluster: str = "c", **fields: Any) -> Question:  # noqa: ANN401
    return Question(name, "f", "g", "s", "Which?", "prompt", "task-set", ["A"], "jaccard", cluster=cluster, **fields)


def diagrams(*labels: str, kind: str = "task") -> dict[str, Any]:
    nodes = [{"id": f"n{at}", "label": label, "kind": kind} for at, label in enumerate(labels)]
    return {"c": {"title": "t", "nodes": nodes, "edges": [], "groups": [{"id": "g", "label": "Group"}]}}


def table_of(names: NameTables, asked: Question) -> list[list[str]]:
    place = names.place(asked)
    return names.tables[place]


def test_name_tables_have_labels_names_and_spellings() -> None:
    names = NameTables(diagrams("A", "B"))
    spelled_question = question(names=["A", "A.C"], spellings={"n1": "A", "the second": "B"})
    assert table_of(names, spelled_question) == [["A", "n1"], ["B", "the second"], ["Group"], ["A.C"]]


def test_name_tables_same_subject_shares_one_table() -> None:
    names = NameTables(diagrams("A"))
    assert [names.place(question(f"q{at}")) for at in range(3)] == [0, 0, 0]
    assert names.place(question("other", cluster="d")) == 1
    assert names.tables == [[["A"], ["Group"]], []]


def test_name_tables_gateways_are_no_names() -> None:
    assert table_of(NameTables(diagrams("Fork", kind="parallel")), question()) == [["Group"]]


def test_name_tables_are_bounded() -> None:
    names = NameTables(diagrams(*(f"T{at}" for at in range(MOST_NAMES + 5)), "x" * (LONGEST_NAME + 1), " ", ""))
    table = table_of(names, question())
    assert len(table) == MOST_NAMES
    assert max(len(word) for entry in table for word in entry) < LONGEST_NAME


def test_name_tables_damaged_diagrams_have_no_names() -> None:
    assert table_of(NameTables(None), question(names=["A"])) == [["A"]]
    assert table_of(NameTables({"c": "odd"}), question()) == []


def test_name_tables_names_are_printable() -> None:
    assert table_of(NameTables({}), question(names=["a\u202eb"])) == [["a\\u202eb"]]


def test_html_names_stand_once_for_questions_of_cluster() -> None:
    trials = [Trial(question(f"q{at}", names=["Alpha", "Beta"]), "m", "skipped") for at in range(30)]
    details = Page(html(build(trials, about_run("0.1.0", ("m",))))).data("details")
    assert json.loads(decompress(b64decode(details["names"]))) == [[["Alpha"], ["Beta"]]]
    assert {detail["names"] for detail in details["questions"]} == {0}


def test_html_texts_with_names_are_marked_for_script() -> None:
    page = Page(html(build([Trial(question(), "m", "skipped")], about_run("0.1.0", ("m",)))))
    slots = [own.get("data-slot") for _, own, _ in page.elements if "data-names" in own]
    assert {"text", "expected", "given", "reply", "prompt", "system", "turn_reply", "call_result"} <= set(slots)
