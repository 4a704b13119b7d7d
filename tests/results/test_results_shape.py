from __future__ import annotations

import json
from dataclasses import fields
from typing import Annotated, Any, Literal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pytest_taskgraph.results.shape import Range, Shape, either, fields_shape, shape_of
from pytest_taskgraph.trial import Question, Reply, Score, Trial

json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=9),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=3), inner, max_size=3),
    max_leaves=8,
)
FITTING: list[tuple[Any, list[Any], list[Any]]] = [
    (str, ["", "x"], [None, 1, True, [], {}]),
    (bool, [True, False], [None, 0, 1, "true"]),
    (int, [0, -5, 10**18], [True, 1.0, "1", None, 10**19]),
    (float, [0, 0.5, -1e99], [True, "1", None, 1e101, 10**400, float("inf"), float("nan")]),
    (Annotated[float, Range(0, 1)], [0, 1, 0.5, 1.0], [-0.1, 1.1, 2, True, float("nan")]),
    (Annotated[int, Range(1)], [1, 10**18], [0, -1, 1.0, True]),
    (float | None, [None, 1, 0.5], ["x", True, []]),
    (Literal["read", "refused"], ["read"], ["Read", "", None, []]),
    (list[str], [[], ["x"]], [None, "x", [1], ["x", None], {}]),
    (tuple[str, ...], [[], ["x", "y"]], ["x", [1]]),
    (dict[str, str | int], [{}, {"a": 1, "b": "x"}], [[], {"a": None}, {"a": True}, {"a": 0.5}]),
    (dict[str, list[float]], [{"f1": [1, 0.5]}], [{"f1": 1}, {"f1": ["x"]}]),
    (Any, [None, 1, "x", [[]], {"a": [{}]}], []),
]


@pytest.mark.parametrize(("hint", "value"), [(hint, one) for hint, good, _ in FITTING for one in good])
def test_what_is_of_the_kind_fits(hint: object, value: object) -> None:
    assert shape_of(hint).fault(value) is None


@pytest.mark.parametrize(("hint", "value"), [(hint, one) for hint, _, bad in FITTING for one in bad])
def test_what_is_of_another_kind_does_not(hint: object, value: object) -> None:
    assert shape_of(hint).fault(value) is not None


def test_the_place_what_was_found_and_what_was_expected_are_told() -> None:
    shape = shape_of(Score)
    assert str(shape.fault({"value": 1.0, "parts": {"f1": [1, "x"]}})) == 'parts.f1[1]: found "x", expected a number'
    assert str(shape.fault({"value": 1.0, "status": "x" * 99})).startswith(
        f'status: found "{"x" * 38}…, expected one of'
    )
    assert str(shape.fault({"value": 1.0, "metrics": {"a\nb" * 99: []}})).count("\n") == 0
    assert str(shape.fault({})) == "'value' is missing"
    assert str(shape.fault([])) == ": found a list, expected an object"


def test_what_a_later_version_added_is_not_looked_at() -> None:
    assert shape_of(Score).fault({"value": 1.0, "later": object}) is None


def test_values_nested_too_deep_do_not_fit() -> None:
    deep: Any = "x"
    for _ in range(100):
        deep = [deep]
    assert shape_of(Any).fault(deep) is None
    for _ in range(3000):
        deep = {"a": deep}
    assert shape_of(Any).fault(deep) is not None


def test_what_no_shape_is_known_of_is_an_error() -> None:
    with pytest.raises(TypeError, match="no shape is known of"):
        shape_of(set[str])


def test_members_besides_must_be_there_where_they_are_not_spare() -> None:
    assert str(fields_shape(Score, {"attempts": int}).fault({"value": 1})) == "'attempts' is missing"
    assert fields_shape(Score, {"attempts": int}, spare={"attempts"}).fault({"value": 1}) is None
    assert either(Score, None).fault(None) is None


WHOLE: dict[type, Any] = {
    Question: Question("q", "f", "p", "c", "t", "p", "task", ["A"], "jaccard", chance=0.5),
    Reply: Reply("x", 1, 2, 0.5, 0.5),
    Score: Score(1.0, {"recall": None}, {"f1": [1, 2]}, ["A"]),
}
WHOLE[Trial] = Trial(WHOLE[Question], "m", "right", WHOLE[Reply], WHOLE[Score])
SHAPES: dict[type, Shape] = {kind: shape_of(kind) for kind in WHOLE if kind is not Trial}


@pytest.mark.parametrize("kind", WHOLE)
def test_what_is_written_fits(kind: type) -> None:
    whole = json.loads(json.dumps(WHOLE[Trial].to_json()))
    assert shape_of(kind).fault(whole if kind is Trial else whole[kind.__name__.lower()]) is None


@given(st.sampled_from(list(SHAPES)), st.data(), json_values)
def test_any_value_in_any_place_fits_or_is_told_in_a_line(kind: type, data: st.DataObject, value: object) -> None:
    whole = json.loads(json.dumps(WHOLE[Trial].to_json()))[kind.__name__.lower()]
    name = data.draw(st.sampled_from([one.name for one in fields(kind)]))
    fault = SHAPES[kind].fault({**whole, name: value})
    if fault is None:
        kind(**{**whole, name: value})
        assert isinstance(value, type(whole[name])) or value is None or name in ("reference", "given", "pass_mark")
    else:
        assert str(fault).startswith(name)
        assert len(str(fault).splitlines()) == 1
        assert len(fault.found) <= 41
