"""What models are tuned for in TaskLAMA: samples of steps and of pairs, and how replies to them are scored."""

from __future__ import annotations

from dataclasses import replace

import pytest

from pytest_taskgraph import Settings, tasklama
from pytest_taskgraph.benchmarks.tuning_task import TuningParameters, TuningSample
from pytest_taskgraph.families.tasklama.edges.edge_prompts import gold_closure
from pytest_taskgraph.families.tasklama.task_sets.embedded import read_embedded
from pytest_taskgraph.families.tasklama.task_tuning import (
    pair_data,
    pair_samples,
    score_pairs,
    score_steps,
    step_data,
    step_samples,
)
from pytest_taskgraph.families.tasklama.tasklama_settings import TaskLamaSettings
from pytest_taskgraph.scoring.grade import grade
from pytest_taskgraph.trial import Reply

QUICK = TuningParameters(updates=1)
SETTINGS = TaskLamaSettings()
BARE = Settings(shots=0, instances=100)


def questions(method: str, split: str) -> list[str]:
    """The prompts of a run without in-context examples."""
    settings = replace(BARE, own={"tasklama-method": (method,), "split": split})
    return [tasklama.question(each, settings).prompt for each in tasklama.references(settings, {})]


def test_prompts_of_steps_are_those_of_a_run_without_examples() -> None:
    tasks = read_embedded().train
    prompts = [sample.prompt for task in tasks for sample in step_samples(task, SETTINGS)]
    assert prompts == questions("icl", "train")


def test_target_of_steps_scores_as_the_reference() -> None:
    settings = replace(BARE, own={"tasklama-method": ("icl",), "split": "validation"})
    for each in tasklama.references(settings, {}):
        question = tasklama.question(each, settings)
        (sample,) = [sample for sample in step_data(Settings(), QUICK).dev if sample.prompt == question.prompt]
        assert grade(question, Reply(sample.target)).value == pytest.approx(1.0)
        assert score_steps([sample], [sample.target]) == {"hungarian_f1": 1.0, "hungarian_f2": 1.0}


def test_score_of_steps_is_mean_with_zero_for_no_steps() -> None:
    (sample,) = step_samples(read_embedded().train[0], SETTINGS)
    scores = score_steps([sample, sample], [sample.target, ""])
    assert scores["hungarian_f1"] == 0.5


def test_pairs_are_all_ordered_pairs_with_the_answer_of_the_closure() -> None:
    task = read_embedded().train[0]
    samples = pair_samples(task, SETTINGS)
    count = len(task.steps)
    assert len({sample.prompt for sample in samples}) == count * (count - 1)
    assert sum(sample.target == "yes" for sample in samples) == len(gold_closure(task))
    before, after = next(iter(gold_closure(task)))
    (named,) = [
        sample
        for sample in samples
        if sample.prompt.rstrip().endswith(f"First step: {task.steps[before]}\nSecond step: {task.steps[after]}")
    ]
    assert (named.target, named.choices) == ("yes", ("yes", "no"))


def test_first_pair_of_a_run_is_among_the_samples() -> None:
    prompts = {sample.prompt for task in read_embedded().test for sample in pair_samples(task, SETTINGS)}
    assert {*questions("golden_pairs", "test")} <= prompts


def test_data_are_of_train_and_validation_tasks_alone() -> None:
    tasks = read_embedded()
    for data in (step_data(Settings(), QUICK), pair_data(Settings(), QUICK)):
        assert data.facts == {
            "source": "embedded",
            "train_tasks": len(tasks.train),
            "validation_tasks": len(tasks.validation),
        }
    few = pair_data(Settings(), replace(QUICK, train=2, dev=7))
    assert (few.facts["train_tasks"], len(few.dev)) == (2, 7)


def test_score_of_pairs_is_share_of_right_ones_beside_the_majority() -> None:
    samples = [TuningSample("p", answer, ("yes", "no")) for answer in ("yes", "no", "no", "no")]
    assert score_pairs(samples, ["yes", "no", "", "yes"]) == {"pair_accuracy": 0.5, "majority_accuracy": 0.75}
