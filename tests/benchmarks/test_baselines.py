from __future__ import annotations

import asyncio
from collections import Counter

import pytest

from pytest_taskgraph.benchmarks.settings import Settings
from pytest_taskgraph.benchmarks.understanding import understanding
from pytest_taskgraph.benchmarks.understanding.catalogue import catalogue
from pytest_taskgraph.benchmarks.understanding.sample import draw
from pytest_taskgraph.errors import NotAskedError, UnknownNameError
from pytest_taskgraph.notations import NOTATIONS
from pytest_taskgraph.scoring.grade import grade
from pytest_taskgraph.trial import Question, Reply, Request

GUESSERS = [name for name in understanding.baselines if name != "reader"]
guessers = pytest.mark.parametrize("name", GUESSERS)


def asked(pattern: str = "*", frame: str = "think-first", instances: int = 2, notation: str = "wadl") -> list[Question]:
    chosen = Settings(frame=frame, instances=instances, notations=(notation,), seed=51)
    return [understanding.question(one, chosen) for one in understanding.references(chosen, {"patterns": pattern})]


def reply(name: str, prompt: str) -> Reply:
    model = understanding.baseline(name)
    return asyncio.run(model.answer(Request(messages=[{"role": "user", "content": prompt}])))


@guessers
@pytest.mark.parametrize("frame", ["direct", "think-first", "answer-first"])
def test_a_guess_can_be_read_whatever_is_asked_and_however(name: str, frame: str) -> None:
    for question in asked(frame=frame):
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


@pytest.mark.parametrize("name", understanding.baselines)
def test_baselines_answer_the_same_prompt_alike(name: str) -> None:
    for question in asked("task_list"):
        assert reply(name, question.prompt) == reply(name, question.prompt)
        assert reply(name, question.prompt).source == f"baseline:{name}"


@pytest.mark.parametrize("name", understanding.baselines)
def test_a_prompt_without_a_workflow_or_of_another_kind_is_not_answered(name: str) -> None:
    with pytest.raises(NotAskedError):
        reply(name, 'Is there a cycle? The answer is either "yes" or "no".')
    with pytest.raises(NotAskedError, match=f"baseline:{name} cannot answer a request of kind 'score'"):
        asyncio.run(understanding.baseline(name).answer(Request(kind="score", texts=["A"])))


def test_the_reader_passes_over_a_question_that_it_does_not_know() -> None:
    (question, *_) = asked("task_list")
    with pytest.raises(NotAskedError, match="no question that it knows"):
        reply("reader", question.prompt.replace(question.text, "How are you?"))


def test_the_reader_says_what_the_frame_asks_for_even_if_a_task_is_called_so() -> None:
    (question, *_) = asked("task_list", frame="direct", notation="json")
    task = str(question.reference[0]) if isinstance(question.reference, list) else ""
    prompt = question.prompt.replace(task, "final answer:")
    assert not reply("reader", prompt).text.startswith("Final answer:")


def test_an_unknown_baseline_is_answered_with_those_there_are() -> None:
    with pytest.raises(
        UnknownNameError, match="unknown baseline 'oracle'; known: constant, first-mentioned, random, reader"
    ):
        understanding.baseline("oracle")
