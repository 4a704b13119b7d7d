"""Functionality questions about the user's own described files: what is planted, where, and what the answer says."""

from __future__ import annotations

import re
from pathlib import Path
from random import Random

import pytest

from pytest_taskgraph.benchmarks.understanding import understanding
from pytest_taskgraph.benchmarks.understanding.family_options import UnderstandingSettings
from pytest_taskgraph.benchmarks.understanding.own_files import projects
from pytest_taskgraph.benchmarks.understanding.own_files.choices import EDITED, PLANTED, choose
from pytest_taskgraph.benchmarks.understanding.own_files.planting import KINDS, Foreign, plant, stems
from pytest_taskgraph.benchmarks.understanding.patterns import catalogue
from pytest_taskgraph.benchmarks.understanding.patterns.scope import all_scopes
from pytest_taskgraph.errors import NoCaseError
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


def own(folder: Path, **files: str) -> Path:
    for name, text in files.items():
        (folder / f"{name}.xxp").write_text(text, encoding="utf-8")
    return folder


def questions(path: Path, patterns: object, **more: object) -> list[Question]:
    chosen = UnderstandingSettings(workflows=(str(path),), **more)  # type: ignore[arg-type]
    return [understanding.question(one, chosen) for one in understanding.references(chosen, {"patterns": patterns})]


def shown(question: Question) -> Workflow:
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
def test_references_described_file_asks_about_marked_copies(pattern: str, tmp_path: Path) -> None:
    asked = questions(own(tmp_path, w=GARAGE), pattern)
    assert asked
    for one in asked:
        assert f"{tmp_path.name}, {PLANTED}" in one.prompt
        assert EDITED not in one.prompt
        assert one.labels["edit"] in KINDS
        assert one.graded == (pattern in {"describe_task", "describe_workflow"})
    assert len({one.cluster for one in asked}) == 1


def test_describe_task_hides_only_the_description_asked_for(tmp_path: Path) -> None:
    for one in questions(own(tmp_path, w=GARAGE), "describe_task"):
        (task,) = [name for name, told in GARAGE_DESCRIPTIONS.items() if told == one.reference]
        assert f"task '{task}'" in one.text
        assert descriptions(shown(one)) == GARAGE_DESCRIPTIONS | {task: ""}


def test_describe_workflow_hides_the_purpose_once(tmp_path: Path) -> None:
    (one,) = questions(own(tmp_path, w=GARAGE), "describe_workflow")
    assert one.reference == "Changes the tyres of a car before the winter."
    assert shown(one).description == ""
    assert descriptions(shown(one)) == GARAGE_DESCRIPTIONS


def test_inconsistent_task_description_answer_is_what_differs(tmp_path: Path) -> None:
    asked = questions(own(tmp_path, w=GARAGE), "inconsistent_task_description", instances=8)
    assert len(asked) == 8
    for one in asked:
        now = descriptions(shown(one))
        changed = [name for name in sorted(now) if now[name] != GARAGE_DESCRIPTIONS[name]]
        assert one.reference["tasks"] == changed  # type: ignore[index,call-overload]
        assert 1 <= len(changed) <= 2
        assert all(stems([now[name]]).isdisjoint(WORDS) for name in changed)


def test_contradicting_task_is_the_one_the_file_has_not(tmp_path: Path) -> None:
    for one in questions(own(tmp_path, w=GARAGE), "contradicting_task_descriptions"):
        now = descriptions(shown(one))
        assert one.reference["tasks"] == sorted(now.keys() - GARAGE_DESCRIPTIONS.keys())  # type: ignore[index,call-overload]
        assert len(now) == len(GARAGE_DESCRIPTIONS)
        linked = {end for link in shown(one).links for end in (link.source, link.target)} - {"START", "END"}
        assert linked == now.keys()


def test_inconsistent_workflow_description_yes_shows_own_no_foreign(tmp_path: Path) -> None:
    asked = questions(own(tmp_path, w=GARAGE), "inconsistent_workflow_description")
    answers = {one.reference["answer"]: one for one in asked}  # type: ignore[index,call-overload]
    assert len(asked) == len(answers) == 2
    assert shown(answers["yes"]).description == "Changes the tyres of a car before the winter."
    assert stems([shown(answers["no"]).description]).isdisjoint(WORDS)


def test_planted_copy_of_derived_files_changes_what_is_configured(tmp_path: Path) -> None:
    path = own(tmp_path, a=DERIVED, b=BASE)
    asked = questions(path, "describe_task", instances=8)
    assert len(asked) == 3
    for one in asked:
        assert str(one.reference) in GARAGE_DESCRIPTIONS.values()
        assert str(one.reference) not in one.prompt


@pytest.mark.parametrize("notation", ["mermaid", "json", "prose"])
def test_planted_copy_in_another_notation_hides_it_there(notation: str, tmp_path: Path) -> None:
    for one in questions(own(tmp_path, w=GARAGE), "describe_task", notations=(notation,), convert=True):
        assert str(one.reference) not in one.prompt
        assert PLANTED in one.prompt


def test_plant_level_with_names_that_say_nothing_has_no_room(tmp_path: Path) -> None:
    unclear = GARAGE.replace("LiftCar", "Task1")
    assert questions(own(tmp_path, w=unclear), "describe_task")
    with pytest.raises(NoCaseError, match="nothing to ask for inconsistent_task_description"):
        questions(tmp_path, "inconsistent_task_description")


def test_choose_file_without_descriptions_plants_nothing(tmp_path: Path) -> None:
    path = own(tmp_path, w=UNDESCRIBED)
    for name in PATTERNS:
        assert choose(catalogue()[name], str(path), "", 0, 4) == ()


def test_choose_planted_more_instances_extend_fewer(tmp_path: Path) -> None:
    path = own(tmp_path, w=GARAGE)
    for name in PATTERNS:
        few, many = (choose(catalogue()[name], str(path), "", 3, n) for n in (2, 8))
        assert many[: len(few)] == few


def test_foreign_shares_no_word_with_the_project(tmp_path: Path) -> None:
    project = projects.load(str(own(tmp_path, w=GARAGE))).workflow
    foreign = Foreign(project)
    assert len(foreign.tasks) > 10
    assert all(stems([one.name, one.description]).isdisjoint(foreign.words) for one in foreign.tasks)


@pytest.mark.parametrize(("like", "style"), [("Lift the car", r"[A-Z][a-z ]+"), ("lift_car", r"[a-z_]+")])
def test_plant_stray_task_is_named_in_the_style_of_the_file(like: str, style: str, tmp_path: Path) -> None:
    project = projects.load(str(own(tmp_path, w=GARAGE))).workflow
    tasks = [like.replace("Lift", verb).replace("lift", verb.lower()) for verb in ("Lift", "Move", "Turn", "Stop")]
    named = NOTATIONS["json"].write(project)
    for old, new in zip(GARAGE_DESCRIPTIONS, tasks, strict=True):
        named = named.replace(f'"{old}"', f'"{new}"')
    renamed = NOTATIONS["json"].read(named)
    pattern = catalogue()["contradicting_task_descriptions"]
    planted = plant(pattern, "", renamed, all_scopes(renamed), Random(1))
    assert planted is not None
    (stray,) = set(planted.project.task_names) - set(tasks)
    assert re.fullmatch(style, stray)
