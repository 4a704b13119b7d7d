"""What docs/reference/options.md says about setting options holds: its files configure a run."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path
from typing import Any

import pytest
from plugin_project import SUITE, Project

from pytest_taskgraph.plugin.options import all_options

PAGE = (Path(__file__).parents[2] / "docs" / "reference" / "options.md").read_text(encoding="utf-8")
FILES = re.findall(r"^```toml pyproject\.toml\n(.*?)^```$", PAGE, re.MULTILINE | re.DOTALL)


def pytest_table(block: str) -> dict[str, Any]:
    """The options that a file sets."""
    stated: dict[str, Any] = tomllib.loads(block)["tool"]["pytest"]["ini_options"]
    return stated


def test_there_are_files_to_try() -> None:
    assert len(FILES) >= 3
    stated = {name for block in FILES for name in pytest_table(block) if name.startswith("taskgraph_")}
    assert stated <= {option.dest for option in all_options().values()}


@pytest.mark.parametrize("number", range(len(FILES)))
def test_file_of_page_is_taken_without_complaint(
    project: Project, number: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TASKGRAPH_MODEL", "baseline:constant")  # not that of the page: none is live here
    (project.path / "pytest.ini").unlink()
    project.write("test_graph.py", SUITE.replace('"parallel_pair"', '"flow_start", "order_of_two"'))
    project.write("pyproject.toml", FILES[number])
    project.write("prompts/ask.jinja", "{# answer: marker #}\n{{ workflow }}\n\n{{ question }}\n{{ instruction }}\n")
    ran = project.run("--collect-only", "-q")
    assert ran.code == 0, ran.output
    assert ran.clean


def test_lists_stand_in_file_as_lists(project: Project) -> None:
    (project.path / "pytest.ini").unlink()
    project.write(
        "pyproject.toml",
        '[tool.pytest.ini_options]\ntaskgraph_model = ["baseline:constant", "baseline:random"]\n'
        'taskgraph_fail_on = "nothing"\ntaskgraph_instances = "1"\n',
    )
    ran = project.run()
    assert ran.code == 0
    assert {"baseline constant", "baseline random"} <= set(re.findall(r"baseline \w+", ran.output))


def test_number_may_stand_without_quotes(project: Project) -> None:
    (project.path / "pytest.ini").unlink()
    project.write("pyproject.toml", "[tool.pytest.ini_options]\ntaskgraph_instances = 1\n")
    assert project.run("--collect-only", "-q").output.count("test_graph.py::") == 2


def test_flag_wins_over_environment_that_over_ini_file_that_over_suite(
    project: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    def instances(*args: str) -> int:
        return project.run("--collect-only", "-q", *args).output.count("test_graph[parallel_pair")

    counts = [instances()]
    project.write("pytest.ini", "[pytest]\ntaskgraph_instances = 1\n")
    counts.append(instances())
    monkeypatch.setenv("TASKGRAPH_INSTANCES", "3")
    counts += [instances(), instances("--taskgraph-instances=5")]
    assert counts == [2, 1, 3, 5]


def test_switch_of_file_is_on_with_true_and_refused_with_another_word(project: Project) -> None:
    project.write("pytest.ini", "[pytest]\ntaskgraph_dry_run = true\n")
    assert "no request was sent" in project.run().output
    project.write("pytest.ini", "[pytest]\ntaskgraph_dry_run = yes\n")
    ran = project.run()
    assert ran.code == pytest.ExitCode.USAGE_ERROR
    assert "--taskgraph-dry-run: 'yes'; expected true or false" in ran.output
