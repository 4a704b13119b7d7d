"""TaskLAMA as a family: which questions there are, which methods, tables and diagrams."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from pytest_taskgraph import Settings, tasklama
from pytest_taskgraph.benchmarks.family import QuestionReference
from pytest_taskgraph.benchmarks.option import OptionValue
from pytest_taskgraph.errors import UnknownNameError, UsageError
from pytest_taskgraph.families.tasklama.methods import METHODS
from pytest_taskgraph.families.tasklama.sequences import EPISODE_METRICS
from pytest_taskgraph.families.tasklama.tasklama_tables import TABLES
from pytest_taskgraph.scoring.metrics import METRICS
from pytest_taskgraph.trial import Json, Score

RICE = {
    "task": "Cook rice",
    "assumptions": [{"assumption": "On a gas stove"}],
    "substeps": [{"step": "Wash the rice"}, {"step": "Boil water"}, {"step": "Cook the rice"}],
    "dependencies": [
        {"subtask1": "Wash the rice", "subtask2": "Cook the rice"},
        {"subtask1": "Boil water", "subtask2": "Cook the rice"},
    ],
}
BELL = {"task": "Ring a bell", "substeps": [{"step": "Pull the rope"}], "dependencies": []}


GENERATED = {"tasklama": "generated"}


def settings(instances: int = 4, data: dict[str, str] | None = None, **own: OptionValue) -> Settings:
    stated = {name if name == "split" else f"tasklama-{name}": value for name, value in own.items()}
    return Settings(instances=instances, own=stated, data=data or {})


def published(folder: Path, **splits: list[dict[str, Any]]) -> dict[str, str]:
    for name, tasks in splits.items():
        (folder / f"{name}.jsonl").write_text("".join(f"{json.dumps(task)}\n" for task in tasks), encoding="utf-8")
    return {"tasklama": str(folder)}


def references(stated: Settings) -> list[QuestionReference]:
    return list(tasklama.references(stated, {}))


def prompts(stated: Settings) -> list[str]:
    return [tasklama.question(reference, stated).prompt for reference in references(stated)]


def test_methods_are_chosen_by_name_and_by_kind_in_the_order_of_reports() -> None:
    assert [method.name for method in METHODS.select(["linear", "icl", "linear"])] == ["icl", "linear"]
    assert [method.name for method in METHODS.select(["all"])] == list(METHODS)
    kinds = [METHODS.select([name]) for name in ("steps", "golden", "generated")]
    assert [{method.section for method in kind} for kind in kinds] == [{section} for section in METHODS.sections]
    with pytest.raises(UnknownNameError, match="unknown method of TaskLAMA 'cot'; known: all, entire_graph, filter"):
        METHODS.select(["cot"])


def test_every_method_asks_about_the_same_tasks() -> None:
    references_drawn = references(settings(5, method=("icl", "golden_pairs", "whole_two")))
    tasks = Counter(entry.payload["task"]["id"] for entry in references_drawn)
    assert set(tasks.values()) == {3}
    assert len(tasks) == 5
    assert len({entry.id for entry in references_drawn}) == 15


def test_more_instances_keep_the_tasks_of_fewer() -> None:
    few, many = ({reference.id for reference in references(settings(count, method=("icl",)))} for count in (3, 20))
    assert few < many
    assert len(references(settings(1000, method=("icl",)))) == 32


def test_examples_are_training_tasks_and_the_same_for_all_tasks() -> None:
    example_titles = [prompt.split("Task: ")[1:] for prompt in prompts(settings(8, method=("icl",)))]
    assert {len(tasks) for tasks in example_titles} == {4}
    assert len({tuple(tasks[:-1]) for tasks in example_titles}) == 1
    assert len({tasks[-1] for tasks in example_titles}) == 8


def test_examples_of_generated_tasks_stay_when_more_tasks_are_asked_about() -> None:
    few, many = (prompts(settings(count, GENERATED, method=("icl",))) for count in (3, 40))
    assert {*few} < {*many}


@pytest.mark.parametrize(
    ("similarity", "message"),
    [
        ("lexical", "lexical (not comparable with the paper)"),
        (
            "sentence-transformers:org/mini",
            "sentence-transformers:org/mini (not comparable with the paper)",
        ),
        ("embeddings", "embeddings"),
    ],
)
def test_facts_tell_similarities_that_are_never_those_of_the_paper(similarity: str, message: str) -> None:
    description = tasklama.description(settings(4, GENERATED, similarity=similarity, split="train"))
    assert description.facts == {"tasks": "generated (train split)", "similarity": message}


def test_without_context_no_prompt_holds_one() -> None:
    with_it, without = (prompts(settings(method=("icl",), context=kind)) for kind in ("with", "without"))
    assert all("Context:" in prompt for prompt in with_it)
    assert not any("Context:" in prompt for prompt in without)


def test_both_contexts_ask_twice_about_tasks_that_have_one(tmp_path: Path) -> None:
    stated = settings(9, published(tmp_path, test=[RICE, BELL]), method=("icl",), context="both")
    assert [(reference.id, reference.labels["context"]) for reference in references(stated)] == [
        ("icl-cook-rice-on-a-gas-stove-with-context", "with"),
        ("icl-cook-rice-on-a-gas-stove-without-context", "without"),
    ]
    assert any("leaves out 1 task of the test split without context" in line for line in tasklama.notices(stated, {}))


def test_contexts_of_one_published_title_share_a_cluster(tmp_path: Path) -> None:
    electric = RICE | {"assumptions": [{"assumption": "On an electric stove"}]}
    stated = settings(9, published(tmp_path, test=[RICE, electric, BELL]), method=("icl",))
    assert [reference.cluster for reference in references(stated)] == [
        "task:cook rice",
        "task:cook rice",
        "task:ring a bell",
    ]


def test_golden_methods_leave_out_tasks_of_a_single_step(tmp_path: Path) -> None:
    stated = settings(9, published(tmp_path, test=[RICE, BELL]), method=("icl", "golden_whole"))
    assert Counter(reference.group for reference in references(stated)) == {"icl": 2, "golden_whole": 1}


def test_references_split_without_tasks_names_the_sizes_of_all(tmp_path: Path) -> None:
    stated = settings(data=published(tmp_path, test=[RICE]), split="validation")
    with pytest.raises(UsageError, match="none in the validation split; train: 0, validation: 0, test: 1"):
        references(stated)


def test_published_tasks_without_a_training_split_borrow_embedded_examples(tmp_path: Path) -> None:
    stated = settings(data=published(tmp_path, test=[RICE]), method=("icl",))
    (prompt,) = prompts(stated)
    assert prompt.count("Task: ") == 4
    assert any("no training split" in line for line in tasklama.notices(stated, {}))


def test_question_states_gold_graph_and_similarity(tmp_path: Path) -> None:
    stated = settings(data=published(tmp_path, test=[RICE]), method=("linear",), similarity="embeddings")
    question = tasklama.question(references(stated)[0], stated)
    assert question.reference == {
        "steps": ["Wash the rice", "Boil water", "Cook the rice"],
        "dependencies": [[0, 2], [1, 2]],
        "similarity": "embeddings",
    }
    assert question.text == "Task: Cook rice\nContext: On a gas stove"
    assert (question.graded, question.episode) == (True, "linear+embeddings")
    assert tasklama.roles(stated) == ("embedder",)
    assert callable(tasklama.episode(question.episode))


@pytest.mark.parametrize(
    "own", [{"method": ("cot",)}, {"method": ("filter",)}, {"method": ("filter",), "filter": "no"}]
)
def test_option_that_cannot_be_met_is_a_usage_error(own: dict[str, OptionValue]) -> None:
    with pytest.raises(UsageError):
        tasklama.check(Settings(own={f"tasklama-{name}": value for name, value in own.items()}))


def test_kinds_of_methods_without_filter_leave_out_filters_with_a_notice() -> None:
    groups = {reference.group for reference in references(settings(method=("steps",)))}
    assert groups == {"icl", "multseq", "filter_logprob", "multseq_filter_logprob"}
    (line,) = tasklama.notices(settings(method=("steps",)), {})
    assert line.startswith("--taskgraph-tasklama-method leaves out filter, multseq_filter: they need")
    with pytest.raises(UsageError, match="tasklama-filter=FILE"):
        references(settings(method=("steps", "filter")))


def test_metrics_of_a_method_are_those_that_its_questions_measure() -> None:
    assert tasklama.episode_metrics == EPISODE_METRICS
    for name, method in METHODS.items():
        stated = tasklama.metrics(name, settings())
        assert stated[0] == method.metric
        assert {method.metric, *method.further} <= METRICS.keys()
        assert ("best_sample_f1" in stated) == name.startswith(("filter", "multseq_filter"))


def test_tables_hold_the_published_numbers_of_the_paper() -> None:
    counts = {table.name: len(table.references) for table in TABLES if table.references}
    assert counts == {"steps": 12 * 10, "dependencies": 9 * 9, "golden": 4}
    values = {(spec.row, spec.column): spec.value for table in TABLES for spec in table.references}
    assert values["MultSeq + SPT", "hungarian_f2"] == 0.462
    assert values["LLM Scoring, 1 sequence", "step_proximity_rouge1"] == 0.202
    assert values["Majority Class", "pair_accuracy"] == 0.538
    assert all(0 < table < 1 for table in values.values())


def test_diagram_pair_matches_steps_that_are_alike_and_draws_what_differs(tmp_path: Path) -> None:
    stated = settings(data=published(tmp_path, test=[RICE]), method=("linear", "icl"))
    icl, linear = (tasklama.question(reference, stated) for reference in references(stated))
    given: Json = {"steps": ["Cook the rice", "Wash the rice", "Sing"], "dependencies": [[1, 0], [0, 2]]}
    pair = tasklama.diagram_pair(linear, Score(0.5, given=given))
    assert pair is not None
    assert [(reference.id, reference.label) for reference in pair.given.nodes] == [
        ("gold-2", "Cook the rice"), ("gold-0", "Wash the rice"), ("given-2", "Sing"),
    ]  # fmt: skip
    assert {(reference.source, reference.target) for reference in pair.expected.edges} == {
        ("gold-0", "gold-2"),
        ("gold-1", "gold-2"),
    }
    assert {(reference.source, reference.target) for reference in pair.given.edges} == {
        ("gold-0", "gold-2"),
        ("gold-2", "given-2"),
    }
    steps_alone = tasklama.diagram_pair(icl, Score(0.5, given=given))
    assert steps_alone is not None
    assert not steps_alone.expected.edges + steps_alone.given.edges


def test_diagram_pair_without_a_measured_similarity_is_not_drawn(tmp_path: Path) -> None:
    stated = settings(data=published(tmp_path, test=[RICE]), method=("linear",), similarity="embeddings")
    question = tasklama.question(references(stated)[0], stated)
    assert tasklama.diagram_pair(question, Score(0.5, given={"steps": ["Sing"], "dependencies": []})) is None


@pytest.mark.parametrize("option", ["sequences", "samples"])
def test_number_of_sequences_no_run_can_send_is_refused(option: str) -> None:
    with pytest.raises(UsageError, match=f"--taskgraph-tasklama-{option}: 1001; expected at most 1000"):
        references(Settings(own={f"tasklama-{option}": 1001}))


def test_both_contexts_of_tasks_without_context_says_so(tmp_path: Path) -> None:
    stated = settings(data=published(tmp_path, test=[BELL]), context="both")
    with pytest.raises(UsageError, match="context=both: none of the 1 tasks of the test split has a context"):
        references(stated)
