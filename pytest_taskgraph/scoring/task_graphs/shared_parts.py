"""The common parts of two graphs of steps: the longest chain and the largest subgraph.

After WorFBench (Qiao et al. 2024, "Benchmarking Agentic Workflow Generation", section on WorFEval): steps are matched
one-to-one, pairs less alike than a threshold do not count, and both parts are numbers of matched steps. Precision is
that number over the generated steps, recall over the gold ones. Both numbers are exact here. The paper's own program
looks at the first 20 orders of a gold graph of less than 10 nodes and at one of a larger one, and takes a connected
component for the subgraph; so its numbers are others.
"""

from __future__ import annotations

from collections.abc import Sequence

from .step_graphs import StepGraph, transitive_closure, without_cycles
from .step_matching import Matrix, match_steps

Pairs = Sequence[tuple[int, int]]

ALIKE = 0.6
"""The least similarity of a pair of steps that counts (Qiao et al. 2024, chosen for vectors of all-mpnet-base-v2)."""

MOST_STATES = 20_000
"""The states that the search for a subgraph may visit: about two seconds."""

_DEEPEST = 200  # decisions within each other, for Python's stack


class _TooManyStatesError(Exception):
    """The search for a subgraph has visited MOST_STATES."""


def alike_pairs(matrix: Matrix) -> list[tuple[int, int]]:
    """Return a one-to-one matching of the largest total among pairs of a similarity of at least ALIKE."""
    counted = [[value if value >= ALIKE else 0.0 for value in row] for row in matrix]
    return [(row, column) for row, column in match_steps(counted) if counted[row][column]]


def longest_chain(pairs: Pairs, gold: StepGraph) -> int:
    """Return the largest number of matched steps that can be done in the order in which the answer lists them.

    That is the longest subsequence of the listed steps that some topological order of the gold graph, freed of
    cycles, has too. Say that the pair p inverts q if p is listed before q, but a gold path leads from q to p. A set of
    pairs without inversion agrees with some topological order: a cycle of its listed order and of gold paths would
    hold a gold path against the listed order, which is an inversion. Inverting is transitive, so such sets are the
    antichains of a partial order, and by Dilworth's theorem the largest is as large as the least cover by chains: the
    number of pairs less the size of a maximum matching of each pair with one that it inverts.

    Args:
        pairs: Matched steps, index in the answer and index in the gold graph.
        gold: The gold graph.
    """
    order = [column for _, column in sorted(pairs)]
    before = transitive_closure(len(gold.steps), without_cycles(len(gold.steps), gold.dependencies))
    inverted = [
        (first, second)
        for first in range(len(order))
        for second in range(first + 1, len(order))
        if (order[second], order[first]) in before
    ]
    if not inverted:
        return len(order)
    import numpy as np
    from scipy.sparse import csr_array
    from scipy.sparse.csgraph import maximum_bipartite_matching

    rows, columns = zip(*inverted, strict=True)
    graph = csr_array((np.ones(len(inverted)), (rows, columns)), shape=(len(order), len(order)))
    return len(order) - int((maximum_bipartite_matching(graph) >= 0).sum())


def largest_common_subgraph(pairs: Pairs, given: StepGraph, gold: StepGraph, most: int = MOST_STATES) -> int | None:
    """Return the largest number of matched steps with the same dependencies among each other in both graphs.

    Dependencies are taken as both graphs state them.

    Args:
        pairs: Matched steps, index in the given graph and index in the gold graph.
        given: The generated graph.
        gold: The gold graph.
        most: The states that the search may visit.

    Returns:
        The size of the largest common induced subgraph under this matching; None where finding it takes more states.
    """
    ours, theirs = set(given.dependencies), set(gold.dependencies)
    conflicts = [0] * len(pairs)  # bit masks: the pairs whose dependencies differ
    for first, (row, column) in enumerate(pairs):
        for second, (next_row, next_column) in enumerate(pairs):
            if ((row, next_row) in ours) != ((column, next_column) in theirs):
                conflicts[first] |= 1 << second
                conflicts[second] |= 1 << first
    try:
        return _IndependentSets(conflicts, most).largest((1 << len(pairs)) - 1)
    except _TooManyStatesError:
        return None


class _IndependentSets:
    """Search for the largest set of nodes no two of which are neighbours, in a graph given as bit masks.

    Hand-written because an answer may be hostile: `nx.max_weight_clique`, which finds the same set in the complement,
    has no bound, and does not end in two minutes if the dependencies differ in a dozen rings (perf/task_graphs.py).
    """

    def __init__(self, neighbours: Sequence[int], most: int) -> None:
        self.neighbours = neighbours
        self.left = most
        self.size_by_component: dict[int, int] = {}

    def largest(self, free: int, depth: int = 0) -> int:
        """Return the size of the largest such set among the free nodes.

        A node with at most one free neighbour is in some largest set. What is then left is searched component by
        component; a cycle of n nodes holds n // 2. Else the node with most neighbours is in the set or it is not.
        """
        taken = 0
        while free:
            degrees = {node: (self.neighbours[node] & free).bit_count() for node in _nodes(free)}
            node = min(degrees, key=degrees.__getitem__)
            if degrees[node] > 1:
                component = self._component(node, free)
                taken += self._search_component(component, degrees, depth)
                free &= ~component
            else:
                taken += 1
                free &= ~(self.neighbours[node] | 1 << node)
        return taken

    def _search_component(self, component: int, degrees: dict[int, int], depth: int) -> int:
        """Return the size of the largest set in a component whose nodes have at least two neighbours each."""
        if component not in self.size_by_component:
            self.left -= 1
            if self.left < 0 or depth > _DEEPEST:
                raise _TooManyStatesError
            node = max(_nodes(component), key=degrees.__getitem__)
            if degrees[node] == 2:
                return component.bit_count() // 2
            without = component & ~(1 << node)
            with_it = 1 + self.largest(without & ~self.neighbours[node], depth + 1)
            self.size_by_component[component] = max(with_it, self.largest(without, depth + 1))
        return self.size_by_component[component]

    def _component(self, node: int, free: int) -> int:
        """Return the free nodes that are connected with one of them."""
        component = edge = 1 << node
        while edge:
            around = 0
            for reached in _nodes(edge):
                around |= self.neighbours[reached]
            edge = around & free & ~component
            component |= edge
        return component


def _nodes(mask: int) -> list[int]:
    """Return the numbers of the bits that are set."""
    return [at for at, bit in enumerate(reversed(bin(mask)[2:])) if bit == "1"]
