"""Yes and no are equally likely about the user's own files, and the presentation does not reveal the answer."""

from __future__ import annotations

import asyncio
from collections import Counter
from pathlib import Path

import pytest
from drawn_workflows import generate
from own_files import write_thirty

from pytest_taskgraph.errors import NoCaseError
from pytest_taskgraph.families.understanding.own_files.choices import EDITED, choose
from pytest_taskgraph.families.understanding.patterns import catalogue
from pytest_taskgraph.families.understanding.patterns.pattern import verdict
from pytest_taskgraph.families.understanding.understanding_family import understanding
from pytest_taskgraph.families.understanding.understanding_settings import UnderstandingSettings
from pytest_taskgraph.generation.edits import EDITS
from pytest_taskgraph.generation.recipe import Recipe
from pytest_taskgraph.notations import NOTATIONS
from pytest_taskgraph.scoring.grade import grade
from pytest_taskgraph.trial import Question, Request

YES_NO = [pattern for pattern in catalogue().values() if pattern.yes_no]
LEAST = 2  # files, of the thirty, that each pattern is asked about
SIZES_OF_A_SHAPE = 3  # files of each shape among the thirty; the smallest stands first

UNTITLED = "flowchart TD\n  A[Mix] --> B[Bake]\n  B --> C[Cool]\n  A --> C\n"
TITLED = "---\ntitle: Bread\n---\nflowchart TD\n  S([Start]) --> A[Mix] --> B[Bake] --> E((End))\n"
CHAIN = "package p;\nworkflow W { define task A; define task B; define task C; START -> A -> B -> C -> END; }"
NESTED = """package p;
workflow W {
  task A { task B { task D {} START -> D -> END; } START -> B -> END; }
  task C { task D {} task F {} START -> D -> F -> END; }
  START -> A -> C -> END;
}
"""


@pytest.fixture(scope="module")
def thirty(tmp_path_factory: pytest.TempPathFactory) -> list[Path]:
    return write_thirty(tmp_path_factory.mktemp("own"))


@pytest.fixture(scope="module")
def special(tmp_path_factory: pytest.TempPathFactory) -> list[Path]:
    """Return files with exceptional links and files with durations, about which few patterns ask."""
    folder, wadl = tmp_path_factory.mktemp("special"), NOTATIONS["wadl"]
    return [
        write_file(folder, f"{feature}{seed}.xxp", wadl.write(generate(recipe, seed)))
        for feature in ("exceptional", "durations")
        for recipe in [Recipe(10, features=frozenset({feature, "parallel"}))]
        for seed in range(LEAST)
    ]


def questions(path: Path, patterns: object = "*", **more: object) -> list[Question]:
    chosen = UnderstandingSettings(workflows=(str(path),), **more)  # type: ignore[arg-type]
    return [
        understanding.question(reference, chosen)
        for reference in understanding.references(chosen, {"patterns": patterns})
    ]


def write_file(folder: Path, name: str, text: str) -> Path:
    (folder / name).write_text(text, encoding="utf-8")
    return folder / name


@pytest.mark.parametrize("step", [SIZES_OF_A_SHAPE, pytest.param(1, marks=pytest.mark.exhaustive)])
@pytest.mark.parametrize("pattern", YES_NO, ids=lambda pattern: pattern.name)
def test_choose_own_files_yes_and_no_balanced(
    pattern: object, step: int, thirty: list[Path], special: list[Path]
) -> None:
    counts, answers, files_asked_about = Counter[tuple[bool, object]](), Counter[object](), 0
    for path in (*thirty[::step], *special):
        choices = choose(pattern, str(path), "", 0, 4)
        files_asked_about += bool(choices)
        assert len({bool(choice.edit) for choice in choices}) < 2, "one file is shown in one way"
        for choice in choices:
            answers[verdict(choice.case.answer)] += 1
            counts[bool(choice.edit), verdict(choice.case.answer)] += 1
    assert answers["yes"] == answers["no"]
    assert [counts[edited, "yes"] - counts[edited, "no"] for edited in (False, True)] == [0, 0]
    assert files_asked_about >= LEAST / step


def test_choose_single_question_has_either_answer(thirty: list[Path]) -> None:
    first = Counter(
        verdict(choose(pattern, str(path), "", 0, 1)[0].case.answer) for path in thirty for pattern in YES_NO[:2]
    )
    assert min(first.values()) >= len(thirty) / 3


def test_question_edited_copies_answered_by_reader(thirty: list[Path]) -> None:
    reader, kinds = understanding.baseline("reader", UnderstandingSettings()), Counter[object]()
    patterns = ["flow_cycle", "flow_connected", "operator_existence", "parallel_pair", "infinite_recursion"]
    for path in thirty[::SIZES_OF_A_SHAPE]:
        for question in questions(path, patterns):
            assert (EDITED in question.prompt) == ("edit" in question.labels)
            reply = asyncio.run(reader.answer(Request([{"role": "user", "content": question.prompt}])))
            assert grade(question, reply).value == 1.0, question.text
            kinds[question.labels.get("edit")] += 1
    assert set(kinds) <= {None, *EDITS}
    assert len(kinds) > 3


def test_question_edited_copy_keeps_cluster_and_changes_workflow(tmp_path: Path) -> None:
    path = write_file(tmp_path, "w.xxp", CHAIN)
    (plain,) = questions(path, "task_list")
    edited = questions(path, "flow_connected")
    assert len(edited) == 4
    assert {question.cluster for question in edited} == {plain.cluster}
    assert plain.digests["workflow"] not in {question.digests["workflow"] for question in edited}
    assert all(f"// w.xxp, {EDITED}" in question.prompt for question in edited)


def test_question_edited_copy_for_agent_has_changed_specification(tmp_path: Path) -> None:
    path = write_file(tmp_path, "w.xxp", CHAIN)
    for question in questions(path, "flow_connected", presentation="agent"):
        assert "START -> A -> B -> C -> END" not in " ".join(question.specifications["p.W"].split())


def test_notices_unbalanced_pattern_names_answer(tmp_path: Path) -> None:
    path = write_file(tmp_path, "w.xxp", CHAIN)
    with pytest.raises(NoCaseError, match=r"the other answer: parallel_pair \(only no\)"):
        questions(path, "parallel_pair")
    chosen = UnderstandingSettings(workflows=(str(path),))
    (notice,) = understanding.notices(chosen, {"patterns": ["task_list", "parallel_pair", "flow_cycle"]})
    assert (
        notice == f"{path}: not asked, because no change of one step leads to the other answer: parallel_pair (only no)"
    )


def test_references_chart_without_ends_skips_flow_connected(tmp_path: Path) -> None:
    assert len(questions(write_file(tmp_path, "drawn.mmd", TITLED), "flow_connected")) >= 2
    with pytest.raises(NoCaseError, match="nothing to ask for flow_connected"):
        questions(write_file(tmp_path, "untitled.mmd", UNTITLED), "flow_connected")
    boxed = TITLED + "  subgraph Oven [Oven]\n    X --> Y\n  end\n  B --> Oven\n"
    texts = {question.text for question in questions(write_file(tmp_path, "boxed.mmd", boxed), "flow_connected")}
    assert all("composite task '" not in text for text in texts)


def test_question_task_hierarchy_hides_paths(tmp_path: Path) -> None:
    for question in questions(write_file(tmp_path, "w.xxp", NESTED), "task_hierarchy", instances=50):
        assert "A.B.D" not in question.text
        assert "C.D" not in question.text
