"""The steps of docs/tutorial.md: its files are written, its commands run in their order, their output is as shown."""

from __future__ import annotations

import re
from itertools import pairwise
from pathlib import Path

import bounded_process
import pytest
from test_walkthrough import environment

from pytest_taskgraph.plugin.options import OPTIONS

PAGE = (Path(__file__).parents[1] / "docs" / "tutorial.md").read_text(encoding="utf-8")
BLOCKS: list[tuple[str, str, str]] = re.findall(r"^```(\w+) ?(\S*)\n(.*?)^```$", PAGE, re.MULTILINE | re.DOTALL)
COMMANDS = [text for kind, _, text in BLOCKS if kind == "sh"]
CODES = [0, 1, 0, 0, 1]


@pytest.fixture(scope="module")
def outputs(tmp_path_factory: pytest.TempPathFactory) -> dict[str, tuple[int, str]]:
    """The exit code and the output of each command, run in a folder that was empty."""
    folder = tmp_path_factory.mktemp("tutorial")
    project = folder / "project"
    project.mkdir()
    variables = environment(folder) | {"COLUMNS": "100"}
    ran = {}
    for kind, name, text in BLOCKS:
        if kind == "sh":
            process = bounded_process.run(["sh", "-c", text], cwd=project, env=variables)
            ran[text] = (process.returncode, process.stdout + process.stderr)
        elif name:
            path = project / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text, encoding="utf-8")
    (run,) = workflow_commands()
    ci = variables | {"TASKGRAPH_MODEL": "simulated:0.95", "GITHUB_STEP_SUMMARY": str(project / "summary.md")}
    process = bounded_process.run(["sh", "-c", run], cwd=project, env=ci)
    ran[run] = (process.returncode, (project / "summary.md").read_text(encoding="utf-8"))
    assert (project / "run.html").is_file()
    assert (project / ".taskgraph" / "runs" / "main.json").is_file()
    return ran


def workflow_commands() -> list[str]:
    """Return the pytest commands of the CI workflow."""
    (text,) = [text for kind, _, text in BLOCKS if kind == "yaml"]
    return re.findall(r"^ +- run: (pytest .*)$", text, re.MULTILINE)


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
    (command,) = workflow_commands()
    code, summary = outputs[command]
    assert code == 0
    assert "structure" in summary


def test_tutorial_options_exist() -> None:
    assert {*re.findall(r"--taskgraph-([\w-]+)", PAGE)} <= OPTIONS.keys()
