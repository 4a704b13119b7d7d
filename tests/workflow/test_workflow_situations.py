"""Situations and guards as text, and what guards mean, against a grid of situations."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from itertools import product

import pytest
from drawn_workflows import generate
from hypothesis import given
from hypothesis import strategies as st
from situation_families import MAX_FAMILY, read_situation, situations
from workflow_builders import level

from pytest_taskgraph.errors import ReadError
from pytest_taskgraph.generation.recipe import Recipe
from pytest_taskgraph.workflow.guards.cells import Constant
from pytest_taskgraph.workflow.guards.solver import (
    And,
    Comparison,
    Guard,
    Not,
    Or,
    Otherwise,
    covers,
    equivalent,
    holds,
    parse_guard,
    read_guard,
)
from pytest_taskgraph.workflow.guards.syntax import negate, write_guard, write_value
from pytest_taskgraph.workflow.model import Domain, Effect, Parameter, Scalar, Task, Workflow
from pytest_taskgraph.workflow.semantics.situations import write_situation

MODE = Parameter("mode", domain=Domain("words", words=("fast", "slow", "idle")))
WHOLE = Parameter("n", domain=Domain("integer", 0, 4))
REAL = Parameter("n", domain=Domain("real", 0, 4))
COMPARED = st.builds(
    Comparison,
    st.sampled_from(["n"]),
    st.sampled_from(["<", "<=", ">", ">=", "=", "!="]),
    st.integers(-1, 10).map(lambda number: Fraction(number, 2)),
)
WORD = st.builds(
    Comparison, st.just("mode"), st.sampled_from(["=", "!="]), st.sampled_from(["fast", "slow", "idle"]), st.booleans()
)


def _joined(parts: st.SearchStrategy[Guard]) -> st.SearchStrategy[Guard]:
    several = st.lists(parts, min_size=2, max_size=3).map(tuple)
    opposite = parts.filter(lambda part: not isinstance(part, Not)).map(Not)
    return st.one_of(several.map(And), several.map(Or), opposite)


GUARDS: st.SearchStrategy[Guard] = st.recursive(st.one_of(COMPARED, WORD), _joined, max_leaves=6)


def grid(parameter: Parameter) -> Iterator[dict[str, Constant]]:
    """Every value on which guards of the strategies can differ, and more."""
    step = 1 if parameter.domain is not None and parameter.domain.kind == "integer" else 4
    numbers = [Fraction(i, step) for i in range(4 * step + 1)]
    for n in numbers:
        yield from ({"n": n, "mode": mode} for mode in ("fast", "slow", "idle"))


@given(GUARDS)
def test_write_guard_round_trip_is_equal(guard: Guard) -> None:
    assert read_guard(write_guard(guard)) == guard
    assert parse_guard(write_guard(guard)) == guard


@given(GUARDS)
def test_negate_holds_where_guard_does_not(guard: Guard) -> None:
    assert all(holds(guard, situation) != holds(negate(guard), situation) for situation in grid(REAL))


@given(GUARDS, GUARDS, st.sampled_from([WHOLE, REAL]))
def test_guards_are_equivalent_if_they_hold_in_the_same_situations(one: Guard, other: Guard, n: Parameter) -> None:
    same = all(holds(one, situation) == holds(other, situation) for situation in grid(n))
    assert equivalent(one, other, [n, MODE]) is same
    assert equivalent(write_guard(one), write_guard(other), [n, MODE]) is same


@given(st.lists(GUARDS, min_size=1, max_size=3), st.sampled_from([WHOLE, REAL]))
def test_guards_cover_everything_if_one_holds_in_every_situation(guards: list[Guard], n: Parameter) -> None:
    covered = all(any(holds(guard, situation) for guard in guards) for situation in grid(n))
    assert covers(guards, [n, MODE]) is covered


@given(COMPARED, COMPARED)
def test_equivalent_without_domain_needs_both_readings(one: Comparison, other: Comparison) -> None:
    wide = [{"n": Fraction(i, 4)} for i in range(-12, 40)]
    answers = [
        all(holds(one, s) == holds(other, s) for s in situations_tried) for situations_tried in (wide, wide[::4])
    ]
    assert equivalent(one, other, []) is (answers[0] if answers[0] == answers[1] else None)


@pytest.mark.parametrize(
    ("one", "other", "answer"),
    [
        ("p >= 0", "not p < 0", True),
        ("p > 0", "p >= 1", None),
        ("p > 0", "q > 0", False),
        ("all is well", "all  is well", True),
        ("all is well", "p > 0", None),
        ("otherwise", "otherwise", None),
        ("otherwise", "p > 0", None),
        ("p > 0", "p = big", None),
    ],
)
def test_equivalence_without_domains(one: str, other: str, answer: bool | None) -> None:
    assert equivalent(one, other, []) is answer


@pytest.mark.parametrize(
    ("guards", "answer"),
    [
        (["p > 1", "p <= 1"], True),
        (["p > 1", "p < 1"], False),
        (["p > 1", "p < 2"], True),
        (["p > 1", "p <= 0"], False),
        (["p > 1.5", "p < 1.5"], None),
        (["p > 1", "otherwise"], True),
        (["p > 1", "all is well"], None),
        (["mode = fast", "mode = slow"], False),
        ([], False),
    ],
)
def test_coverage_without_domains(guards: list[str], answer: bool | None) -> None:
    assert covers(guards, []) is answer


@pytest.mark.parametrize(
    ("text", "line", "column", "found"),
    [
        ("n >", 1, 4, "the end"),
        ("", 1, 1, "the end"),
        ("n > 5%", 1, 5, "'5'"),
        ("n  >  1   zz", 1, 11, "'zz'"),
        ("n > 1\n  and ?", 2, 7, "'?'"),
        ("n > 1 and", 1, 10, "the end"),
        ("((n > 1)", 1, 9, "the end"),
        ("n > 1 or " * 120 + "n > 1", 1, 1001, "1085 characters"),
    ],
)
def test_read_guard_error_has_line_and_column(text: str, line: int, column: int, found: str) -> None:
    with pytest.raises(ReadError) as caught:
        read_guard(text, "reply")
    error = caught.value
    assert (error.where, error.line, error.column, error.found) == ("reply", line, column, found)


@given(st.text(alphabet="n<=1 and or not()'\"?\n", max_size=20))
def test_read_guard_and_parse_guard_agree_on_any_text(text: str) -> None:
    guard = parse_guard(text)
    if guard is not None:
        assert read_guard(text) == guard
        return
    with pytest.raises(ReadError) as caught:
        read_guard(text)
    assert 1 <= caught.value.line <= text.count("\n") + 1
    assert 1 <= caught.value.column <= len(text) + 1


@pytest.mark.parametrize(
    "guard",
    [
        And(()),
        Or(()),
        Not(Otherwise()),
        Comparison("n", "=", Fraction(1, 3)),
        Comparison("n", "=", "\"'"),
        Comparison("n", "=", "a  b"),
    ],
)
def test_write_guard_inexpressible_raises_value_error(guard: Guard) -> None:
    with pytest.raises(ValueError, match=r"cannot say|decimal"):
        write_guard(guard)


def test_write_value_is_exact_decimal() -> None:
    values: list[Constant] = [Fraction(-1, 8), Fraction(5), Fraction(0), Fraction(1, 100), "fast", "very fast", "or"]
    assert [write_value(value, bare=True) for value in values] == [
        "-0.125",
        "5",
        "0",
        "0.01",
        "fast",
        '"very fast"',
        '"or"',
    ]


VALUES = st.one_of(
    st.integers(-999, 999).map(lambda number: Fraction(number, 8)),
    st.text(alphabet="abZ_.,=' 19", max_size=6).filter(lambda word: "  " not in word),
)


@given(st.dictionaries(st.text(alphabet="ab.,=' é", max_size=5).filter(lambda name: "  " not in name), VALUES))
def test_write_situation_round_trip_is_equal(situation: dict[str, Constant]) -> None:
    assert read_situation(write_situation(situation)) == situation


def test_write_situation_is_short_text() -> None:
    situation: dict[str, Scalar] = {"n": 3, "mode": "fast", "Train.rate": 0.5, "on": True}
    assert write_situation(situation) == "n = 3, mode = fast, Train.rate = 0.5, on = true"
    assert read_situation("") == {}


def test_situations_hold_every_combination_of_cells() -> None:
    parameters = (WHOLE, MODE)
    workflow = level("START -> A\nA -> B [n > 1]\nA -> C [mode = fast]\nB -> END\nC -> END", parameters=parameters)
    family = situations(workflow)
    guards = [read_guard("n > 1"), read_guard("mode = fast")]
    assert {tuple(holds(guard, situation) for guard in guards) for situation in family} == set(
        product([True, False], repeat=2)
    )
    assert [read_situation(write_situation(situation)) for situation in family] == [
        dict(situation) for situation in family
    ]


def test_situations_begin_loops_before_their_end() -> None:
    workflow = level("START -> A\nA -> A [n < 5]\nA -> B [n >= 5]\nB -> END", parameters=(Parameter("n"),))
    counting = Workflow("W", tasks=(Task("A", effects=(Effect("n", "n + 2"),)), Task("B")), links=workflow.links)
    assert {3, 1, -1} <= {situation["n"] for situation in situations(counting)}


def test_situations_irrelevant_parameters_are_omitted() -> None:
    workflow = level("START -> A\nA -> END", parameters=(WHOLE, MODE))
    assert situations(workflow) == ({},)
    mixed = level("START -> A\nA -> B [n > 1]\nA -> C [n = one]\nB -> END\nC -> END")
    assert situations(mixed) == ()


def test_situations_large_family_is_bounded() -> None:
    workflow = generate(Recipe(tasks=60, features=frozenset({"exclusive", "inclusive", "domains"})), 1)
    family = situations(workflow)
    assert 100 < len(family) <= MAX_FAMILY
    assert situations(workflow) == family
    for name in family[0]:
        assert len({situation[name] for situation in family}) > 1
