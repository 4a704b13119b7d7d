"""One-step edits of GitHub Actions workflows, in the user's own text."""

from __future__ import annotations

from random import Random

import pytest

from pytest_taskgraph.families.understanding.own_files.text_edits import TextEdit, text_edits
from pytest_taskgraph.notations import FILE_FORMATS

HEADING = "# file: ci.yml, with one change made to it"
CI = """\
name: CI
on: push
jobs:
  lint:  # first
    runs-on: x
  build:
    runs-on: x
  test:
    needs: [lint, build]  # both
    runs-on: x
  docs:
    needs: build
    if: github.ref == 'refs/heads/main'
    runs-on: x
  publish:
    needs:
      - test
      - build
    runs-on: x
"""


def edits(text: str, most: int = 200) -> list[TextEdit]:
    return text_edits(FILE_FORMATS["actions"], HEADING, text, Random(1), most)


def changes(text: str) -> dict[str, str]:
    """Return the lines that each edit removes and adds, with its kind."""
    lines = [HEADING, *text.splitlines()]
    found = {}
    for edit in edits(text):
        new = edit.text.splitlines()
        parts = [f"-{line.strip()}" for line in lines if lines.count(line) > new.count(line)]
        parts += [f"+{line.strip()}" for line in new if new.count(line) > lines.count(line)]
        found[" ".join(dict.fromkeys(parts))] = edit.kind
    return found


@pytest.mark.parametrize(
    ("change", "kind"),
    [
        ("-needs: [lint, build]  # both +needs: [build]  # both", "link removed"),
        ("-needs: build", "link removed"),
        ("-- test", "link removed"),
        ("-needs: build +needs: [build, lint]", "link added"),
        ("+- lint", "link added"),
        ("-if: github.ref == 'refs/heads/main'", "condition removed"),
        ("-if: github.ref == 'refs/heads/main' +if: github.ref != 'refs/heads/main'", "condition replaced"),
    ],
)
def test_needs_and_conditions_are_edited_in_place(change: str, kind: str) -> None:
    assert changes(CI)[change] == kind


def test_condition_is_added_to_a_job_with_one_need() -> None:
    added = [
        edit.text for edit in edits("name: A\non: push\njobs:\n  a: {}\n  b:\n    needs: a\n") if "if:" in edit.text
    ]
    assert len(added) == 1
    assert "  b:\n    if: github.event_name == 'workflow_dispatch'\n    needs: a\n" in added[0]


def test_edits_never_close_a_circle_or_change_the_steps() -> None:
    steps = "    steps:\n      - run: a\n      - run: b\n        if: github.ref == 'x'\n"
    text = f"name: A\non: push\njobs:\n  a:\n{steps}  b:\n    needs: a\n{steps}"
    names = FILE_FORMATS["actions"].interpret(text).workflows[0].tasks
    for edit in edits(text):
        assert [task.name for task in edit.workflow.tasks] == [task.name for task in names]
        assert ("a", "b") not in {(link.target, link.source) for link in edit.workflow.links}


def test_condition_of_a_step_is_not_added_to_a_job_that_cannot_read_it() -> None:
    step = "    steps:\n      - run: a\n        if: "
    conditions = [
        "matrix.os == 'x'",
        "steps.s.outputs.x",
        "job.services.x",
        "runner.os == 'Linux'",
        "needs.a.outputs.x",
    ]
    for condition in conditions:
        text = f"name: A\non: push\njobs:\n  a: {{}}\n  b:\n    needs: a\n{step}{condition}\n"
        added = [edit.text for edit in edits(text) if edit.kind == "condition added"]
        assert added
        assert all(edited.count(condition) == 1 for edited in added)


@pytest.mark.parametrize("needs", ["[a, b]", "\n    - a\n    - b"])
def test_need_that_the_text_reads_is_not_removed(needs: str) -> None:
    text = f"name: A\non: push\njobs:\n  a: {{}}\n  b: {{}}\n  c:\n    needs: {needs}\n    if: needs.a.outputs.x\n"
    removed = [edit.workflow.links for edit in edits(text) if edit.kind == "link removed"]
    assert len(removed) == 1
    assert ("a", "c") in {(link.source, link.target) for link in removed[0]}
