"""What stands around matched steps."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rouge_reference import rouge_reference

from pytest_taskgraph.scoring.metrics.graph_metrics import OVERLAPS, neighbourhood_overlaps
from pytest_taskgraph.scoring.task_graphs.step_graphs import StepGraph

RICE = StepGraph(("wash rice", "boil water", "cook rice"), ((0, 2), (1, 2)))
PHRASES = st.sampled_from(["wash rice", "boil water", "cook rice", "wash the rice", "stir"])


@st.composite
def graphs(draw: st.DrawFn) -> StepGraph:
    steps = draw(st.lists(PHRASES, max_size=5))
    pairs = [(a, b) for a in range(len(steps)) for b in range(len(steps)) if a != b]
    edges = draw(st.lists(st.sampled_from(pairs), unique=True)) if pairs else []
    return StepGraph(tuple(steps), tuple(edges))


def test_overlaps_of_worked_examples_are_reproduced() -> None:
    overlaps = neighbourhood_overlaps(StepGraph(("wash rice", "cook rice"), ((0, 1),)), RICE, [(0, 0), (1, 2)])
    assert overlaps == pytest.approx(
        {
            "in_degree_rouge1": 5 / 9,
            "in_degree_rouge2": 0.5,
            "in_degree_rouge_l": 5 / 9,
            "out_degree_rouge1": 2 / 3,
            "out_degree_rouge2": 2 / 3,
            "out_degree_rouge_l": 2 / 3,
            "step_proximity_rouge1": 5 / 9,
            "step_proximity_rouge2": 0.5,
            "step_proximity_rouge_l": 5 / 9,
        }
    )


def test_overlaps_of_neighbours_in_another_order_differ_in_rouge2_and_l() -> None:
    gold = StepGraph(("mix a", "stir b", "serve it"), ((0, 2), (1, 2)))
    given = StepGraph(("stir b", "mix a", "serve it"), ((0, 2), (1, 2)))
    overlaps = neighbourhood_overlaps(given, gold, [(0, 1), (1, 0), (2, 2)])
    assert overlaps["in_degree_rouge1"] == 1.0
    assert overlaps["in_degree_rouge2"] == pytest.approx((2 + 2 / 3) / 3)
    assert overlaps["in_degree_rouge_l"] == pytest.approx((2 + 1 / 2) / 3)


def test_overlaps_isolated_useless_step_lowers_every_mean() -> None:
    steps = [(at, at) for at in range(3)]
    longer = StepGraph((*RICE.steps, "sing"), RICE.dependencies)
    plain, more = (neighbourhood_overlaps(graph, RICE, steps) for graph in (RICE, longer))
    assert more == {name: pytest.approx(0.75 * (value or 0)) for name, value in plain.items()}


def test_overlaps_step_proximity_ignores_the_direction() -> None:
    turned = StepGraph(RICE.steps, ((2, 0), (2, 1)))
    overlaps = neighbourhood_overlaps(turned, RICE, [(at, at) for at in range(3)])
    assert overlaps["step_proximity_rouge1"] == 1.0
    assert overlaps["in_degree_rouge1"] == overlaps["out_degree_rouge1"] == 0.0


def test_overlaps_of_two_empty_graphs_are_undefined() -> None:
    assert neighbourhood_overlaps(StepGraph((), ()), StepGraph((), ()), []) == dict.fromkeys(OVERLAPS)


def test_overlaps_with_an_empty_graph_are_zero() -> None:
    assert neighbourhood_overlaps(StepGraph((), ()), RICE, []) == dict.fromkeys(OVERLAPS, 0.0)
    assert neighbourhood_overlaps(RICE, StepGraph((), ()), []) == dict.fromkeys(OVERLAPS, 0.0)


@given(graphs(), graphs())
def test_overlaps_are_means_of_rouge_score_over_joined_neighbours(first: StepGraph, second: StepGraph) -> None:
    steps = min(len(first.steps), len(second.steps))
    pairs = [(at, steps - 1 - at) for at in range(steps)]
    overlaps = neighbourhood_overlaps(first, second, pairs)
    if not first.steps and not second.steps:
        return
    for around in ("in_degree", "out_degree", "step_proximity"):
        for rouge, name in (("rouge1", "rouge1"), ("rouge2", "rouge2"), ("rouge_l", "rougeL")):
            total = 0.0
            for row, column in pairs:
                ours, theirs = joined(first, row, around), joined(second, column, around)
                peer = rouge_reference().score(theirs, ours)[name].fmeasure
                total += 1.0 if not ours and not theirs else peer
            assert overlaps[f"{around}_{rouge}"] == pytest.approx(total / max(len(first.steps), len(second.steps)))


def joined(graph: StepGraph, step: int, around: str) -> str:
    """Return the texts of the neighbours, in the order of the graph's steps."""
    near = [
        at
        for at in range(len(graph.steps))
        if (around != "out_degree" and (at, step) in graph.dependencies)
        or (around != "in_degree" and (step, at) in graph.dependencies)
    ]
    return " ".join(graph.steps[at] for at in near)
