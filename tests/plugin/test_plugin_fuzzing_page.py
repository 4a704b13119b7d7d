"""The tutorial of docs/how-to/fuzzing.md, as a reader runs it; and what the page says of properties."""

from __future__ import annotations

import re
import shlex
from pathlib import Path

import hypothesis
import pytest
from plugin_project import Project

from pytest_taskgraph.families.understanding.understanding_family import understanding
from pytest_taskgraph.soundness.properties import PROPERTIES

PAGE = (Path(__file__).parents[2] / "docs" / "how-to" / "fuzzing.md").read_text(encoding="utf-8")
PLUGINS = ("taskgraph", "_hypothesis_pytestplugin")


@pytest.fixture
def tutorial(project: Project, monkeypatch: pytest.MonkeyPatch) -> Project:
    """A project with the files of the page."""
    monkeypatch.setattr(hypothesis.core, "global_force_seed", None)  # which an inner run sets
    (project.path / "test_graph.py").unlink()
    for name, text in re.findall(r"`([\w.]+)`:\n\n```(?:python|jinja)\n(.*?)^```$", PAGE, re.MULTILINE | re.DOTALL):
        project.write(name, text)
    return project


@pytest.mark.exhaustive
@pytest.mark.parametrize("examples", ["100", "200"])
def test_page_tutorial_finds_fault_and_survives_fix(tutorial: Project, examples: str) -> None:
    (command,) = re.findall(r"^pytest (--taskgraph-fuzz=200 --hypothesis-seed=1)$", PAGE, re.MULTILINE)
    broken = tutorial.run(*command.replace("200", examples).split(), "test_next.py", plugins=PLUGINS)
    assert (broken.code, broken.counts) == (1, {"failed": 2})
    example = (
        PAGE.partition("```text\ntemplate: ")[2].partition("```")[0].replace("=200", f"={examples}").splitlines()[1:]
    )
    expected_lines = [line for line in example if "..." not in line]
    assert all(line in broken.output.splitlines() for line in expected_lines), broken.output
    template = tutorial.path / "ask.jinja"
    tutorial.write("ask.jinja", template.read_text(encoding="utf-8").replace(" | truncate(600)", ""))
    (line,) = (line for line in example if line.startswith("reproduce: "))
    mended = tutorial.spawn(*shlex.split(line.replace(f"={examples}", "=10"))[2:], plugins=PLUGINS)
    assert (mended.code, mended.counts) == (0, {"passed": 1})
    (searched,) = re.findall(r"^taskgraph: 1 group searched .*$", PAGE, re.MULTILINE)
    assert searched.replace("200", "10") in mended.output


def test_page_strategy_draws_workflows_for_tests(tutorial: Project) -> None:
    assert tutorial.run("test_own.py", plugins=PLUGINS).counts == {"passed": 1}


def test_page_lists_every_property() -> None:
    names = re.findall(r"^\| `([a-z-]+)` \|", PAGE, re.MULTILINE)
    assert sorted(names) == sorted([*PROPERTIES, *understanding.properties()])
