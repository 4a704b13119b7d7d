from __future__ import annotations

import asyncio
import json
from dataclasses import replace
from pathlib import Path

import pytest
from loopback import Loopback
from tasklama_episodes import GOLD, make_question, make_task, numbered, run_episode

from pytest_taskgraph.asking import Episode, Transcript, drive, is_one_turn
from pytest_taskgraph.benchmarks.settings import Settings
from pytest_taskgraph.errors import ProviderError, UsageError
from pytest_taskgraph.families.tasklama.sequences.filter_model import FilterModel
from pytest_taskgraph.families.tasklama.sequences.multiple_sequences import multseq
from pytest_taskgraph.families.tasklama.sequences.sample_filter import (
    EPISODE_METRICS,
    check_filter,
    filter_best,
    filter_best_logprob,
    multseq_filter,
    multseq_filter_logprob,
)
from pytest_taskgraph.families.tasklama.sequences.step_methods import METHODS
from pytest_taskgraph.families.tasklama.tasklama_settings import TaskLamaSettings
from pytest_taskgraph.models import close, open_model
from pytest_taskgraph.models.clients.simulated import SimulatedModel
from pytest_taskgraph.scoring.forms.task_graph_form import read_steps
from pytest_taskgraph.trial import Json, Question, Reply, Request

FEWER_STEPS = FilterModel(("steps",), (0.0,), (1.0,), (-1.0,), 0.5)
SAMPLES = [("wash rice", "eat rice", "sleep"), (), ("boil water",), ("wash the rice", "cook the rice")]
TEXTS = [numbered(*steps) for steps in SAMPLES]
LOGPROBS = {"wash rice": -9.0, "boil water": -2.0, "wash the rice": -3.0}  # by the first step


def sampled(keep: int = 2, model: FilterModel = FEWER_STEPS, **settings: Json) -> Question:
    stated: dict[str, Json] = {"title": "Cook rice", "context": [], "samples": 4, "sequences": keep}
    return make_question(stated | {"filter": model.to_json()} | settings)


def scored(request: Request) -> Reply:
    """Answer requests for samples with TEXTS, and score each listing as LOGPROBS says, with a token a line."""
    if request.kind == "chat":
        return Reply(TEXTS[request.repetition - 1])
    rows = [[LOGPROBS[read_steps(text)[0]], len(read_steps(text)), None] for text in request.texts]
    return Reply("", logprobs=rows)


def test_filter_takes_the_sample_that_the_coefficients_rank_first() -> None:
    transcript, exchanges = run_episode(filter_best, sampled(), TEXTS)
    assert transcript.reply.text == "1. boil water"
    assert [exchange.note for exchange in exchanges] == [
        {"kept": False, "steps": 3, "filter_score": -2.5},
        {"kept": False, "steps": 0, "filter_score": None},
        {"kept": True, "steps": 1, "filter_score": -0.5},
        {"kept": False, "steps": 2, "filter_score": -1.5},
    ]
    assert is_one_turn(filter_best)


def test_filter_other_sign_takes_the_longest_sample() -> None:
    more = replace(FEWER_STEPS, coefficients=(1.0,))
    assert run_episode(filter_best, sampled(model=more), TEXTS)[0].reply.text == TEXTS[0]


def test_filter_equal_ranks_take_the_first_sample() -> None:
    flat = replace(FEWER_STEPS, coefficients=(0.0,))
    assert run_episode(filter_best, sampled(model=flat), TEXTS)[0].reply.text == TEXTS[0]


def test_filter_samples_are_those_of_multseq() -> None:
    question = sampled(keep=4)
    assert next(filter_best(question)) == next(multseq(question)) == next(filter_best_logprob(question))


def test_multseq_filter_merges_the_best_samples_best_first() -> None:
    transcript, exchanges = run_episode(multseq_filter, sampled(keep=2), TEXTS)
    assert read_steps(transcript.reply.text) == ["wash the rice", "cook the rice", "boil water"]
    assert [exchange.note["kept"] for exchange in exchanges] == [False, False, True, True]


def test_filter_measures_best_and_mean_of_all_samples() -> None:
    transcript, _ = run_episode(filter_best, sampled(), TEXTS)
    # against GOLD: "wash rice" 0.8, "eat rice" 0.4 with "cook the rice": 2 * 1.2 / 6; 1 of 3 steps; 2 of 3 steps
    values = [0.4, 0.0, 0.5, 0.8]
    assert transcript.metrics == {"best_sample_f1": 0.8, "mean_sample_f1": pytest.approx(sum(values) / 4)}
    assert tuple(transcript.metrics) == EPISODE_METRICS


def test_filter_similarity_of_an_embedder_leaves_samples_unmeasured() -> None:
    question = sampled()
    assert isinstance(question.reference, dict)
    question = replace(question, reference=question.reference | {"similarity": "embeddings"})

    def answer(request: Request) -> Reply:
        if request.kind == "embed":
            return Reply("", embeddings=[[1.0, 0.0] if text in GOLD[:2] else [0.0, 1.0] for text in request.texts])
        return Reply(TEXTS[request.repetition - 1])

    transcript, exchanges = run_episode(filter_best, question, answer)
    assert transcript.metrics == dict.fromkeys(EPISODE_METRICS)
    assert transcript.reply.text == "1. boil water\nSimilarity: [[1.0, 1.0, 0.0]]"
    assert len(exchanges) == 5


@pytest.mark.parametrize("episode", [filter_best, filter_best_logprob, multseq_filter, multseq_filter_logprob])
def test_filter_without_a_readable_sample_returns_the_first_reply(episode: Episode) -> None:
    texts = ["I'm sorry, but I can't help with that.", "", "", ""]
    transcript, exchanges = run_episode(episode, sampled(), texts)
    assert transcript.reply is exchanges[0].reply
    assert transcript.metrics == {"best_sample_f1": 0.0, "mean_sample_f1": 0.0}


def test_filter_logprob_takes_the_largest_mean_of_a_token() -> None:
    transcript, exchanges = run_episode(filter_best_logprob, sampled(), scored)
    assert transcript.reply.text == TEXTS[3]  # -3 / 2 tokens, against -2 / 1 and -9 / 3
    request = exchanges[-1].request
    assert (request.kind, request.context, request.messages) == ("score", "Task: Cook rice", [])
    assert request.texts == ["\n" + TEXTS[0], "\n" + TEXTS[2], "\n" + TEXTS[3]]
    assert [exchange.note.get("filter_score") for exchange in exchanges] == [-3.0, None, -2.0, -1.5, None]
    assert not is_one_turn(filter_best_logprob)


def test_multseq_filter_logprob_merges_the_most_probable() -> None:
    transcript, _ = run_episode(multseq_filter_logprob, sampled(keep=2), scored)
    assert read_steps(transcript.reply.text) == ["boil water", "wash the rice", "cook the rice"]


def test_filter_logprob_sequence_without_value_ranks_last() -> None:
    def answer(request: Request) -> Reply:
        return (
            Reply("", logprobs=[[None, 3, None], [-50.0, 1, None], [-1.0, 0, None]])
            if request.texts
            else scored(request)
        )

    assert run_episode(filter_best_logprob, sampled(), answer)[0].reply.text == "1. boil water"


def test_filter_logprob_equal_samples_are_scored_once() -> None:
    def answer(request: Request) -> Reply:
        return Reply("1. go", logprobs=[[-1.0, 1, None]] * len(request.texts))

    transcript, exchanges = run_episode(filter_best_logprob, sampled(), answer)
    assert exchanges[-1].request.texts == ["\n1. go"]
    assert transcript.reply.text == "1. go"


def test_filter_logprob_reply_without_scores_is_malformed() -> None:
    with pytest.raises(ProviderError, match="expected log-probabilities of 1 texts, got 0"):
        run_episode(filter_best_logprob, sampled(), ["1. go"] * 4 + [""])


@pytest.mark.parametrize(("accuracy", "expected"), [(1.0, TEXTS[3]), (0.0, TEXTS[0])])
def test_filter_logprob_simulated_model_prefers_nearest_or_farthest(accuracy: float, expected: str) -> None:
    model = SimulatedModel(lambda _: None, accuracy)

    async def answer(request: Request) -> Reply:
        return await model.answer(request) if request.kind == "score" else scored(request)

    transcript = asyncio.run(drive(filter_best_logprob(sampled()), answer))
    assert transcript.reply.text == expected


def test_filter_logprob_over_http_takes_the_most_probable_sample() -> None:
    left = iter(TEXTS)
    with Loopback(lambda prompt: next(left)) as server:
        server.logprob = lambda token: -0.1 if token.strip() in ("boil", "water") else -2.0

        async def episode() -> Transcript:
            try:
                model = open_model(f"{server.url}#any", {"api_key": "test-key-123456"})
                return await drive(filter_best_logprob(sampled()), model.answer)
            finally:
                await close()

        transcript = asyncio.run(episode())
    assert transcript.reply.text == "1. boil water"
    *chats, score = [request.body for request in server.requests]
    assert [request["temperature"] for request in chats] == [0.5] * 4
    assert {text[:17] for text in score["prompt"]} == {"Task: Cook rice\n1"}


def test_multseq_filter_hostile_samples_are_merged() -> None:
    text = "\n".join(f"{at}. {'word ' * 20}{at}" for at in range(2_000))
    transcript, _ = run_episode(multseq_filter, sampled(samples=8), [text] * 8)
    assert read_steps(transcript.reply.text) == [f"{'word ' * 20}0"]  # the others are near-duplicates


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"filter": None}, "question q: filter: found nothing; expected a JSON object"),
        ({"title": 3}, "question q: episode_settings has no title"),
        ({"samples": 0}, r"episode_settings\['samples'\] is 0"),
    ],
)
def test_filter_settings_that_lack_something_are_refused(settings: dict[str, Json], message: str) -> None:
    with pytest.raises(UsageError, match=message):
        run_episode(filter_best, make_question(sampled().episode_settings | settings), TEXTS)


def run_settings(**values: object) -> TaskLamaSettings:
    return replace(TaskLamaSettings.of(Settings()), **values)  # type: ignore[arg-type]


@pytest.mark.parametrize("method", ["filter", "multseq_filter"])
def test_check_filter_method_without_file_is_refused(method: str) -> None:
    with pytest.raises(UsageError, match=f"--taskgraph-data=tasklama-filter=FILE: the method {method} needs a file"):
        check_filter(run_settings(methods=("icl", method)))


def test_check_filter_names_that_are_given_go_before_those_of_the_settings() -> None:
    with pytest.raises(UsageError, match="the method filter needs a file"):
        check_filter(run_settings(methods=("steps",)), ["icl", "filter"])


@pytest.mark.parametrize("name", ["filter", "multseq_filter"])
def test_method_settings_without_file_are_refused(name: str) -> None:
    (method,) = (method for method in METHODS if method.name == name)
    with pytest.raises(UsageError, match=f"--taskgraph-data=tasklama-filter=FILE: the method {name} needs a file"):
        method.settings(make_task(1), (), run_settings())


def test_check_filter_methods_without_need_are_accepted(tmp_path: Path) -> None:
    check_filter(run_settings(methods=("icl", "multseq", "filter_logprob"), sequences=40))
    path = tmp_path / "filter.json"
    path.write_text(json.dumps(FEWER_STEPS.to_json()), encoding="utf-8")
    check_filter(run_settings(methods=("filter", "multseq_filter"), data={"tasklama-filter": str(path)}))


def test_check_filter_file_that_is_missing_is_told() -> None:
    with pytest.raises(UsageError, match=r"nowhere\.json: cannot be read: No such file"):
        check_filter(run_settings(methods=("filter",), data={"tasklama-filter": "nowhere.json"}))


def test_check_filter_more_sequences_than_samples_is_refused() -> None:
    with pytest.raises(
        UsageError, match="--taskgraph-tasklama-sequences: 5; expected at most the number of samples, 4"
    ):
        check_filter(run_settings(methods=("multseq_filter_logprob",), sequences=5, samples=4))


def test_methods_state_what_their_episodes_need(tmp_path: Path) -> None:
    path = tmp_path / "filter.json"
    path.write_text(json.dumps(FEWER_STEPS.to_json()), encoding="utf-8")
    settings = run_settings(data={"tasklama-filter": str(path)}, sequences=2)
    task = make_task(1, context=("With glue",))
    for method in METHODS:
        stated = method.settings(task, (), settings)
        assert json.loads(json.dumps(stated)) == stated
        question = make_question(stated, prompt=method.prompt(task, (), settings))
        requests = next(method.episode(question))
        samples = {"icl": 1, "multseq": 2}.get(method.name, 16)
        assert [request.prompt for request in requests] == [question.prompt] * samples
    assert [method.name for method in METHODS] == [
        "icl", "multseq", "filter", "filter_logprob", "multseq_filter", "multseq_filter_logprob",
    ]  # fmt: skip
