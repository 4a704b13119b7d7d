"""The steps of docs/tutorial.md: its files are written, its commands run in their order, their output is as shown."""

from __future__ import annotations

import os
import re
import shlex
from itertools import pairwise
from pathlib import Path

import in_process
import pytest
from plugin_fixtures import loaded
from plugin_project import Project
from test_walkthrough import steps_of

from pytest_taskgraph.families.understanding.init_command import CI, source_text
from pytest_taskgraph.plugin.options import OPTIONS

__all__ = ["loaded"]
PAGE = (Path(__file__).parents[1] / "docs" / "tutorial.md").read_text(encoding="utf-8")
BLOCKS: list[tuple[str, str, str]] = re.findall(r"^```(\w+) ?(\S*)\n(.*?)^```$", PAGE, re.MULTILINE | re.DOTALL)
COMMANDS = [text for kind, _, text in BLOCKS if kind == "sh"]
CODES = [0, 1, 0, 0, 1]
RAN: dict[str, tuple[int, str]] = {}  # the commands are run by the first test that needs them


@pytest.fixture
def outputs(loaded: None, pytester: pytest.Pytester, monkeypatch: pytest.MonkeyPatch) -> dict[str, tuple[int, str]]:
    """The exit code and the output of each command, run in a folder that was empty."""
    if not RAN:
        with in_process.untouched(pytester, monkeypatch) as project:
            (project.path / "test_graph.py").unlink()
            (project.path / "pytest.ini").unlink()
            monkeypatch.syspath_prepend(project.path)
            monkeypatch.setenv("COLUMNS", "100")
            RAN.update(follow_page(project, monkeypatch))
    return RAN


def follow_page(project: Project, monkeypatch: pytest.MonkeyPatch) -> dict[str, tuple[int, str]]:
    """Write the files of the page and run its commands, in their order; then run what its CI job runs."""
    ran = {}
    for kind, name, text in BLOCKS:
        if kind == "sh":
            ran[text] = run(text, project)
        elif name:
            project.write(name, text)
    monkeypatch.setenv("TASKGRAPH_MODEL", "simulated:0.95")
    monkeypatch.setenv("GITHUB_STEP_SUMMARY", str(project.path / "summary.md"))
    for command in workflow_commands():
        code, _ = run(command, project)
        ran[command] = (code, (project.path / "summary.md").read_text(encoding="utf-8"))
    assert (project.path / "run.html").is_file()
    assert (project.path / ".taskgraph" / "runs" / "main.json").is_file()
    return ran


def run(command: str, project: Project) -> tuple[int, str]:
    """Run a command of pytest in this process, and return its exit code and its output."""
    program, *words = shlex.split(os.path.expandvars(command))
    assert program == "pytest"
    done = project.run(*words)
    return done.code, done.output


def workflow_commands() -> list[str]:
    """Return the pytest commands of the CI workflow: to save, then to compare."""
    return [step["run"] for step in steps_of(source_text(CI)) if step.get("run", "").startswith("pytest ")]


@pytest.mark.exhaustive
def test_tutorial_commands_end_with_expected_codes(outputs: dict[str, tuple[int, str]]) -> None:
    assert [outputs[command][0] for command in COMMANDS] == CODES


def test_tutorial_shows_lines_of_the_output(outputs: dict[str, tuple[int, str]]) -> None:
    compared = 0
    for (kind, _, command), (following, _, text) in pairwise(BLOCKS):
        if kind == "sh" and following == "text":
            output = re.sub(r" in \d+\.\d+s", "", outputs[command][1]).splitlines()
            assert [line for line in text.splitlines() if line not in output] == []
            compared += 1
    assert compared == len(COMMANDS)


def test_tutorial_ci_job_passes_and_writes_summary(outputs: dict[str, tuple[int, str]]) -> None:
    save, compare = workflow_commands()
    assert [outputs[save][0], outputs[compare][0]] == [0, 0]
    assert "gates::structure" in outputs[save][1]
    assert "compare::main" in outputs[compare][1]


def test_tutorial_has_workflow_of_init_alone() -> None:
    assert not [name for _, name, _ in BLOCKS if name.endswith((".yml", ".yaml"))]
    assert "python -m pytest_taskgraph init --ci\n" in PAGE


def test_tutorial_options_exist() -> None:
    assert {*re.findall(r"--taskgraph-([\w-]+)", PAGE)} <= OPTIONS.keys()
