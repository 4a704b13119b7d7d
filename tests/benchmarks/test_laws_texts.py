"""Text, reference, labels and digests of every question."""

from __future__ import annotations

import re
from dataclasses import replace

import pytest

from pytest_taskgraph.families.understanding.patterns import catalogue
from pytest_taskgraph.families.understanding.patterns.pattern import Pattern, verdict
from pytest_taskgraph.families.understanding.patterns.scope import cases, scopes, sentence
from pytest_taskgraph.families.understanding.questions.sample import draw
from pytest_taskgraph.families.understanding.understanding_family import understanding
from pytest_taskgraph.families.understanding.understanding_settings import UnderstandingSettings
from pytest_taskgraph.scoring.forms import form
from pytest_taskgraph.scoring.metrics import metric
from pytest_taskgraph.trial import Json, Question
from pytest_taskgraph.workflow.model import Workflow
from pytest_taskgraph.workflow.references import nested_task_paths

OURS = [pattern for pattern in catalogue().values() if pattern.category != "custom"]
each_pattern = pytest.mark.parametrize("pattern", OURS, ids=lambda pattern: pattern.name)
LABELS = {"size", "notation", "phrasing", "prompt", "tasks", "links", "guards", "depth", "width", "nested"}
BASE = UnderstandingSettings(instances=2, notations=("wadl-separate",))


def build_questions(pattern: Pattern, chosen: UnderstandingSettings) -> list[Question]:
    return [
        understanding.question(reference, chosen)
        for reference in understanding.references(chosen, {"patterns": [pattern]})
    ]


def names_of(project: Workflow) -> set[str]:
    """Return the names and paths of everything in the project that an answer can name."""
    names: set[str] = set()
    waiting = [project, *project.others]
    for level in waiting:
        names.update((*level.task_names, *(data.name for data in level.data)))
        names.update(".".join(path) for path in nested_task_paths(replace(level, others=project.others)))
        waiting.extend(task.subworkflow for task in level.tasks if task.subworkflow)
    return names


def names_in_answer(answer: Json) -> set[str]:
    if isinstance(answer, dict):  # reasons are free text
        return names_in_answer(answer.get("tasks", verdict(answer)))
    if isinstance(answer, list):
        return {name for part in answer for name in names_in_answer(part)}
    return {str(answer)}


@each_pattern
def test_question_text_names_place_and_is_sentence(pattern: Pattern) -> None:
    assert len(pattern.templates) >= 2
    for ordinal in range(4):
        drawn_case = draw(pattern, 12, 0, ordinal)
        texts = [sentence(pattern, i, drawn_case.scope, drawn_case.case) for i in range(len(pattern.templates))]
        assert len(set(texts)) == len(texts)
        for text in texts:
            assert drawn_case.scope.place in text
            assert text.endswith(("?", "."))
            assert text[0].isupper()
            assert "  " not in text
            assert "\n" not in text
            assert not re.search(r"\bNone\b|Undefined|[{}]|\bTrue\b|\bFalse\b|\(\)|''", text)


@pytest.mark.parametrize(
    "pattern", [pattern for pattern in OURS if pattern.category == "behaviour"], ids=lambda pattern: pattern.name
)
def test_behaviour_phrasing_shows_all_fields(pattern: Pattern) -> None:
    for ordinal in range(4):
        drawn_case = draw(pattern, 12, 0, ordinal)
        for i in range(len(pattern.templates)):
            text = sentence(pattern, i, drawn_case.scope, drawn_case.case)
            assert all(str(value) in text for value in drawn_case.case.fields.values())


@each_pattern
def test_cases_of_workflow_have_different_texts(pattern: Pattern) -> None:
    project = draw(pattern, 12, 0, 0).project
    for phrasing in range(len(pattern.templates)):
        texts = [
            sentence(pattern, phrasing, scope, case) for scope in scopes(project) for case in cases(pattern, scope)
        ]
        assert texts
        assert len(set(texts)) == len(texts)


@each_pattern
def test_reference_is_valid_answer_of_its_form(pattern: Pattern) -> None:
    for reference in understanding.references(BASE, {"patterns": [pattern]}):
        question = understanding.question(reference, BASE)
        shape = form(question.form)
        answer = shape.read(shape.write(question.reference, question.names), question.names, "lenient")
        assert metric(question.metric)(answer, question.reference) == 1.0
        if not isinstance(question.reference, dict):  # an order, or a condition: any of several texts
            assert answer == question.reference
        names = names_of(draw(pattern, reference.payload["tasks"], BASE.seed, reference.payload["ordinal"]).project)
        allowed = {"yes", "no"} if pattern.yes_no else names
        if question.form not in ("number", "condition", "text"):
            assert names_in_answer(answer) <= allowed


@each_pattern
def test_question_labels_include_difficulty(pattern: Pattern) -> None:
    for question in build_questions(pattern, BASE):
        assert question.labels.keys() >= LABELS
        assert question.labels["size"] == 12
        assert 1 <= int(question.labels["depth"]) <= 12
        assert 1 <= int(question.labels["width"]) <= int(question.labels["tasks"]) <= 12


@each_pattern
def test_case_labels_disjoint_from_shared_labels(pattern: Pattern) -> None:
    project = draw(pattern, 12, 0, 0).project
    assert not {label for scope in scopes(project) for case in cases(pattern, scope) for label in case.labels} & LABELS


@each_pattern
def test_digest_differs_exactly_if_its_part_does(pattern: Pattern) -> None:
    single = replace(BASE, instances=1)
    (base,) = build_questions(pattern, single)
    changed = {
        "prompt": build_questions(pattern, replace(single, prompt="direct"))[0],
        "template": build_questions(pattern, replace(single, phrasing="second"))[0],
        "notation": build_questions(pattern, replace(single, notations=("json",)))[0],
        "parsing": build_questions(pattern, replace(single, parsing="strict"))[0],
        "seed": build_questions(pattern, replace(single, seed=1))[0],
    }
    differing = {
        name: {part for part in base.digests if base.digests[part] != other.digests[part]}
        for name, other in changed.items()
    }
    last_difference = "reference" if changed["seed"].reference != base.reference else "prompt"
    assert differing == {
        "prompt": {"prompt", "prompt_template"}, "template": {"prompt", "template"}, "notation": {"prompt"},
        "parsing": set(),
        "seed": {"prompt", "workflow", last_difference},
    }  # fmt: skip
    assert all(re.fullmatch("[0-9a-f]{64}", value) for value in base.digests.values())


@each_pattern
def test_ids_safe_in_shell_and_state_settings(pattern: Pattern) -> None:
    chosen = UnderstandingSettings(
        seed=7, prompt="answer-first", phrasing="second", notations=("json", "wadl-separate")
    )
    ids = [reference.id for reference in understanding.references(chosen, {"patterns": [pattern], "tasks": (12, 20)})]
    assert len(set(ids)) == len(ids) == 2 * 2 * 4
    assert all(re.fullmatch(r"[\w.-]+", each) for each in ids)
    assert ids[0] == f"{pattern.name}-json-n012-s7-000-p2-answer-first"
