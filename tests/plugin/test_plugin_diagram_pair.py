"""A family that draws the expected and the given answer: the record and the page of a run hold both."""

from __future__ import annotations

from pathlib import Path

import drawing_family
import pytest
from drawing_family import STEPS
from plugin_project import Project

from pytest_taskgraph.diagram import MOST_NODES
from pytest_taskgraph.reports.html import html
from pytest_taskgraph.results import record

SUITE = """
from pytest_taskgraph import suite
from pytest_taskgraph.families import FAMILIES

@suite(FAMILIES["recipes"])
def test_recipes(trial):
    trial.check()
"""
CONFTEST = """
from recipes import Recipes

def pytest_taskgraph_register(registry):
    registry.family(Recipes())
"""
FAILS = """
class Recipes(Recipes):
    def diagram_pair(self, question, score):
        raise RuntimeError("nobody wants a drawing")
"""


@pytest.fixture
def recipes(project: Project) -> Project:
    """A project with a suite of the family, and with replies: right, wrong, far too long, and none at all."""
    project.write("recipes.py", Path(drawing_family.__file__).read_text(encoding="utf-8"))
    project.write("conftest.py", CONFTEST)
    project.write("test_graph.py", SUITE)
    replies = ["Boil; Warm; Brew", "Boil; </svg><script>alert(1)</script>", "; ".join(f"s{at}" for at in range(2_000))]
    rows = [f'{{"question": "recipe {at}?", "reply": "{reply}"}}' for at, reply in enumerate(replies)]
    project.write("replies.jsonl", "\n".join(rows))
    return project


def reports(name: str) -> list[str]:
    """The arguments of a run that writes NAME.json and NAME.html."""
    return [
        "--model=recorded:replies.jsonl",
        *(f"--taskgraph-report={kind}={name}.{kind}" for kind in ("json", "html")),
    ]


def test_record_and_page_hold_pair_of_each_parsed_answer(recipes: Project) -> None:
    recipes.run(*reports("run"))
    loaded = recipes.record("run.json")
    pairs = {trial["question"]["id"]: trial.get("diagram_pair") for trial in loaded["trials"]}
    assert pairs["tea-3"] is None
    assert pairs["tea-0"]["expected"] == pairs["tea-0"]["given"]
    assert [node["id"] for node in pairs["tea-0"]["expected"]["nodes"]] == STEPS
    assert len(pairs["tea-2"]["given"]["nodes"]) == MOST_NODES - len(STEPS)
    assert pairs["tea-2"]["given"]["omitted"] > 0
    assert record.build(record.tally_of(loaded), record.about_of(loaded))["trials"] == loaded["trials"]
    page = (recipes.path / "run.html").read_text(encoding="utf-8")
    assert "<title>Expected: Tea</title>" in page
    assert "missing from the answer: <span" in page
    assert "<script>alert" not in page


def test_record_and_page_of_run_over_workers_are_same(recipes: Project) -> None:
    recipes.run(*reports("alone"))
    recipes.spread(*reports("spread"), workers=1)
    alone, spread = (recipes.record(f"{name}.json") for name in ("alone", "spread"))
    assert alone["provenance"] != spread["provenance"]  # the time of the run, and its arguments
    spread["provenance"] = alone["provenance"]
    assert alone == spread
    assert html(alone) == html(spread)
    assert len([trial for trial in recipes.record("spread.json")["trials"] if "diagram_pair" in trial]) == 3


def test_diagrams_without_drawing_report_are_not_drawn(recipes: Project) -> None:
    with (recipes.path / "recipes.py").open("a", encoding="utf-8") as family:
        family.write(FAILS)
    ran = recipes.run("--model=recorded:replies.jsonl", "--taskgraph-report=csv=run.csv")
    assert "nobody wants a drawing" not in ran.output
    assert "2 failed, 1 passed, 1 skipped" in ran.output
