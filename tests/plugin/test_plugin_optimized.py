"""Runs under `python -OO`, which leaves out docstrings and assert statements."""

from __future__ import annotations

import sys

import bounded_process
import pytest
from plugin_project import OWN, Project

from pytest_taskgraph.commands import all_commands

HELP = """
import sys
from pytest_taskgraph.__main__ import main

for words in [["--help"], *([name, "--help"] for name in sys.argv[1:]), ["patterns"]]:
    try:
        code = main(words)
    except SystemExit as stop:
        code = stop.code
    if code:
        sys.exit(f"{words}: {code}")
"""


@pytest.fixture
def optimized(project: Project, monkeypatch: pytest.MonkeyPatch) -> Project:
    monkeypatch.setenv("PYTHONOPTIMIZE", "2")
    return project


def test_optimized_run_scores_as_any_other(optimized: Project, monkeypatch: pytest.MonkeyPatch) -> None:
    optimized.write("test_own.py", OWN)
    options = ("--model=simulated:0.5", "--taskgraph-report=json=record.json")
    ran = optimized.spawn(*options)
    assert ran.clean, ran.output
    outcomes = [(trial["question"]["id"], trial["outcome"]) for trial in optimized.record()["trials"]]
    monkeypatch.delenv("PYTHONOPTIMIZE")
    assert optimized.run(*options).code == ran.code
    assert [(trial["question"]["id"], trial["outcome"]) for trial in optimized.record()["trials"]] == outcomes
    assert {outcome for _, outcome in outcomes} >= {"right", "wrong"}
    assert sum(id_.startswith("purpose-") for id_, _ in outcomes) == 2, "patterns of a user are asked"


def test_optimized_commands_print_help_and_patterns(optimized: Project) -> None:
    names = list(all_commands())
    ran = bounded_process.run([sys.executable, "-c", HELP, *names], cwd=optimized.path)
    assert ran.returncode == 0, ran.stderr
    assert ran.stdout.count("usage: python -m pytest_taskgraph") == len(names) + 1
    assert "docstrings are left out under python -OO" in ran.stdout
