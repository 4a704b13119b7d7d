from __future__ import annotations

import random
from itertools import cycle, islice

import pytest
from steps import count_calls

from pytest_taskgraph.benchmarks.understanding.baselines.prompt_view import find_workflow, question_parts
from pytest_taskgraph.generation.builder import generate
from pytest_taskgraph.generation.recipe import Recipe
from pytest_taskgraph.notations import NOTATIONS
from pytest_taskgraph.workflow.canonical import canonical
from pytest_taskgraph.workflow.model import Workflow

BIG = 30_000
SHOWN = generate(
    Recipe(tasks=20, features=frozenset({"parallel", "exclusive", "data", "hierarchy", "descriptions"})), 3
)
every = pytest.mark.parametrize("name", sorted(NOTATIONS))


def prose(seed: int, words: int) -> str:
    """BIG characters of lines with words that notations know, too."""
    rng = random.Random(seed)
    known = "the workflow task has a fork that starts and END if package graph TD {} [ ] -> ; ' # - (x) 'A'"
    text = known.split(" ")
    lines = [" ".join(rng.choice(text) for _ in range(words)) for _ in range(BIG // (4 * words))]
    return "\n".join(lines)


def repeated(line: str) -> str:
    return "".join(islice(cycle([line]), BIG // len(line)))


def same(found: Workflow | None) -> bool:
    return found is not None and canonical(found) == canonical(SHOWN)


@every
def test_a_workflow_is_found_fenced_or_not_whatever_stands_around_it(name: str) -> None:
    text = NOTATIONS[name].write(SHOWN).strip("\n")
    for around in (
        "{}",
        "Here is a workflow.\n\n```\n{}\n```\n\nIn workflow 'W', what?",
        "Here is a workflow:\n{}\nIn workflow 'W', which task runs first? Answer with one name.",
        "\n\nHere is a workflow:\n\n\n{}\n\n\nWhat?\nThe answer is one name.",
        "The task: answer.\n# Workflow\n{}\n# Question\nIs there a cycle?",
        "Answer like this:\n```\nFinal answer: yes\n```\n\n```text\n{}\n```\nIs there a cycle?",
        "Answer like this:\n```\nFinal answer: yes\n```\nThe workflow:\n{}\nIs there a cycle?",
        "````\n{}\n````\nA fence of four.",
        "   \r\nOn a PC:\r\n```\r\n{}\r\n```\r\nWhat?",
    ):
        assert same(find_workflow(around.format(text))), around
        assert same(find_workflow(around.format(text.replace("\n", "\r\n")))), around


@every
def test_a_workflow_is_found_in_a_long_prompt(name: str) -> None:
    text, told = NOTATIONS[name].write(SHOWN), prose(1, 15)
    for prompt in (f"{told}\n\n{text}\n\nWhat?", f"Look:\n\n{text}\n\n{told}"):
        assert same(find_workflow(prompt))


@pytest.mark.parametrize(
    "text",
    [
        prose(2, 3), prose(3, 200), repeated("\n"), repeated("// a\n"), repeated("%% a\n"), repeated("/* a\n"),
        repeated("[\n"), repeated('"\n'), repeated("---\n"), repeated("flowchart TD\n"), repeated("workflow W {\n"),
        repeated("```\n"), repeated("From the file 'a':\n"), repeated("{"), repeated("`"), repeated(" "),
        "".join("`" * n + "\n" for n in range(3, 440)),
    ],
    ids=lambda text: repr(text[:8]),
)  # fmt: skip
def test_find_workflow_calls_grow_linearly_with_the_text(text: str) -> None:
    whole = count_calls(lambda: find_workflow(text))
    assert whole < 3 * count_calls(lambda: find_workflow(text[: len(text) // 2])) + 1000


def test_the_longest_of_several_texts_is_meant_not_a_word_that_is_a_workflow_too() -> None:
    text = NOTATIONS["mermaid"].write(SHOWN)
    assert same(find_workflow(f"This is a\nflowchart TD\nand so on, as here.\n\n{text}\n\nWhat?"))


def test_there_may_be_none() -> None:
    assert find_workflow("") is None
    assert find_workflow("Is there a cycle?\n\n```\nyes\n```\n") is None


SOLVED = generate(Recipe(tasks=20, features=frozenset({"parallel", "exclusive", "data", "hierarchy"})), 8)
SHOTS = "Look.\n\n{0}\n\nWhat is A?\n\nFinal answer: B\n\nNow this.\n\n{1}\n\nWhat is C?\nAnswer with a name."


@every
@pytest.mark.parametrize("around", ["```\n{}\n```", "{}"], ids=["fenced", "plain"])
def test_the_last_workflow_is_meant_and_the_question_stands_behind_it(name: str, around: str) -> None:
    solved, shown = (around.format(NOTATIONS[name].write(one).strip("\n")) for one in (SOLVED, SHOWN))
    prompt = SHOTS.format(solved, shown)
    assert same(find_workflow(prompt))
    after, since, everywhere = question_parts(prompt)
    assert after.strip() == "What is C?\nAnswer with a name."
    assert since.strip().startswith("What is A?")
    assert since.endswith(prompt[prompt.index(shown) :])
    assert everywhere == prompt


def test_where_no_workflow_is_the_question_may_stand_anywhere() -> None:
    assert list(question_parts("Is there a cycle?")) == ["Is there a cycle?"]
