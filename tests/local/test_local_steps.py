"""Questions of STEPS put to a model on this machine: both episodes that compare log-probabilities."""

from __future__ import annotations

import asyncio
from itertools import islice
from pathlib import Path

import pytest

pytest.importorskip("torch", reason="the extra local is not installed")
pytest.importorskip("transformers", reason="the extra local is not installed")

from pytest_taskgraph.asking import Exchange, Transcript, drive
from pytest_taskgraph.families.steps.construction import build_choices, build_classification
from pytest_taskgraph.families.steps.next_step_samples import query_of
from pytest_taskgraph.families.steps.recipe_sets.recipe_set import read_embedded_recipes
from pytest_taskgraph.families.steps.step_episodes import lowest_perplexity, next_step
from pytest_taskgraph.families.steps.step_tuning import TASKS, tuning_sample
from pytest_taskgraph.local_weights import load_weights
from pytest_taskgraph.models import open_model
from pytest_taskgraph.trial import Json, Question, Request
from pytest_taskgraph.tuning.validation import validate


def question(episode: str, prompt: str, settings: dict[str, Json]) -> Question:
    return Question(
        "q", "steps", "zero_shot", "classification", prompt, prompt, "yes-no", "yes", "class_accuracy",
        episode=episode, episode_settings=settings,
    )  # fmt: skip


def put(folder: Path, *questions: Question) -> list[tuple[Transcript, list[Exchange]]]:
    client = open_model(f"local:{folder}", {})
    episodes = {"next_step": next_step, "lowest_perplexity": lowest_perplexity}

    async def run() -> list[tuple[Transcript, list[Exchange]]]:
        outcomes = []
        for question in questions:
            exchanges: list[Exchange] = []
            outcomes.append((await drive(episodes[question.episode](question), client.answer, exchanges), exchanges))
        return outcomes

    return asyncio.run(run())


def test_next_step_by_logprobs_equals_validation(tiny: Path) -> None:
    samples = [sample for sample in build_classification(read_embedded_recipes().dev) if len(query_of(sample)) < 160][
        :30
    ]
    outcomes = put(tiny, *(question("next_step", query_of(sample), {"answer": "logprobs"}) for sample in samples))
    assert {tuple(transcript.parts["by_logprobs"]) for transcript, _ in outcomes} == {(1, 1)}
    right = [transcript.reply.text == ("Yes" if sample.label else "No") for (transcript, _), sample
             in zip(outcomes, samples, strict=True)]  # fmt: skip
    checked = validate(load_weights(tiny), [(TASKS[0], [tuning_sample(sample) for sample in samples])], 128).scores
    for label, share in ((True, checked["sensitivity"]), (False, checked["specificity"])):
        answers = [correct for correct, sample in zip(right, samples, strict=True) if sample.label is label]
        assert sum(answers) / len(answers) == share


def test_lowest_perplexity_picks_query_more_probable_per_token(tiny: Path) -> None:
    client = open_model(f"local:{tiny}", {})
    chosen = []
    short = (choice for choice in build_choices(read_embedded_recipes().dev) if len(" . ".join(choice.prefix)) < 120)
    for sample in islice(short, 12):
        queries = [" . ".join([*sample.prefix, option]) for option in (sample.right, sample.wrong)]
        stated: dict[str, Json] = {"queries": [["A", queries[0]], ["B", queries[1]]]}
        ((transcript, exchanges),) = put(tiny, question("lowest_perplexity", "?", stated))
        first, second = asyncio.run(client.answer(Request(kind="score", texts=queries))).scores
        assert first.perplexity is not None
        assert second.perplexity is not None
        assert transcript.reply.text == ("A" if first.perplexity < second.perplexity else "B")
        assert len(exchanges) == 1
        chosen.append(transcript.reply.text)
    assert {*chosen} == {"A", "B"}
