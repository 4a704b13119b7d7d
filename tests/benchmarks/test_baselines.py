from __future__ import annotations

import asyncio
from collections import Counter
from functools import cache

import pytest

from pytest_taskgraph.benchmarks.understanding import understanding
from pytest_taskgraph.benchmarks.understanding.family_options import UnderstandingSettings
from pytest_taskgraph.benchmarks.understanding.patterns import catalogue
from pytest_taskgraph.benchmarks.understanding.questions.sample import draw
from pytest_taskgraph.errors import NotAskedError, UnknownNameError
from pytest_taskgraph.notations import NOTATIONS
from pytest_taskgraph.scoring.forms import FORMS
from pytest_taskgraph.scoring.forms.open_forms import OPEN_FORMS
from pytest_taskgraph.scoring.grade import grade
from pytest_taskgraph.trial import Json, Question, Reply, Request
from pytest_taskgraph.workflow.model import END, START, Data, DataLink, Link, Task, Workflow

GUESSERS = [name for name in understanding.baselines if name not in ("reader", "lexical")]
guessers = pytest.mark.parametrize("name", GUESSERS)


@cache
def asked(
    pattern: str = "*", prompt: str = "chain-of-thought", instances: int = 2, notation: str = "wadl"
) -> list[Question]:
    chosen = UnderstandingSettings(prompt=prompt, instances=instances, notations=(notation,), seed=51)
    return [understanding.question(one, chosen) for one in understanding.references(chosen, {"patterns": pattern})]


def reply(name: str, prompt: str) -> Reply:
    model = understanding.baseline(name, UnderstandingSettings())
    return asyncio.run(model.answer(Request(messages=[{"role": "user", "content": prompt}])))


@guessers
@pytest.mark.parametrize("prompt", ["direct", "chain-of-thought", "answer-first"])
def test_a_guess_can_be_read_whatever_is_asked_and_however(name: str, prompt: str) -> None:
    for question in asked(prompt=prompt):
        score = grade(question, reply(name, question.prompt))
        assert score.status == "read", (question.prompt, score)


@guessers
@pytest.mark.parametrize("notation", sorted(NOTATIONS))
def test_guesses_are_of_tasks_of_the_level_asked_about_in_every_notation(name: str, notation: str) -> None:
    for question in asked("parallel_to_task", instances=6, notation=notation):
        score = grade(question, reply(name, question.prompt))
        ordinal = int(question.id.rpartition("-")[2])
        level = draw(catalogue()["parallel_to_task"], 12, 51, ordinal).scope.workflow
        assert isinstance(score.given, list)
        assert set(map(str, score.given)) <= set(level.task_names)


def test_a_coin_is_right_about_half_the_time_and_says_both() -> None:
    questions = asked("flow_connected", instances=60)
    scores = [grade(question, reply("random", question.prompt)) for question in questions]
    assert 18 <= sum(score.value for score in scores) <= 42
    assert min(Counter(str(score.given) for score in scores).values()) >= 15


def test_always_yes_is_right_exactly_half_the_time() -> None:
    scores = [
        grade(question, reply("constant", question.prompt)).value for question in asked("link_existence", instances=10)
    ]
    assert scores == [1.0, 0.0] * 5


def test_the_first_mentioned_are_the_tasks_that_the_question_names() -> None:
    for question in asked("next_tasks", instances=4):
        score = grade(question, reply("first-mentioned", question.prompt))
        assert isinstance(score.given, list)
        assert all(f"'{name}'" in question.text for name in score.given)


@pytest.mark.parametrize("name", ["reader", *GUESSERS])
def test_baselines_answer_the_same_prompt_alike(name: str) -> None:
    for question in asked("task_list"):
        assert reply(name, question.prompt) == reply(name, question.prompt)
        assert reply(name, question.prompt).source == f"baseline:{name}"


@pytest.mark.parametrize("name", understanding.baselines)
def test_a_prompt_without_a_workflow_or_of_another_kind_is_not_answered(name: str) -> None:
    with pytest.raises(NotAskedError):
        reply(name, 'Is there a cycle? The answer is either "yes" or "no".')
    with pytest.raises(NotAskedError, match=f"baseline:{name} cannot answer a request of kind 'score'"):
        asyncio.run(understanding.baseline(name, UnderstandingSettings()).answer(Request(kind="score", texts=["A"])))


def test_the_reader_passes_over_a_question_that_it_does_not_know() -> None:
    (question, *_) = asked("task_list")
    with pytest.raises(NotAskedError, match="no question that it knows"):
        reply("reader", question.prompt.replace(question.text, "How are you?"))


def test_the_reader_says_what_the_prompt_asks_for_even_if_a_task_is_called_so() -> None:
    (question, *_) = asked("task_list", prompt="direct", notation="json")
    task = str(question.reference[0]) if isinstance(question.reference, list) else ""
    prompt = question.prompt.replace(task, "final answer:")
    assert not reply("reader", prompt).text.startswith("Final answer:")


def test_an_unknown_baseline_is_answered_with_those_there_are() -> None:
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


def by_words(form: str, text: str, name: str = "reader") -> tuple[Json, str]:
    shape, place = FORMS[form], "workflow 'CakeBaking'"
    told = f'{text.format(place=place)}\n\nWrite "Final answer:" and your answer. {shape.instruct([])}'
    given = reply(name, f"```\n{NOTATIONS['wadl'].write(DINNER)}\n```\n\n{told}")
    return shape.read(given.text.removeprefix("Final answer:"), [], "strict"), given.source


def test_the_reader_answers_open_questions_by_words_and_says_so() -> None:
    odd, source = by_words("task-reasons", "Which tasks of {place} are named wrongly?")
    assert isinstance(odd, dict)
    assert (odd["tasks"], source) == (["SetTable"], "baseline:lexical")
    assert by_words("task-reasons", "Which tasks of {place} are named wrongly?", "lexical") == (odd, source)


def test_by_words_a_pair_is_one_that_reads_before_the_other_writes() -> None:
    pair, _ = by_words("pair-reason", "Which two tasks of {place} are in the wrong order?")
    assert isinstance(pair, dict)
    assert pair["tasks"] == ["FrostCake", "WhiskEggs"]


def test_by_words_a_name_fits_a_description_that_shares_a_word_with_it() -> None:
    verdict, _ = by_words("yes-no-reason", "Does the name of {place} fit its description?")
    assert isinstance(verdict, dict)
    assert verdict["answer"] == "yes"


def test_by_words_a_task_does_what_its_name_and_its_data_say() -> None:
    assert by_words("text", "What does task 'WhiskEggs' of {place} do?")[0] == "Whisk eggs from eggs to foam."
    assert by_words("text", "What does {place} do?")[0] == "Cake baking from frost cake to set table."


def test_the_rule_by_words_answers_open_questions_only() -> None:
    with pytest.raises(NotAskedError, match="open questions only"):
        reply("lexical", asked("task_list")[0].prompt)


@pytest.mark.parametrize("form", sorted(OPEN_FORMS))
@guessers
def test_guesses_in_open_forms_can_be_read(name: str, form: str) -> None:
    answer, source = by_words(form, "What about {place}?", name)
    assert answer
    assert source == f"baseline:{name}"
