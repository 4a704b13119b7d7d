"""The tables of PAGED as the terminal shows them: which columns are left out where room is scarce."""

from __future__ import annotations

import pytest
from plugin_project import Project

from pytest_taskgraph.families.paged.paged_tables import MOST_ROUNDS

SUITE = """
from pytest_taskgraph import paged, suite

@suite(paged)
def test_paged(trial):
    trial.check()
"""
GATEWAYS = ["XOR", "OR", "AND"]
FLOWS = ["seq", "cond"]


@pytest.fixture
def suite(project: Project) -> Project:
    project.write("test_paged.py", SUITE)
    return project


def headings(suite: Project, monkeypatch: pytest.MonkeyPatch, width: int, *args: str) -> dict[str, list[str]]:
    """Return the headings of the tables that a run prints, by their title; no line is wider than the terminal."""
    monkeypatch.setenv("COLUMNS", str(width))
    ran = suite.run("test_paged.py", "-v", "--taskgraph-instances=2", *args)
    assert ran.code == 0, ran.output
    assert max(map(len, ran.table)) <= width
    titles = ("F1 by element", "whole graph", "precision", "recall", "self-refine")
    lines = {title: line for line in ran.table for title in titles if line.startswith(f"{title} ")}
    return {title: line.removeprefix(title).split() for title, line in lines.items()}


@pytest.mark.parametrize("quality", ["pipeline", "concatenated"])
def test_tables_at_80_columns_show_gateways_and_flows(
    suite: Project, monkeypatch: pytest.MonkeyPatch, quality: str
) -> None:
    columns = headings(suite, monkeypatch, 80, f"--taskgraph-paged-quality={quality}")
    for title in ("F1 by element", "precision", "recall"):
        assert columns[title] == ["n", "actor", "action", *GATEWAYS, *FLOWS]


def test_tables_at_120_columns_show_every_element(suite: Project, monkeypatch: pytest.MonkeyPatch) -> None:
    columns = headings(suite, monkeypatch, 120)
    for title in ("F1 by element", "precision", "recall"):
        assert columns[title] == ["n", "actor", "action", "data", "notice", *GATEWAYS, *FLOWS, "constr"]
    assert "self-refine" not in columns


def test_self_refine_table_shows_only_requested_rounds(suite: Project, monkeypatch: pytest.MonkeyPatch) -> None:
    columns = headings(suite, monkeypatch, 80, "--taskgraph-paged-method=refine", "--taskgraph-paged-rounds=1")
    assert [word for word in columns["self-refine"] if word != "95%"] == ["n", "first", "round", "1"]
    columns = headings(
        suite, monkeypatch, 80, "--taskgraph-paged-method=refine", f"--taskgraph-paged-rounds={MOST_ROUNDS}"
    )
    assert [word for word in columns["self-refine"] if word.isdigit()] == ["1", "2", "3", "4", "5"]


def test_pass_threshold_replaces_tables_by_pass_rates(suite: Project, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "100")
    ran = suite.run("test_paged.py", "-v", "--taskgraph-instances=2", "--taskgraph-pass-threshold=0.5")
    assert ran.code == 0, ran.output
    rows = [line.split() for line in ran.table]
    assert ["extract", "2*", "1.000"] in [row[:3] for row in rows]
    assert not any(line.startswith("F1 by element") for line in ran.table)


def test_markdown_names_run_facts_in_words_of_family(suite: Project) -> None:
    ran = suite.run("test_paged.py", "--taskgraph-instances=2", "--taskgraph-report=md=r.md")
    assert ran.code == 0, ran.output
    lines = (suite.path / "r.md").read_text(encoding="utf-8").splitlines()
    assert "- documents: `generated (test split)`" in lines
    assert "- worked examples: `3`" in lines
