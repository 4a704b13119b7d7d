from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pytest_taskgraph.families.tasklama.sequences.multiple_sequences import (
    content_words,
    merge_sequences,
    near_duplicates,
)
from pytest_taskgraph.scoring.forms.task_graph_form import MOST_STEPS

WORDS = ["the", "chop", "onion", "onions", "finely", "fry", "garlic", "in", "oil", "pan", "!"]
STEPS = st.lists(st.sampled_from(WORDS), min_size=1, max_size=5).map(" ".join)
SEQUENCES = st.lists(st.lists(STEPS, max_size=6), max_size=5)


def alike(first: str, second: str) -> bool:
    return near_duplicates(content_words(first), content_words(second))


def is_subsequence(few: list[str], many: list[str]) -> bool:
    rest = iter(many)
    return all(step in rest for step in few)


@pytest.mark.parametrize(
    ("first", "second", "same"),
    [
        ("Chop the onions.", "chop onion", True),
        ("chop onions", "chop the onions finely", True),
        ("Book a venue", "book your venue", True),
        ("add salt", "add pepper", False),
        ("add salt to the bowl", "add flour to the bowl", False),
        ("buy red paint", "buy blue paint", False),
        ("boil water", "boil the water and the water", True),  # F1 2 * 2 / 5
        ("wash wash", "wash", False),  # F1 2 / 3
        ("洗米", "洗米。", True),
        ("the", "a", False),
        ("!!!", "!!!", True),
        ("grass", "gras", False),
    ],
)
def test_near_duplicates_of_two_steps_follow_the_rule(first: str, second: str, same: bool) -> None:
    assert alike(first, second) is same
    assert alike(second, first) is same


def test_merge_new_step_stands_behind_its_predecessor() -> None:
    merged = merge_sequences(
        [
            ["wash rice", "boil water", "cook rice"],
            ["wash the rice", "soak rice in bowl", "cook the rice", "serve dish"],
        ]
    )
    assert merged == ["wash rice", "soak rice in bowl", "boil water", "cook rice", "serve dish"]


def test_merge_new_first_step_stands_at_the_front() -> None:
    assert merge_sequences([["cook rice"], ["buy ingredients", "cook rice"]]) == ["buy ingredients", "cook rice"]


def test_merge_sequence_of_other_order_puts_new_step_behind_all_before_it() -> None:
    first, second = ["sand wall", "prime wall", "paint door"], ["paint door", "sand wall", "open windows"]
    assert merge_sequences([first, second]) == ["sand wall", "prime wall", "paint door", "open windows"]


def test_merge_empty_steps_are_left_out() -> None:
    assert merge_sequences([["", "  ", "go"], []]) == ["go"]
    assert merge_sequences([]) == []


@given(SEQUENCES)
def test_merge_holds_no_near_duplicates_and_covers_every_step(sequences: list[list[str]]) -> None:
    merged = merge_sequences(sequences)
    assert not any(alike(first, other) for at, first in enumerate(merged) for other in merged[at + 1 :])
    for sequence in sequences:
        assert all(any(alike(step, merged_step) for merged_step in merged) for step in sequence)


@given(SEQUENCES)
def test_merge_of_one_sequence_equals_its_own_merge_and_stays(sequences: list[list[str]]) -> None:
    merged = merge_sequences(sequences)
    assert merge_sequences([merged]) == merged
    assert merge_sequences([merged, *sequences]) == merged


@given(SEQUENCES.filter(len))
def test_merge_keeps_first_sequence_in_its_order(sequences: list[list[str]]) -> None:
    alone = merge_sequences(sequences[:1])
    assert is_subsequence(alone, sequences[0])
    assert is_subsequence(alone, merge_sequences(sequences))


@given(SEQUENCES.filter(len))
def test_merge_new_step_stands_behind_those_before_it(sequences: list[list[str]]) -> None:
    *others, last = sequences
    before, merged = merge_sequences(others), merge_sequences(sequences)
    place = {step: at for at, step in enumerate(merged)}
    for at, step in enumerate(last):
        if step in place and step not in before and step not in last[:at]:
            for earlier in last[:at]:
                merged_step = next(other_step for other_step in merged if alike(earlier, other_step))
                assert place[merged_step] < place[step]


def test_merge_hostile_sequences_are_cut() -> None:
    long = [f"w{number} " * 100 for number in range(3 * MOST_STEPS)]
    merged = merge_sequences([long, long[::-1]])
    assert merged == long[:MOST_STEPS]
