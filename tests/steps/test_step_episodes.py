"""The episodes of STEPS, driven with replies made by hand."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from dataclasses import replace
from math import fsum, inf, log, nan
from typing import Any

import pytest

from pytest_taskgraph.asking import Episode, Exchange, Transcript, drive, is_one_turn
from pytest_taskgraph.errors import (
    BudgetSpentError,
    CannotScoreError,
    NoLogprobsError,
    NotAskedError,
    PromptNotUnderstoodError,
    ProviderError,
    UsageError,
)
from pytest_taskgraph.families.steps.step_baselines import BASELINES
from pytest_taskgraph.families.steps.step_episodes import EPISODES, lowest_perplexity, next_step
from pytest_taskgraph.families.steps.steps_settings import StepsSettings
from pytest_taskgraph.models.clients.simulated import SimulatedModel
from pytest_taskgraph.trial import Json, Question, Reply, Request

Answer = Reply | Exception
NO_PATH = CannotScoreError("no /completions")
NO_LIST = NoLogprobsError("no listed tokens")
PROMPT = "Boil water . Is the next step of Add salt a reasonable step in this recipe ?"
QUERIES: Json = [["A", "Boil water . Add salt"], ["B", "Boil water . Serve"]]


def make_question(reference: str = "yes", system: str = "", **settings: Json) -> Question:
    return Question(
        "q", "steps", "zero_shot", "classification", "Add salt", PROMPT, "yes-no", reference, "class_accuracy",
        place="whole", system=system, episode_settings=settings,
    )  # fmt: skip


def make_choice(reference: str = "A", queries: Json = QUERIES, system: str = "") -> Question:
    return replace(make_question(reference, system), group="perplexity", episode_settings={"queries": queries})


def scored(*rows: tuple[float | None, int] | float | None) -> Reply:
    """Return a reply with a score for each text: the log-probability, and the number of tokens if it is not 1."""
    pairs: list[Any] = [row if isinstance(row, tuple) else (row, 1) for row in rows]
    return Reply("", source="made", logprobs=[[value, tokens, None] for value, tokens in pairs])


def run(episode: Episode, question: Question, *answers: Answer) -> tuple[Transcript, list[Exchange]]:
    """Drive an episode; the answers come in the order of the requests, and all of them are used."""
    left, exchanges = list(answers), list[Exchange]()

    async def answer(request: Request) -> Reply:
        answer_or_error = left.pop(0)
        if isinstance(answer_or_error, Exception):
            raise answer_or_error
        return answer_or_error

    transcript = asyncio.run(drive(episode(question), answer, exchanges))
    assert left == []
    return transcript, exchanges


def parts(transcript: Transcript) -> dict[str, list[float]]:
    return {name: list(pair) for name, pair in transcript.parts.items()}


def test_next_step_by_log_probabilities_takes_the_more_probable_word() -> None:
    for row, text in (((-0.1, -3.0), "Yes"), ((-3.0, -0.1), "No")):
        transcript, (exchange,) = run(next_step, make_question(answer="logprobs"), scored(*row))
        assert transcript.reply.text == text
        assert transcript.reply.source == "made"
        assert parts(transcript) == {"by_logprobs": [1, 1], "ties": [0, 1]}
        request = exchange.request
        assert (request.kind, request.context, request.texts) == ("score", PROMPT, [" Yes", " No"])
        assert exchange.note == {"answered_by": "words behind the prompt", "logprob": {"yes": row[0], "no": row[1]}}


def test_next_step_with_a_system_prompt_puts_it_first() -> None:
    question = make_question(system="You cook.", answer="auto")
    _, exchanges = run(next_step, question, NO_PATH, NO_LIST, Reply("Yes"))
    messages = [{"role": "system", "content": "You cook."}, {"role": "user", "content": PROMPT}]
    assert exchanges[0].request.context == f"You cook.\n\n{PROMPT}"
    assert [exchange.request.messages for exchange in exchanges[1:]] == [messages, messages]


def test_next_step_with_stated_words_scores_those_words() -> None:
    transcript, exchanges = run(next_step, make_question(words=["yes", "no"]), scored(-2.0, -1.0))
    assert exchanges[0].request.texts == [" yes", " no"]
    assert transcript.reply.text == "No"


@pytest.mark.parametrize("rows", [(-0.7, -0.7), (-0.1 - 0.2 - 0.3, -0.3 - 0.2 - 0.1), (-inf, -inf)])
def test_next_step_with_equally_probable_words_is_a_tie(rows: tuple[float, float]) -> None:
    transcript, _ = run(next_step, make_question(answer="auto"), scored(*rows))
    assert transcript.reply.text == "tie"
    assert parts(transcript) == {"by_logprobs": [1, 1], "ties": [1, 1]}


def test_next_step_without_completions_reads_the_listed_tokens_of_a_chat() -> None:
    answers = NO_PATH, scored(-2.0, None, None, -0.2)
    transcript, (refused, chat) = run(next_step, make_question(answer="logprobs"), *answers)
    assert refused.request.messages == []
    request = chat.request
    assert (request.kind, request.context, request.texts) == ("score", "", ["Yes", "yes", "No", "no"])
    assert request.messages == [{"role": "user", "content": PROMPT}]
    assert transcript.reply.text == "No"
    assert (refused.note, chat.note["answered_by"]) == ({}, "listed tokens")


def test_next_step_in_a_chat_adds_the_spellings_of_a_word() -> None:
    rows = log(0.3), log(0.3), log(0.4), None
    transcript, exchanges = run(next_step, make_question(), NO_PATH, scored(*rows))
    assert transcript.reply.text == "Yes"
    assert exchanges[1].note["logprob"] == {"yes": round(log(0.6), 6), "no": round(log(0.4), 6)}


def test_next_step_in_a_chat_that_lists_one_word_takes_that_word() -> None:
    transcript, exchanges = run(next_step, make_question(), NO_PATH, scored(None, None, -9.0, None))
    assert transcript.reply.text == "No"
    assert exchanges[1].note["logprob"] == {"yes": None, "no": -9.0}


def test_next_step_of_a_word_without_tokens_takes_the_other_word() -> None:
    transcript, _ = run(next_step, make_question(), scored((0.0, 0), (-9.0, 1)))
    assert transcript.reply.text == "No"


def test_next_step_auto_without_log_probabilities_reads_the_text() -> None:
    transcript, exchanges = run(next_step, make_question(answer="auto"), NO_PATH, NO_LIST, Reply("No, not yet."))
    assert transcript.reply.text == "No, not yet."
    assert transcript.reply is exchanges[2].reply
    assert parts(transcript) == {"by_logprobs": [0, 1]}
    assert [exchange.request.kind for exchange in exchanges] == ["score", "score", "chat"]
    assert [exchange.note for exchange in exchanges] == [{}, {}, {"answered_by": "text"}]


def test_next_step_auto_with_neither_word_listed_reads_the_text() -> None:
    unlisted = scored(None, None, None, None)
    transcript, exchanges = run(next_step, make_question(), NO_PATH, unlisted, Reply("yes"))
    assert transcript.reply.text == "yes"
    assert parts(transcript) == {"by_logprobs": [0, 1]}
    assert len(exchanges) == 3


def test_next_step_logprobs_with_neither_word_listed_is_a_tie() -> None:
    transcript, _ = run(next_step, make_question(answer="logprobs"), NO_PATH, scored(None, None, None, None))
    assert transcript.reply.text == "tie"
    assert parts(transcript) == {"by_logprobs": [1, 1], "ties": [1, 1]}


def test_next_step_text_sends_one_chat_request() -> None:
    transcript, (exchange,) = run(next_step, make_question(answer="text"), Reply("Yes"))
    assert (exchange.request.kind, exchange.request.prompt) == ("chat", PROMPT)
    assert parts(transcript) == {"by_logprobs": [0, 1]}


@pytest.mark.parametrize(
    ("failures", "message", "kind"),
    [
        ((NO_PATH, NO_LIST), "no /completions; no listed tokens", "no-logprobs"),
        ((NO_PATH, CannotScoreError("no chat")), "no /completions; no chat", "skipped"),
        ((NO_PATH, NO_PATH), "no /completions", "skipped"),
    ],
)
def test_next_step_logprobs_without_any_is_not_asked_with_both_reasons(
    failures: tuple[Exception, ...], message: str, kind: str
) -> None:
    with pytest.raises(CannotScoreError) as raised:
        run(next_step, make_question(answer="logprobs"), *failures)
    assert (raised.value.message, raised.value.kind) == (message, kind)


def test_next_step_of_a_reply_without_scores_is_as_without_logprobs() -> None:
    transcript, _ = run(next_step, make_question(), Reply("Sure"), Reply("Sure"), Reply("Yes"))
    assert parts(transcript) == {"by_logprobs": [0, 1]}
    with pytest.raises(CannotScoreError, match="holds no log-probabilities"):
        run(next_step, make_question(answer="logprobs"), Reply("Sure"), Reply("Sure"))


FAILURES = [
    BudgetSpentError("calls", "--taskgraph-max-calls=1 is spent"),
    PromptNotUnderstoodError("no question in the prompt"),
    NotAskedError("the run ended before the question was asked"),
    ProviderError("timeout", "no reply"),
    ProviderError("not-found", "The model does not exist"),
    ProviderError("malformed", "no JSON"),
]


@pytest.mark.parametrize("failure", FAILURES, ids=lambda failure: failure.kind)
@pytest.mark.parametrize("before", [0, 1])
def test_next_step_with_any_other_failure_asks_nothing_more(
    failure: ProviderError | NotAskedError, before: int
) -> None:
    with pytest.raises(type(failure)) as raised:
        run(next_step, make_question(answer="auto"), *[NO_PATH][:before], failure)
    assert raised.value is failure


def test_next_step_replayed_goes_the_way_whose_reply_is_stored() -> None:
    missing = ProviderError("not-stored", "no stored reply")
    transcript, _ = run(next_step, make_question(), missing, missing, Reply("Yes"))
    assert transcript.reply.text == "Yes"
    with pytest.raises(ProviderError, match="not-stored"):
        run(next_step, make_question(), missing, missing, missing)
    with pytest.raises(ProviderError, match="not-stored"):
        run(next_step, make_question(answer="logprobs"), missing, NO_LIST)


@pytest.mark.parametrize("reply", [scored(-1.0), scored(-1.0, -2.0, -3.0), scored(nan, -1.0)])
def test_next_step_of_scores_that_do_not_fit_is_malformed(reply: Reply) -> None:
    with pytest.raises(ProviderError, match="malformed: expected log-probabilities"):
        run(next_step, make_question(), reply)


@pytest.mark.parametrize("settings", [{"answer": "perhaps"}, {"answer": None}, {"words": ["Yes"]}, {"words": "Yes"}])
def test_next_step_with_malformed_settings_is_a_usage_error(settings: dict[str, Json]) -> None:
    question = replace(make_question(), episode_settings=settings)
    with pytest.raises(UsageError, match=r"question q: episode_settings\['(answer|words)'\] is .*; expected"):
        run(next_step, question)


def of_tokens(*logprobs: float) -> tuple[float, int]:
    return fsum(logprobs), len(logprobs)


@pytest.mark.parametrize(
    ("first", "second", "chosen"),
    [
        ([-1.0, -1.0], [-1.0, -2.0, -1.5], "A"),
        ([-1.5, -1.5], [-1.0, -1.0, -1.0, -1.0], "B"),
        ([-0.1, -0.2, -0.3], [-0.3, -0.1, -0.2], "tie"),
        ([-1.0], [-1.0, -1.0, -1.0], "tie"),
        ([-1.0], [-1.000001], "A"),
        ([-800.0], [-900.0], "A"),
        ([-900.0], [-800.0], "B"),
        ([0.0], [0.0], "tie"),
    ],
)
def test_lowest_perplexity_compares_the_means_of_the_tokens(
    first: Sequence[float], second: Sequence[float], chosen: str
) -> None:
    transcript, _ = run(lowest_perplexity, make_choice(), scored(of_tokens(*first), of_tokens(*second)))
    assert transcript.reply.text == chosen
    swapped, _ = run(lowest_perplexity, make_choice(), scored(of_tokens(*second), of_tokens(*first)))
    assert swapped.reply.text == {"A": "B", "B": "A"}.get(chosen, "tie")


def test_lowest_perplexity_of_sums_in_another_order_is_a_tie() -> None:
    tokens = [-100000.1, -200000.2, -300000.3]
    up, down = sum(tokens), sum(reversed(tokens))
    assert abs(up - down) / 3 > 1e-12
    transcript, _ = run(lowest_perplexity, make_choice(), scored((up, 3), (down, 3)))
    assert transcript.reply.text == "tie"


def test_lowest_perplexity_scores_both_whole_queries_in_one_request() -> None:
    transcript, (exchange,) = run(lowest_perplexity, make_choice(), scored((-2.0, 2), (-4.5, 3)))
    request = exchange.request
    assert (request.kind, request.context, request.messages) == ("score", "", [])
    assert request.texts == ["Boil water . Add salt", "Boil water . Serve"]
    assert exchange.note == {
        "perplexity": {"A": 2.718282, "B": 4.481689},
        "mean_logprob": {"A": -1.0, "B": -1.5},
    }
    assert parts(transcript) == {}


def test_lowest_perplexity_with_a_system_prompt_puts_it_before_the_queries() -> None:
    question = make_choice(system="You cook.")
    _, (exchange,) = run(lowest_perplexity, question, scored((-2.0, 2), (-4.5, 3)))
    assert exchange.request.context == "You cook.\n\n"
    assert exchange.request.texts == ["Boil water . Add salt", "Boil water . Serve"]


@pytest.mark.parametrize(
    ("rows", "chosen"),
    [
        (((None, 1), (-9.0, 3)), "B"),
        (((-9.0, 3), (0.0, 0)), "A"),
        (((-inf, 3), (-9.0, 3)), "B"),
        (((None, 1), (None, 1)), "tie"),
        (((-inf, 2), (-inf, 3)), "tie"),
        (((0.0, 0), (None, 3)), "tie"),
    ],
)
def test_lowest_perplexity_without_a_value_is_higher_than_any(rows: tuple[tuple[float, int], ...], chosen: str) -> None:
    transcript, (exchange,) = run(lowest_perplexity, make_choice(), scored(*rows))
    assert transcript.reply.text == chosen
    assert None in dict(exchange.note)["perplexity"].values()  # type: ignore[union-attr]


@pytest.mark.parametrize("failure", [NO_PATH, NO_LIST, *FAILURES], ids=lambda failure: failure.kind)
def test_lowest_perplexity_with_a_failure_ends_with_it(failure: ProviderError | NotAskedError) -> None:
    with pytest.raises(type(failure)) as raised:
        run(lowest_perplexity, make_choice(), failure)
    assert raised.value is failure


def test_lowest_perplexity_of_a_reply_without_scores_cannot_be_measured() -> None:
    with pytest.raises(NoLogprobsError, match="holds no log-probabilities"):
        run(lowest_perplexity, make_choice(), Reply("A"))
    with pytest.raises(NoLogprobsError, match="holds no log-probabilities"):
        run(lowest_perplexity, make_choice(), scored((0.0, 0), (0.0, 0)))
    with pytest.raises(ProviderError, match="malformed: expected log-probabilities of 2 texts, got 1"):
        run(lowest_perplexity, make_choice(), scored(-1.0))


@pytest.mark.parametrize(
    "queries", [None, [], [["A", "a b"]], [["A", "a"], ["A", "b"]], [["A", "a"], ["B", " "]], [["A", "a"], "B"], "AB"]
)
def test_lowest_perplexity_with_malformed_queries_is_a_usage_error(queries: Json) -> None:
    with pytest.raises(UsageError, match=r"question q: episode_settings\['queries'\] is .*; expected pairs"):
        run(lowest_perplexity, make_choice(queries=queries))


def simulated(episode: Episode, question: Question, accuracy: float, fails: Callable[[Request], bool]) -> str:
    model = SimulatedModel(lambda digest: None, accuracy)

    async def answer(request: Request) -> Reply:
        if fails(request):
            raise NO_PATH
        return await model.answer(request)

    return asyncio.run(drive(episode(question), answer)).reply.text


@pytest.mark.parametrize("fails", [lambda request: False, lambda request: not request.messages])
@pytest.mark.parametrize("reference", ["yes", "no"])
def test_next_step_of_a_simulated_model_is_as_right_as_stated(reference: str, fails: Callable[[Request], bool]) -> None:
    question = make_question(reference, answer="logprobs")
    assert simulated(next_step, question, 1.0, fails).lower() == reference
    assert {simulated(next_step, question, 0.0, fails).lower(), reference} == {"yes", "no"}


@pytest.mark.parametrize("reference", ["A", "B"])
def test_lowest_perplexity_of_a_simulated_model_is_as_right_as_stated(reference: str) -> None:
    question = make_choice(reference)
    assert simulated(lowest_perplexity, question, 1.0, lambda request: False) == reference
    assert {simulated(lowest_perplexity, question, 0.0, lambda request: False), reference} == {"A", "B"}


@pytest.mark.parametrize(("name", "by_logprobs"), [("n-gram", 0), ("majority", 0), ("random", 1)])
def test_next_step_of_a_baseline_goes_the_way_that_it_has(name: str, by_logprobs: int) -> None:
    model = BASELINES[name](StepsSettings())
    transcript = asyncio.run(drive(next_step(make_question()), model.answer))
    assert transcript.reply.text in ("Yes", "No")
    assert transcript.parts["by_logprobs"] == [by_logprobs, 1]


def test_step_episodes_of_one_turn_are_marked() -> None:
    one_turn_names = {name: is_one_turn(episode) for name, episode in EPISODES.items()}
    assert one_turn_names == {"next_step": False, "next_step_by_text": True, "lowest_perplexity": True}
