from __future__ import annotations

import random
from itertools import cycle, islice

import pytest
from canonical_form import canonical
from drawn_workflows import generate
from steps import count_calls

from pytest_taskgraph.families.understanding.baselines.prompt_view import find_workflow, question_parts
from pytest_taskgraph.generation.recipe import Recipe
from pytest_taskgraph.notations import NOTATIONS
from pytest_taskgraph.workflow.model import Workflow

BIG = 10_000
GROWING = 1_500  # few enough that no limit on the work cuts the growth off
WORKFLOW = generate(
    Recipe(tasks=20, features=frozenset({"parallel", "exclusive", "data", "hierarchy", "descriptions"})), 3
)
each_notation = pytest.mark.parametrize("name", sorted(NOTATIONS))


def prose(seed: int, words: int, size: int = GROWING) -> str:
    """Return about `size` characters of lines with words that notations use."""
    rng = random.Random(seed)
    vocabulary = "the workflow task has a fork that starts and END if package graph TD {} [ ] -> ; ' # - (x) 'A'"
    words_of_notations = vocabulary.split(" ")
    lines = [" ".join(rng.choice(words_of_notations) for _ in range(words)) for _ in range(size // (4 * words))]
    return "\n".join(lines)


def repeat_line(line: str) -> str:
    return "".join(islice(cycle([line]), GROWING // len(line)))


def is_shown(workflow: Workflow | None) -> bool:
    return workflow is not None and canonical(workflow) == canonical(WORKFLOW)


@each_notation
def test_find_workflow_any_surroundings_found(name: str) -> None:
    text = NOTATIONS[name].write(WORKFLOW).strip("\n")
    for i, around in enumerate((
        "{}",
        "Here is a workflow.\n\n```\n{}\n```\n\nIn workflow 'W', what?",
        "Here is a workflow:\n{}\nIn workflow 'W', which task runs first? Answer with one name.",
        "\n\nHere is a workflow:\n\n\n{}\n\n\nWhat?\nThe answer is one name.",
        "The task: answer.\n# Workflow\n{}\n# Question\nIs there a cycle?",
        "Answer like this:\n```\nFinal answer: yes\n```\n\n```text\n{}\n```\nIs there a cycle?",
        "Answer like this:\n```\nFinal answer: yes\n```\nThe workflow:\n{}\nIs there a cycle?",
        "````\n{}\n````\nA fence of four.",
        "   \r\nOn a PC:\r\n```\r\n{}\r\n```\r\nWhat?",
    )):  # fmt: skip
        assert is_shown(find_workflow(around.format(text))), around
        if i == 1:
            assert is_shown(find_workflow(around.format(text.replace("\n", "\r\n")))), around


@each_notation
def test_find_workflow_long_prompt_found(name: str) -> None:
    text, noise = NOTATIONS[name].write(WORKFLOW), prose(1, 15, BIG)
    for prompt in (f"{noise}\n\n{text}\n\nWhat?", f"Look:\n\n{text}\n\n{noise}"):
        assert is_shown(find_workflow(prompt))


@pytest.mark.parametrize(
    "text",
    [
        prose(2, 3), prose(3, 200), repeat_line("\n"), repeat_line("// a\n"), repeat_line("%% a\n"),
        repeat_line("/* a\n"), repeat_line("[\n"), pytest.param(repeat_line('"\n'), marks=pytest.mark.exhaustive),
        repeat_line("---\n"),
        repeat_line("flowchart TD\n"), repeat_line("workflow W {\n"), repeat_line("```\n"),
        repeat_line("From the file 'a':\n"), repeat_line("{"), repeat_line("`"), repeat_line(" "),
        "".join("`" * n + "\n" for n in range(3, 160)),
    ],
    ids=lambda text: repr(text[:8]),
)  # fmt: skip
def test_find_workflow_calls_grow_linearly_with_the_text(text: str) -> None:
    whole = count_calls(lambda: find_workflow(text))
    assert whole < 3 * count_calls(lambda: find_workflow(text[: len(text) // 2])) + 1000


def test_find_workflow_longest_text_wins() -> None:
    text = NOTATIONS["mermaid"].write(WORKFLOW)
    assert is_shown(find_workflow(f"This is a\nflowchart TD\nand so on, as here.\n\n{text}\n\nWhat?"))


def test_find_workflow_none_is_none() -> None:
    assert find_workflow("") is None
    assert find_workflow("Is there a cycle?\n\n```\nyes\n```\n") is None


SOLVED = generate(Recipe(tasks=20, features=frozenset({"parallel", "exclusive", "data", "hierarchy"})), 8)
SHOTS = "Look.\n\n{0}\n\nWhat is A?\n\nFinal answer: B\n\nNow this.\n\n{1}\n\nWhat is C?\nAnswer with a name."


@each_notation
@pytest.mark.parametrize("around", ["```\n{}\n```", "{}"], ids=["fenced", "plain"])
def test_find_workflow_after_example_takes_last(name: str, around: str) -> None:
    solved, shown_text = (around.format(NOTATIONS[name].write(workflow).strip("\n")) for workflow in (SOLVED, WORKFLOW))
    prompt = SHOTS.format(solved, shown_text)
    assert is_shown(find_workflow(prompt))
    after, since, everywhere = question_parts(prompt)
    assert after.strip() == "What is C?\nAnswer with a name."
    assert since.strip().startswith("What is A?")
    assert since.endswith(prompt[prompt.index(shown_text) :])
    assert everywhere == prompt


def test_question_parts_without_workflow_is_whole_prompt() -> None:
    assert list(question_parts("Is there a cycle?")) == ["Is there a cycle?"]
