from __future__ import annotations

from itertools import product

import pytest
from lark.exceptions import UnexpectedInput

from pytest_taskgraph.workflow.guards import syntax as guard_syntax
from pytest_taskgraph.workflow.guards.syntax import comparisons

NAMES = ["x", "a.b", "x_1", "notes", "Or", "and", "Not", "otherwise", "otherwise1", "1x", "a..b", "ä"]
OPERATORS = ["==", "=", "!=", "≠", "<=", ">=", "<", ">", "≤", "≥", "=<"]
VALUES = ["1", "-1", "1.5", "007", "1.", "1%", "1a", '"w"', '"a b"', '""', '"and"', "'q'", "w", '"a"b"', "--1", "١"]


def check_against_grammar(text: str) -> bool:
    """Whether there is a shortcut for the text; it must lead where the grammar does."""
    guard = guard_syntax._parse_simple(text)
    if guard is None:
        return False
    try:
        expected = guard_syntax._parser()(text)
    except UnexpectedInput:
        raise AssertionError(f"the grammar has no {text!r}") from None
    assert guard == expected, text
    assert [comparison.bare for comparison in comparisons(guard)] == [
        comparison.bare for comparison in comparisons(expected)
    ], text
    return True


def test_simple_comparisons_are_read_as_the_grammar_reads_them() -> None:
    texts = (
        f"{name}{gap}{operator}{gap}{value}"
        for name, gap, operator, value in product(NAMES, ("", " "), OPERATORS, VALUES)
    )
    assert sum(map(check_against_grammar, texts)) > 300


SEVERAL = [
    "x > 1 and x < 5", 'mode = fast and n = 1 and w != "a b"', "x > 1 and x < 5 or y = 1", "x = 1 or y = 1 and z = 1",
    'mode = fast or mode = slow or w != "a b"',
]  # fmt: skip
OTHERS = [
    "a = b and c and d", 'a = "p and q"', 'a = "p and b = "q"', "x > 1 and", "and x > 1", "x > 1 and not x = 2",
    "x > 1 and (x < 5)", "otherwise and x = 1", "x = 1 or otherwise", "a = b or c", 'a = "p or q"',
    'a = "p or b = "q"', "x = 1 or", "or x = 1", "x = 1 or not y = 2", "(x = 1 or y = 2) and z = 3", "x = 1 OR y = 2",
    "",
]  # fmt: skip


@pytest.mark.parametrize("text", SEVERAL + OTHERS)
def test_several_at_once_are_read_as_the_grammar_reads_them(text: str) -> None:
    assert check_against_grammar(text) == (text in SEVERAL)


def test_otherwise_is_read_as_the_grammar_reads_it() -> None:
    assert check_against_grammar("otherwise")
