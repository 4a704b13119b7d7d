"""Edits of the user's own text: one place changes, and the workflow differs in one step."""

from __future__ import annotations

import difflib
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from random import Random

import pytest

from pytest_taskgraph.families.understanding.own_files.text_edits import TextEdit, step, text_edits
from pytest_taskgraph.families.understanding.understanding_family import understanding
from pytest_taskgraph.families.understanding.understanding_settings import UnderstandingSettings
from pytest_taskgraph.generation.edits import EDITS
from pytest_taskgraph.notations import NOTATIONS
from pytest_taskgraph.trial import Question
from pytest_taskgraph.workflow.check import problems
from pytest_taskgraph.workflow.model import Duration, Link, QualifiedName, Task, Workflow

WADL = """package p;
workflow W {
  // kept: a comment
  task "Boil water" {}  task Brew { param minutes = 4; }
  task Pour { subworkflow Cup; }
  define data Leaves;
  START -> "Boil water" -> Brew -> Pour -> END;
  Pour ?-> Brew { condition "strength < 3"; }
  Leaves --> Brew;
}
"""
CUP = "package p;\nworkflow Cup { task Warm {} task Fill {} START -> Warm -> Fill -> END; }\n"
CHART = """flowchart TD
  %% kept: a comment
  A[Push<br/>a commit] --> B{Tests pass?}
  B -->|yes| C[Build] --> D[Deploy]
  B -->|n < 3| A
  classDef red fill:#f00
"""


def make_edits(name: str, text: str, most: int = 40) -> list[TextEdit]:
    notation = NOTATIONS[name]
    return text_edits(notation, notation.heading("own"), text, Random(1), most)


def changed_lines(old: str, new: str) -> Sequence[str]:
    lines = difflib.ndiff(old.split("\n"), new.split("\n"))
    return [line for line in lines if line[:1] in "+-" and line[1:].strip()]


def new_lines(old: str, new: str) -> list[str]:
    return [line[2:] for line in changed_lines(f"// own\n{old}", new) if line.startswith("+")]


@pytest.mark.parametrize(("name", "text"), [("wadl", WADL + CUP), ("mermaid", CHART)])
def test_text_edits_change_one_place(name: str, text: str) -> None:
    notation = NOTATIONS[name]
    before = notation.read(f"{notation.heading('own')}\n{text}")
    edits = make_edits(name, text)
    assert len(edits) > 7
    assert len({edit.text for edit in edits}) == len(edits)
    for edit in edits:
        assert edit.text.startswith(notation.heading("own") + "\n")
        assert "kept: a comment" in edit.text
        assert notation.read(edit.text) == edit.workflow
        assert not problems(edit.workflow)
        assert edit.kind == step(before, edit.workflow, implied_ends=name == "mermaid")
        assert len(changed_lines(f"{notation.heading('own')}\n{text}", edit.text)) <= 4


def test_text_edits_added_link_beside_others_of_level() -> None:
    inside = "Pour {\n    task Warm {} task Fill {}\n    START -> Warm -> Fill -> END;\n  }"
    nested = WADL.replace("Pour { subworkflow Cup; }", inside)
    added = [edit for edit in make_edits("wadl", nested) if edit.kind == "link added"]
    inner = [edit for edit in added if edit.workflow.task("Pour").subworkflow.links[3:]]  # type: ignore[union-attr]
    assert 0 < len(inner) < len(added)
    assert len({edit.text.index(line) for edit in added for line in new_lines(nested, edit.text)}) > 1


def test_text_edits_dsl_makes_most_kinds() -> None:
    kinds = {edit.kind for edit in make_edits("wadl", WADL + CUP)}
    assert kinds >= {"link removed", "link added", "condition replaced", "data link removed", "reference replaced"}
    assert kinds <= set(EDITS)


@pytest.mark.parametrize("name", ["json", "prose"])
def test_text_edits_notation_written_by_rule_has_none(name: str) -> None:
    assert make_edits(name, NOTATIONS[name].write(NOTATIONS["wadl"].read(CUP))) == []


def test_text_edits_of_large_text_reads_bounded_number(monkeypatch: pytest.MonkeyPatch) -> None:
    reads = []
    tasks = [f"T{i}" for i in range(150)]
    declared = " ".join(f"task {name} {{}}" for name in tasks)
    text = f"package p;\nworkflow W {{ {declared} START -> {' -> '.join(tasks)} -> END; }}"
    wadl = NOTATIONS["wadl"]

    def parse(text: str, where: str) -> tuple[Workflow, ...]:
        reads.append(text)
        return wadl.parse(text, where)

    counted = replace(wadl, parse=parse)
    assert len(text_edits(counted, "// own", text, Random(1), 4)) == 4
    assert len(reads) <= 1 + 3 * 4


def test_step_single_change_named_others_empty() -> None:
    chain = Workflow(
        "W",
        tasks=(Task("A"), Task("B", reference=QualifiedName("X"))),
        links=(Link("START", "A"), Link("A", "B", "n < 3"), Link("B", "END")),
    )
    links = chain.links
    assert step(chain, chain) == ""
    assert step(chain, replace(chain, links=links[:2])) == "link removed"
    assert step(chain, replace(chain, links=links[:1])) == ""
    assert step(chain, replace(chain, links=links[:1]), implied_ends=True) == "link removed"
    assert step(chain, replace(chain, links=(*links, Link("B", "A")))) == "link added"
    assert step(chain, replace(chain, links=(links[0], Link("A", "B", "n > 3"), links[2]))) == "condition replaced"
    assert step(chain, replace(chain, links=(links[0], Link("A", "B"), links[2]))) == "condition removed"
    assert step(chain, replace(chain, links=(links[0], Link("B", "A", "n < 3"), links[2]))) == ""
    assert step(chain, replace(chain, tasks=(Task("A"), Task("B")))) == "reference removed"
    assert (
        step(chain, replace(chain, tasks=(Task("A"), Task("B", reference=QualifiedName("Y"))))) == "reference replaced"
    )
    assert step(chain, replace(chain, tasks=(Task("A", "Told"), chain.tasks[1]))) == ""
    assert step(chain, replace(chain, tasks=(Task("A"), Task("B")), links=links[:2])) == ""


def questions(path: Path, patterns: object) -> list[Question]:
    chosen = UnderstandingSettings(workflows=(str(path),))
    return [
        understanding.question(reference, chosen)
        for reference in understanding.references(chosen, {"patterns": patterns})
    ]


def test_question_about_edited_chart_keeps_labels_and_comments(tmp_path: Path) -> None:
    path = tmp_path / "ci.mmd"
    path.write_text(CHART, encoding="utf-8")
    chart_questions = questions(path, ["flow_cycle"])
    assert len(chart_questions) == 4
    for question in chart_questions:
        assert "%% file: ci.mmd, with one change made to it" in question.prompt
        assert "B{Tests pass?}" in question.prompt
        assert "%% kept: a comment" in question.prompt


def test_question_about_edited_folder_keeps_headings_of_files(tmp_path: Path) -> None:
    (tmp_path / "w.xxp").write_text(WADL, encoding="utf-8")
    (tmp_path / "cup.xxp").write_text(CUP, encoding="utf-8")
    for question in questions(tmp_path, "infinite_recursion"):
        assert question.labels["edit"] in {"reference replaced", "reference removed"} or question.reference == "no"
        assert "// w.xxp\n" in question.prompt
        assert "// cup.xxp\n" in question.prompt
        assert "// kept: a comment" in question.prompt


def test_step_other_duration_is_no_step() -> None:
    before = Workflow("W", tasks=(Task("A", duration=Duration(1, "hours")), Task("B")), links=(Link("A", "B"),))
    link_removed = replace(before, links=())
    other_duration = replace(link_removed, tasks=(Task("A", duration=Duration(2, "hours")), Task("B")))
    assert step(before, link_removed) == "link removed"
    assert step(before, other_duration) == ""
