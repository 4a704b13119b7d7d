"""Steps and dependencies as an answer or a reference states them."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pytest_taskgraph.errors import UsageError
from pytest_taskgraph.scoring.task_graphs.step_graphs import StepGraph, answered_graph, gold_graph
from pytest_taskgraph.trial import Json

VALUES: st.SearchStrategy[Json] = st.recursive(
    st.none() | st.booleans() | st.integers(-2, 3) | st.floats() | st.text(max_size=3),
    lambda inner: (
        st.lists(inner, max_size=4) | st.dictionaries(st.sampled_from(["steps", "dependencies", "similarity"]), inner)
    ),
)


def test_answered_graph_ignores_invalid_dependencies() -> None:
    pairs: Json = [[0, 1], [1, 1], [0, 1], [1, 9], [-1, 0], [True, 0], [0, 1, 2], "01", None, [1, 0], [0.0, 1]]
    assert answered_graph({"steps": ["a", "b"], "dependencies": pairs}) == StepGraph(("a", "b"), ((0, 1), (1, 0)))


def test_answered_graph_step_without_text_keeps_its_place() -> None:
    assert answered_graph({"steps": ["a", 3, "b"], "dependencies": [[0, 2]]}) == StepGraph(("a", "", "b"), ((0, 2),))


@given(VALUES)
def test_answered_graph_any_value_has_dependencies_between_its_steps(value: Json) -> None:
    graph = answered_graph(value)
    steps = range(len(graph.steps))
    assert all(a in steps and b in steps and a != b for a, b in graph.dependencies)


@pytest.mark.parametrize("value", [None, [], "wash", {"steps": "wash"}, {"dependencies": [[0, 1]]}])
def test_answered_graph_other_shape_has_no_steps(value: Json) -> None:
    assert answered_graph(value) == StepGraph((), ())


def test_gold_graph_ignores_self_loops_and_repetitions() -> None:
    stated: Json = {"steps": ["a", "b"], "dependencies": [[1, 1], [1, 0], [1, 0]], "similarity": "lexical"}
    assert gold_graph(stated) == StepGraph(("a", "b"), ((1, 0),))


@pytest.mark.parametrize(
    ("stated", "message"),
    [
        (None, r'found no list of texts "steps" in None; expected \{"steps"'),
        ({"steps": ["a", 1], "dependencies": []}, 'no list of texts "steps"'),
        ({"steps": ["a"]}, 'no list "dependencies"'),
        ({"steps": ["a", "b"], "dependencies": [[0, 2]]}, r'found \[0, 2\] in "dependencies", with 2 steps'),
        ({"steps": ["a", "b"], "dependencies": [[-1, 0]]}, r"found \[-1, 0\]"),
        ({"steps": ["a", "b"], "dependencies": ["01"]}, "found 01 in"),
    ],
)
def test_gold_graph_malformed_reference_raises_usage_error(stated: Json, message: str) -> None:
    with pytest.raises(UsageError, match=message):
        gold_graph(stated)


def test_neighbours_of_steps_are_in_their_order() -> None:
    graph = StepGraph(("a", "b", "c"), ((2, 0), (1, 0), (0, 1)))
    assert graph.neighbours() == ([[1, 2], [0], []], [[1], [0], [0]])
