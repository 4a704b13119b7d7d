"""The longest chain and the largest subgraph that an answer shares with the gold graph."""

from __future__ import annotations

from itertools import combinations, permutations
from random import Random

import networkx as nx
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pytest_taskgraph.scoring.task_graphs.shared_parts import (
    ALIKE,
    alike_pairs,
    largest_common_subgraph,
    longest_chain,
)
from pytest_taskgraph.scoring.task_graphs.step_graphs import Edge, StepGraph, without_cycles

Pairs = list[tuple[int, int]]


def graph(steps: int, edges: list[Edge]) -> StepGraph:
    return StepGraph(tuple(f"step {at}" for at in range(steps)), tuple(dict.fromkeys(edges)))


@st.composite
def matched_graphs(draw: st.DrawFn) -> tuple[Pairs, StepGraph, StepGraph]:
    """Two graphs of up to 6 steps, cycles among them, and a matching of some of their steps."""
    sides = []
    for _ in range(2):
        steps = draw(st.integers(1, 6))
        ends = st.tuples(st.integers(0, steps - 1), st.integers(0, steps - 1))
        edges = draw(st.lists(ends.filter(lambda edge: edge[0] != edge[1]), max_size=10)) if steps > 1 else []
        sides.append(graph(steps, edges))
    given, gold = sides
    rows = draw(st.permutations(range(len(given.steps))))
    columns = draw(st.permutations(range(len(gold.steps))))
    size = draw(st.integers(0, min(len(rows), len(columns))))
    return list(zip(rows[:size], columns[:size], strict=True)), given, gold


def longest_by_all_orders(pairs: Pairs, gold: StepGraph) -> int:
    """Return the size of the largest part of the matched steps that some order of the gold graph has, too."""
    edges = without_cycles(len(gold.steps), gold.dependencies)
    columns = [column for _, column in sorted(pairs)]
    longest = 0
    for order in permutations(range(len(gold.steps))):
        place = {step: at for at, step in enumerate(order)}
        if all(place[a] < place[b] for a, b in edges):
            ends: list[int] = []  # length of the longest increasing subsequence that ends here
            for at, step in enumerate(columns):
                ends.append(1 + max((ends[i] for i in range(at) if place[columns[i]] < place[step]), default=0))
            longest = max([longest, *ends])
    return longest


def largest_by_all_subsets(pairs: Pairs, given: StepGraph, gold: StepGraph) -> int:
    """Return the size of the largest subset of pairs that has the same dependencies on both sides."""

    def agrees(one: tuple[int, int], other: tuple[int, int]) -> bool:
        return ((one[0], other[0]) in given.dependencies) == ((one[1], other[1]) in gold.dependencies)

    return max(
        size
        for size in range(len(pairs) + 1)
        for chosen in combinations(pairs, size)
        if all(agrees(first, second) for first, second in permutations(chosen, 2))
    )


def test_alike_pairs_below_the_threshold_do_not_count() -> None:
    assert ALIKE == 0.6
    assert alike_pairs([[0.6, 0.0], [0.0, 0.59]]) == [(0, 0)]
    assert alike_pairs([]) == alike_pairs([[], []]) == []


def test_alike_pairs_poor_pairs_do_not_decide_the_matching() -> None:
    assert alike_pairs([[0.7, 0.59], [0.59, 0.0]]) == [(0, 0)]


@pytest.mark.parametrize(
    ("edges", "order", "length"),
    [
        ([(0, 1), (1, 2)], [0, 1, 2], 3),
        ([(0, 1), (1, 2)], [2, 1, 0], 1),
        ([(0, 1), (1, 2)], [1, 2, 0], 2),
        ([(0, 2), (1, 2)], [1, 0, 2], 3),  # 0 and 1 in any order
        ([(0, 2), (1, 2)], [2, 1, 0], 2),
        ([], [2, 1, 0], 3),
        ([(0, 1), (1, 0)], [1, 0], 2),  # a cycle demands nothing
        ([(0, 1), (1, 2)], [2, 0], 1),  # through a step that is not matched
        ([(0, 1)], [], 0),
    ],
)
def test_longest_chain_of_worked_examples(edges: list[Edge], order: list[int], length: int) -> None:
    assert longest_chain(list(enumerate(order)), graph(3, edges)) == length


@given(matched_graphs())
def test_longest_chain_is_the_best_over_all_topological_orders(case: tuple[Pairs, StepGraph, StepGraph]) -> None:
    pairs, _, gold = case
    assert longest_chain(pairs, gold) == longest_by_all_orders(pairs, gold)


def test_longest_chain_of_a_reversed_chain_of_200_steps_is_one() -> None:
    chain = graph(200, [(at, at + 1) for at in range(199)])
    assert longest_chain([(at, 199 - at) for at in range(200)], chain) == 1


@pytest.mark.parametrize(
    ("given_edges", "gold_edges", "size"),
    [
        ([(0, 1), (1, 2)], [(0, 1), (1, 2)], 3),
        ([(1, 0), (1, 2)], [(0, 1), (1, 2)], 2),  # an edge turned round
        ([(0, 1), (1, 2), (0, 2)], [(0, 1), (1, 2)], 2),  # an edge too many
        ([], [(0, 1), (1, 2)], 2),  # 0 and 2
        ([], [(0, 1), (1, 2), (0, 2)], 1),
        ([], [], 3),
    ],
)
def test_common_subgraph_of_worked_examples(given_edges: list[Edge], gold_edges: list[Edge], size: int) -> None:
    pairs = [(at, at) for at in range(3)]
    assert largest_common_subgraph(pairs, graph(3, given_edges), graph(3, gold_edges)) == size


@given(matched_graphs())
def test_common_subgraph_is_the_largest_of_all_subsets(case: tuple[Pairs, StepGraph, StepGraph]) -> None:
    pairs, given, gold = case
    assert largest_common_subgraph(pairs, given, gold) == largest_by_all_subsets(pairs, given, gold)


@pytest.mark.parametrize("share", [0.03, 0.06, 0.1, 0.2, 0.5])
def test_common_subgraph_of_40_steps_is_a_maximum_clique(share: float) -> None:
    rng = Random(f"clique|{share}")
    edges = [(a, b) for a in range(40) for b in range(40) if a != b and rng.random() < share]
    differing: nx.Graph[int] = nx.empty_graph(40)
    differing.add_edges_from(edges)
    _, size = nx.max_weight_clique(nx.complement(differing), weight=None)
    assert largest_common_subgraph([(at, at) for at in range(40)], graph(40, edges), graph(40, [])) == size


def test_common_subgraph_of_rings_side_by_side_visits_one_state_each() -> None:
    rings = [(5 * ring + at, 5 * ring + (at + 1) % 5) for ring in range(12) for at in range(5)]
    pairs = [(at, at) for at in range(60)]
    assert largest_common_subgraph(pairs, graph(60, rings), graph(60, []), most=12) == 24


@pytest.mark.parametrize("share", [0.05, 0.1, 0.15, 0.2, 0.3, 0.5, 0.9])
def test_common_subgraph_of_60_steps_is_found_in_few_states(share: float) -> None:
    rng = Random(f"hostile|{share}")
    edges = [(a, b) for a in range(60) for b in range(a + 1, 60) if rng.random() < share]
    pairs = [(at, at) for at in range(60)]
    assert largest_common_subgraph(pairs, graph(60, edges), graph(60, []), most=4000) is not None


def test_common_subgraph_beyond_the_bound_is_undefined() -> None:
    rng = Random("hostile")
    edges = [(a, b) for a in range(120) for b in range(a + 1, 120) if rng.random() < 0.1]
    pairs = [(at, at) for at in range(120)]
    assert largest_common_subgraph(pairs, graph(120, edges), graph(120, []), most=500) is None
