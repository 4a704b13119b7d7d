"""Every code block of the README and of docs/ runs; live ones against a server on the loopback interface."""

from __future__ import annotations

import os
import re
import shlex
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from loopback import Loopback

from pytest_taskgraph.notations import notation
from pytest_taskgraph.plugin.options import OPTIONS

ROOT = Path(__file__).parents[1]
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]
BLOCK = re.compile(r"^```(\w+)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
KINDS = {"wadl": "wadl", "mermaid": "mermaid", "json": "json", "text": "prose"}
SUMMARY = re.compile(r"taskgraph: .* right \(\d\.\d{3}\)|^total ", re.MULTILINE)


def blocks(kind: str) -> list[str]:
    return [text for page in PAGES for found, text in BLOCK.findall(page.read_text(encoding="utf-8")) if found == kind]


def samples(page: Path) -> list[tuple[str, str]]:
    """The workflows that a page shows."""
    found = BLOCK.findall(page.read_text(encoding="utf-8"))
    # Elsewhere than in that page, texts and JSON are no workflows.
    kinds = KINDS.keys() if page.name == "notations.md" else KINDS.keys() - {"text", "json"}
    return [(kind, text) for kind, text in found if kind in kinds]


def commands() -> list[str]:
    lines = [
        line.removeprefix("$ ") for block in blocks("console") for line in block.splitlines() if line.startswith("$ ")
    ]
    # Installing, and this very suite, are run by .ci/run.
    return [line for line in lines if " pip install " not in line and not line.startswith("python -m pytest tests")]


@pytest.fixture
def desk(tmp_path: Path) -> Path:
    """A folder as a reader of the README has it: the suites, and the files that the README shows."""
    shutil.copytree(ROOT / "suites", tmp_path / "suites")
    (tmp_path / "pyproject.toml").write_text("[tool.pytest.ini_options]\n", encoding="utf-8")
    (tmp_path / "supper.mmd").write_text(blocks("mermaid")[0], encoding="utf-8")
    return tmp_path


@pytest.fixture
def server() -> Iterator[Loopback]:
    with Loopback() as running:
        yield running


def run(command: str, desk: Path, **environment: str) -> subprocess.CompletedProcess[str]:
    words = shlex.split(command)
    if words[0] == "pytest":
        words[:1] = ["python", "-m", "pytest"]
    kept = {k: v for k, v in os.environ.items() if not k.startswith(("TASKGRAPH_", "PYTEST_", "OPENAI_"))}
    whole = [sys.executable, *words[1:]]
    return subprocess.run(
        whole, cwd=desk, env=kept | environment, capture_output=True, text=True, timeout=120, check=False
    )


@pytest.mark.parametrize("command", commands())
def test_a_command_of_the_readme_runs(command: str, desk: Path, server: Loopback) -> None:
    live = {"OPENAI_API_KEY": "test", "OPENAI_API_BASE": server.url} if "openai/" in command else {}
    done = run(command, desk, **live)
    assert "Traceback" not in done.stdout + done.stderr
    assert done.returncode in ((0, 1) if live else (0,)), done.stdout + done.stderr
    if command.startswith("pytest"):
        assert SUMMARY.search(done.stdout), done.stdout
        assert "errors" not in done.stdout.splitlines()[-1]


def test_the_pattern_of_the_readme_is_asked_and_the_reader_answers_it(desk: Path) -> None:
    (block,) = blocks("python")
    (desk / "test_mine.py").write_text(block, encoding="utf-8")
    done = run("pytest test_mine.py --model=baseline -q", desk)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "8 of 8 right (1.000)" in done.stdout


def test_the_ini_file_of_the_readme_sets_the_options(desk: Path) -> None:
    (block,) = blocks("toml")
    (desk / "pyproject.toml").write_text(block, encoding="utf-8")
    done = run("pytest suites/ -k flow_start", desk)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "seed 3, 2 questions" in done.stdout
    assert "notation mermaid" in done.stdout


@pytest.mark.parametrize(
    ("page", "kind", "text"), [(page, kind, text) for page in PAGES for kind, text in samples(page)], ids=lambda one: ""
)
def test_a_workflow_shown_in_the_docs_is_read_by_its_notation(page: Path, kind: str, text: str) -> None:
    shown = notation(KINDS[kind]).read(text, page.name)
    assert shown.tasks or shown.configurations


def test_the_table_of_options_names_them_all_with_their_defaults() -> None:
    rows = re.findall(
        r"^\| `([\w-]+)[^|`]*` \| (.*) \| (.*) \|$", (ROOT / "README.md").read_text(encoding="utf-8"), re.MULTILINE
    )
    assert [(name, default.strip("`")) for name, _, default in rows] == [(o.name, o.default) for o in OPTIONS.values()]


def test_help_shows_every_option(desk: Path) -> None:
    text = run("pytest --help", desk).stdout
    assert all(f"--taskgraph-{name}" in text for name in OPTIONS)
