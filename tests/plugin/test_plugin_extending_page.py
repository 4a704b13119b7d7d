"""The examples of docs/how-to/extending.md, as a reader runs them: in projects of their own."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from loopback import Loopback
from plugin_project import Project

PAGE = (Path(__file__).parents[2] / "docs" / "how-to" / "extending.md").read_text(encoding="utf-8")
RECORD = "--taskgraph-report=json=record.json"


def example(project: Project, heading: str) -> list[str]:
    """Write the files that a section shows; return the arguments of its command."""
    section = re.split(r"^#+ ", PAGE.partition(f"# {heading}\n")[2], flags=re.MULTILINE)[0]
    blocks = re.findall(r"`(\w+\.py)`:\n\n```python\n(.*?)^```$", section, re.MULTILINE | re.DOTALL)
    assert blocks
    if len(blocks) > 1:
        (project.path / "test_graph.py").unlink()
    for name, text in blocks:
        project.write(name, text)
    (command,) = re.findall(r"^pytest (?:suites/ )?(-.*)$", section, re.MULTILINE)
    return [*command.split(), RECORD]


def test_shortest_example_runs(project: Project) -> None:
    ran = project.run(*example(project, "The shortest example"), "--taskgraph-fail-on=nothing")
    assert (ran.code, ran.clean, len(project.record()["trials"])) == (0, True, 4), ran.output
    assert {trial["reply"]["text"] for trial in project.record()["trials"]} == {"Final answer: yes"}


@pytest.mark.parametrize(
    "spread", [False, pytest.param(True, marks=pytest.mark.exhaustive)], ids=["one process", "two workers"]
)
def test_example_project_asks_gateway(
    project: Project, server: Loopback, monkeypatch: pytest.MonkeyPatch, spread: bool
) -> None:
    monkeypatch.setenv("GATEWAY_URL", server.url)
    server.answer = "Some are.\nFinal answer: 30%"
    gate = ("--taskgraph-gate=share_of_splits.closeness>=0.5",)
    ran = (project.spread if spread else project.run)(*example(project, "A project of its own"), *gate)
    assert (ran.code, ran.clean, len(server.requests)) == (0, True, 4), ran.output
    assert (project.path / "count.txt").read_text() == "4 questions\n"
    for trial in project.record()["trials"]:
        expected = 1 - abs(30 - trial["question"]["reference"]) / 100
        assert trial["score"]["value"] == pytest.approx(expected)
        assert trial["question"]["labels"]["notation"] == "compact-json"
    assert all(request.prompt.startswith('{"') and "such as 40%" in request.prompt for request in server.requests)
    assert "replies of gateway are not stored: it states no version" in ran.output


def test_message_of_page_is_what_pytest_prints(project: Project) -> None:
    project.write("conftest.py", "def pytest_taskgraph_register(registry):\n    registry.metric('jaccard', abs)\n")
    (line,) = re.findall(r"^ERROR: .*$", PAGE, re.MULTILINE)
    assert line in project.run("--model=simulated:1").output.splitlines()
