"""Families that only a conftest file of a deeper folder registers, which an xdist controller does not load."""

from __future__ import annotations

from plugin_project import Project

FAMILY = """
from pytest_taskgraph import Aggregate, Family, FamilyDescription, Option, Question, QuestionReference
from pytest_taskgraph.family_description import Column, TableSpec

SIDE = Option("riddle-side", "SIDE", "which side is asked about", "left")


class Riddles(Family):
    name, options, episode_metrics = "riddles", (SIDE,), ("speed",)

    def references(self, settings, options):
        return [QuestionReference(f"riddle-{at}", "riddle") for at in range(3)]

    def question(self, reference, settings):
        return Question(reference.id, self.name, "riddle", "", "?", "?", "number", 1, "correctness", place="whole")

    def question_set(self, group):
        return 7

    def description(self, settings):
        columns = (Column("n", "n"), Column("solved", "solved"))
        return FamilyDescription(
            self.name, group="riddle", facts={"side": settings.value_of(SIDE)},
            aggregates=(Aggregate("solved", "mean", ("correctness",)),),
            tables=(TableSpec("riddles", "riddle", columns),),
        )


riddles = Riddles()


def pytest_taskgraph_register(registry):
    registry.family(riddles)
"""
SUITE = """
from conftest import riddles
from pytest_taskgraph import suite

@suite(riddles)
def test_riddles(trial):
    trial.check()
"""


def register_deeper(project: Project) -> None:
    """Write a family and its suite into a folder whose conftest file pytest loads late."""
    (project.path / "test_graph.py").unlink()
    deep = project.path / "deep"
    deep.mkdir()
    (deep / "conftest.py").write_text(FAMILY, encoding="utf-8")
    (deep / "test_riddles.py").write_text(SUITE, encoding="utf-8")


def test_family_of_deeper_conftest_under_xdist_has_facts_and_gates(project: Project) -> None:
    register_deeper(project)
    gates = ("--taskgraph-gate=riddles.solved>=0.9", "--taskgraph-gate=riddles.speed>=0.9")
    options = (".", "-v", "--model=simulated:1", "--taskgraph-report=json=record.json", *gates)
    alone = project.run(*options)
    record_alone = project.record()
    spread = project.spread(*options)
    assert "side left" in spread.output
    record = project.record()
    for name in ("families", "tables", "question_sets", "settings"):
        assert record[name] == record_alone[name]
    assert record["question_sets"] == {"riddles": 7}
    assert record["settings"]["riddle-side"] == "left"
    assert "solved" in alone.output
    assert "passed gates::riddles.solved: " in spread.output
    assert "no metric or aggregate of that name" not in spread.output
    assert "gates::riddles.speed" in spread.output
