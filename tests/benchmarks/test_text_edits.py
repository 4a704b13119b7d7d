"""Edits in the user's own text: one place changes, what is read differs in one step, and all else stays."""

from __future__ import annotations

import difflib
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from random import Random

import pytest

from pytest_taskgraph.benchmarks.understanding import understanding
from pytest_taskgraph.benchmarks.understanding.family_options import UnderstandingSettings
from pytest_taskgraph.benchmarks.understanding.own_files.text_edits import TextEdit, step, text_edits
from pytest_taskgraph.generation.edits import EDITS
from pytest_taskgraph.notations import NOTATIONS
from pytest_taskgraph.trial import Question
from pytest_taskgraph.workflow.check import problems
from pytest_taskgraph.workflow.model import Link, QualifiedName, Task, Workflow

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


def made(name: str, text: str, most: int = 40) -> list[TextEdit]:
    notation = NOTATIONS[name]
    return text_edits(notation, notation.heading("own"), text, Random(1), most)


def changed_lines(old: str, new: str) -> Sequence[str]:
    shown = difflib.ndiff(old.split("\n"), new.split("\n"))
    return [line for line in shown if line[:1] in "+-" and line[1:].strip()]


def new_lines(old: str, new: str) -> list[str]:
    return [line[2:] for line in changed_lines(f"// own\n{old}", new) if line.startswith("+")]


@pytest.mark.parametrize(("name", "text"), [("wadl", WADL + CUP), ("mermaid", CHART)])
def test_text_edits_one_place_changes_and_the_text_says_the_workflow(name: str, text: str) -> None:
    notation = NOTATIONS[name]
    before = notation.read(f"{notation.heading('own')}\n{text}")
    found = made(name, text)
    assert len(found) > 7
    assert len({one.text for one in found}) == len(found)
    for one in found:
        assert one.text.startswith(notation.heading("own") + "\n")
        assert "kept: a comment" in one.text
        assert notation.read(one.text) == one.workflow
        assert not problems(one.workflow)
        assert one.kind == step(before, one.workflow, implied_ends=name == "mermaid")
        assert len(changed_lines(f"{notation.heading('own')}\n{text}", one.text)) <= 4


def test_text_edits_added_link_stands_beside_others_at_its_level() -> None:
    inside = "Pour {\n    task Warm {} task Fill {}\n    START -> Warm -> Fill -> END;\n  }"
    nested = WADL.replace("Pour { subworkflow Cup; }", inside)
    added = [one for one in made("wadl", nested) if one.kind == "link added"]
    inner = [one for one in added if one.workflow.task("Pour").subworkflow.links[3:]]  # type: ignore[union-attr]
    assert 0 < len(inner) < len(added)
    assert len({one.text.index(line) for one in added for line in new_lines(nested, one.text)}) > 1


def test_text_edits_dsl_makes_most_kinds() -> None:
    kinds = {one.kind for one in made("wadl", WADL + CUP)}
    assert kinds >= {"link removed", "link added", "condition replaced", "data link removed", "reference replaced"}
    assert kinds <= set(EDITS)


@pytest.mark.parametrize("name", ["json", "prose"])
def test_text_edits_notation_written_by_rule_has_none(name: str) -> None:
    assert made(name, NOTATIONS[name].write(NOTATIONS["wadl"].read(CUP))) == []


def test_text_edits_of_large_text_reads_bounded_number(monkeypatch: pytest.MonkeyPatch) -> None:
    reads = []
    tasks = [f"T{i}" for i in range(150)]
    declared = " ".join(f"task {one} {{}}" for one in tasks)
    text = f"package p;\nworkflow W {{ {declared} START -> {' -> '.join(tasks)} -> END; }}"
    wadl = NOTATIONS["wadl"]

    def parse(text: str, where: str) -> tuple[Workflow, ...]:
        reads.append(text)
        return wadl.parse(text, where)

    counted = replace(wadl, parse=parse)
    assert len(text_edits(counted, "// own", text, Random(1), 4)) == 4
    assert len(reads) <= 1 + 3 * 4


def test_step_names_single_changes_and_refuses_others() -> None:
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
    return [understanding.question(one, chosen) for one in understanding.references(chosen, {"patterns": patterns})]


def test_question_about_edited_chart_keeps_labels_and_comments(tmp_path: Path) -> None:
    path = tmp_path / "ci.mmd"
    path.write_text(CHART, encoding="utf-8")
    asked = questions(path, ["flow_cycle"])
    assert len(asked) == 4
    for one in asked:
        assert "%% file: ci.mmd, with one change made to it" in one.prompt
        assert "B{Tests pass?}" in one.prompt
        assert "%% kept: a comment" in one.prompt


def test_question_about_edited_folder_keeps_headings_of_files(tmp_path: Path) -> None:
    (tmp_path / "w.xxp").write_text(WADL, encoding="utf-8")
    (tmp_path / "cup.xxp").write_text(CUP, encoding="utf-8")
    for one in questions(tmp_path, "infinite_recursion"):
        assert one.labels["edit"] in {"reference replaced", "reference removed"} or one.reference == "no"
        assert "// w.xxp\n" in one.prompt
        assert "// cup.xxp\n" in one.prompt
        assert "// kept: a comment" in one.prompt
