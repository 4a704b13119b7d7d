"""docs/reference/workflow-language.md describes the grammar that the package reads."""

from __future__ import annotations

import re
from importlib.resources import files
from pathlib import Path

import pytest

from pytest_taskgraph.notations import notation
from pytest_taskgraph.workflow.graph import successors
from pytest_taskgraph.workflow.guards.cells import Situation
from pytest_taskgraph.workflow.guards.solver import holds, parse_guard

PAGE = (Path(__file__).parents[2] / "docs" / "reference" / "workflow-language.md").read_text(encoding="utf-8")
BLOCKS = re.findall(r"^```(\w+)\n(.*?)^```$", PAGE, re.MULTILINE | re.DOTALL)
GRAMMAR = files("pytest_taskgraph.notations.wadl").joinpath("wadl.lark").read_text(encoding="utf-8")
SITUATION: Situation = {"n": 3, "mode": "fast"}


def test_page_grammar_has_every_keyword_of_the_grammar() -> None:
    (page_grammar,) = [text for kind, text in BLOCKS if kind == "text" and "workflow" in text]
    rules = re.sub(r"//.*|/[^\n]+/", "", GRAMMAR)
    keywords = {*re.findall(r'"([^"\n]+)"', rules)}
    assert {*re.findall(r'"([^"\n]+)"', page_grammar)} - {"START", "END"} == keywords


def test_first_example_has_the_next_tasks_of_the_page() -> None:
    workflow = notation("wadl").read(next(text for kind, text in BLOCKS if kind == "wadl"), "page")
    assert set(successors(workflow, "Soak")) == {"Chop", "Boil"}
    assert all("Serve" in successors(workflow, name) for name in ("Chop", "Salt"))


@pytest.mark.parametrize(("condition", "value"), re.findall(r"^\| `(.+)` \| (yes|no) \|$", PAGE, re.MULTILINE))
def test_condition_of_the_page_holds_as_stated(condition: str, value: str) -> None:
    guard = parse_guard(condition)
    assert guard is not None
    assert holds(guard, SITUATION) == (value == "yes")
