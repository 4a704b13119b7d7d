"""Functionality questions about the user's own described files: planted flaws and answers."""

from __future__ import annotations

import re
from pathlib import Path
from random import Random

import pytest

from pytest_taskgraph.errors import NoCaseError
from pytest_taskgraph.families.understanding.own_files import projects
from pytest_taskgraph.families.understanding.own_files.choices import EDITED, PLANTED, choose
from pytest_taskgraph.families.understanding.own_files.planting import KINDS, Foreign, plant, stems
from pytest_taskgraph.families.understanding.patterns import catalogue
from pytest_taskgraph.families.understanding.patterns.scope import all_scopes
from pytest_taskgraph.families.understanding.understanding_family import understanding
from pytest_taskgraph.families.understanding.understanding_settings import UnderstandingSettings
from pytest_taskgraph.notations import NOTATIONS
from pytest_taskgraph.trial import Question
from pytest_taskgraph.workflow.model import Workflow
from pytest_taskgraph.workflow.project import every_level

GARAGE = """package garage;
workflow TyreChange {
  description "Changes the tyres of a car before the winter.";
  task LiftCar { description "Lifts the car with a hydraulic jack."; }
  task LoosenBolts { description "Loosens the bolts of all four tyres."; }
  task SwapTyres { description "Swaps the summer tyres for winter ones."; }
  task CheckPressure { description "Checks the pressure of each tyre."; }
  START -> LiftCar -> LoosenBolts -> SwapTyres -> CheckPressure -> END;
}
"""
BASE = """package base;
workflow Base {
  define task LiftCar;
  define task SwapTyres;
  define task CheckPressure;
  START -> LiftCar -> SwapTyres -> CheckPressure -> END;
}
"""
DERIVED = """package garage;
workflow TyreChange from base.Base {
  description "Changes the tyres of a car before the winter.";
  configure task LiftCar { description "Lifts the car with a hydraulic jack."; }
  configure task SwapTyres { description "Swaps the summer tyres for winter ones."; }
  configure task CheckPressure { description "Checks the pressure of each tyre."; }
}
"""
UNDESCRIBED = "package p;\nworkflow W { define task A; define task B; START -> A -> B -> END; }"
PATTERNS = [
    "describe_task",
    "describe_workflow",
    "inconsistent_task_description",
    "inconsistent_workflow_description",
    "contradicting_task_descriptions",
]


def write_files(folder: Path, **files: str) -> Path:
    for name, text in files.items():
        (folder / f"{name}.xxp").write_text(text, encoding="utf-8")
    return folder


def questions(path: Path, patterns: object, **more: object) -> list[Question]:
    chosen = UnderstandingSettings(workflows=(str(path),), **more)  # type: ignore[arg-type]
    return [
        understanding.question(reference, chosen)
        for reference in understanding.references(chosen, {"patterns": patterns})
    ]


def shown_workflow(question: Question) -> Workflow:
    """Return the workflow that the prompt shows."""
    text = question.prompt.split("```")[1].partition("\n")[2]
    return NOTATIONS["wadl"].read(text)


def descriptions(workflow: Workflow) -> dict[str, str]:
    return {task.name: task.description for level in every_level(workflow) for task in level.tasks}


GARAGE_DESCRIPTIONS = {
    "LiftCar": "Lifts the car with a hydraulic jack.",
    "LoosenBolts": "Loosens the bolts of all four tyres.",
    "SwapTyres": "Swaps the summer tyres for winter ones.",
    "CheckPressure": "Checks the pressure of each tyre.",
}

WORDS = stems(["Changes the tyres of a car before the winter.", *GARAGE_DESCRIPTIONS, *GARAGE_DESCRIPTIONS.values()])


@pytest.mark.parametrize("pattern", PATTERNS)
def test_references_described_file_uses_marked_copies(pattern: str, tmp_path: Path) -> None:
    planted_questions = questions(write_files(tmp_path, w=GARAGE), pattern)
    assert planted_questions
    for question in planted_questions:
        assert f"{tmp_path.name}, {PLANTED}" in question.prompt
        assert EDITED not in question.prompt
        assert question.labels["edit"] in KINDS
        assert question.graded == (pattern in {"describe_task", "describe_workflow"})
    assert len({question.cluster for question in planted_questions}) == 1


def test_describe_task_hides_one_description(tmp_path: Path) -> None:
    for question in questions(write_files(tmp_path, w=GARAGE), "describe_task"):
        (task,) = [name for name, text in GARAGE_DESCRIPTIONS.items() if text == question.reference]
        assert f"task '{task}'" in question.text
        assert descriptions(shown_workflow(question)) == GARAGE_DESCRIPTIONS | {task: ""}


def test_describe_workflow_hides_purpose(tmp_path: Path) -> None:
    (question,) = questions(write_files(tmp_path, w=GARAGE), "describe_workflow")
    assert question.reference == "Changes the tyres of a car before the winter."
    assert shown_workflow(question).description == ""
    assert descriptions(shown_workflow(question)) == GARAGE_DESCRIPTIONS


def test_inconsistent_task_description_answer_is_difference(tmp_path: Path) -> None:
    planted_questions = questions(write_files(tmp_path, w=GARAGE), "inconsistent_task_description", instances=8)
    assert len(planted_questions) == 8
    for question in planted_questions:
        shown_descriptions = descriptions(shown_workflow(question))
        changed = [name for name in sorted(shown_descriptions) if shown_descriptions[name] != GARAGE_DESCRIPTIONS[name]]
        assert question.reference["tasks"] == changed  # type: ignore[index,call-overload]
        assert 1 <= len(changed) <= 2
        assert all(stems([shown_descriptions[name]]).isdisjoint(WORDS) for name in changed)


def test_contradicting_task_is_not_in_file(tmp_path: Path) -> None:
    for question in questions(write_files(tmp_path, w=GARAGE), "contradicting_task_descriptions"):
        shown_descriptions = descriptions(shown_workflow(question))
        assert question.reference["tasks"] == sorted(shown_descriptions.keys() - GARAGE_DESCRIPTIONS.keys())  # type: ignore[index,call-overload]
        assert len(shown_descriptions) == len(GARAGE_DESCRIPTIONS)
        linked = {end for link in shown_workflow(question).links for end in (link.source, link.target)} - {
            "START",
            "END",
        }
        assert linked == shown_descriptions.keys()


def test_inconsistent_workflow_description_yes_shows_own_no_foreign(tmp_path: Path) -> None:
    planted_questions = questions(write_files(tmp_path, w=GARAGE), "inconsistent_workflow_description")
    answers = {question.reference["answer"]: question for question in planted_questions}  # type: ignore[index,call-overload]
    assert len(planted_questions) == len(answers) == 2
    assert shown_workflow(answers["yes"]).description == "Changes the tyres of a car before the winter."
    assert stems([shown_workflow(answers["no"]).description]).isdisjoint(WORDS)


def test_planted_copy_of_derived_file_hides_configuration(tmp_path: Path) -> None:
    path = write_files(tmp_path, a=DERIVED, b=BASE)
    planted_questions = questions(path, "describe_task", instances=8)
    assert len(planted_questions) == 3
    for question in planted_questions:
        assert str(question.reference) in GARAGE_DESCRIPTIONS.values()
        assert str(question.reference) not in question.prompt


@pytest.mark.parametrize("notation", ["mermaid", "json", "prose"])
def test_planted_copy_converted_hides_description(notation: str, tmp_path: Path) -> None:
    for question in questions(write_files(tmp_path, w=GARAGE), "describe_task", notations=(notation,), convert=True):
        assert str(question.reference) not in question.prompt
        assert PLANTED in question.prompt


def test_plant_meaningless_names_refused(tmp_path: Path) -> None:
    unclear = GARAGE.replace("LiftCar", "Task1")
    assert questions(write_files(tmp_path, w=unclear), "describe_task")
    with pytest.raises(NoCaseError, match="nothing to ask for inconsistent_task_description"):
        questions(tmp_path, "inconsistent_task_description")


def test_choose_file_without_descriptions_plants_nothing(tmp_path: Path) -> None:
    path = write_files(tmp_path, w=UNDESCRIBED)
    for name in PATTERNS:
        assert choose(catalogue()[name], str(path), "", 0, 4) == ()


def test_choose_planted_more_instances_extend_fewer(tmp_path: Path) -> None:
    path = write_files(tmp_path, w=GARAGE)
    for name in PATTERNS:
        few, many = (choose(catalogue()[name], str(path), "", 3, n) for n in (2, 8))
        assert many[: len(few)] == few


def test_foreign_tasks_share_no_word_with_project(tmp_path: Path) -> None:
    project = projects.load(str(write_files(tmp_path, w=GARAGE))).workflow
    foreign = Foreign(project)
    assert len(foreign.tasks) > 10
    assert all(stems([task.name, task.description]).isdisjoint(foreign.words) for task in foreign.tasks)


@pytest.mark.parametrize(("like", "style"), [("Lift the car", r"[A-Z][a-z ]+"), ("lift_car", r"[a-z_]+")])
def test_plant_stray_task_named_in_style_of_file(like: str, style: str, tmp_path: Path) -> None:
    project = projects.load(str(write_files(tmp_path, w=GARAGE))).workflow
    tasks = [like.replace("Lift", verb).replace("lift", verb.lower()) for verb in ("Lift", "Move", "Turn", "Stop")]
    text = NOTATIONS["json"].write(project)
    for old, new in zip(GARAGE_DESCRIPTIONS, tasks, strict=True):
        text = text.replace(f'"{old}"', f'"{new}"')
    renamed = NOTATIONS["json"].read(text)
    pattern = catalogue()["contradicting_task_descriptions"]
    planted = plant(pattern, "", renamed, all_scopes(renamed), Random(1))
    assert planted is not None
    (stray,) = set(planted.project.task_names) - set(tasks)
    assert re.fullmatch(style, stray)
