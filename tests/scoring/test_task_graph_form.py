"""Task graphs in replies: what is a step, what a dependency, and that what is written reads back."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pytest_taskgraph.errors import UnparseableError
from pytest_taskgraph.scoring.forms.task_graph_form import (
    LONGEST_STEP,
    MOST_STEPS,
    TASK_GRAPH,
    read_dependencies,
    read_graph,
    read_steps,
    write_graph,
)
from pytest_taskgraph.trial import Json

TWO = ["Wash rice", "Boil water"]
LISTS = {
    "numbers": "1. Wash rice\n2. Boil water",
    "brackets": "1) Wash rice\n2) Boil water",
    "bold": "**1.** Wash rice\n**2.** **Boil water**",
    "step words": "Step 1: Wash rice\nStep 2: Boil water",
    "bullets": "Here is what to do:\n\n- Wash rice\n* Boil water",
    "numbers and notes": "Sure! Here are the steps:\n1. Wash rice\n   - use a sieve\n2. Boil water\n\nEnjoy your meal!",
    "lines": "Wash rice\nBoil water\n",
    "lines below a heading": "Steps:\nWash rice\nBoil water",
    "JSON list": '["Wash rice", "Boil water"]',
    "JSON in a fence": '```json\n{"steps": ["Wash rice", "Boil water"]}\n```',
    "numbers in a fence": "```\n1. Wash rice\n2. Boil water\n```",
    "with dependencies": "1. Wash rice\n2. Boil water\nDependencies: 1 -> 2",
}
DEPENDENCY_LISTS = {
    "one line": "Dependencies: 1 -> 3, 2 -> 3",
    "lines": "Dependencies:\n1 -> 3\n2 -> 3",
    "bullets": "**Dependencies:**\n- 1 → 3\n- 2 → 3",
    "numbers": "## Dependencies\n1. 1 -> 3\n2. 2 -> 3",
    "words": "Dependencies:\nStep 1 -> Step 3\nstep 2 must be done before step 3",
    "no heading": "1 -> 3, 2 -> 3",
    "a pair of itself, and one of no step": "Dependencies: 1 -> 3, 3 -> 3, 2 -> 3, 1 -> 9",
}
WORDS = st.text("abc é漢-.:>1", min_size=1).map(lambda text: " ".join(f"x{text}".split()))


@pytest.mark.parametrize("text", LISTS.values(), ids=LISTS)
def test_read_steps_list_of_any_look_gives_its_items(text: str) -> None:
    assert read_steps(text) == TWO
    assert read_graph(text)["steps"] == TWO


@pytest.mark.parametrize("listed", DEPENDENCY_LISTS.values(), ids=DEPENDENCY_LISTS)
def test_read_graph_dependencies_of_any_look_give_their_pairs(listed: str) -> None:
    answer = read_graph(f"1. Wash rice\n2. Boil water\n3. Cook rice\n\n{listed}")
    assert answer == {"steps": [*TWO, "Cook rice"], "dependencies": [[0, 2], [1, 2]]}


def test_read_graph_chain_of_arrows_gives_each_neighbouring_pair() -> None:
    assert read_dependencies("1 -> 2 -> 3", {1: 0, 2: 1, 3: 2}) == [(0, 1), (1, 2)]


def test_read_graph_numbers_of_the_reply_are_what_pairs_refer_to() -> None:
    assert read_graph("3. Wash\n7. Cook\nDependencies: 3 -> 7")["dependencies"] == [[0, 1]]


@pytest.mark.parametrize("steps", [["Call 911", "911", "Hang up"], ["Step 1", "Step 2"]])
def test_form_steps_of_numbers_alone_read_back_as_steps(steps: list[str]) -> None:
    answer: Json = {"steps": [*steps], "dependencies": [[0, 1]]}
    assert TASK_GRAPH.read(write_graph(answer), [], "lenient") == answer


@pytest.mark.parametrize("text", ["", "\n \n", "Steps:", "...", "[]", '{"steps": []}', "Dependencies: 1 -> 2"])
def test_read_graph_without_steps_is_unparseable(text: str) -> None:
    with pytest.raises(UnparseableError):
        read_graph(text)


def test_read_graph_huge_reply_is_cut() -> None:
    steps = read_steps("\n".join(f"{at}. {'word ' * 400}" for at in range(1, 1000)))
    assert len(steps) == MOST_STEPS
    assert max(map(len, steps)) <= LONGEST_STEP


def test_read_graph_similarity_of_a_model_is_left_out() -> None:
    hostile = json.dumps({"steps": TWO, "dependencies": [], "similarity": [[1, 1], [1, 1]]})
    assert "similarity" not in read_graph(hostile)
    assert "similarity" not in read_graph("1. Wash rice\nSimilarity: [[1.0]]")


def test_form_strict_parsing_refuses_lines_without_a_number() -> None:
    assert TASK_GRAPH.read("1. Wash rice\n2. Boil water", [], "strict") == {"steps": TWO, "dependencies": []}
    with pytest.raises(UnparseableError, match="numbered lines"):
        TASK_GRAPH.read("Sure!\n1. Wash rice", [], "strict")


@given(st.lists(WORDS, min_size=1, max_size=6), st.data())
def test_form_answer_that_is_written_reads_back(steps: list[str], data: st.DataObject) -> None:
    ends = st.integers(0, len(steps) - 1)
    pairs = data.draw(st.lists(st.tuples(ends, ends).filter(lambda one: one[0] != one[1]), unique=True, max_size=6))
    answer: dict[str, Json] = {"steps": [*steps], "dependencies": [[*pair] for pair in pairs]}
    if unread := data.draw(
        st.lists(st.tuples(ends, ends).filter(lambda one: one[0] != one[1]), unique=True, max_size=3)
    ):
        answer["unread"] = [[*pair] for pair in unread]
    if data.draw(st.booleans()):
        answer["similarity"] = [[0.25] * 2 for _ in steps]
    assert TASK_GRAPH.read(write_graph(answer), [], "lenient") == answer


@given(st.text())
def test_read_graph_any_text_gives_steps_or_is_unparseable(text: str) -> None:
    try:
        answer = read_graph(text)
    except UnparseableError:
        return
    assert answer["steps"]


@given(st.recursive(st.none() | st.integers() | st.text(), lambda one: st.lists(one) | st.dictionaries(st.text(), one)))
def test_form_show_and_write_take_any_json(answer: Json) -> None:
    assert isinstance(TASK_GRAPH.show(answer), str)
    assert isinstance(write_graph(answer), str)
