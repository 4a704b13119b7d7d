"""Edits of Argo manifests: one place of the text changes, and the workflow differs in one step."""

from __future__ import annotations

import difflib
from random import Random

import pytest

from pytest_taskgraph.families.understanding.own_files.text_edits import TextEdit, step, text_edits
from pytest_taskgraph.notations import FILE_FORMATS
from pytest_taskgraph.notations.notation import combine_workflows
from pytest_taskgraph.workflow.check import problems

ARGO = FILE_FORMATS["argo"]
HEAD = """apiVersion: argoproj.io/v1alpha1
kind: Workflow  # kept: a comment
metadata: {generateName: w-}
spec:
  entrypoint: main
  templates:
  - name: run
    container: {image: busybox}
  - name: main
"""
LISTS = """    dag:
      tasks:
      - name: A
        template: run
      - name: B
        dependencies: [A]
        template: run
        when: "{{tasks.A.outputs.result}} == heads"
      - name: C
        dependencies: [A, B]
        template: run
      - name: D
        template: run
        dependencies:
        - A
        - C
"""
LOGIC = """    dag:
      tasks:
      - {name: A, template: run}
      - name: B
        template: run
        depends: A
      - name: C
        template: run
        depends: "A && B.Succeeded"
"""
STEPS = """    steps:
    - - name: A
        template: run
    - - name: B
        template: run
        when: "{{steps.A.outputs.result}} == heads"
"""


def edits(text: str) -> list[TextEdit]:
    return text_edits(ARGO, ARGO.heading("own"), text, Random(1), 40)


@pytest.mark.parametrize("body", [LISTS, LOGIC, STEPS])
def test_argo_edits_change_one_place(body: str) -> None:
    text = f"{ARGO.heading('own')}\n{HEAD}{body}"
    before = combine_workflows(ARGO.interpret(text).workflows)
    found = edits(HEAD + body)
    assert len(found) > 2
    for edit in found:
        assert "kept: a comment" in edit.text
        assert combine_workflows(ARGO.interpret(edit.text).workflows) == edit.workflow
        assert not problems(edit.workflow)
        assert edit.kind == step(before, edit.workflow, implied_ends=True)
        changed = [line for line in difflib.ndiff(text.split("\n"), edit.text.split("\n")) if line[:1] in "+-"]
        assert len(changed) <= 2


@pytest.mark.parametrize(
    ("body", "line", "kind"),
    [
        (LISTS, "        dependencies: [B]", "link removed"),
        (LISTS, "        dependencies: [A]", "link removed"),
        (LISTS, "        dependencies: []", "link removed"),
        (LISTS, "        - B", "link added"),
        (LISTS, "        dependencies: [A, A]", ""),
        (LISTS, "        dependencies: [A, D]", ""),  # D waits for C, which waits for B
        (LISTS, '        when: "{{tasks.A.outputs.result}} != heads"', "condition replaced"),
        (LOGIC, '        depends: "B.Succeeded"', "link removed"),
        (LOGIC, '        depends: "A"', "link removed"),
        (STEPS, "      - name: B", "link removed"),
    ],
)
def test_argo_edit_is_found_unless_it_makes_no_workflow(body: str, line: str, kind: str) -> None:
    text = HEAD + body
    kinds = {edit.kind for edit in edits(text) if edit.text.count(f"\n{line}\n") > text.count(f"\n{line}\n")}
    assert kinds == ({kind} if kind else set())


def test_argo_edit_removes_condition_with_its_line() -> None:
    (removed,) = [edit for edit in edits(HEAD + LISTS) if edit.kind == "condition removed"]
    assert "when" not in removed.text
