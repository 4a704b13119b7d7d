"""The metric of procedural graphs, as a question names it."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from procedural_builders import END, START, action, gateway, graph, procedural_graphs, stated

from pytest_taskgraph.errors import UsageError
from pytest_taskgraph.scoring.measurement import Measurement, measure_answer, measure_unparseable
from pytest_taskgraph.scoring.metrics import METRICS, measured_names, metric
from pytest_taskgraph.scoring.procedural_graphs.graph_scores import ELEMENTS
from pytest_taskgraph.trial import Json
from pytest_taskgraph.workflow.procedural_graph import ProceduralGraph

NAME = "procedural_f1"
POLISH = graph(
    (START, action("inspect", "clerk")),
    (action("inspect", "clerk"), gateway("XOR1")),
    (gateway("XOR1"), action("wash it"), "dirty"),
    (gateway("XOR1"), END, "clean"),
    (action("wash it"), END),
)
ANYTHING: st.SearchStrategy[Json] = st.recursive(
    st.none() | st.integers() | st.sampled_from(["start", "action", "wash it", ""]),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(["flows", "unread"]), inner),
)


def measure(answer: Json, reference: ProceduralGraph) -> Measurement:
    return measure_answer(NAME, metric(NAME), answer, stated(reference))


def test_measured_names_are_those_that_families_name() -> None:
    names = measured_names((NAME,))
    assert names == (NAME, *(f"document_{element}_f1" for element in (*ELEMENTS, "gateway")))
    assert set(METRICS) & set(names) == {NAME}


def test_procedural_f1_sums_all_elements_before_it_divides() -> None:
    answer = graph((START, action("wash it", "porter")), (action("wash it", "porter"), END))
    measurement = measure(stated(answer), POLISH)
    # extracted: an actor 0, an action 1, sequence flows 0 and 1; gold: an actor, two actions of which one is there, a
    # gateway, three sequence flows of which one is there, two conditions
    assert measurement.parts["overall_precision"] == (2, 4)
    assert measurement.parts["overall_recall"] == (2, 9)
    assert measurement.value == pytest.approx(2 * (2 / 4) * (2 / 9) / (2 / 4 + 2 / 9))
    assert {name: value for name, value in measurement.values.items() if value is not None} == {
        "document_actor_f1": 0.0, "document_action_f1": pytest.approx(2 / 3), "document_exclusive_f1": 0.0,
        "document_gateway_f1": 0.0, "document_sequence_f1": pytest.approx(2 / 5), "document_condition_f1": 0.0,
    }  # fmt: skip
    assert measurement.parts["action_precision"] == (1, 1)
    assert measurement.parts["action_recall"] == (1, 2)
    assert measurement.parts["gateway_recall"] == measurement.parts["exclusive_recall"] == (0, 1)
    assert measurement.parts["notice_recall"] == (0, 0)


def test_procedural_f1_has_both_parts_of_every_element() -> None:
    names = [f"{name}_{part}" for name in (*ELEMENTS, "gateway", "overall") for part in ("precision", "recall")]
    assert sorted(measure(None, POLISH).parts) == sorted([*names, "unread_lines"])


def test_procedural_f1_states_the_lines_that_were_left_out() -> None:
    answer: Json = {"flows": [*POLISH.to_json()], "unread": ["so be it", "b ->", "hm", "well"]}
    measurement = measure(answer, POLISH)
    assert measurement.parts["unread_lines"] == (4, len(POLISH.flows) + 4)
    assert measurement.remark == "left out 4 lines of the reply: 'so be it', 'b ->', 'hm', ..."
    assert measure(stated(POLISH), POLISH).remark == ""


def test_procedural_f1_of_no_answer_adds_the_gold_elements_to_recall() -> None:
    measurement = measure_unparseable(NAME, metric(NAME), stated(POLISH))
    assert measurement == measure(stated(ProceduralGraph()), POLISH)
    assert measurement.value == 0.0
    assert measurement.parts["action_recall"] == (0, 2)
    assert measurement.parts["action_precision"] == (0, 0)
    assert (measurement.values["document_action_f1"], measurement.values["document_notice_f1"]) == (0.0, None)


@given(procedural_graphs(least=1))
def test_procedural_f1_of_the_gold_graph_is_one_where_defined(gold: ProceduralGraph) -> None:
    measurement = measure({"unread": ["?"], "flows": [*gold.to_json()]}, gold)
    assert measurement.value in (1.0, None)
    assert set(measurement.values.values()) <= {1.0, None}


@given(procedural_graphs(), procedural_graphs())
def test_procedural_f1_of_swapped_graphs_is_the_same(one: ProceduralGraph, other: ProceduralGraph) -> None:
    there, back = measure(stated(one), other), measure(stated(other), one)
    assert there.value == pytest.approx(back.value)
    for part, pair in there.parts.items():
        if part == "unread_lines":
            continue
        swapped = part.replace("precision", "recall") if "precision" in part else part.replace("recall", "precision")
        assert back.parts[swapped] == pytest.approx(pair)


@given(ANYTHING)
def test_procedural_f1_of_any_answer_is_within_0_and_1(answer: Json) -> None:
    measurement = measure(answer, POLISH)
    assert all(value is None or 0 <= value <= 1 for value in (measurement.value, *measurement.values.values()))


def test_procedural_f1_leaves_out_flows_of_another_shape() -> None:
    flows = POLISH.to_json()
    odd: list[Json] = [3, [["action", "sing"], ["end", "", ""], ""], [["poem", "a", ""], ["end", "", ""], ""], *flows]
    assert measure({"flows": odd}, POLISH).value == 1.0


@pytest.mark.parametrize("reference", [None, [], {"steps": []}, {"flows": [["Start", "End", ""]]}])
def test_procedural_f1_of_a_malformed_reference_raises_usage_error(reference: Json) -> None:
    with pytest.raises(
        UsageError, match=r"reference of a question about a procedural graph: a .* correct the reference"
    ):
        metric(NAME)(stated(POLISH), reference)


def test_procedural_f1_of_50_actions_and_a_hostile_answer_is_defined() -> None:
    gold = graph(*((action(f"turn screw {at} of the lid", "clerk"), action(f"turn screw {at + 1} of the lid", "clerk"))
                   for at in range(49)))  # fmt: skip
    hostile = graph(
        *((gateway(f"XOR{at}"), action(f"screw {at} {'of the lid ' * 9}", "boss"), f"{at}") for at in range(400))
    )
    assert measure(stated(hostile), gold).value is not None
