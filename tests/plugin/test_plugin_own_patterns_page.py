"""The example of docs/how-to/own-patterns.md, as a reader runs it."""

from __future__ import annotations

import re
from pathlib import Path

from plugin_project import Project

from pytest_taskgraph.scoring.forms import FORMS

PAGE = (Path(__file__).parents[2] / "docs" / "how-to" / "own-patterns.md").read_text(encoding="utf-8")


def test_pattern_of_page_is_answered_by_the_reader(project: Project) -> None:
    (block,) = re.findall(r"^```python\n(.*?)^```$", PAGE, re.MULTILINE | re.DOTALL)
    project.write("test_mine.py", block)
    ran = project.run("test_mine.py", "--model=baseline", "-q")
    assert ran.code == 0, ran.output
    assert "8 of 8 right (1.000)" in ran.output


def test_page_lists_the_answer_forms_of_patterns() -> None:
    forms = PAGE.partition("The answer forms are")[2].partition(". [")[0]
    assert set(re.findall(r"`([\w-]+)`", forms)) == {*FORMS} - {"task-graph", "composed-task-graph", "procedural-graph"}
