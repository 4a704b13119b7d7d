"""The baselines of STEPS asked by its episodes about the embedded recipes, and what becomes of their replies."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator, Sequence

import pytest

from pytest_taskgraph.asking import Model, Transcript, drive
from pytest_taskgraph.benchmarks.episodes import single
from pytest_taskgraph.errors import CannotScoreError
from pytest_taskgraph.families.steps.prompts import PROMPTS
from pytest_taskgraph.families.steps.recipe_questions.two_options import LETTERS, letter_spellings, option_fields
from pytest_taskgraph.families.steps.sample_sets import asked_samples
from pytest_taskgraph.families.steps.step_baselines import BASELINES
from pytest_taskgraph.families.steps.step_episodes import EPISODES
from pytest_taskgraph.families.steps.steps_options import AnswerKind, PromptName
from pytest_taskgraph.families.steps.steps_settings import StepsSettings
from pytest_taskgraph.scoring.grade import grade
from pytest_taskgraph.scoring.metrics.class_shares import TIE
from pytest_taskgraph.trial import Json, Question, Score

SETTINGS = StepsSettings()
PLAYED = {**EPISODES, "single": single}


@pytest.fixture(scope="module", params=BASELINES)
def model(request: pytest.FixtureRequest) -> Model:
    name: str = request.param
    return BASELINES[name](SETTINGS)


@pytest.fixture(scope="module")
def ngram() -> Model:
    return BASELINES["n-gram"](SETTINGS)


def classification(answer: AnswerKind, prompt: PromptName = "paper", recipes: int = 3) -> Iterator[Question]:
    for number, sample in enumerate(asked_samples(SETTINGS, recipes).classification):
        fields = {"previous": [*sample.prefix], "candidate": sample.candidate, "examples": []}
        yield Question(
            f"q{number}", "steps", "zero_shot", "classification", sample.candidate,
            PROMPTS.render(prompt, fields, SETTINGS), "yes-no", "yes" if sample.label else "no", "class_accuracy",
            place="whole", episode="next_step", episode_settings={"answer": answer},
        )  # fmt: skip


def choices(episode: str, recipes: int = 3, settings: StepsSettings = SETTINGS) -> Iterator[Question]:
    for number, sample in enumerate(asked_samples(settings, recipes).choices):
        options, right = sample.shuffled(settings.seed)
        fields = {"previous": [*sample.prefix], "options": option_fields(options)}
        queries: list[Json] = [
            [letter, " . ".join([*sample.prefix, text])] for letter, text in zip(LETTERS, options, strict=True)
        ]
        yield Question(
            f"q{number}", "steps", "letter", "multiple_choice", sample.right,
            PROMPTS.render("letter", fields, SETTINGS), "letter",
            LETTERS[right], "choice_accuracy", place="whole", episode=episode,
            names=[*LETTERS, *([TIE] if episode == "lowest_perplexity" else [])],
            spellings={} if episode == "lowest_perplexity" else letter_spellings(options),
            episode_settings={"queries": queries},
        )  # fmt: skip


def play(question: Question, model: Model) -> Transcript:
    return asyncio.run(drive(PLAYED[question.episode](question), model.answer))


def graded(questions: Sequence[Question], model: Model) -> list[Score]:
    return [grade(question, play(question, model).reply) for question in questions]


@pytest.mark.parametrize("prompt", ["paper", "question"])
@pytest.mark.parametrize("answer", ["auto", "text"])
def test_baseline_asked_for_a_class_is_read(model: Model, answer: AnswerKind, prompt: PromptName) -> None:
    scores = graded([*classification(answer, prompt)], model)
    assert {score.status for score in scores} == {"read"}
    assert {score.given for score in scores} <= {"yes", "no"}


def test_baseline_asked_for_a_letter_is_read(model: Model) -> None:
    scores = graded([*choices("single")], model)
    assert {score.status for score in scores} == {"read"}
    assert {score.given for score in scores} <= {*LETTERS}


@pytest.mark.parametrize("name", ["n-gram", "majority"])
def test_next_step_by_logprobs_alone_skips_baselines_that_answer_by_text(name: str) -> None:
    question = next(classification("logprobs"))
    with pytest.raises(CannotScoreError, match=f"baseline:{name} cannot score .* answers by text"):
        play(question, BASELINES[name](SETTINGS))


def test_lowest_perplexity_skips_the_majority() -> None:
    with pytest.raises(CannotScoreError, match="baseline:majority cannot score texts"):
        play(next(choices("lowest_perplexity")), BASELINES["majority"](SETTINGS))


def test_ngram_letter_and_lowest_perplexity_agree(ngram: Model) -> None:
    by_letter = [play(question, ngram).reply.text for question in choices("single", 58)]
    by_perplexity = [play(question, ngram).reply.text for question in choices("lowest_perplexity", 58)]
    assert by_letter == by_perplexity
    assert {*by_letter} == {*LETTERS}


def test_letter_of_a_tie_counts_as_no_answer(ngram: Model) -> None:
    prompt = "Steps done so far:\n1. Boil\n\nOptions for the next step:\nA. Xyzzy\nB. Plugh\n\nWhich option is next?"
    for reference in LETTERS:
        question = Question(
            "q", "steps", "letter", "multiple_choice", "", prompt, "letter", reference, "choice_accuracy",
            place="whole", names=[*LETTERS], spellings={"Xyzzy": "A", "Plugh": "B"},
        )  # fmt: skip
        score = grade(question, play(question, ngram).reply)
        assert (score.value, score.status) == (0.0, "unparseable")


def test_ngram_asked_about_what_it_learned_is_mostly_right() -> None:
    settings = StepsSettings(split="train")
    ngram, questions = BASELINES["n-gram"](settings), [*choices("single", 40, settings)]
    assert sum(score.value for score in graded(questions, ngram)) > 0.65 * len(questions)
