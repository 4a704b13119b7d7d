"""docs/reference/patterns.md against the code."""

from __future__ import annotations

from pathlib import Path

from pytest_taskgraph.families.understanding.patterns_command import as_markdown, pattern_rows

PAGE = Path(__file__).parents[1] / "docs" / "reference" / "patterns.md"
COMMAND = "python -m pytest_taskgraph patterns --markdown > docs/reference/patterns.md"


def test_patterns_page_is_current() -> None:
    page = PAGE.read_text(encoding="utf-8")
    assert page.split("\n") == [*as_markdown(pattern_rows()), ""], (
        f"docs/reference/patterns.md is out of date; run: {COMMAND}"
    )


def test_patterns_page_names_its_command() -> None:
    assert COMMAND in PAGE.read_text(encoding="utf-8")
