from __future__ import annotations

import random
from fractions import Fraction
from itertools import combinations, product

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pytest_taskgraph.workflow.bounds import reached_bounds
from pytest_taskgraph.workflow.guards.solver import (
    MAX_GUARDS,
    And,
    Comparison,
    Guard,
    Not,
    Or,
    Otherwise,
    evaluate_guards,
    exclusive,
    holds,
    parse_guard,
    satisfiable,
)
from pytest_taskgraph.workflow.model import Domain, Parameter

N = Comparison("n", ">", Fraction(1))
SMALL = Parameter("n", domain=Domain("integer", 0, 3))
REAL = Parameter("n", domain=Domain("real", 0, 1))
MODE = Parameter("mode", domain=Domain("words", words=("fast", "slow")))


@pytest.mark.parametrize(
    ("text", "guard"),
    [
        ("n > 1", N),
        ("1<n", N),
        ("  n\t>  1.0 ", N),
        ("n == -0.5", Comparison("n", "=", Fraction(-1, 2))),
        ("n ≥ 2", Comparison("n", ">=", Fraction(2))),
        ("mode = fast", Comparison("mode", "=", "fast")),
        ('mode != "very fast"', Comparison("mode", "!=", "very fast")),
        ("0 < n <= 5", And((Comparison("n", ">", Fraction(0)), Comparison("n", "<=", Fraction(5))))),
        ("not n > 1", Not(N)),
        ("`startsWith(ref, 'v') && x`", Comparison("`startsWith(ref, 'v') && x`", "=", "true")),
        ("not `x` and n > 1", And((Not(Comparison("`x`", "=", "true")), N))),
        ("`x` != off", Comparison("`x`", "!=", "off")),
        ("not not (n > 1)", N),
        ("n > 1 or n > 1 and n > 1", Or((N, And((N, N))))),
        ("(n > 1 OR n > 1) And not (n > 1 and n > 1)", And((Or((N, N)), Not(And((N, N)))))),
        ("order = 3", Comparison("order", "=", Fraction(3))),
        ("android != 3", Comparison("android", "!=", Fraction(3))),
        ("otherwise", Otherwise()),
        (" Otherwise ", Otherwise()),
    ],
)
def test_read_guard_text_is_parsed(text: str, guard: Guard) -> None:
    assert parse_guard(text) == guard


@pytest.mark.parametrize(
    "text",
    [
        "", "enough is done", "n", "n >", "n > m", "n > 5%", "n > 1.", "n > 1e5", "n > 1 and", "n > 1 and all is well",
        "otherwise and n > 1", "not otherwise", "((n > 1)", "mode < fast", "mode = very fast", 'mode = "fast',
        "otherwise not", "``", "`x", "`x` > 1", "`x` `y`", "n = `x`", "n > " + "9" * 101, "n > 1 or " * 120 + "n > 1",
    ],
)  # fmt: skip
def test_parse_guard_other_text_is_none(text: str) -> None:
    assert parse_guard(text) is None


def test_parse_guard_deep_nesting_does_not_crash() -> None:
    deep = "n = 1"
    while len(deep) < 960:
        deep = f"not (a = 1 or {deep})"
    guard = parse_guard(deep)
    assert guard is not None
    assert holds(guard, {"a": 0, "n": 1}) != holds(guard, {"a": 0, "n": 2})
    assert parse_guard("(" * 400 + "n = 1" + ")" * 400) == parse_guard("n = 1")
    assert parse_guard("(" * 100_000) is None


def test_holds_in_situation_is_decided() -> None:
    guard = parse_guard("0.1 <= n < 0.3 and not mode = slow")
    assert guard is not None
    assert [holds(guard, {"n": n, "mode": "fast"}) for n in (0, 0.1, 0.2, 0.3, 1)] == [False, True, True, False, False]
    assert not holds(guard, {"n": 0.1, "mode": "slow"})
    flag = parse_guard("done = true")
    assert flag is not None
    assert (holds(flag, {"done": True}), holds(flag, {"done": False})) == (True, False)


def test_holds_unanswerable_raises_error() -> None:
    with pytest.raises(KeyError):
        holds(N, {"m": 1})
    with pytest.raises(TypeError, match="no order"):
        holds(N, {"n": "many"})
    with pytest.raises(ValueError, match="otherwise"):
        holds(Otherwise(), {"n": 1})


def test_evaluate_guards_otherwise_if_no_other_holds() -> None:
    guards = (N, Otherwise(), Comparison("n", "=", Fraction(0)))
    assert [evaluate_guards(guards, {"n": n}) for n in (2, 1, 0)] == [
        (True, False, False),
        (False, True, False),
        (False, False, True),
    ]


@pytest.mark.parametrize(
    ("guards", "parameters", "answer"),
    [
        (["n > 1", "n <= 1"], [], True),
        (["n > 1", "n < 10"], [], False),
        (["n > 1", "n < 2"], [], None),  # true of integers, not of reals
        (["n > 1", "n < 2"], [SMALL], True),
        (["n > 0.4", "n < 0.6"], [REAL], False),
        (["n > 3", "n > 2"], [SMALL], True),  # the first one never holds
        (["n > 0", "n > 1", "n < 0"], [SMALL], False),
        (["mode = fast", "mode = slow"], [], True),
        (["mode != fast", "mode != slow"], [MODE], True),
        (["mode != fast", "mode != slow"], [], False),
        (["mode != a", 'mode != "a\'"'], [], False),
        (["ok != true", "ok != false"], [], None),
        (["n = 1", "n = one"], [], None),
        (["n = 1", "n = 2"], [Parameter("n", domain=MODE.domain)], None),
        (["mode = n", "mode = slow"], [SMALL], None),  # is n a word here, or the parameter?
        (["n > 1 and m > 1", "n < 1 or m < 1"], [], True),
        (["n > 1", "m > 1"], [], False),
        (["otherwise", "n > 1"], [], True),
        (["otherwise", "all is well"], [], True),
        (["all is well", "something  else"], [], None),
        (["all is well", "all is  well"], [], False),
        (["all is well", "n > 1", "n > 2"], [], False),
        (["all is well", "n > 1", "otherwise"], [], None),
        (["otherwise", "otherwise"], [], None),
        (["n > 1"], [], True),
        ([], [], True),
    ],
)
def test_guards_exclude_each_other(guards: list[str], parameters: list[Parameter], answer: bool | None) -> None:
    assert exclusive(guards, parameters) is answer
    assert exclusive(guards[::-1], parameters) is answer


def test_too_many_situations_are_undecided_but_only_if_entangled() -> None:
    free = " and ".join(f"p{i} > {i}" for i in range(12))
    tied = " or ".join(f"p{i} < {i}" for i in range(12))
    assert exclusive([free, free.replace(">", ">=")], []) is False
    assert exclusive([free, tied], []) is None


COMPARED = [f"n {operator} {value}" for operator in ("<", "<=", ">", ">=", "=", "!=") for value in (0, 1, 2, 5)]
WORD_COMPARISONS = [f"mode {operator} {word}" for operator in ("=", "!=") for word in ("fast", "slow")]


def a_guard(rng: random.Random, depth: int = 2) -> str:
    if depth == 0 or rng.random() < 0.3:
        return rng.choice(COMPARED + WORD_COMPARISONS)
    left, right = a_guard(rng, depth - 1), a_guard(rng, depth - 1)
    return rng.choice([f"not ({left})", f"({left}) and ({right})", f"({left}) or ({right})"])


@given(st.randoms(use_true_random=False))
def test_exclusive_agrees_with_trying_every_situation(rng: random.Random) -> None:
    guards = [a_guard(rng) for _ in range(rng.randint(2, 3))]
    parsed = [guard for text in guards if (guard := parse_guard(text)) is not None]
    assert len(parsed) == len(guards)
    low, high = rng.choice([(0, 4), (1, 1), (-2, 2)])
    situations: list[dict[str, int | str]] = [
        {"n": n, "mode": mode} for n, mode in product(range(low, high + 1), ("fast", "slow"))
    ]
    both = [holds(a, s) and holds(b, s) for a, b in combinations(parsed, 2) for s in situations]
    assert exclusive(guards, [Parameter("n", domain=Domain("integer", low, high)), MODE]) is not any(both)


@given(st.randoms(use_true_random=False))
def test_reals_are_decided_as_on_a_fine_grid(rng: random.Random) -> None:
    parsed = [guard for _ in range(2) if (guard := parse_guard(a_guard(rng))) is not None]
    grid: list[dict[str, Fraction | str]] = [
        {"n": Fraction(n, 4), "mode": mode} for n, mode in product(range(-8, 33), ("fast", "slow"))
    ]
    satisfiable_on_grid = any(all(holds(guard, situation) for guard in parsed) for situation in grid)
    assert satisfiable(parsed, [Parameter("n", domain=Domain("real", -2, 8)), MODE]) is satisfiable_on_grid


@pytest.mark.parametrize(
    ("guards", "answer"),
    [
        ([f"n = {i}" for i in range(MAX_GUARDS + 1)], True),
        ([f"mode = word{i}" for i in range(MAX_GUARDS + 1)], True),
        ([f"n = {i % MAX_GUARDS}" for i in range(MAX_GUARDS + 1)], None),
        ([*(f"n = {i}" for i in range(MAX_GUARDS)), "n = fast"], None),
        ([*(f"n = {i}" for i in range(MAX_GUARDS)), "m = 0"], None),
        ([*(f"n = {i}" for i in range(MAX_GUARDS)), "n > 5"], None),
        ([*(f"n = {i}" for i in range(MAX_GUARDS)), "it rains"], None),
    ],
)
def test_exclusive_of_many_guards_true_only_for_different_constants(guards: list[str], answer: bool | None) -> None:
    with reached_bounds() as bounds:
        assert exclusive(guards, []) is answer
    assert bounds == (set() if answer else {"steps"})
