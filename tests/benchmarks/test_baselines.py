from __future__ import annotations

import asyncio
from collections import Counter
from dataclasses import replace
from functools import cache

import pytest

from pytest_taskgraph.errors import NotAskedError, UnknownNameError
from pytest_taskgraph.families.understanding.patterns import catalogue
from pytest_taskgraph.families.understanding.questions.sample import draw
from pytest_taskgraph.families.understanding.understanding_family import understanding
from pytest_taskgraph.families.understanding.understanding_settings import UnderstandingSettings
from pytest_taskgraph.notations import NOTATIONS
from pytest_taskgraph.scoring.forms import FORMS
from pytest_taskgraph.scoring.forms.open_forms import OPEN_FORMS
from pytest_taskgraph.scoring.grade import grade
from pytest_taskgraph.trial import Json, Question, Reply, Request
from pytest_taskgraph.workflow.model import END, START, Data, DataLink, Link, Task, Workflow

GUESSERS = [name for name in understanding.baselines if name not in ("reader", "lexical")]
guessers = pytest.mark.parametrize("name", GUESSERS)


@cache
def baseline_questions(
    pattern: str = "*", prompt: str = "chain-of-thought", instances: int = 2, notation: str = "wadl"
) -> list[Question]:
    chosen = UnderstandingSettings(prompt=prompt, instances=instances, notations=(notation,), seed=51)
    return [
        understanding.question(reference, chosen)
        for reference in understanding.references(chosen, {"patterns": pattern})
    ]


def reply(name: str, prompt: str) -> Reply:
    model = understanding.baseline(name, UnderstandingSettings())
    return asyncio.run(model.answer(Request(messages=[{"role": "user", "content": prompt}])))


@guessers
@pytest.mark.parametrize("prompt", ["direct", "chain-of-thought", "answer-first"])
def test_guess_any_pattern_and_prompt_is_parsed(name: str, prompt: str) -> None:
    for question in baseline_questions(prompt=prompt, instances=1):
        score = grade(question, reply(name, question.prompt))
        assert score.status == "read", (question.prompt, score)


@guessers
@pytest.mark.parametrize("notation", sorted(NOTATIONS))
def test_guess_any_notation_names_tasks_of_level(name: str, notation: str) -> None:
    for question in baseline_questions("parallel_to_task", instances=6, notation=notation):
        score = grade(question, reply(name, question.prompt))
        ordinal = int(question.id.rpartition("-")[2])
        level = draw(catalogue()["parallel_to_task"], 12, 51, ordinal).scope.workflow
        assert isinstance(score.given, list)
        assert set(map(str, score.given)) <= set(level.task_names)


def test_random_baseline_yes_no_right_half_the_time() -> None:
    questions = baseline_questions("flow_connected", instances=60)
    scores = [grade(question, reply("random", question.prompt)) for question in questions]
    assert 18 <= sum(score.value for score in scores) <= 42
    assert min(Counter(str(score.given) for score in scores).values()) >= 15


def test_constant_baseline_yes_no_right_half_the_time() -> None:
    scores = [
        grade(question, reply("constant", question.prompt)).value
        for question in baseline_questions("link_existence", instances=10)
    ]
    assert scores == [1.0, 0.0] * 5


def test_first_mentioned_baseline_names_tasks_of_question() -> None:
    for question in baseline_questions("next_tasks", instances=4):
        score = grade(question, reply("first-mentioned", question.prompt))
        assert isinstance(score.given, list)
        assert all(f"'{name}'" in question.text for name in score.given)


@pytest.mark.parametrize("name", ["reader", *GUESSERS])
def test_baseline_same_prompt_same_reply(name: str) -> None:
    for question in baseline_questions("task_list"):
        assert reply(name, question.prompt) == reply(name, question.prompt)
        assert reply(name, question.prompt).source == f"baseline:{name}"


@pytest.mark.parametrize("name", understanding.baselines)
def test_baseline_without_workflow_or_chat_refuses(name: str) -> None:
    with pytest.raises(NotAskedError):
        reply(name, 'Is there a cycle? The answer is either "yes" or "no".')
    with pytest.raises(NotAskedError, match=f"baseline:{name} cannot answer a request of kind 'score'"):
        asyncio.run(understanding.baseline(name, UnderstandingSettings()).answer(Request(kind="score", texts=["A"])))


def test_reader_unknown_question_refuses() -> None:
    (question, *_) = baseline_questions("task_list")
    with pytest.raises(NotAskedError, match="no question that it knows"):
        reply("reader", question.prompt.replace(question.text, "How are you?"))


def test_reader_task_named_like_marker_adds_no_marker() -> None:
    (question, *_) = baseline_questions("task_list", prompt="direct", notation="json")
    task = str(question.reference[0]) if isinstance(question.reference, list) else ""
    prompt = question.prompt.replace(task, "final answer:")
    assert not reply("reader", prompt).text.startswith("Final answer:")


def test_baseline_unknown_name_lists_available() -> None:
    with pytest.raises(
        UnknownNameError, match="unknown baseline 'oracle'; known: constant, first-mentioned, lexical, random, reader"
    ):
        understanding.baseline("oracle", UnderstandingSettings())


DINNER = Workflow(
    "CakeBaking",
    description="Feeds guests with a cake.",
    tasks=(
        Task("FrostCake", "Covers the cake with frost."),
        Task("WhiskEggs", "Whisks eggs in a bowl."),
        Task("SetTable", "Writes an invoice."),
    ),
    data=(Data("Foam"), Data("Eggs")),
    links=(
        Link(START, "FrostCake"), Link("FrostCake", "WhiskEggs"), Link("WhiskEggs", "SetTable"), Link("SetTable", END),
    ),
    data_links=(DataLink("Eggs", "WhiskEggs"), DataLink("WhiskEggs", "Foam"), DataLink("Foam", "FrostCake")),
)  # fmt: skip


def answer_by_words(form: str, text: str, name: str = "reader", workflow: Workflow = DINNER) -> tuple[Json, str]:
    shape, place = FORMS[form], f"workflow '{workflow.name}'"
    question_text = f'{text.format(place=place)}\n\nWrite "Final answer:" and your answer. {shape.instruct([])}'
    model_reply = reply(name, f"```\n{NOTATIONS['wadl'].write(workflow)}\n```\n\n{question_text}")
    return shape.read(model_reply.text.removeprefix("Final answer:"), [], "strict"), model_reply.source


def parts_by_words(form: str, text: str, workflow: Workflow = DINNER) -> dict[str, Json]:
    answer, _ = answer_by_words(form, text, workflow=workflow)
    assert isinstance(answer, dict)
    return answer


def test_reader_open_question_source_is_lexical() -> None:
    answer, source = answer_by_words("task-reasons", "Which tasks of {place} are named wrongly?")
    assert isinstance(answer, dict)
    assert (answer["tasks"], source) == (["SetTable"], "baseline:lexical")
    assert answer_by_words("task-reasons", "Which tasks of {place} are named wrongly?", "lexical") == (answer, source)


@pytest.mark.parametrize(
    ("compared", "tasks"),
    [
        ("data do not fit their names", ["FrostCake"]),  # "frost cake" beside "foam"; SetTable has no data
        ("descriptions contradict the workflow's", ["WhiskEggs"]),  # the first of two that share nothing
    ],
)
def test_lexical_task_is_that_of_least_shared_words(compared: str, tasks: list[str]) -> None:
    answer = parts_by_words("task-reasons", f"Which tasks of {{place}} have what must be changed: {compared}?")
    assert answer["tasks"] == tasks


def test_lexical_task_without_texts_to_compare_is_none() -> None:
    silent = replace(DINNER, tasks=tuple(Task(task.name) for task in DINNER.tasks))
    assert parts_by_words("task-reasons", "Which tasks of {place} are named wrongly?", silent)["tasks"] == []


def test_lexical_pair_reads_before_write() -> None:
    question_text = "Which two tasks of {place} are in the wrong order?"
    pair = parts_by_words("pair-reason", question_text)
    assert pair["tasks"] == ["FrostCake", "WhiskEggs"]
    guessed = parts_by_words("pair-reason", question_text, replace(DINNER, data_links=(), data=()))
    assert guessed["tasks"] == ["FrostCake", "WhiskEggs"]  # the first two
    assert guessed["reasons"] != pair["reasons"]


@pytest.mark.parametrize(("name", "answer"), [("CakeBaking", "yes"), ("TaxReturn", "no")])
def test_lexical_verdict_is_yes_if_a_word_is_shared(name: str, answer: str) -> None:
    renamed = replace(DINNER, name=name)
    verdict = parts_by_words("yes-no-reason", "Does the name of {place} fit its description?", renamed)
    assert verdict["answer"] == answer


def test_lexical_text_has_name_and_data() -> None:
    assert answer_by_words("text", "What does task 'WhiskEggs' of {place} do?")[0] == "Whisk eggs from eggs to foam."
    assert answer_by_words("text", "What does {place} do?")[0] == "Cake baking from frost cake to set table."


def test_lexical_closed_question_refused() -> None:
    with pytest.raises(NotAskedError, match="open questions only"):
        reply("lexical", baseline_questions("task_list")[0].prompt)


@pytest.mark.parametrize("form", sorted(OPEN_FORMS))
@guessers
def test_guess_open_form_is_parsed(name: str, form: str) -> None:
    answer, source = answer_by_words(form, "What about {place}?", name)
    assert answer
    assert source == f"baseline:{name}"
