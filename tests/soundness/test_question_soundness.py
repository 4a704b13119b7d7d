"""Sampling of questions about workflows for fuzzing, and the rules against answers that are given away."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from canonical_form import canonical
from drawn_workflows import generate
from hypothesis import HealthCheck, Phase, find, given, settings
from hypothesis import strategies as st

from pytest_taskgraph.benchmarks.instances import Instance
from pytest_taskgraph.benchmarks.settings import Settings
from pytest_taskgraph.catalog import registrations
from pytest_taskgraph.families.understanding.patterns import catalogue
from pytest_taskgraph.families.understanding.patterns.pattern import PATTERNS, Cases, case, pattern
from pytest_taskgraph.families.understanding.patterns.scope import scopes, sentence
from pytest_taskgraph.families.understanding.question_soundness.answer_giveaways import (
    PROPERTY,
    giveaway_checks,
    lower_bound,
)
from pytest_taskgraph.families.understanding.question_soundness.question_checks import PROPERTIES, QuestionChecks
from pytest_taskgraph.families.understanding.question_soundness.question_instances import UNUSUAL, with_unusual_names
from pytest_taskgraph.families.understanding.questions.ingredients import PatternQuestion, write_workflow
from pytest_taskgraph.families.understanding.renaming import renaming_to, with_texts
from pytest_taskgraph.families.understanding.understanding_family import understanding
from pytest_taskgraph.families.understanding.understanding_settings import UnderstandingSettings
from pytest_taskgraph.generation.recipe import Recipe
from pytest_taskgraph.notations import NOTATIONS, notation
from pytest_taskgraph.notations.plain_json import JSON
from pytest_taskgraph.soundness.fuzzing import fuzz
from pytest_taskgraph.workflow.model import Workflow

SMALL = generate(Recipe(tasks=4, features=frozenset({"parallel", "data"})), 1)
few = settings(suppress_health_check=list(HealthCheck))
unshrunk = settings(few, phases=[Phase.generate])


@pytest.fixture
def own_patterns() -> Iterator[None]:
    """Forget the patterns of a test at its end."""
    before = {**catalogue()}
    yield
    PATTERNS.clear()
    PATTERNS.update(before)


@few
@given(with_unusual_names(SMALL), st.sampled_from(sorted(NOTATIONS)))
def test_unusual_names_stand_in_every_notation(project: Workflow, name: str) -> None:
    chosen = notation(name)
    assert canonical(chosen.read(chosen.write(project))) == canonical(project)


def test_with_unusual_names_shrinks_to_the_names_of_the_project() -> None:
    assert find(with_unusual_names(SMALL), lambda project: True) == SMALL
    renamed = find(with_unusual_names(SMALL), lambda project: any(name in UNUSUAL for name in project.task_names))
    assert sum(name not in SMALL.task_names for name in renamed.task_names) <= 2


@few
@given(understanding.instances("next_tasks", Settings(), {}))
def test_instances_of_a_pattern_hold_what_shows_and_repeats_them(instance: Instance) -> None:
    question = instance.question
    assert question.group == "next_tasks"
    assert instance.drawing
    assert instance.size >= 3
    assert [instance.suite["workflow"]] == list(instance.files)
    assert JSON.read(instance.files[instance.suite["workflow"]]).name
    assert instance.suite["question"] == question.text
    assert {check.property for check in instance.checks} <= {*PROPERTIES, "deterministic"}


@settings(few, max_examples=10)
@given(instance=understanding.instances("next_tasks", Settings(), {}))
def test_instance_as_a_suite_of_its_files_asks_the_same(
    instance: Instance, tmp_path_factory: pytest.TempPathFactory
) -> None:
    folder = tmp_path_factory.mktemp("instance")
    for name, text in instance.files.items():
        (folder / name).write_text(text, encoding="utf-8")
    suite = {**instance.suite, "workflow": str(folder / instance.suite["workflow"])}
    stated = Settings(prompt=suite["prompt"], own={"workflow": (suite["workflow"],), "notation": (suite["notation"],)})
    (reference,) = understanding.references(stated, {"patterns": suite["patterns"], "question": suite["question"]})
    again = understanding.question(reference, stated)
    assert (again.text, again.reference) == (instance.question.text, instance.question.reference)


def test_instances_of_a_stated_notation_prompt_and_phrasing_have_them() -> None:
    stated = Settings(prompt="direct", given=frozenset({"prompt"}), own={"notation": ("json",), "phrasing": "second"})

    @few
    @given(understanding.instances("next_tasks", stated, {}))
    def check(instance: Instance) -> None:
        labels = instance.question.labels
        assert (labels["prompt"], labels["notation"], labels["phrasing"]) == ("direct", "json", 2)

    check()


def test_instances_of_a_suite_have_its_notations() -> None:
    @few
    @given(understanding.instances("next_tasks", Settings(), {"notations": ["mermaid", "prose"]}))
    def check(instance: Instance) -> None:
        assert instance.question.labels["notation"] in ("mermaid", "prose")

    check()


def test_instances_without_statement_have_every_notation_and_prompt() -> None:
    labels = set[tuple[str, str]]()

    @settings(few, max_examples=75, database=None)
    @given(understanding.instances("task_list", Settings(), {}))
    def collect(instance: Instance) -> None:
        labels.add((str(instance.question.labels["notation"]), str(instance.question.labels["prompt"])))

    collect()
    assert {name for name, _ in labels} == set(NOTATIONS)
    assert len({prompt for _, prompt in labels}) >= 4


def test_instances_of_own_files_are_about_them(tmp_path: Path) -> None:
    path = tmp_path / "own.json"
    path.write_text(notation("json").write(SMALL), encoding="utf-8")
    stated = Settings(own={"workflow": (str(path),)})
    assert "next_tasks" in understanding.fuzz_groups(stated, {"patterns": ["next_tasks", "flow_start"]})
    assert fuzz(understanding, "next_tasks", stated, 10, seed=1) == []
    instance = find(understanding.instances("next_tasks", stated, {}), lambda one: True, settings=unshrunk)
    assert notation("json").write(SMALL).strip() in instance.question.prompt


def test_instances_of_a_planted_pattern_are_not_read_back() -> None:
    instance = find(understanding.instances("wrong_task_order", Settings(), {}), lambda one: True, settings=unshrunk)
    assert "read-back" not in {check.property for check in instance.checks}


def test_fuzz_registered_prompt_without_workflow_is_found() -> None:
    with registrations() as generated:
        generated.add("prompt", "mine", "{# answer: whole #}\n{{ question }} {{ instruction }}", "conftest.py")
        findings = {finding.property: finding for finding in fuzz(understanding, "task_list", Settings(), 8, seed=1)}
    assert findings["template"].instance.question.labels["prompt"] == "mine"
    assert "does not hold the text of the workflow" in findings["template"].message


def test_fuzz_pattern_that_raises_names_the_exception(own_patterns: None) -> None:
    @pattern("How many tasks has {{ place }}?", form="number")
    def raising(workflow: Workflow) -> Cases:
        """Fails where there is data."""
        yield case({"few": len(workflow.tasks)}["many" if workflow.data else "few"])

    stated = Settings(own={"notation": ("json",)})
    (finding,) = (
        finding for finding in fuzz(understanding, "raising", stated, 5, seed=1) if finding.property == "renders"
    )
    assert "raised KeyError: 'many'" in finding.message
    assert finding.instance.size == 3


@pytest.mark.parametrize(
    ("right", "count", "least", "most"), [(80, 80, 0.85, 0.9), (170, 240, 0.6, 0.62), (0, 0, 0, 0)]
)
def test_lower_bound_of_a_share_leaves_room_for_chance(right: int, count: int, least: float, most: float) -> None:
    assert least <= lower_bound(right, count) <= most


@pytest.mark.parametrize(
    "name", ["task_after_task", "flow_start", "task_list", pytest.param("link_existence", marks=pytest.mark.exhaustive)]
)
def test_giveaway_check_of_our_pattern_finds_nothing(name: str) -> None:
    (check,) = giveaway_checks(name, UnderstandingSettings(), 80)
    assert check.property == PROPERTY
    assert check.run() is None


def test_giveaway_check_pattern_with_one_answer_is_found(own_patterns: None) -> None:
    @pattern("Has {{ place }} a task '{{ task }}'?", form="yes-no")
    def always_yes(workflow: Workflow) -> Cases:
        """Asks for tasks that are there."""
        yield case(True, task=workflow.task_names[0])

    (check,) = giveaway_checks("always_yes", UnderstandingSettings(), 80)
    result = check.run()
    assert result is not None
    assert 'every answer is "yes"' in result.message
    assert result.instance.size == 3


def test_giveaway_check_constant_number_is_found(own_patterns: None) -> None:
    @pattern("How many starts has {{ place }}?", form="number")
    def one_start(workflow: Workflow) -> Cases:
        """Its answer is always 1."""
        yield case(1)

    (check,) = giveaway_checks("one_start", replace(UnderstandingSettings(), tasks=(6,)), 80)
    result = check.run()
    assert result is not None
    assert "'always 1' gets 80 of 80" in result.message


def test_names_shown_field_that_is_spelt_like_a_name_is_no_name() -> None:
    generated = generate(Recipe(tasks=6, features=frozenset({"hierarchy"})), 1)
    (below,) = [task.subworkflow.name for task in generated.tasks if task.subworkflow is not None]
    project = with_texts(generated, renaming_to({below: "data"}))
    selected = catalogue()["task_after_task"]
    case_of_data = next(each for each in selected.cases(project) if each.fields["flow"] == "data")
    text = write_workflow(project, "wadl-expanded")
    subject = PatternQuestion(selected, selected, project, scopes(project)[0], case_of_data, 0, "wadl-expanded", text)
    (reference, *_) = understanding.references(Settings(), {"patterns": ["task_after_task"]})
    put = replace(
        understanding.question(reference, Settings()), text=sentence(selected, 0, subject.scope, case_of_data)
    )
    assert ("data" in put.text, "data" in text) == (True, False)
    assert QuestionChecks(subject, put, lambda other: put).names_shown() == ""
