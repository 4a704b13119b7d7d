"""The prompts of the dependency methods: shuffled steps, examples of pairs, and templates of the user's."""

from __future__ import annotations

import json
import os
import sys
from dataclasses import replace
from pathlib import Path

import bounded_process
import pytest
from edge_questions import BREAD, BY_NAME, EXAMPLES, PACK, SETTINGS, TEA, edge_question
from hypothesis import given
from hypothesis import strategies as st

from pytest_taskgraph.errors import UsageError
from pytest_taskgraph.families.tasklama.complex_task import ComplexTask
from pytest_taskgraph.families.tasklama.edges import METHODS
from pytest_taskgraph.families.tasklama.edges.edge_prompts import (
    RATIONALES,
    draw_pairs,
    fill_marks,
    gold_closure,
    rationale_by_rule,
    shown_order,
)
from pytest_taskgraph.scoring.metrics import METRICS

ROOT = Path(__file__).resolve().parents[2]
DATA = ROOT / "pytest_taskgraph" / "families" / "tasklama" / "task_sets" / "data" / "train.jsonl"


def chain(steps: int, name: str = "chain") -> ComplexTask:
    texts = tuple(f"Do part {at}" for at in range(steps))
    return ComplexTask(name, f"Do {name}", (), texts, tuple((at, at + 1) for at in range(steps - 1)))


def test_methods_are_those_of_the_paper_and_have_known_metrics() -> None:
    assert [method.name for method in METHODS] == [
        "golden_linear", "golden_pairs", "golden_pairs_cot", "golden_scoring", "golden_whole",
        "linear", "pairs", "pairs_cot", "pairs_linear", "scoring", "whole",
        "pairs_two", "pairs_cot_two", "whole_two", "entire_graph",
    ]  # fmt: skip
    assert {name for method in METHODS for name in (method.metric, *method.further)} <= set(METRICS)


@given(st.integers(4, 12), st.integers())
def test_shown_order_is_never_that_of_the_gold_steps(steps: int, seed: int) -> None:
    order = shown_order(chain(steps), seed)
    assert sorted(order) == [*range(steps)] != order


def test_shown_order_of_few_steps_may_be_that_of_the_gold_steps() -> None:
    assert {tuple(shown_order(chain(2), seed)) for seed in range(20)} == {(0, 1), (1, 0)}


@pytest.mark.parametrize("method", ["golden_linear", "golden_whole"])
def test_golden_prompt_ends_with_the_task_and_its_shuffled_steps(method: str) -> None:
    question = edge_question(method)
    steps = [BREAD.steps[at] for at in shown_order(BREAD, SETTINGS.seed)]
    step_lines = "\n".join(f"{at}. {step}" for at, step in enumerate(steps, 1))
    assert question.prompt.endswith(f"\nTask: Bake bread\nContext: In an oven\nSteps:\n{step_lines}")
    assert "⟦" not in question.prompt


def test_prompts_are_the_same_under_any_hash_seed() -> None:
    script = (
        "import json; from edge_questions import METHODS, edge_question; questions = map(edge_question, METHODS); "
        "print(json.dumps([[question.prompt, question.episode_settings] for question in questions]))"
    )
    collected = [
        bounded_process.run(
            [sys.executable, "-c", script],
            env=os.environ | {
                "PYTHONHASHSEED": seed, "PYTHONPATH": os.pathsep.join([str(ROOT), str(ROOT / "tests")]),
                "PYTHONUTF8": "1",
            },
        ).stdout
        for seed in ("1", "2")
    ]  # fmt: skip
    assert collected[0] == collected[1]
    assert len(json.loads(collected[0])) == len(METHODS)


@pytest.mark.parametrize("seed", range(6))
def test_pair_examples_are_balanced_and_labelled_by_the_closure(seed: int) -> None:
    examples = [chain(5, f"chain-{at}") for at in range(4)]
    pairs = draw_pairs(examples, seed)
    assert sorted(pair.label for pair in pairs) == [False, False, True, True]
    for pair in pairs:
        assert pair.label == (pair.first < pair.second)


def test_pair_examples_begin_with_either_label() -> None:
    assert {draw_pairs([chain(5)], seed)[0].label for seed in range(10)} == {True, False}


def test_pair_examples_of_a_cycle_are_no_dependency() -> None:
    cycle = replace(chain(3), dependencies=((0, 1), (1, 2), (2, 0)))
    assert [pair.label for seed in range(8) for pair in draw_pairs([cycle], seed)] == [False] * 8


def test_pair_examples_skip_tasks_of_one_step() -> None:
    assert draw_pairs([chain(1)], 0) == []
    assert draw_pairs([], 0) == []


def test_pair_prompt_without_examples_has_no_words_about_them() -> None:
    prompt = edge_question("golden_pairs", examples=()).prompt
    assert "other tasks" not in prompt
    assert prompt.count("First step:") == 1


def test_pair_prompt_shows_an_example_of_each_task_with_its_answer() -> None:
    prompt = edge_question("golden_pairs").prompt
    assert prompt.count("First step:") == 3
    assert prompt.count("Answer: ") == 2
    assert "Context: By train" in prompt


def test_pair_cot_prompt_shows_reasons_before_the_answer() -> None:
    prompt = edge_question("golden_pairs_cot").prompt
    assert prompt.count("Reasons: ") == prompt.count("\nFinal answer: ") == 2


@pytest.mark.parametrize(
    ("pair", "expected"),
    [
        (
            (0, 3),
            '"Let the dough rise" can only begin when "Mix the dough" is done; "Bake the dough" can only begin when '
            '"Let the dough rise" is done. So "Mix the dough" has to be done before "Bake the dough".',
        ),
        (
            (3, 2),
            'It is the other way round. "Bake the dough" can only begin when "Heat the oven" is done. '
            'So "Bake the dough" cannot be done before "Heat the oven".',
        ),
        (
            (0, 2),
            'Neither "Mix the dough" nor "Heat the oven" needs the other one to be done. '
            "They can be done in any order.",
        ),
    ],
)
def test_rationale_by_rule_says_what_the_graph_says(pair: tuple[int, int], expected: str) -> None:
    assert rationale_by_rule(BREAD, *pair) == expected


def test_filled_prompt_keeps_what_looks_like_a_mark_in_a_value() -> None:
    assert fill_marks("<a> and <b>, <a>", {"<a>": "<b>", "<b>": "<a>"}) == "<b> and <a>, <b>"


def test_step_that_is_written_like_a_template_is_shown_as_it_is() -> None:
    task = replace(BREAD, steps=("{{ title }}", "⟦second step⟧", "{% if %}", "Mix"))
    for method in ("golden_pairs", "golden_whole", "golden_linear"):
        question = edge_question(method, task)
        requests = next(BY_NAME[method].episode(question))
        shown_texts = "\n".join(request.prompt for request in requests)
        assert all(step in shown_texts for step in task.steps)


def test_template_of_the_user_stands_in_for_ours(tmp_path: Path) -> None:
    folder = tmp_path / "tasklama"
    folder.mkdir()
    (folder / "pair.jinja").write_text("{{ first }} before {{ second }}?", encoding="utf-8")
    question = edge_question("golden_pairs", settings=replace(SETTINGS, templates=str(tmp_path)))
    first, second = (BREAD.steps[at] for at in shown_order(BREAD, SETTINGS.seed)[:2])
    assert question.prompt == f"{first} before {second}?"


@pytest.mark.parametrize(("name", "method"), [("pair", "golden_pairs"), ("graph", "whole"), ("order", "golden_linear")])
def test_template_that_does_not_show_the_steps_is_refused(tmp_path: Path, name: str, method: str) -> None:
    folder = tmp_path / "tasklama"
    folder.mkdir()
    (folder / f"{name}.jinja").write_text("What about {{ title }}?", encoding="utf-8")
    with pytest.raises(UsageError, match=rf"prompt {name}.jinja of TaskLAMA does not show \{{\{{ (first|steps) \}}\}}"):
        edge_question(method, settings=replace(SETTINGS, templates=str(tmp_path)))


@pytest.mark.parametrize("method", METHODS, ids=lambda method: method.name)
def test_prompt_ends_with_the_asked_task_alone(method: str) -> None:
    prompt = edge_question(method).prompt
    assert prompt.rindex("Task: Bake bread\nContext: In an oven") > prompt.rindex(PACK.title)
    assert TEA.title in prompt
    assert len(EXAMPLES) == 2


def training_tasks() -> list[ComplexTask]:
    """Return the embedded training tasks, read here without the package."""
    tasks = []
    for row in map(json.loads, DATA.read_text(encoding="utf-8").splitlines()):
        steps = [step["step"] for step in row["substeps"]]
        edges = (
            (steps.index(dependency["subtask1"]), steps.index(dependency["subtask2"]))
            for dependency in row["dependencies"]
        )
        tasks.append(ComplexTask("t", row["task"], (), tuple(steps), tuple(edges)))
    return tasks


def test_written_rationales_are_about_pairs_of_embedded_training_tasks() -> None:
    tasks = {(task.title, step): task for task in training_tasks() for step in task.steps}
    rows = [json.loads(line) for line in RATIONALES.read_text(encoding="utf-8").splitlines()]
    assert len(rows) == 72
    for row in rows:
        task = tasks[row["task"], row["first"]]
        pair = task.steps.index(row["first"]), task.steps.index(row["second"])
        assert row["label"] == ("yes" if pair in gold_closure(task) else "no"), row
        assert 20 < len(row["rationale"]) < 400


@pytest.mark.parametrize("seed", range(4))
def test_pair_examples_of_embedded_tasks_have_written_rationales(seed: int) -> None:
    (pair,) = draw_pairs([task for task in training_tasks() if task.title == "Bake focaccia"], seed)
    assert pair.rationale.startswith("The dough is stretched" if pair.label else "The rosemary and olives")
