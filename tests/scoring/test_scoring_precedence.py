"""Cycles, reduction and closure of dependencies, and the accuracy of answers about single pairs."""

from __future__ import annotations

from itertools import pairwise, permutations

import networkx as nx
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pytest_taskgraph.scoring.task_graphs.step_graphs import (
    Edge,
    distinct_edges,
    independent_pairs,
    pairwise_hits,
    transitive_closure,
    transitive_reduction,
    without_cycles,
)

CHAIN = [(0, 1), (1, 2)]
GRAPHS = st.integers(0, 6).flatmap(
    lambda n: st.tuples(st.just(n), st.lists(st.tuples(st.integers(-1, n), st.integers(-1, n)), max_size=14))
)


def paths(n: int, edges: list[Edge]) -> set[Edge]:
    """Pairs with a path between them, by trying every sequence of distinct nodes."""
    direct = set(edges)
    return {
        (order[0], order[-1])
        for size in range(2, n + 1)
        for order in permutations(range(n), size)
        if all(pair in direct for pair in pairwise(order))
    }


def test_without_cycles_of_worked_example_keeps_other_edges() -> None:
    a, b, c, d, e, f = range(6)
    edges = [(a, b), (b, c), (c, a), (c, d), (d, e), (e, d), (e, f)]
    assert without_cycles(6, edges) == [(c, d), (e, f)]


@given(GRAPHS)
def test_without_cycles_keeps_an_edge_if_no_path_leads_back(graph: tuple[int, list[Edge]]) -> None:
    n, edges = graph
    back = paths(n, edges)
    remaining = without_cycles(n, edges)
    assert remaining == [(a, b) for a, b in distinct_edges(n, edges) if (b, a) not in back]
    assert without_cycles(n, remaining) == remaining


@given(GRAPHS)
def test_transitive_closure_holds_every_pair_with_a_path(graph: tuple[int, list[Edge]]) -> None:
    n, edges = graph
    assert transitive_closure(n, edges) == paths(n, edges)


@given(GRAPHS)
def test_transitive_reduction_is_least_with_the_same_closure(graph: tuple[int, list[Edge]]) -> None:
    n, edges = graph
    reduced = transitive_reduction(n, edges)
    whole = transitive_closure(n, without_cycles(n, edges))
    assert transitive_closure(n, reduced) == whole
    assert all(transitive_closure(n, [other for other in reduced if other != edge]) != whole for edge in reduced)
    assert reduced == sorted(reduced)


def test_pairwise_hits_chain_without_implied_pair_misses_one() -> None:
    assert pairwise_hits(3, CHAIN, CHAIN) == (5, 6)
    assert pairwise_hits(3, [*CHAIN, (0, 2)], CHAIN) == (6, 6)


def test_pairwise_hits_unread_pairs_are_wrong_either_way() -> None:
    chain = [(0, 1), (1, 2)]
    assert pairwise_hits(3, transitive_closure(3, chain), chain, [(0, 1)]) == (5, 6)
    assert pairwise_hits(3, transitive_closure(3, chain), chain, [(2, 0), (2, 0), (0, 2)]) == (4, 6)
    assert pairwise_hits(3, [], chain, [(0, 1)]) == (3, 6)


def test_pairwise_hits_gold_cycle_demands_no_order() -> None:
    assert pairwise_hits(3, [], [(0, 1), (1, 0)]) == (6, 6)
    assert pairwise_hits(3, [(0, 1)], [(0, 1), (1, 0)]) == (5, 6)


@pytest.mark.parametrize("n", [2, 3, 8])
def test_independent_pairs_of_a_chain_are_one_half(n: int) -> None:
    free, pairs = independent_pairs(n, [(at, at + 1) for at in range(n - 1)])
    assert (2 * free, pairs) == (pairs, n * (n - 1))


@pytest.mark.parametrize("n", [0, 1])
def test_pairwise_hits_of_fewer_than_two_steps_count_nothing(n: int) -> None:
    assert pairwise_hits(n, [(0, 0)], []) == independent_pairs(n, []) == (0, 0)


@given(GRAPHS)
def test_pairwise_hits_of_the_closure_are_all_pairs(graph: tuple[int, list[Edge]]) -> None:
    n, edges = graph
    right, pairs = pairwise_hits(n, transitive_closure(n, without_cycles(n, edges)), edges)
    assert right == pairs
    assert 2 * independent_pairs(n, edges)[0] >= pairs


def test_transitive_closure_of_long_chain_needs_no_recursion() -> None:
    chain = [(at, at + 1) for at in range(1200)]
    assert len(transitive_closure(1201, chain)) == 1201 * 600
    assert nx.is_directed_acyclic_graph(nx.DiGraph(transitive_reduction(1201, chain)))
