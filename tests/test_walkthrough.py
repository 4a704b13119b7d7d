"""The steps of docs/how-to/pull-request.md: its files are written and its commands run, in their order."""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import bounded_process
import pytest
from loopback import Loopback
from plugin_project import right, wrong
from posix_tests import posix_only

from pytest_taskgraph.families.understanding.init_command import CI, source_text
from pytest_taskgraph.plugin.options import OPTIONS
from pytest_taskgraph.results import record

pytestmark = posix_only

PAGE = (Path(__file__).parents[1] / "docs" / "how-to" / "pull-request.md").read_text(encoding="utf-8")
BLOCKS: list[tuple[str, str, str]] = re.findall(r"^```(\w+) ?(\S*)\n(.*?)^```$", PAGE, re.MULTILINE | re.DOTALL)
ADDRESS = "http://localhost:8000/v1"


def answer(prompt: str) -> str:
    """Who thinks is right; who does not takes tasks that run in parallel for others, and the other way round."""
    about_parallel_pairs = re.search(r"\bexecutes? both\b", prompt) is not None  # in both phrasings
    return wrong(prompt) if about_parallel_pairs and "Think step by step" not in prompt else right(prompt)


@dataclass(frozen=True)
class Step:
    """A command of the page, and what it came to."""

    command: str
    code: int
    output: str


@dataclass(frozen=True)
class Walk:
    """The page, gone through."""

    folder: Path
    steps: list[Step]

    def saved(self, name: str) -> dict[str, Any]:
        return record.load(self.folder / ".taskgraph" / "runs" / f"{name}.json")

    @property
    def summary(self) -> str:
        return (self.folder / "summary.md").read_text(encoding="utf-8")


def environment(folder: Path) -> dict[str, str]:
    """That of a shell in which `python` and `pytest` are those of this process, and nothing else is set."""
    shell = folder / "bin"
    shell.mkdir()
    for name, words in (("python", ""), ("pytest", " -m pytest -p no:cacheprovider")):
        (shell / name).write_text(f'#!/bin/sh\nexec "{sys.executable}"{words} "$@"\n', encoding="utf-8")
        (shell / name).chmod(0o755)
    variables = {
        k: v for k, v in os.environ.items() if not k.startswith(("TASKGRAPH_", "PYTEST_", "OPENAI_", "GITHUB_"))
    }
    return variables | {"PATH": f"{shell}{os.pathsep}{os.environ['PATH']}"}


def walk_through(project: Path, env: dict[str, str], url: str) -> Iterator[Step]:
    for kind, name, text in BLOCKS:
        if kind == "sh":
            done = bounded_process.run(["sh", "-c", text], cwd=project, env=env)
            yield Step(text.strip(), done.returncode, done.stdout + done.stderr)
        elif name:
            path = project / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text.replace(ADDRESS, url), encoding="utf-8")


@pytest.fixture(scope="module")
def walk(tmp_path_factory: pytest.TempPathFactory) -> Walk:
    folder = tmp_path_factory.mktemp("walk")
    project = folder / "project"
    project.mkdir()
    with Loopback(answer) as server:
        return Walk(project, list(walk_through(project, environment(folder), server.url)))


@pytest.mark.exhaustive
def test_saving_on_main_passes_and_keeps_record(walk: Walk) -> None:
    step = walk.steps[0]
    assert step.code == 0, step.output
    assert {trial["outcome"] for trial in walk.saved("main")["trials"]} == {"right"}
    assert len(walk.saved("main")["trials"]) == 36


@pytest.mark.exhaustive
def test_comparison_fails_run_in_one_case_of_own(walk: Walk) -> None:
    step = walk.steps[1]
    assert step.code == 1, step.output
    assert "compare::main" in step.output
    assert re.search(r"^=+ 1 failed\b.* in [0-9.]+s", step.output, re.MULTILINE)
    assert "Traceback" not in step.output


@pytest.mark.exhaustive
def test_model_got_worse_in_one_pattern_alone(walk: Walk) -> None:
    wrong_ones = {trial["question"]["group"] for trial in walk.saved("branch")["trials"] if trial["outcome"] != "right"}
    assert wrong_ones == {"parallel_pair"}


@pytest.mark.exhaustive
def test_markdown_says_worse_first_and_names_pattern(walk: Walk) -> None:
    assert "worse" in walk.summary.partition("### ")[0]
    assert re.search(r"^\|[^|]*parallel\S*pair[^|]*\| worse \|", walk.summary, re.MULTILINE)
    assert not re.search(r"^\|[^|]*next\S*tasks[^|]*\| worse \|", walk.summary, re.MULTILINE)


@pytest.mark.exhaustive
def test_markdown_names_every_question_that_flipped(walk: Walk) -> None:
    _, heading, flipped = walk.summary.partition("Questions that flipped (12)")
    assert heading
    for trial in walk.saved("branch")["trials"]:
        if trial["outcome"] != "right":
            assert trial["question"]["id"] in flipped.replace("\\", "")


@pytest.mark.exhaustive
def test_markdown_shows_change_of_template(walk: Walk) -> None:
    assert "prompt template changed for 36 questions" in walk.summary
    assert re.search(r"^-\s*Think step by step", walk.summary, re.MULTILINE)
    assert re.search(r"^\+\s*Be brief\.", walk.summary, re.MULTILINE)


@pytest.mark.exhaustive
def test_command_compares_saved_runs_with_same_exit_code(walk: Walk) -> None:
    step = walk.steps[2]
    assert step.code == 1, step.output
    assert "worse" in step.output
    assert "parallel_pair" in step.output


@pytest.mark.exhaustive
def test_page_has_no_further_commands(walk: Walk) -> None:
    assert len(walk.steps) == 3


def test_walkthrough_page_options_exist() -> None:
    flags = set(re.findall(r"--taskgraph-([\w-]+)", PAGE))
    variables = set(re.findall(r"\b(TASKGRAPH_[A-Z_]+)", PAGE))
    assert flags <= OPTIONS.keys()
    assert variables <= {option.dest.upper() for option in OPTIONS.values()}


def steps_of(text: str) -> list[dict[str, Any]]:
    """Return the steps of the only job of a CI workflow."""
    (job,) = pytest.importorskip("yaml").safe_load(text)["jobs"].values()
    return list(job["steps"])


def test_ci_workflow_is_that_of_init() -> None:
    """Its steps are run by tests/commands/test_commands_init_ci.py."""
    assert [text for kind, name, text in BLOCKS if kind == "yaml" and name == CI] == [source_text(CI)]


def test_ci_page_states_options_of_its_own_suite() -> None:
    _, _, notes = PAGE.partition("## In GitHub Actions")
    typed = [
        text.removeprefix("pytest ").partition(" --taskgraph-report")[0] for kind, _, text in BLOCKS if kind == "sh"
    ]
    assert all(f"`{options.strip()}`" in notes for options in typed[:2])
