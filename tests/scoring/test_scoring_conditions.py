from __future__ import annotations

from fractions import Fraction
from itertools import product

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pytest_taskgraph.errors import UnparseableError, UsageError
from pytest_taskgraph.scoring.condition_meaning import condition_reference, condition_text
from pytest_taskgraph.scoring.forms import form
from pytest_taskgraph.scoring.metrics.agreement import equivalence
from pytest_taskgraph.trial import Json
from pytest_taskgraph.workflow.guards.solver import holds, read_guard
from pytest_taskgraph.workflow.model import Domain, Parameter

WHOLE = [Parameter("n", domain=Domain("integer", 0, 4)), Parameter("m", domain=Domain("integer", 0, 4))]
COMPARED = st.builds(
    "{} {} {}".format, st.sampled_from("nm"), st.sampled_from(["<", "<=", "=", "!=", ">", ">="]), st.integers(0, 4)
)
GUARDS = st.recursive(
    COMPARED,
    lambda inner: (
        inner.map("not ({})".format) | st.builds("({}) {} ({})".format, inner, st.sampled_from(["and", "or"]), inner)
    ),
    max_leaves=3,
)


@given(GUARDS, GUARDS)
def test_is_same_condition_agrees_on_grid(one: str, other: str) -> None:
    first, second = read_guard(one), read_guard(other)
    grid = [{"n": Fraction(n), "m": Fraction(m)} for n, m in product(range(5), repeat=2)]
    same = all(holds(first, point) == holds(second, point) for point in grid)
    assert equivalence(one, condition_reference(other, WHOLE)) == float(same)


@pytest.mark.parametrize(
    ("domain", "answer", "right"),
    [
        (Domain("integer"), "n > 2", 1.0),
        (Domain("real"), "n > 2", 0.0),
        (None, "n > 2", 0.0),  # integers and reals do not agree
        (None, "not n < 3", 1.0),
        (Domain("integer", 0, 3), "n = 3", 1.0),
        (Domain("integer", 0, 4), "n = 3", 0.0),
        (None, "otherwise", 0.0),
        (None, "", 0.0),
    ],
)
def test_is_same_condition_depends_on_domain(domain: Domain | None, answer: str, right: float) -> None:
    assert equivalence(answer, condition_reference("n >= 3", [Parameter("n", domain=domain)])) == right


def test_is_same_condition_uses_words_of_domain() -> None:
    mode = Parameter("mode", domain=Domain("words", words=("slow", "fast")))
    assert equivalence("mode = fast", condition_reference("mode != slow", [mode])) == 1.0
    assert equivalence("mode = fast", condition_reference("mode != slow", [Parameter("mode")])) == 0.0


@pytest.mark.parametrize(
    "reference",
    [
        None,
        {"condition": 3, "domains": {}},
        {"condition": "n < 3", "domains": []},
        {"condition": "n < 3", "domains": {"n": {"kind": "complex"}}},
        {"condition": "n < 3", "domains": {"n": {"kind": "real", "low": "0"}}},
    ],
)
def test_is_same_condition_malformed_reference_raises_error(reference: Json) -> None:
    with pytest.raises(UsageError, match="the reference of a question about a condition: found"):
        equivalence("n < 3", reference)


def test_condition_text_of_reference_is_its_text() -> None:
    assert condition_text(condition_reference("n < 3", WHOLE)) == "n < 3"


@pytest.mark.parametrize(
    "text",
    [
        "n >= 3",
        "**n >= 3**",
        "`n >= 3`.",
        '"n >= 3"',
        "when n >= 3",
        "Condition: n >= 3",
        "n >= 3\n\nThen it ends.",
    ],
)
def test_condition_in_decoration_is_parsed(text: str) -> None:
    assert form("condition").read(text, [], "lenient") == "n >= 3"


def test_condition_signs_of_other_languages_are_words() -> None:
    assert equivalence(str(form("condition").read("n>=3&&(m<2||m>3)", [], "lenient")),
                       condition_reference("n >= 3 and (m < 2 or m > 3)", WHOLE)) == 1.0  # fmt: skip


@pytest.mark.parametrize("parsing", ["lenient", "strict"])
@pytest.mark.parametrize("text", ["", "n is large enough", "n >=", "3"])
def test_condition_other_text_is_unparseable(text: str, parsing: str) -> None:
    with pytest.raises(UnparseableError, match="expected a condition"):
        form("condition").read(text, [], "strict" if parsing == "strict" else "lenient")


@pytest.mark.parametrize(
    ("text", "number"),
    [("3", 3), ("**3**.", 3), ("3 times", 3), ("It runs 12 times, 3 of them twice", 12), ("-2", -2), ("\u22122", -2)],
)
def test_number_first_whole_number_counts(text: str, number: int) -> None:
    assert form("number").read(text, [], "lenient") == number


@pytest.mark.parametrize("text", ["", "three", "2.5", "n2", "1" * 19])
def test_number_without_whole_number_is_unparseable(text: str) -> None:
    with pytest.raises(UnparseableError, match="expected a whole number"):
        form("number").read(text, [], "lenient")


def test_number_strict_stands_alone() -> None:
    assert form("number").read(" 3.", [], "strict") == 3
    with pytest.raises(UnparseableError, match="expected a whole number, found '3 times'"):
        form("number").read("3 times", [], "strict")
