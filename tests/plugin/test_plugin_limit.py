"""`--taskgraph-limit`: the first questions of each group, for a cheap try."""

from __future__ import annotations

from collections import Counter

import pytest
from plugin_project import Project

SUITE = """
from pytest_taskgraph import suite, understanding

@suite(understanding, patterns=["next_tasks", "flow_start"], notations=["wadl"])
def test_graph(trial):
    trial.check()
"""
RIGHT = "--model=simulated:1.0"


@pytest.fixture
def graph(project: Project) -> Project:
    project.write("test_graph.py", SUITE)
    return project


def asked(project: Project, *args: str) -> Counter[tuple[str, ...]]:
    """Return how many questions a run asks, by model, pattern and prompt."""
    ran = project.run(RIGHT, "--taskgraph-report=json=r.json", *args)
    assert ran.clean, ran.output
    questions = [(trial["model"], trial["question"]) for trial in project.record("r.json")["trials"]]
    return Counter((model, of["group"], of["labels"]["prompt"]) for model, of in questions)


def test_limit_asks_first_questions_of_each_pattern(graph: Project) -> None:
    ids = graph.run("--collect-only", "-q").output
    limited = graph.run("--collect-only", "-q", "--taskgraph-limit=2").output
    kept = [line for line in limited.splitlines() if "::" in line]
    everything = [line for line in ids.splitlines() if "::" in line]
    assert kept == [*everything[:2], *everything[4:6]]
    assert "4 deselected" in limited


def test_limit_counts_what_other_selections_leave(graph: Project) -> None:
    assert sum(asked(graph, "--taskgraph-limit=3", "-k", "flow_start").values()) == 3


def test_limit_is_that_of_each_model_and_prompt(graph: Project) -> None:
    prompts = ("--taskgraph-prompt=direct", "--taskgraph-prompt=chain-of-thought")
    counts = asked(graph, "--model=simulated:0.5", *prompts, "--taskgraph-fail-on=nothing", "--taskgraph-limit=1")
    assert len(counts) == 8
    assert set(counts.values()) == {1}


def test_limit_keeps_variations_of_what_is_asked(graph: Project) -> None:
    asked(graph, "--taskgraph-vary=names", "--taskgraph-limit=2")
    questions = [trial["question"] for trial in graph.record("r.json")["trials"]]
    originals = {question["id"] for question in questions if not question["relation"]}
    varied = [question for question in questions if question["relation"]]
    assert len(originals) == 4
    assert varied
    assert {question["twin"] for question in varied} <= originals


def test_limit_leaves_gates_undecided(graph: Project) -> None:
    ran = graph.run(RIGHT, "--taskgraph-limit=1", "--taskgraph-gate=structure>=0.9")
    assert "skipped gates::structure: not decided: 6 of 8 questions left out by --taskgraph-limit" in ran.output


def test_limit_is_same_over_workers(graph: Project) -> None:
    alone = graph.run(RIGHT, "--taskgraph-limit=1")
    assert graph.spread(RIGHT, "--taskgraph-limit=1").counts["passed"] == alone.counts["passed"] == 2


def test_limit_zero_is_refused(graph: Project) -> None:
    ran = graph.run("--taskgraph-limit=0")
    assert (ran.code, ran.clean) == (pytest.ExitCode.USAGE_ERROR, True)
    assert "--taskgraph-limit: 0; expected at least 1" in ran.output
