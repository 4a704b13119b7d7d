"""docs/how-to/check-questions.md: its example gives the output it shows, and its table names the rules."""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator
from pathlib import Path

import bounded_process
import pytest
from lint_project import LintProject, lint_project

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs" / "how-to" / "check-questions.md").read_text(encoding="utf-8")
PROPERTIES_PAGE = (ROOT / "docs" / "how-to" / "fuzzing.md").read_text(encoding="utf-8")


@pytest.fixture
def project(
    pytester: pytest.Pytester, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> Iterator[LintProject]:
    with lint_project(pytester, monkeypatch, capsys) as project:
        yield project


@pytest.mark.exhaustive
def test_page_example_prints_its_output(project: LintProject) -> None:
    (name, source), *_ = re.findall(r"`([\w.]+)`:\n\n```python\n(.*?)^```$", PAGE, re.MULTILINE | re.DOTALL)
    (output,) = re.findall(rf"^```text\n({re.escape(name)}:.*?)^```$", PAGE, re.MULTILINE | re.DOTALL)
    project.write(name, source)
    assert project.lint(name).output == output
    project.write(name, source.replace("directly after the task?", "directly after task {{ task }}?"))
    assert project.lint(name, "--examples=10").rules == []


def test_pages_name_every_rule_once(project: LintProject) -> None:
    rules = re.findall(r"^([a-z-]+) \(", project.lint("--rules").output, re.MULTILINE)
    tables = PAGE.partition("## What is checked")[2] + PROPERTIES_PAGE
    assert sorted(re.findall(r"^\| `([a-z-]+)` \|", tables, re.MULTILINE)) == sorted(rules)


@pytest.mark.parametrize(
    "fewer", [("--", "--taskgraph-instances=2"), pytest.param((), marks=pytest.mark.exhaustive)], ids=["few", "all"]
)
def test_lint_shipped_suites_are_clean(fewer: tuple[str, ...]) -> None:
    command = [sys.executable, "-m", "pytest_taskgraph", "lint", "--examples=0", "suites", *fewer]
    done = bounded_process.run(command, cwd=ROOT)
    assert (done.returncode, done.stderr) == (0, ""), done.stdout
    assert re.search(r"^7 suites with \d+ questions, \d+ rules: no problem found$", done.stdout, re.MULTILINE)
