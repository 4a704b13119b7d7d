"""What is read of verdicts, orders and lists of pairs, whatever a model writes around them."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pytest_taskgraph.families.tasklama.edges.edge_replies import read_order, read_pairs, read_verdict

STEPS = ("Mix the dough", "Let the dough rise", "Heat the oven")
HOSTILE = [
    "yes no " * 40_000,
    "1 -> " * 60_000,
    "((((" * 50_000 + "1, 2",
    "[1, " * 60_000,
    "1. " * 80_000,
    "\n".join("Mix the dough rise oven" for _ in range(20_000)),
    "- " * 100_000,
    "\n" * 300_000,
    "1" * 300_000,
    "Final answer:" * 20_000,
    "there are no " * 20_000,
]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("yes", True),
        ("No.", False),
        ("**Yes**", True),
        ("Yes, the dough has to be mixed before.", True),
        ("No, they can be done in any order.", False),
        ("Answer: no", False),
        ("The first step gives what the second needs.\nSo the answer is yes.", True),
        ("We look at both. Final answer: No", False),
        ("Maybe", None),
        ("yes or no", None),
        ("", None),
        (" \n ", None),
    ],
)
def test_verdict_lenient_text_is_read(text: str, expected: bool | None) -> None:
    assert read_verdict(text) is expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("No oven is needed for the dough. It only has to rise.\nFinal answer: yes", True),
        ("Yes, the oven takes time.\nBut neither needs the other.\nNo", False),
        ("Is it yes? I do not think so.\n\n**Final Answer:** no", False),
        ("They are independent of each other.", None),
    ],
)
def test_verdict_behind_reasons_is_that_at_the_end(text: str, expected: bool | None) -> None:
    assert read_verdict(text, rationale=True) is expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("3, 1, 2", [2, 0, 1]),
        ("Order: 3, 1, 2", [2, 0, 1]),
        ("Here are the 3 steps in an order that works:\n\n3 -> 1 -> 2", [2, 0, 1]),
        ("[3, 1, 2]", [2, 0, 1]),
        ("3\n1\n2", [2, 0, 1]),
        ("1. 3\n2. 1\n3. 2", [2, 0, 1]),
        ("Step 3, then step 1, and finally step 2.", [2, 0, 1]),
        ("Step 3 heats up, so it comes first; 1 follows, and 2 is the last.", [2, 0, 1]),
        ("1. Heat the oven\n2. Mix the dough\n3. Let the dough rise", [2, 0, 1]),
        ("3. Heat the oven.\n1. mix the dough\n2. LET THE DOUGH RISE", [2, 0, 1]),
        ('["Heat the oven", "Mix the dough", "Let the dough rise"]', [2, 0, 1]),
        ("- Heat the oven up\n- Mix the dough well\n- Let the dough rise", [2, 0, 1]),
        (
            "The steps:\n1. Mix the dough\n2. Let the dough rise\n3. Heat the oven\nFinal answer: 3, 1, 2",
            [2, 0, 1],
        ),
        ("1. Mix the dough\n2. Let the dough rise\n3. Heat the oven\n\nOrder: 3, 1, 2", [2, 0, 1]),
        ("3, 1", [2, 0]),
        ("3, 3, 1, 9, 0, 1", [2, 0]),
        ("2", None),
        ("I cannot put 2 of these 3 steps in order.", None),
        ("7, 8, 9", None),
        ("", None),
    ],
)
def test_order_lenient_text_is_read(text: str, expected: list[int] | None) -> None:
    assert read_order(text, STEPS) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("1 -> 3, 2 -> 3", [(0, 2), (1, 2)]),
        ("Dependencies: 1->3; step 2 → step 3", [(0, 2), (1, 2)]),
        ("- 1 -> 3\n- 2 -> 3 (the oven is hot)\n", [(0, 2), (1, 2)]),
        ("1 -> 2 -> 3", [(0, 1), (1, 2)]),
        ("[[1, 3], [2, 3]]", [(0, 2), (1, 2)]),
        ("(1, 3), (2, 3), (1, 3)", [(0, 2), (1, 2)]),
        ("1 -> 1, 1 -> 4, 2 -> 3", [(1, 2)]),
        ("I first thought 1 -> 2.\nFinal answer: 2 -> 1", [(1, 0)]),
        ("none", []),
        ("None.", []),
        ("Dependencies: none", []),
        ("There are no dependencies.", []),
        ("[]", []),
        ("All of this is nonsense; none can tell.", None),
        ("1 -> 9", None),
        ("", None),
    ],
)
def test_pairs_lenient_text_is_read(text: str, expected: list[tuple[int, int]] | None) -> None:
    assert read_pairs(text, ["wash", "boil", "cook"]) == expected


def test_pairs_below_a_list_of_all_steps_refer_to_its_numbers() -> None:
    step_lines = "1. Boil\n2. Wash\n3. Cook\nDependencies: 1 -> 3, 2 -> 3, 1 -> 2"
    assert read_pairs(step_lines, ["wash", "boil", "cook"]) == [(1, 2), (0, 2), (1, 0)]
    assert read_pairs(step_lines, ["wash", "stir", "cook"]) == [(0, 2), (1, 2), (0, 1)]


@pytest.mark.parametrize("text", HOSTILE, ids=range(len(HOSTILE)))
def test_hostile_reply_of_many_characters_is_read(text: str) -> None:
    """Each has 100,000 characters or more: work that grows with their square would not end."""
    many = [f"Mix the dough {at}" for at in range(200)]
    read_verdict(text)
    read_verdict(text, rationale=True)
    order = read_order(text, many)
    assert order is None or len(set(order)) == len(order) <= 200
    assert len(read_pairs(text, [f"step {at}" for at in range(200)]) or ()) <= 20_000


@given(st.text(), st.integers(0, 5))
def test_any_text_gives_steps_that_exist(text: str, count: int) -> None:
    steps = [f"Do {at}" for at in range(count)]
    order, pairs = read_order(text, steps), read_pairs(text, steps)
    assert order is None or (len(order) >= 2 and set(order) <= set(range(count)))
    assert all(a != b and {a, b} <= set(range(count)) for a, b in pairs or ())
