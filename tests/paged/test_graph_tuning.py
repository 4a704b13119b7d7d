"""What models are tuned for in PAGED: documents with their graphs, and how written graphs are scored."""

from __future__ import annotations

from dataclasses import replace

import pytest

from pytest_taskgraph import Settings, paged
from pytest_taskgraph.benchmarks.tuning_task import TuningParameters
from pytest_taskgraph.commands.tune import find_tasks
from pytest_taskgraph.families.paged.document_sets.document_set import PAPER_COUNTS
from pytest_taskgraph.families.paged.graph_tuning import PAPER_TRAIN, TASKS, graph_data, score_graphs
from pytest_taskgraph.scoring.grade import grade
from pytest_taskgraph.trial import Reply

QUICK = TuningParameters(updates=1, train=8, dev=2)


def prompts_of_run(split: str, count: int) -> dict[str, str]:
    """The prompts of a run without worked examples, with the ids of their questions."""
    settings = Settings(shots=0, instances=count, own={"split": split})
    questions = [paged.question(each, settings) for each in paged.references(settings, {})]
    return {question.prompt: question.id for question in questions}


def test_prompts_are_those_of_a_run_without_worked_examples() -> None:
    data = graph_data(Settings(), QUICK)
    assert {sample.prompt for sample in data.train} <= prompts_of_run("train", 18).keys()
    assert {sample.prompt for sample in data.dev} <= prompts_of_run("validation", 6).keys()
    assert (len(data.train), len(data.dev), data.facts["source"]) == (8, 2, "generated")


def test_test_documents_of_the_seed_are_not_learned() -> None:
    data = graph_data(Settings(), replace(QUICK, train=40, dev=0))
    asked = prompts_of_run("test", 20)
    assert not asked.keys() & {sample.prompt for sample in (*data.train, *data.dev)}


def test_target_scores_as_the_reference() -> None:
    settings = Settings(shots=0, instances=4, own={"split": "validation"})
    samples = {sample.prompt: sample for sample in graph_data(Settings(), replace(QUICK, dev=0)).dev}
    for each in paged.references(settings, {}):
        question = paged.question(each, settings)
        sample = samples[question.prompt]
        assert grade(question, Reply(sample.target)).value == pytest.approx(1.0)
        assert score_graphs([sample], [sample.target]) == {"procedural_f1": pytest.approx(1.0)}
        assert score_graphs([sample, sample], [sample.target, "I cannot"]) == {"procedural_f1": pytest.approx(0.5)}


def test_parameters_are_those_of_the_paper() -> None:
    (task,) = find_tasks("paged")
    assert [task] == [*TASKS]
    causal, paired = task.parameters["lora"], task.paired["lora"]
    assert (causal.epochs, causal.learning_rate) == (10, 2e-4)
    assert (paired.epochs, paired.learning_rate) == (10, 1e-4)
    assert PAPER_COUNTS["documents"] * 3 // 6 == PAPER_TRAIN
