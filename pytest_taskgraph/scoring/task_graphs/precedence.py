"""Dependencies between steps: cycles, transitive reduction, transitive closure, and pairwise accuracy.

Nodes are the numbers from 0 to n - 1. Everywhere self-loops, repetitions and edges to other numbers are ignored.
"""

from __future__ import annotations

from collections.abc import Iterable

from ...workflow.graph import reachable_from

Edge = tuple[int, int]


def distinct_edges(n: int, edges: Iterable[Edge]) -> list[Edge]:
    """Return the edges between two different ones of n nodes, each once, in the order of their first occurrence."""
    return list(dict.fromkeys((a, b) for a, b in edges if a != b and 0 <= a < n and 0 <= b < n))


def without_cycles(n: int, edges: Iterable[Edge]) -> list[Edge]:
    """Return the edges that lie on no cycle: those whose ends are in different strongly connected components.

    The steps of a cycle "can be done in any order" (Yuan et al. 2024): none of its dependencies is kept.
    """
    import networkx as nx

    distinct = distinct_edges(n, edges)
    graph: nx.DiGraph[int] = nx.DiGraph(distinct)
    component = {node: at for at, nodes in enumerate(nx.strongly_connected_components(graph)) for node in nodes}
    return [(a, b) for a, b in distinct if component[a] != component[b]]


def transitive_reduction(n: int, edges: Iterable[Edge]) -> list[Edge]:
    """Return the immediate dependencies, sorted: those that no longer path implies. Cycles are removed first."""
    import networkx as nx

    graph: nx.DiGraph[int] = nx.DiGraph(without_cycles(n, edges))
    return sorted(nx.transitive_reduction(graph).edges)


def transitive_closure(n: int, edges: Iterable[Edge]) -> set[Edge]:
    """Return the pairs (a, b), a ≠ b, with a path from a to b; the two of a cycle are a pair both ways."""
    children: dict[int, list[int]] = {}
    for a, b in distinct_edges(n, edges):
        children.setdefault(a, []).append(b)
    return {(a, b) for a, after in children.items() for b in reachable_from(children, after) if b != a}


def pairwise_hits(n: int, given: Iterable[Edge], gold: Iterable[Edge], unread: Iterable[Edge] = ()) -> tuple[int, int]:
    """Return the number of ordered pairs of n steps that are answered right, and of all pairs: n(n - 1).

    A pair is answered with yes if it is among the given edges: these are the answers to the questions about single
    pairs, and nothing is concluded from them. The right answer is yes if a path of the gold edges, freed of cycles,
    leads from the first step to the second. An unread pair has no answer, and is wrong.
    """
    pairs = n * (n - 1)
    wrong = set(distinct_edges(n, given)) ^ transitive_closure(n, without_cycles(n, gold))
    wrong |= set(distinct_edges(n, unread))
    return pairs - len(wrong), pairs


def independent_pairs(n: int, gold: Iterable[Edge]) -> tuple[int, int]:
    """Return the number of ordered pairs of n steps without dependency in the gold graph, and of all pairs.

    Their ratio is the accuracy of the answer that always says no: 1/2 for a chain, more for a freer graph.
    """
    return pairwise_hits(n, [], gold)
