from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import pytest

from pytest_taskgraph.errors import NoCaseError
from pytest_taskgraph.families.understanding.patterns import catalogue
from pytest_taskgraph.families.understanding.patterns.pattern import Pattern, verdict
from pytest_taskgraph.families.understanding.prompts import PROMPTS, Example, prompt_template
from pytest_taskgraph.families.understanding.questions import examples as shots
from pytest_taskgraph.families.understanding.questions.examples import (
    ExampleSeries,
    draw_examples,
    size_of,
    solve_examples,
)
from pytest_taskgraph.families.understanding.questions.ingredients import known_names
from pytest_taskgraph.families.understanding.questions.sample import draw
from pytest_taskgraph.families.understanding.understanding_family import understanding
from pytest_taskgraph.families.understanding.understanding_settings import UnderstandingSettings
from pytest_taskgraph.notations import notation
from pytest_taskgraph.notations.plain_json import digest
from pytest_taskgraph.scoring.grade import grade
from pytest_taskgraph.trial import Question, Reply, Request
from pytest_taskgraph.workflow.model import Workflow

OURS = [pattern for pattern in catalogue().values() if pattern.category != "custom"]
SEEN = [pattern for pattern in OURS if not pattern.planted]
YES_NO = [pattern for pattern in OURS if pattern.yes_no]
CHAIN = "package p; workflow W { task Mix; task Bake; START -> Mix -> Bake -> END; }"


def parametrize_patterns(patterns: list[Pattern]) -> pytest.MarkDecorator:
    return pytest.mark.parametrize("pattern", patterns, ids=lambda pattern: pattern.name)


def as_json(workflow: Workflow) -> str:
    return notation("json").write(workflow).strip("\n")


def build_questions(pattern: str | Pattern, **chosen: Any) -> list[Question]:  # noqa: ANN401
    settings = UnderstandingSettings(**chosen)
    return [
        understanding.question(reference, settings)
        for reference in understanding.references(settings, {"patterns": pattern})
    ]


def reader_reply(question: Question) -> Reply:
    messages = [{"role": "system", "content": question.system}, {"role": "user", "content": question.prompt}]
    return asyncio.run(understanding.baseline("reader", UnderstandingSettings()).answer(Request(messages=messages)))


@parametrize_patterns(SEEN)
def test_reader_with_examples_any_prompt_right(pattern: Pattern) -> None:
    for i, name in list(enumerate(PROMPTS))[SEEN.index(pattern) % 3 :: 3]:  # each prompt for a third of the patterns
        for question in build_questions(
            pattern, prompt=name, shots=2, notations=(("wadl", "json")[i % 2],), instances=1
        ):
            assert grade(question, reader_reply(question)).value == 1.0, question.prompt


@pytest.mark.parametrize("name", sorted(PROMPTS))
def test_prompt_examples_precede_workflow(name: str) -> None:
    examples = tuple(Example(f"{n} -> B;", f"Which {n}?", f"It is {n}.") for n in ("First", "Second"))
    fields: dict[str, Any] = {
        "workflow": "A;",
        "notation": "DSL",
        "in_notation": "in DSL",
        "guide": "Read it.",
        "question": "What?",
        "instruction": "One.",
    }
    prompt = prompt_template(name).compose(**fields, examples=examples).prompt
    texts = [text for example in examples for text in (example.workflow, example.question, example.answer)]
    places = [prompt.index(text) for text in (*texts, "A;", "What?", "One.")]
    assert places == sorted(places)
    assert "Example" not in prompt_template(name).compose(**fields).prompt


@pytest.mark.parametrize(("name", "default"), [("few-shot", 2), ("direct", 0), ("chain-of-thought", 0), ("guided", 0)])
def test_prompt_default_and_given_number_of_examples(name: str, default: int) -> None:
    def fenced(**chosen: Any) -> int:  # noqa: ANN401
        return build_questions("task_list", prompt=name, instances=1, **chosen)[0].prompt.count("```\n") // 2

    assert fenced() == default + 1
    assert [fenced(shots=k) for k in (0, 1, 3)] == [1, 2, 4]


def test_question_id_contains_given_shots() -> None:
    ids = [build_questions("task_list", instances=1, shots=k)[0].id for k in (None, 0, 3)]
    assert ids == [f"task_list-wadl-n012-s0-000{end}" for end in ("", "-k0", "-k3")]


@parametrize_patterns(YES_NO)
def test_examples_answers_do_not_reveal_answer(pattern: Pattern) -> None:
    size = size_of(pattern, 0)
    answers = {
        ordinal: [verdict(each.case.answer) for each in draw_examples(pattern, ExampleSeries(3, size, 1, ordinal), "")]
        for ordinal in range(3)
    }
    assert answers == {0: ["yes", "no", "yes"], 1: ["yes", "no", "yes"], 2: ["no", "yes", "no"]}


def test_examples_differ_in_workflow_from_questions() -> None:
    pattern = catalogue()["next_tasks"]
    own = {digest(draw(pattern, 9, 4, ordinal).project) for ordinal in range(4)}
    drawn_cases = [each for ordinal in range(4) for each in draw_examples(pattern, ExampleSeries(3, 9, 4, ordinal), "")]
    assert {len(each.project.task_names) > 0 for each in drawn_cases} == {True}
    assert len({digest(each.project) for each in drawn_cases} | own) == 4 * 3 + 4
    assert draw_examples(pattern, ExampleSeries(3, 9, 4, 0), "") == draw_examples(
        pattern, ExampleSeries(3, 9, 4, 0), ""
    )


def test_draw_examples_skips_workflow_of_question() -> None:
    pattern = catalogue()["next_tasks"]
    (first,) = draw_examples(pattern, ExampleSeries(1, 9, 4, 0), "")
    (other,) = draw_examples(pattern, ExampleSeries(1, 9, 4, 0), digest(first.project))
    assert digest(other.project) != digest(first.project)


def test_draw_examples_without_other_workflow_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    pattern = catalogue()["next_tasks"]
    same = draw(pattern, 9, 4, 0)
    monkeypatch.setattr(shots, "draw", lambda *_: same)
    with pytest.raises(NoCaseError, match="'next_tasks' finds no example that differs"):
        draw_examples(pattern, ExampleSeries(1, 9, 4, 0), digest(same.project))


@pytest.mark.parametrize("place", ["marker", "whole", "first-line"])
@parametrize_patterns(OURS)
def test_examples_answered_in_form_at_place(pattern: Pattern, place: Any) -> None:  # noqa: ANN401
    drawn_cases = draw_examples(pattern, ExampleSeries(1, size_of(pattern, 0), 8, 0), "")
    (example,) = solve_examples(drawn_cases, pattern, 0, place, as_json)
    assert example.answer.startswith("Final answer: ") == (place == "marker")
    question = build_questions(pattern, instances=1, tasks=(size_of(pattern, 0),))[0]
    solved = Question(
        "id", "understanding", pattern.name, pattern.category, example.question, "", question.form,
        drawn_cases[0].case.answer, question.metric, [], question.pass_threshold, place=place,
        names=known_names(drawn_cases[0].project, drawn_cases[0].scope.workflow),
    )  # fmt: skip
    if not question.judged:
        assert grade(solved, Reply(example.answer)).value == 1.0


def test_examples_for_own_file_in_its_notation(tmp_path: Path) -> None:
    path = tmp_path / "w.xxp"
    path.write_text(CHAIN, encoding="utf-8")
    (question,) = build_questions("task_list", workflows=(str(path),), instances=1, shots=2)
    assert question.prompt.count("workflow Process {") >= 2
    assert question.prompt.count(CHAIN) == 1
    assert grade(question, reader_reply(question)).value == 1.0


def test_own_file_pattern_with_unsupported_examples_left_out(tmp_path: Path) -> None:
    path = tmp_path / "w.mmd"
    path.write_text("flowchart TD\n  START([START]) --> A[A]\n  A --> END([END])\n", encoding="utf-8")
    chosen = UnderstandingSettings(workflows=(str(path),), instances=1, shots=1)
    options = {"patterns": ["task_list", "infinite_recursion"]}
    assert [reference.group for reference in understanding.references(chosen, options)] == ["task_list"]
    notice = "infinite_recursion is left out: no example in mermaid, which does not support references"
    assert notice in understanding.notices(chosen, options)
    assert notice not in understanding.notices(UnderstandingSettings(workflows=(str(path),)), options)
