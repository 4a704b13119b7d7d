"""What every question's text, reference, labels and digests hold."""

from __future__ import annotations

import re
from dataclasses import replace

import pytest

from pytest_taskgraph.benchmarks.understanding import understanding
from pytest_taskgraph.benchmarks.understanding.family_options import UnderstandingSettings
from pytest_taskgraph.benchmarks.understanding.patterns import catalogue
from pytest_taskgraph.benchmarks.understanding.patterns.pattern import Pattern, verdict
from pytest_taskgraph.benchmarks.understanding.patterns.scope import cases, scopes, sentence
from pytest_taskgraph.benchmarks.understanding.questions.sample import draw
from pytest_taskgraph.scoring.forms import form
from pytest_taskgraph.scoring.metrics import metric
from pytest_taskgraph.trial import Json, Question
from pytest_taskgraph.workflow.model import Workflow
from pytest_taskgraph.workflow.references import nested_task_paths

OURS = [pattern for pattern in catalogue().values() if pattern.category != "custom"]
every = pytest.mark.parametrize("pattern", OURS, ids=lambda pattern: pattern.name)
LABELS = {"size", "notation", "phrasing", "prompt", "tasks", "links", "guards", "depth", "width", "nested"}
BASE = UnderstandingSettings(seed=31, instances=4, notations=("wadl-separate",))


def asked(pattern: Pattern, chosen: UnderstandingSettings) -> list[Question]:
    return [understanding.question(one, chosen) for one in understanding.references(chosen, {"patterns": [pattern]})]


def names_of(project: Workflow) -> set[str]:
    """The names and paths of everything in the project that an answer can name."""
    found: set[str] = set()
    waiting = [project, *project.others]
    for level in waiting:
        found.update((*level.task_names, *(one.name for one in level.data)))
        found.update(".".join(path) for path in nested_task_paths(replace(level, others=project.others)))
        waiting.extend(task.subworkflow for task in level.tasks if task.subworkflow)
    return found


def held(answer: Json) -> set[str]:
    if isinstance(answer, dict):  # reasons are free text
        return held(answer.get("tasks", verdict(answer)))
    if isinstance(answer, list):
        return {name for item in answer for name in held(item)}
    return {str(answer)}


@every
def test_the_text_names_its_place_and_reads_as_a_sentence(pattern: Pattern) -> None:
    assert len(pattern.templates) >= 2
    for ordinal in range(6):
        drawn = draw(pattern, 12, 13, ordinal)
        texts = [sentence(pattern, i, drawn.scope, drawn.case) for i in range(len(pattern.templates))]
        assert len(set(texts)) == len(texts)
        for text in texts:
            assert drawn.scope.place in text
            assert text.endswith(("?", "."))
            assert text[0].isupper()
            assert "  " not in text
            assert "\n" not in text
            assert not re.search(r"\bNone\b|Undefined|[{}]|\bTrue\b|\bFalse\b|\(\)|''", text)


@pytest.mark.parametrize("pattern", [one for one in OURS if one.category == "behaviour"], ids=lambda one: one.name)
def test_every_phrasing_tells_all_that_a_question_about_behaviour_hangs_on(pattern: Pattern) -> None:
    for ordinal in range(6):
        drawn = draw(pattern, 12, 5, ordinal)
        for i in range(len(pattern.templates)):
            text = sentence(pattern, i, drawn.scope, drawn.case)
            assert all(str(value) in text for value in drawn.case.fields.values())


@every
def test_all_cases_of_a_workflow_are_asked_in_different_words(pattern: Pattern) -> None:
    project = draw(pattern, 12, 17, 0).project
    for phrasing in range(len(pattern.templates)):
        texts = [
            sentence(pattern, phrasing, scope, case) for scope in scopes(project) for case in cases(pattern, scope)
        ]
        assert texts
        assert len(set(texts)) == len(texts)


@every
def test_the_reference_is_an_answer_of_its_form_in_names_of_the_workflow(pattern: Pattern) -> None:
    for reference in understanding.references(BASE, {"patterns": [pattern]}):
        question = understanding.question(reference, BASE)
        shape = form(question.form)
        answer = shape.read(shape.write(question.reference, question.names), question.names, "lenient")
        assert metric(question.metric)(answer, question.reference) == 1.0
        if not isinstance(question.reference, dict):  # an order, or a condition: any of several texts
            assert answer == question.reference
        known = names_of(draw(pattern, reference.payload["tasks"], BASE.seed, reference.payload["ordinal"]).project)
        allowed = {"yes", "no"} if pattern.yes_no else known
        if question.form not in ("number", "condition", "text"):
            assert held(answer) <= allowed


@every
def test_labels_of_difficulty_are_there(pattern: Pattern) -> None:
    for question in asked(pattern, BASE):
        assert question.labels.keys() >= LABELS
        assert question.labels["size"] == 12
        assert 1 <= int(question.labels["depth"]) <= 12
        assert 1 <= int(question.labels["width"]) <= int(question.labels["tasks"]) <= 12


@every
def test_what_a_pattern_labels_is_none_of_the_labels_that_all_have(pattern: Pattern) -> None:
    project = draw(pattern, 12, 18, 0).project
    assert not {label for scope in scopes(project) for case in cases(pattern, scope) for label in case.labels} & LABELS


@every
def test_a_digest_differs_when_and_only_when_its_thing_does(pattern: Pattern) -> None:
    base = asked(pattern, BASE)[0]
    changed = {
        "prompt": asked(pattern, replace(BASE, prompt="direct"))[0],
        "template": asked(pattern, replace(BASE, phrasing="second"))[0],
        "notation": asked(pattern, replace(BASE, notations=("json",)))[0],
        "parsing": asked(pattern, replace(BASE, parsing="strict"))[0],
        "seed": asked(pattern, replace(BASE, seed=32))[0],
    }
    differing = {
        name: {part for part in base.digests if base.digests[part] != other.digests[part]}
        for name, other in changed.items()
    }
    told = "reference" if changed["seed"].reference != base.reference else "prompt"
    assert differing == {
        "prompt": {"prompt", "prompt_template"}, "template": {"prompt", "template"}, "notation": {"prompt"},
        "parsing": set(),
        "seed": {"prompt", "workflow", told},
    }  # fmt: skip
    assert all(re.fullmatch("[0-9a-f]{64}", value) for value in base.digests.values())


@every
def test_ids_are_safe_in_a_shell_and_tell_what_is_asked(pattern: Pattern) -> None:
    chosen = UnderstandingSettings(
        seed=7, prompt="answer-first", phrasing="second", notations=("json", "wadl-separate")
    )
    ids = [one.id for one in understanding.references(chosen, {"patterns": [pattern], "tasks": (12, 20)})]
    assert len(set(ids)) == len(ids) == 2 * 2 * 4
    assert all(re.fullmatch(r"[\w.-]+", one) for one in ids)
    assert ids[0] == f"{pattern.name}-json-n012-s7-000-p2-answer-first"
