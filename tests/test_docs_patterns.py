"""docs/reference/patterns.md says what the code says."""

from __future__ import annotations

from pathlib import Path

from pytest_taskgraph.benchmarks.understanding.patterns_command import as_markdown, pattern_rows

PAGE = Path(__file__).parents[1] / "docs" / "reference" / "patterns.md"
COMMAND = "python -m pytest_taskgraph patterns --markdown > docs/reference/patterns.md"


def test_the_page_of_patterns_is_current() -> None:
    shown = PAGE.read_text(encoding="utf-8")
    assert shown.split("\n") == [*as_markdown(pattern_rows()), ""], (
        f"docs/reference/patterns.md is out of date; run: {COMMAND}"
    )


def test_the_page_tells_the_command_that_makes_it() -> None:
    assert COMMAND in PAGE.read_text(encoding="utf-8")
