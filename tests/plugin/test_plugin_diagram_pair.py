"""A family that draws the expected and the given answer: the record and the page of a run hold both."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import pairwise
from typing import Any

import pytest
from plugin_project import Project

from pytest_taskgraph.benchmarks.family import Family, QuestionReference
from pytest_taskgraph.benchmarks.settings import Settings
from pytest_taskgraph.diagram import MOST_NODES, Diagram, DiagramEdge, DiagramNode, DiagramPair
from pytest_taskgraph.results import record
from pytest_taskgraph.trial import Json, Question, Score

SUITE = """
from pytest_taskgraph import suite
from pytest_taskgraph.benchmarks import FAMILIES

@suite(FAMILIES["recipes"])
def test_recipes(trial):
    trial.check()
"""
STEPS = ["Boil", "Warm", "Brew"]


class Recipes(Family):
    """What the steps of a recipe are."""

    name = "recipes"
    drawn = 0

    def references(self, settings: Settings, options: Mapping[str, Any]) -> Sequence[QuestionReference]:
        return [QuestionReference(f"tea-{at}", "steps", {"ordinal": at}) for at in range(4)]

    def question(self, reference: QuestionReference, settings: Settings) -> Question:
        prompt = f"What are the steps of recipe {reference.payload['ordinal']}?"
        return Question(
            reference.id, self.name, "steps", "", prompt, prompt, "text", "; ".join(STEPS), "rouge1", place="whole"
        )

    def diagram_pair(self, question: Question, score: Score) -> DiagramPair | None:
        self.drawn += 1
        return DiagramPair(_chain(question.reference), _chain(score.given))


RECIPES = Recipes()
CONFTEST = """
from test_plugin_diagram_pair import RECIPES

def pytest_taskgraph_register(registry):
    registry.family(RECIPES)
"""


def _chain(steps: Json) -> Diagram:
    ids = str(steps).split("; ")
    links = [DiagramEdge(first, then) for first, then in pairwise(ids)]
    return Diagram("Tea", [DiagramNode(id, id) for id in ids], links)


@pytest.fixture
def recipes(project: Project) -> Project:
    """A project with a suite of the family, and with replies: right, wrong, far too long, and none at all."""
    project.write("conftest.py", CONFTEST)
    RECIPES.drawn = 0
    project.write("test_graph.py", SUITE)
    replies = ["Boil; Warm; Brew", "Boil; </svg><script>alert(1)</script>", "; ".join(f"s{at}" for at in range(2_000))]
    rows = [f'{{"question": "recipe {at}?", "reply": "{reply}"}}' for at, reply in enumerate(replies)]
    project.write("replies.jsonl", "\n".join(rows))
    return project


def test_record_and_page_hold_the_pair_of_each_parsed_answer(recipes: Project) -> None:
    recipes.run(
        "--model=recorded:replies.jsonl", "--taskgraph-report=json=run.json", "--taskgraph-report=html=run.html"
    )
    found = recipes.record("run.json")
    pairs = {one["question"]["id"]: one.get("diagram_pair") for one in found["trials"]}
    assert pairs["tea-3"] is None
    assert pairs["tea-0"]["expected"] == pairs["tea-0"]["given"]
    assert [node["id"] for node in pairs["tea-0"]["expected"]["nodes"]] == STEPS
    assert len(pairs["tea-2"]["given"]["nodes"]) == MOST_NODES - len(STEPS)
    assert pairs["tea-2"]["given"]["omitted"] > 0
    assert record.build(record.tally_of(found), record.about_of(found))["trials"] == found["trials"]
    page = (recipes.path / "run.html").read_text(encoding="utf-8")
    assert "<title>Expected: Tea</title>" in page
    assert "missing from the answer: <span" in page
    assert "<script>alert" not in page


def test_without_a_report_that_draws_nothing_is_drawn(recipes: Project) -> None:
    recipes.run("--model=recorded:replies.jsonl", "--taskgraph-report=csv=run.csv")
    assert RECIPES.drawn == 0
