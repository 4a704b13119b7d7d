"""The baselines of STEPS as models: what they answer to each kind of request."""

from __future__ import annotations

import asyncio
import json
import os
import sys
from dataclasses import replace
from math import fsum
from pathlib import Path
from typing import Any

import bounded_process
import pytest

from pytest_taskgraph.asking import Model
from pytest_taskgraph.errors import CannotScoreError, NotAskedError, PromptNotUnderstoodError, UsageError
from pytest_taskgraph.families.steps.construction import PAPER_RULE
from pytest_taskgraph.families.steps.prompts import PROMPTS
from pytest_taskgraph.families.steps.recipe_sets.recipe_set import read_embedded_recipes
from pytest_taskgraph.families.steps.step_baselines import BASELINES, ngram_baseline
from pytest_taskgraph.families.steps.step_baselines.ngram_baseline import train_model, word_tokens
from pytest_taskgraph.families.steps.steps_settings import StepsSettings
from pytest_taskgraph.trial import Json, Reply, Request, TextScore

ROOT = Path(__file__).resolve().parents[2]
SETTINGS = StepsSettings()
PREVIOUS = ["Bring a large pot of salted water to a boil", "Add the pasta"]
OPTIONS = ["Drain the pasta", "Serve it with grated cheese"]
QUERIES = [" . ".join([*PREVIOUS, option]) for option in OPTIONS]
YES_NO = [[" Yes", " No"], ["Yes", "No"], ["yes ", "NO"]]


@pytest.fixture(scope="module", params=BASELINES)
def model(request: pytest.FixtureRequest) -> Model:
    name: str = request.param
    return BASELINES[name](SETTINGS)


@pytest.fixture(scope="module")
def ngram() -> Model:
    return BASELINES["n-gram"](SETTINGS)


def chat(prompt: str, **fields: Any) -> Request:  # noqa: ANN401
    return Request(messages=[{"role": "user", "content": prompt}], **fields)


def ask(model: Model, request: Request) -> Reply:
    return asyncio.run(model.answer(request))


def classification(candidate: str, previous: list[str] = PREVIOUS, name: str = "paper") -> Request:
    fields = {"previous": previous, "candidate": candidate, "examples": []}
    return chat(PROMPTS.render(name, fields, SETTINGS))


def choice(options: list[str], previous: list[str] = PREVIOUS) -> Request:
    option_rows = [{"letter": letter, "text": text} for letter, text in zip("ABC", options, strict=False)]
    return chat(PROMPTS.render("letter", {"previous": previous, "options": option_rows}, SETTINGS))


def test_baselines_of_the_family_are_listed_in_order() -> None:
    assert [*BASELINES] == ["n-gram", "majority", "random"]


def test_model_name_and_source_tell_the_baseline(model: Model) -> None:
    reply = ask(model, classification("Drain the pasta"))
    assert model.name == reply.source
    assert model.name.removeprefix("baseline:") in BASELINES


@pytest.mark.parametrize("name", ["paper", "question"])
def test_model_asked_about_a_candidate_says_yes_or_no(model: Model, name: str) -> None:
    assert ask(model, classification("Drain the pasta", name=name)).text in ("Yes", "No")


def test_model_asked_for_a_letter_gives_one_of_the_prompt(model: Model) -> None:
    assert ask(model, choice(OPTIONS)).text in ("A", "B")


@pytest.mark.parametrize(
    "request_", [classification("Toss well"), choice(OPTIONS), Request(kind="score", texts=QUERIES)]
)
def test_model_shown_right_and_wrong_replies_does_not_see_them(model: Model, request_: Request) -> None:
    replies = []
    pairs: list[tuple[Json, Json]] = [
        (None, None), ("A", "B"), ("B", "A"), ("Yes", "No"), ([-1.0, -2.0], [-2.0, -1.0])
    ]  # fmt: skip
    for right, wrong in pairs:
        try:
            replies.append(ask(model, replace(request_, right=right, wrong=wrong)))
        except NotAskedError as error:
            replies.append(Reply(str(error)))
    assert replies == [replies[0]] * 5


def test_model_asked_nothing_about_steps_does_not_understand(model: Model) -> None:
    with pytest.raises(PromptNotUnderstoodError, match="no question about the next step"):
        ask(model, chat("Write a poem."))


def test_model_given_tools_is_not_asked(model: Model) -> None:
    with pytest.raises(NotAskedError, match="cannot call tools"):
        ask(model, replace(choice(OPTIONS), tools=[{"type": "function"}]))


def test_model_asked_for_embeddings_is_not_asked(model: Model) -> None:
    with pytest.raises(NotAskedError, match="of kind 'embed'"):
        ask(model, Request(kind="embed", texts=["Boil"]))


def test_model_that_is_opened_reads_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*_: object) -> None:
        raise AssertionError("recipes are read")

    monkeypatch.setattr(ngram_baseline, "load", fail)
    settings = StepsSettings(source="food.com")
    for name in ("majority", "random"):
        ask(BASELINES[name](settings), choice(OPTIONS))
    model = BASELINES["n-gram"](settings)
    with pytest.raises(AssertionError, match="recipes are read"):
        ask(model, choice(OPTIONS))


def test_ngram_without_the_recipes_of_its_source_is_a_usage_error(tmp_path: Path) -> None:
    settings = StepsSettings(source="food.com", data={"steps-recipes": str(tmp_path / "none.csv")})
    with pytest.raises(UsageError, match="steps-recipes"):
        ask(BASELINES["n-gram"](settings), choice(OPTIONS))


def test_ngram_trains_once(monkeypatch: pytest.MonkeyPatch) -> None:
    calls = []

    def load(settings: StepsSettings) -> object:
        calls.append(settings.source)
        return read_embedded_recipes()

    monkeypatch.setattr(ngram_baseline, "load", load)
    model = BASELINES["n-gram"](SETTINGS)
    for request in (choice(OPTIONS), classification("Toss well"), Request(kind="score", texts=QUERIES)):
        ask(model, request)
    assert calls == ["embedded"]


def test_ngram_letter_is_that_of_the_query_with_the_lower_perplexity(ngram: Model) -> None:
    seen = set()
    for recipe in read_embedded_recipes().test:
        previous, options = [*recipe.steps[:2]], [*recipe.steps[2:4]]
        texts = [" . ".join([*previous, option]) for option in options]
        perplexities = [score.perplexity for score in ask(ngram, Request(kind="score", texts=texts)).scores]
        assert None not in perplexities
        lower = "A" if perplexities[0] < perplexities[1] else "B"  # type: ignore[operator]
        assert ask(ngram, choice(options, previous)).text == lower
        assert ask(ngram, choice(options[::-1], previous)).text == {"A": "B", "B": "A"}[lower]
        seen.add(lower)
    assert seen == {"A", "B"}


def test_ngram_letter_of_three_options_is_that_of_the_lowest(ngram: Model) -> None:
    model, _ = train_model(read_embedded_recipes(), PAPER_RULE, read_embedded_recipes())
    options = ["Xyzzy plugh", "Drain the pasta", "Frobnicate the quux"]
    queries = [word_tokens(" . ".join([*PREVIOUS, option])) for option in options]
    assert min(queries, key=model.perplexity) == queries[1]
    assert ask(ngram, choice(options)).text == "B"


def test_ngram_score_request_has_a_row_for_each_text_behind_the_context(ngram: Model) -> None:
    model, _ = train_model(read_embedded_recipes(), PAPER_RULE, read_embedded_recipes())
    reply = ask(ngram, Request(kind="score", context="Boil water .", texts=[" Add pasta", " Add saffron, 2 g", ""]))
    steps = [["add", "pasta"], ["add", "saffron", ",", "2", "g"]]
    rows = [model.logprobs(tokens, ["boil", "water", "."]) for tokens in steps]
    assert reply.scores == [*(TextScore(fsum(row), len(row), None) for row in rows), TextScore(0.0, 0, None)]
    json.dumps(reply.logprobs, allow_nan=False)


def test_ngram_score_without_context_scores_the_first_token_too(ngram: Model) -> None:
    model, _ = train_model(read_embedded_recipes(), PAPER_RULE, read_embedded_recipes())
    (score,) = ask(ngram, Request(kind="score", texts=["Boil water"])).scores
    assert score.tokens == 2
    assert score.perplexity == pytest.approx(model.perplexity(["boil", "water"]))


def test_ngram_score_of_replies_to_messages_cannot_be_given(ngram: Model) -> None:
    request = Request(kind="score", messages=[{"role": "user", "content": "What next?"}], texts=["Stir"])
    with pytest.raises(CannotScoreError, match="cannot score replies to messages"):
        ask(ngram, request)


@pytest.mark.parametrize("options", [["Xyzzy", "Plugh"], ["Drain the pasta", "drain  the Pasta"]])
def test_ngram_letter_of_a_tie_is_none_of_them(ngram: Model, options: list[str]) -> None:
    assert ask(ngram, choice(options)).text == ask(ngram, choice(options[::-1])).text == "tie"


def test_ngram_candidate_of_low_perplexity_is_yes(ngram: Model) -> None:
    seen = read_embedded_recipes().train[0].steps
    assert ask(ngram, classification(seen[2], [*seen[:2]])).text == "Yes"
    assert ask(ngram, classification("xyzzy plugh quux", [*seen[:2]])).text == "No"


@pytest.mark.parametrize("texts", YES_NO)
@pytest.mark.parametrize("behind", [{"context": "Is it?"}, {"messages": [{"role": "user", "content": "Is it?"}]}])
def test_ngram_yes_and_no_behind_a_question_are_not_scored(ngram: Model, texts: list[str], behind: Any) -> None:  # noqa: ANN401
    with pytest.raises(CannotScoreError, match=r"cannot score answers behind a question.* it answers by text"):
        ask(ngram, Request(kind="score", texts=texts, **behind))


@pytest.mark.parametrize("texts", [[" A", " B"], [" True", " False"]])
def test_ngram_other_answers_behind_a_question_are_not_scored(ngram: Model, texts: list[str]) -> None:
    for request in (classification("Toss well"), classification("Toss well", name="question"), choice(OPTIONS)):
        with pytest.raises(CannotScoreError, match="it answers by text"):
            ask(ngram, Request(kind="score", texts=texts, context=request.prompt))
        with pytest.raises(CannotScoreError, match="it answers by text"):
            ask(ngram, Request(kind="score", texts=texts, messages=request.messages))


def test_ngram_other_texts_are_scored(ngram: Model) -> None:
    assert len(ask(ngram, Request(kind="score", context="Boil", texts=[" Yes, stir", " No"])).scores) == 2
    assert len(ask(ngram, Request(kind="score", texts=["Yes", "No"])).scores) == 2


def test_majority_says_no_and_takes_the_first_option() -> None:
    model = BASELINES["majority"](SETTINGS)
    candidates = [*OPTIONS, *PREVIOUS]
    assert {ask(model, classification(candidate)).text for candidate in candidates} == {"No"}
    assert {ask(model, choice(options)).text for options in (OPTIONS, OPTIONS[::-1])} == {"A"}


@pytest.mark.parametrize("behind", [{}, {"context": "Is it?"}])
def test_majority_scores_nothing(behind: dict[str, Any]) -> None:
    with pytest.raises(CannotScoreError, match="baseline:majority cannot score texts"):
        ask(BASELINES["majority"](SETTINGS), Request(kind="score", texts=["Yes", "No"], **behind))


# Of 2,000 fair draws, fewer than 890 or more than 1,110 are of one kind with a probability below 1e-6.
DRAWS, FEWEST = 2_000, 890


def random_counts(requests: list[Request], answer: Any) -> list[int]:  # noqa: ANN401
    model = BASELINES["random"](SETTINGS)
    given = [answer(ask(model, request)) for request in requests]
    return sorted(given.count(value) for value in {*given})


def first_wins(reply: Reply) -> bool:
    first, second = (score.perplexity for score in reply.scores)
    assert first is not None
    assert second is not None
    assert first != second
    return first < second


def test_random_answers_are_equally_frequent() -> None:
    steps = [f"Stir {number} times" for number in range(DRAWS)]
    by_text = random_counts([classification(step) for step in steps], lambda reply: reply.text)
    by_letter = random_counts([choice([step, "Toss well"]) for step in steps], lambda reply: reply.text)
    for counts in (by_text, by_letter):
        assert len(counts) == 2
        assert sum(counts) == DRAWS
        assert counts[0] >= FEWEST


def test_random_scores_prefer_each_text_equally_often_whatever_its_length() -> None:
    queries = [[f"Boil {number} . Stir", f"Boil {number} . Toss it well " * 9] for number in range(DRAWS)]
    whole = random_counts([Request(kind="score", texts=texts) for texts in queries], first_wins)
    behind = [Request(kind="score", context=texts[0], texts=[" Yes", " No"]) for texts in queries]
    for counts in (whole, random_counts(behind, first_wins)):
        assert len(counts) == 2
        assert sum(counts) == DRAWS
        assert counts[0] >= FEWEST


def test_random_scores_are_finite_log_probabilities() -> None:
    texts = ["Boil", "", "Toss well"]
    scores = ask(BASELINES["random"](SETTINGS), Request(kind="score", texts=texts)).scores
    assert len(scores) == 3
    assert all(score.logprob is not None and -40 < score.logprob <= 0 and score.tokens == 1 for score in scores)


def test_random_draws_anew_for_seed_and_repetition() -> None:
    def replies(seed: int, repetition: int) -> str:
        model = BASELINES["random"](StepsSettings(seed=seed))
        requests = [replace(choice([f"Stir {at}", "Toss"]), repetition=repetition) for at in range(40)]
        return "".join(ask(model, request).text for request in requests)

    assert len({replies(0, 1), replies(1, 1), replies(0, 2)}) == 3
    assert replies(0, 1) == replies(0, 1)


def test_model_asked_hostile_steps_answers(model: Model) -> None:
    hostile = ["\ud800 \x00", "A. B. C.", "1" * 5_000, "'" * 5_000, "a" * 5_000, "\ufdfa" * 500, "Yes"]
    for step in hostile:
        assert ask(model, classification(step, [step])).text in ("Yes", "No")
        assert ask(model, choice([step, "Toss well"], [step])).text in ("A", "B", "tie")


@pytest.mark.exhaustive
def test_replies_in_any_process_are_the_same_for_every_hash_seed() -> None:
    code = (
        "import asyncio, json, sys\n"
        "from pytest_taskgraph.families.steps.step_baselines import BASELINES\n"
        "from pytest_taskgraph.families.steps.steps_settings import StepsSettings\n"
        "from pytest_taskgraph.trial import Request\n"
        "chats, queries = json.loads(sys.argv[1])\n"
        "requests = [Request(messages=messages) for messages in chats]\n"
        "for name, opened in BASELINES.items():\n"
        "    model = opened(StepsSettings())\n"
        "    asked = requests + [Request(kind='score', texts=queries)] * (name != 'majority')\n"
        "    for request in asked:\n"
        "        reply = asyncio.run(model.answer(request))\n"
        "        print(name, reply.text, reply.logprobs)\n"
    )
    requests = [choice(OPTIONS), classification(OPTIONS[0]), classification(OPTIONS[1], name="question")]
    given = json.dumps([[request.messages for request in requests], QUERIES])
    outputs = {
        bounded_process.run(
            [sys.executable, "-c", code, given], env={**os.environ, "PYTHONHASHSEED": seed}, cwd=ROOT
        ).stdout
        for seed in ("0", "1", "17")
    }
    assert len(outputs) == 1
    output = outputs.pop()
    assert output.count("\n") == 11
    for name, opened in BASELINES.items():
        for request in requests:
            assert f"{name} {ask(opened(SETTINGS), request).text} []\n" in output
