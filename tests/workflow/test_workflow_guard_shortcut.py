from __future__ import annotations

from itertools import product

from lark.exceptions import UnexpectedInput

from pytest_taskgraph.workflow import guard_syntax
from pytest_taskgraph.workflow.guard_syntax import Comparison

NAMES = ["x", "a.b", "x_1", "notes", "Or", "and", "Not", "otherwise", "otherwise1", "1x", "a..b", "ä"]
OPERATORS = ["==", "=", "!=", "≠", "<=", ">=", "<", ">", "≤", "≥", "=<"]
VALUES = ["1", "-1", "1.5", "007", "1.", "1%", "1a", '"w"', '"a b"', '""', '"and"', "'q'", "w", '"a"b"', "--1", "١"]


def test_simple_comparisons_are_read_as_the_grammar_reads_them() -> None:
    read = 0
    for name, before, operator, after, value in product(NAMES, ("", " "), OPERATORS, ("", " "), VALUES):
        text = f"{name}{before}{operator}{after}{value}"
        if simple := guard_syntax._SIMPLE.fullmatch(text):
            found = guard_syntax._comparison(*simple.groups())
            try:
                expected = guard_syntax._parser()(text)
            except UnexpectedInput:
                raise AssertionError(f"the grammar has no {text!r}") from None
            assert isinstance(found, Comparison)
            assert (found, found.bare) == (expected, False), text
            read += 1
    assert read > 500
