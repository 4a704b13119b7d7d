"""The edit distance of procedural graphs: worked cases, brute force, networkx, and bounds."""

from __future__ import annotations

from collections import Counter
from itertools import pairwise
from random import Random

import networkx as nx
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from procedural_builders import END, START, action, gateway, graph, procedural_graphs

from pytest_taskgraph.scoring.procedural_graphs.bleu import bleu_tokens
from pytest_taskgraph.scoring.procedural_graphs.graph_edit import (
    MOST_PAIRS,
    EditDistance,
    edit_distance,
    edit_similarity,
    edit_size,
)
from pytest_taskgraph.workflow.procedural_graph import ProceduralFlow, ProceduralGraph, ProceduralNode

BAKE = graph((START, action("mix", "cook")), (action("mix", "cook"), action("bake")), (action("bake"), END))


def label(node: ProceduralNode) -> tuple[object, ...]:
    texts = (node.text, node.actor) if node.sort in ("action", "data", "notice") else ()
    return (node.sort, *map(tuple, map(bleu_tokens, texts)))


def conditions(procedure: ProceduralGraph) -> dict[tuple[ProceduralNode, ProceduralNode], Counter[str]]:
    counts: dict[tuple[ProceduralNode, ProceduralNode], Counter[str]] = {}
    for flow in procedure.flows:
        counts.setdefault((flow.source, flow.target), Counter())[" ".join(bleu_tokens(flow.condition))] += 1
    return counts


def by_brute_force(first_graph: ProceduralGraph, second_graph: ProceduralGraph) -> int:
    """Return the least cost over all ways to keep, relabel or delete each node of the first graph."""
    nodes, ours, theirs = first_graph.nodes, conditions(first_graph), conditions(second_graph)

    def cost(mapping: dict[ProceduralNode, ProceduralNode | None]) -> int:
        total = sum(1 if to is None else label(node) != label(to) for node, to in mapping.items())
        total += len(second_graph.nodes) - sum(to is not None for to in mapping.values())
        images = dict[tuple[ProceduralNode, ProceduralNode], Counter[str]]()
        for (first, second), counts in ours.items():
            source, target = mapping[first], mapping[second]
            if source is None or target is None:
                total += counts.total()
            else:
                images[source, target] = counts
        for pair in {*images, *theirs}:
            mine, its = images.get(pair, Counter()), theirs.get(pair, Counter())
            total += max(mine.total(), its.total()) - (mine & its).total()
        return total

    def least(at: int, mapping: dict[ProceduralNode, ProceduralNode | None]) -> int:
        if at == len(nodes):
            return cost(mapping)
        free = [None, *(node for node in second_graph.nodes if node not in mapping.values())]
        return min(least(at + 1, {**mapping, nodes[at]: to}) for to in free)

    return least(0, {})


@pytest.mark.parametrize(
    ("other", "cost"),
    [
        (BAKE, 0),
        (ProceduralGraph(), 7),
        (
            graph(
                (START, action("Mix.", "the cook")), (action("Mix.", "the cook"), action("bake")), (action("bake"), END)
            ),
            0,
        ),
        (graph((START, action("mix")), (action("mix"), action("bake")), (action("bake"), END)), 1),  # the actor
        (graph((START, action("mix", "cook")), (action("mix", "cook"), END)), 3),  # a node and a flow, another moved
        (graph(*((flow.source, flow.target) for flow in BAKE.flows[:2])), 2),
        (graph(*((flow.source, flow.target, "if hungry") for flow in BAKE.flows)), 3),
        (graph(*((flow.target, flow.source) for flow in BAKE.flows)), 4),  # every node gets another label
    ],
)
def test_edit_distance_of_worked_graphs_is_the_number_of_edits(other: ProceduralGraph, cost: int) -> None:
    assert edit_distance(BAKE, other) == EditDistance(cost, True)
    assert edit_distance(other, BAKE) == EditDistance(cost, True)


def test_edit_distance_does_not_count_names_of_gateways() -> None:
    ours = graph((gateway("XOR1"), action("a")), (action("a"), gateway("XOR2")))
    theirs = graph((gateway("XOR7"), action("a")), (action("a"), gateway("XOR5")))
    assert edit_distance(ours, theirs).cost == 0
    assert edit_distance(ours, graph((gateway("OR1"), action("a")), (action("a"), gateway("XOR2")))).cost == 1


def test_edit_distance_counts_each_of_several_flows_between_two_nodes() -> None:
    split = gateway("XOR1")
    ours = graph((split, END, "it rains"), (split, END, "it snows"), (END, split))
    theirs = graph((split, END, "it snows"), (split, END, "it hails"))
    assert edit_distance(ours, theirs) == EditDistance(2, True)


def test_edit_similarity_is_one_less_the_share_of_both_graphs() -> None:
    assert edit_size(BAKE) == 7
    assert edit_similarity(BAKE, graph((START, action("mix", "cook")), (action("mix", "cook"), END))) == (
        1 - 3 / 12,
        True,
    )
    assert edit_similarity(BAKE, ProceduralGraph()) == (0.0, True)
    assert edit_similarity(ProceduralGraph(), ProceduralGraph()) == (None, True)


@settings(max_examples=60)
@given(procedural_graphs(most=4), procedural_graphs(most=4))
def test_edit_distance_of_small_graphs_is_that_of_brute_force(one: ProceduralGraph, other: ProceduralGraph) -> None:
    if len(one.nodes) <= 5 and len(other.nodes) <= 5:
        assert edit_distance(one, other) == EditDistance(by_brute_force(one, other), True)


def random_graph(random: Random, nodes: int, flows: int) -> ProceduralGraph:
    """Return a graph whose flows all lead forward, at most one between two nodes."""
    chosen = [action(f"{random.choice('abcd')} {at % 3}{' x' * at}") for at in range(nodes)]
    pairs = [(first, second) for first in range(nodes) for second in range(first + 1, nodes)]
    return ProceduralGraph.of(
        ProceduralFlow(chosen[first], chosen[second], random.choice(["", "", "rain", "snow"]))
        for first, second in random.sample(pairs, min(flows, len(pairs)))
    )


def of_networkx(procedure: ProceduralGraph) -> nx.DiGraph[ProceduralNode]:
    digraph: nx.DiGraph[ProceduralNode] = nx.DiGraph()
    for node in procedure.nodes:
        digraph.add_node(node, label=label(node))
    for flow in procedure.flows:
        digraph.add_edge(flow.source, flow.target, label=flow.condition)
    return digraph


@pytest.mark.parametrize("seed", range(40))
def test_edit_distance_of_acyclic_graphs_is_that_of_networkx(seed: int) -> None:
    # Of loops, and of flows in both directions, nx.graph_edit_distance 3.6 gives other numbers than brute force.
    random = Random(f"edit|{seed}")
    first_graph, second_graph = (random_graph(random, random.randint(2, 6), random.randint(1, 7)) for _ in range(2))
    peer = nx.graph_edit_distance(
        of_networkx(first_graph),
        of_networkx(second_graph),
        node_match=lambda mine, its: mine["label"] == its["label"],
        edge_match=lambda mine, its: mine["label"] == its["label"],
    )
    assert edit_distance(first_graph, second_graph) == EditDistance(int(peer or 0), True)


@given(procedural_graphs(), procedural_graphs())
def test_edit_distance_is_zero_to_itself_and_the_same_both_ways(one: ProceduralGraph, other: ProceduralGraph) -> None:
    assert edit_distance(one, one) == EditDistance(0, True)
    assert edit_distance(one, other) == edit_distance(other, one)
    assert edit_distance(one, other).cost <= edit_size(one) + edit_size(other)


@given(procedural_graphs(), procedural_graphs(), st.integers(1, 5))
def test_edit_distance_of_fewer_states_is_an_upper_bound(
    one: ProceduralGraph, other: ProceduralGraph, most: int
) -> None:
    bounded, exact = edit_distance(one, other, most), edit_distance(one, other)
    assert bounded.cost >= exact.cost
    assert bounded.cost == exact.cost or not bounded.exact


def large(nodes: int, word: str) -> ProceduralGraph:
    """Return a graph in which every third node is a gateway, with flows back and across."""
    chain = [gateway(f"XOR{at}") if at % 3 == 0 else action(f"{word} {at}", "clerk") for at in range(nodes)]
    across = [(chain[at], chain[(at * 7 + len(word)) % nodes], f"case {at % 5}") for at in range(0, nodes, 2)]
    return graph(*pairwise(chain), *across)


def test_edit_distance_of_large_unlike_graphs_is_a_bound_that_repeats() -> None:
    ours, theirs = large(40, "turn"), large(38, "polish")
    distance = edit_distance(ours, theirs, 50)
    assert not distance.exact
    assert 0 < distance.cost < edit_size(ours) + edit_size(theirs)
    assert distance == edit_distance(theirs, ours, 50)


def test_edit_distance_of_many_pairs_is_exact_only_for_alike_graphs() -> None:
    ours = large(80, "turn")
    assert len(ours.nodes) ** 2 > MOST_PAIRS
    assert edit_distance(ours, ProceduralGraph.of(reversed(ours.flows))) == EditDistance(0, True)
    part = ProceduralGraph.of(ours.flows[3:])
    assert edit_distance(ours, part) == EditDistance(edit_size(ours) - edit_size(part), True)
    assert not edit_distance(ours, large(70, "polish"), 20).exact
