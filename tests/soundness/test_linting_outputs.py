"""The outputs of the linter: text and GitHub annotations, of findings with hostile texts too."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from lint_project import LINE, SOUND, LintProject, lint_project, row

from pytest_taskgraph.benchmarks.lint_rule import LintProblem, LintRule, SourcePlace
from pytest_taskgraph.soundness.linting.lint_findings import (
    DETAILS,
    LintFinding,
    LintReport,
    as_github,
    as_text,
    make_finding,
)

RULES = (
    LintRule("duplicate-prompt", "Two are the same.", "Ask one.", lambda suite: (), "warning"),
    LintRule("renders", "It can be built.", "Mend it.", lambda suite: ()),
)
FINDING = LintFinding("renders", "error", "suites/test_a.py", 7, "q1: found none; expected one", ("a --> b",))
HOSTILE = LintFinding(
    "renders",
    "error",
    "suites/100%,a:b.py",
    3,
    "50% of\r\n::error::no\x1b[31m ##[group]x",
    ("a\x1b[2Jb", "::stop-commands::x"),
)


@pytest.fixture
def project(
    pytester: pytest.Pytester, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> Iterator[LintProject]:
    with lint_project(pytester, monkeypatch, capsys) as project:
        yield project


def report(*findings: LintFinding) -> LintReport:
    """Return a report of these findings."""
    return LintReport(findings, RULES, 2, 1200)


def test_as_text_finding_has_place_rule_details_and_remedy() -> None:
    assert as_text(report(FINDING)).splitlines() == [
        "suites/test_a.py:7: renders q1: found none; expected one",
        "    a --> b",
        "",
        "renders: Mend it.",
        "",
        "2 suites with 1,200 questions, 2 rules: 1 problem found",
    ]


def test_as_text_nothing_found_is_one_line() -> None:
    assert as_text(report()) == "2 suites with 1,200 questions, 2 rules: no problem found"


def test_as_text_hostile_text_moves_no_cursor_and_no_line() -> None:
    text = as_text(report(HOSTILE))
    assert "\x1b" not in text
    assert text.splitlines()[:3] == [
        r"suites/100%,a:b.py:3: renders 50% of ::error::no\x1b[31m #\x23[group]x",
        r"    a\x1b[2Jb",
        r"    :\x3astop-commands::x",
    ]


def test_as_text_many_details_are_cut() -> None:
    long = replace(FINDING, details=tuple(map(str, range(DETAILS + 5))))
    assert "    and 5 more lines" in as_text(report(long)).splitlines()


def test_as_github_finding_is_an_annotation_with_escapes() -> None:
    first, second, _ = as_github(report(FINDING, HOSTILE)).splitlines()
    assert first == (
        "::error file=suites/test_a.py,line=7,title=renders::q1: found none; expected one%0Aa --> b"
    )  # fmt: skip
    assert second.startswith(
        r"::error file=suites/100%25%2Ca%3Ab.py,line=3,title=renders::50%25 of ::error::no\x1b[31m"
    )
    assert "\x1b" not in second
    assert second.count("%0A") == 2


def test_as_github_warning_is_a_warning() -> None:
    warning = LintFinding("duplicate-prompt", "warning", "a.py", 1, "twice")
    assert as_github(report(warning)).startswith("::warning file=a.py,line=1,title=duplicate-prompt::twice\n")


def test_finding_of_file_outside_of_the_working_directory_is_at_the_suite(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "work").mkdir()
    monkeypatch.chdir(tmp_path / "work")
    suite = SourcePlace(Path("test_a.py"), 4)
    outside = make_finding(RULES[1], LintProblem("wrong", SourcePlace(tmp_path / "b.py", 9)), suite)
    inside = make_finding(RULES[1], LintProblem("wrong", SourcePlace(tmp_path / "work" / "c" / "b.py", 9)), suite)
    assert outside is not None
    assert inside is not None
    assert (outside.file, outside.line) == ("test_a.py", 4)
    assert (inside.file, inside.line) == ("c/b.py", 9)


@pytest.mark.parametrize(
    ("comment", "ignored"),
    [
        ("# taskgraph-lint: ignore[renders]", True),
        ("# taskgraph-lint: ignore[duplicate-prompt, renders] on purpose", True),
        ("# taskgraph-lint: ignore[duplicate-prompt]", False),
        ("# renders", False),
    ],
)
def test_finding_of_line_with_a_comment_is_ignored_if_it_names_the_rule(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, comment: str, ignored: bool
) -> None:
    monkeypatch.chdir(tmp_path)
    path = tmp_path / "test_a.py"
    path.write_text(f"import os\n@suite()  {comment}\n", encoding="utf-8")
    assert (make_finding(RULES[1], LintProblem("wrong"), SourcePlace(path, 2)) is None) == ignored
    assert make_finding(RULES[1], LintProblem("wrong"), SourcePlace(path, 1)) is not None


def test_lint_github_of_a_project_annotates_the_suite(project: LintProject) -> None:
    project.write_riddles(*SOUND, row("hen", "Does it grow?"))
    linted = project.lint("--examples=0", "--format=github")
    assert linted.code == 1
    assert linted.output.startswith(
        f"::warning file=test_riddles.py,line={LINE},title=duplicate-prompt::hole, hen have"
    )
