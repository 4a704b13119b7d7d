"""The edit distance of two procedural graphs: the number of insertions, deletions and relabellings to make them equal.

Each of these costs 1, of a node or of a flow; a deleted node takes its flows with it, at 1 each. The label of a node is
its type, for actions and constraints its text, and for an action its actor; names of gateways do not count. The label
of a flow is its condition. Labels are compared by their tokens (`bleu.bleu_tokens`): case, punctuation and articles
do not count.

Hand-written because an answer may be hostile: `nx.graph_edit_distance` is bounded only by time, which makes scores
depend on the machine, and takes seconds for two graphs of 9 nodes that have nothing in common
(perf/procedural_graphs.py). The tests compare the distances with it.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Final

from ...workflow.procedural_graph import ProceduralGraph, ProceduralNode
from .bleu import bleu_tokens

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Numbers = NDArray[np.int64]

MOST_STATES: Final = 2_000
"""The states that the search for a distance may visit: about half a second."""
MOST_PAIRS: Final = 60 * 60
"""Pairs of nodes above which it may visit fewer, in proportion, for a state takes longer."""

Label = tuple[str, ...]
Relation = tuple[tuple[Label, ...], tuple[Label, ...]]
"""The conditions of the flows from one node to another, and of those back."""


@dataclass(frozen=True, slots=True)
class EditDistance:
    """The cost of the cheapest edit path that was found; `exact` is True if none is cheaper."""

    cost: int
    exact: bool


def edit_distance(first: ProceduralGraph, second: ProceduralGraph, most: int = MOST_STATES) -> EditDistance:
    """Return the edit distance of two graphs; it is the same the other way round.

    Since any node may be relabelled, some cheapest path keeps all nodes of the smaller graph: the search is for
    an injective assignment of these nodes at the least cost. In each state some are assigned. The others are assigned
    by the Hungarian algorithm, where the cost of a pair of nodes counts half of what their flows to further unassigned
    nodes cost at least (Riesen and Bunke 2009, bounded as by Blumenthal and Gamper 2018). That gives both a path and
    a lower bound.

    Args:
        first: A graph.
        second: A graph.
        most: The states that the search may visit, for graphs of up to MOST_PAIRS pairs of nodes. If they do not
            suffice, the result is the cheapest path that was found.
    """
    if first == second:
        return EditDistance(0, True)
    smaller, larger = sorted((first, second), key=lambda graph: (len(graph.nodes), graph.to_json()))
    pairs = len(smaller.nodes) * len(larger.nodes)
    search = _Search(smaller, larger, most if pairs <= MOST_PAIRS else max(1, most * MOST_PAIRS // pairs))
    search.run()
    return EditDistance(search.best, search.left >= 0)


def edit_size(graph: ProceduralGraph) -> int:
    """Return the number of nodes and flows of a graph, which is the cost of inserting or deleting all of it."""
    return len(graph.nodes) + len(graph.flows)


def edit_similarity(first: ProceduralGraph, second: ProceduralGraph) -> tuple[float | None, bool]:
    """Return 1 - distance / size of both graphs, 0.0 to 1.0, and True if it is exact, False if it is a lower bound.

    The similarity is None for two empty graphs.
    """
    size = edit_size(first) + edit_size(second)
    distance = edit_distance(first, second)
    return (1 - distance.cost / size if size else None), distance.exact


class _LabelledGraph:
    """A graph as numbers: labels of nodes, relations of each two nodes, and the flows of each node by condition."""

    def __init__(self, graph: ProceduralGraph) -> None:
        self.size = len(graph.nodes)
        self.labels = [_label(node) for node in graph.nodes]
        self.flows: list[tuple[int, int, Label]] = []
        number = {node: at for at, node in enumerate(graph.nodes)}
        for flow in graph.flows:
            self.flows.append((number[flow.source], number[flow.target], tuple(bleu_tokens(flow.condition))))

    @cached_property
    def relations(self) -> dict[tuple[int, int], Relation]:
        """Return the conditions of the flows between connected nodes, out of the first and into it."""
        out: dict[tuple[int, int], list[Label]] = {}
        for source, target, condition in self.flows:
            out.setdefault((source, target), []).append(condition)
        pairs = dict.fromkeys(pair for first, second in out for pair in ((first, second), (second, first)))
        return {
            (first, second): (
                tuple(sorted(out.get((first, second), ()))),
                tuple(sorted(out.get((second, first), ()))) if first != second else (),
            )
            for first, second in pairs
        }


def _label(node: ProceduralNode) -> tuple[str, Label, Label]:
    if node.sort in ("action", "data", "notice"):
        return node.sort, tuple(bleu_tokens(node.text)), tuple(bleu_tokens(node.actor))
    return node.sort, (), ()


def _relabelling_cost(first: Sequence[Label], second: Sequence[Label]) -> int:
    """Return the cost of turning some conditions between two nodes into others."""
    return max(len(first), len(second)) - (Counter(first) & Counter(second)).total()


@dataclass(slots=True)
class _State:
    """A partial assignment of nodes. Costs are doubled, so that half a flow is a whole number."""

    fixed: int  # among assigned nodes
    rows: list[int]  # what is not assigned of the smaller graph
    columns: list[int]
    pair: Numbers  # of two nodes, with their flows to assigned ones
    insertion: Numbers  # of a node of the larger graph, likewise
    out: tuple[Numbers, Numbers]  # for each graph: the flows of a node to other unassigned nodes, by condition
    chosen: tuple[tuple[int, int], ...] = ()


class _Search:
    """Depth-first branch and bound over the assignments of the nodes of the smaller graph."""

    def __init__(self, smaller: ProceduralGraph, larger: ProceduralGraph, most: int) -> None:
        self.smaller, self.larger = _LabelledGraph(smaller), _LabelledGraph(larger)
        self.best = edit_size(smaller) + edit_size(larger)
        self.left = most
        self._number_relations()
        self._number_conditions()

    def _number_relations(self) -> None:
        """Assign numbers to the relations of both graphs, 0 for none, and set the costs of turning one into another."""
        import numpy as np

        graphs = self.smaller, self.larger
        numberings: list[dict[Relation, int]] = [{((), ()): 0} for _ in graphs]
        self.relation: list[Numbers] = []
        for graph, numbers in zip(graphs, numberings, strict=True):
            matrix = np.zeros((graph.size, graph.size), dtype=np.int64)
            for pair, relation in graph.relations.items():
                matrix[pair] = numbers.setdefault(relation, len(numbers))
            self.relation.append(matrix)
        self.turned = np.array(
            [[sum(map(_relabelling_cost, ours, theirs)) for theirs in numberings[1]] for ours in numberings[0]],
            dtype=np.int64,
        )

    def _number_conditions(self) -> None:
        """Assign numbers to the conditions that both graphs have: out of a node, into it, each with all others last.

        Flows whose condition is in one graph only are counted together.
        """
        import numpy as np

        shared = dict.fromkeys(condition for _, _, condition in self.smaller.flows)
        theirs = {condition for _, _, condition in self.larger.flows}
        self.numbers = {
            condition: at for at, condition in enumerate(condition for condition in shared if condition in theirs)
        }
        self.width = len(self.numbers) + 1
        self.degrees: list[Numbers] = []
        self.ends: list[dict[int, list[tuple[int, int]]]] = []  # of a node's flows: the other node, the column there
        for graph in (self.smaller, self.larger):
            degrees = np.zeros((graph.size, 2 * self.width), dtype=np.int64)
            ends: dict[int, list[tuple[int, int]]] = {}
            for source, target, condition in graph.flows:
                if source != target:
                    out = self.numbers.get(condition, self.width - 1)
                    degrees[source, out] += 1
                    degrees[target, self.width + out] += 1
                    ends.setdefault(source, []).append((target, self.width + out))
                    ends.setdefault(target, []).append((source, out))
            self.degrees.append(degrees)
            self.ends.append(ends)

    def run(self) -> None:
        """Find the cheapest path; `best` is its cost, and `left` is negative where the states do not suffice."""
        import numpy as np

        labels = [[2 * (ours != theirs) for theirs in self.larger.labels] for ours in self.smaller.labels]
        shape = self.smaller.size, self.larger.size
        loops = [np.diagonal(matrix) for matrix in self.relation]
        pair = np.array(labels, dtype=np.int64).reshape(shape) + 2 * self.turned[np.ix_(*loops)]
        insertion = 2 + 2 * self.turned[0][loops[1]]
        rows = sorted(range(shape[0]), key=lambda row: -int(self.degrees[0][row].sum()))
        self._visit(_State(0, rows, list(range(shape[1])), pair, insertion, (self.degrees[0], self.degrees[1])))

    def _visit(self, state: _State) -> None:
        import numpy as np
        from scipy.optimize import linear_sum_assignment

        self.left -= 1
        if self.left < 0:
            return
        costs, inserted = self._costs(state)
        gains = costs - inserted
        rows, columns = linear_sum_assignment(gains)
        bound = state.fixed + int(inserted.sum()) + int(gains[rows, columns].sum())
        assigned = [(state.rows[row], state.columns[column]) for row, column in zip(rows, columns, strict=True)]
        self.best = min(self.best, self._cost([*state.chosen, *assigned]))
        if (bound + 1) // 2 >= self.best or not state.rows:
            return
        row = int(np.argmax(_regrets(gains)))
        for column in np.argsort(gains[row], kind="stable"):
            self._visit(self._assign(state, state.rows[row], state.columns[int(column)]))
            if self.left < 0 or (bound + 1) // 2 >= self.best:
                return

    def _costs(self, state: _State) -> tuple[Numbers, Numbers]:
        """Return lower bounds of the costs that each pair of unassigned nodes, and each inserted node, adds."""
        import numpy as np

        ours, theirs = state.out[0][state.rows], state.out[1][state.columns]
        costs = state.pair[np.ix_(state.rows, state.columns)]
        for start in (0, self.width):
            mine, others = ours[:, start : start + self.width], theirs[:, start : start + self.width]
            costs = costs + np.maximum.outer(mine.sum(axis=1), others.sum(axis=1))
            for at in range(self.width - 1):
                costs -= np.minimum.outer(mine[:, at], others[:, at])
        return costs, state.insertion[state.columns] + theirs.sum(axis=1)

    def _assign(self, state: _State, row: int, column: int) -> _State:
        """Return the state in which a node of the smaller graph is assigned to one of the larger graph."""
        import numpy as np

        pair = state.pair + 2 * self.turned[np.ix_(self.relation[0][row], self.relation[1][column])]
        insertion = state.insertion + 2 * self.turned[0][self.relation[1][column]]
        out = self._without(0, state.out[0], row), self._without(1, state.out[1], column)
        return _State(
            state.fixed + int(state.pair[row, column]),
            [node for node in state.rows if node != row],
            [node for node in state.columns if node != column],
            pair, insertion, out, (*state.chosen, (row, column)),
        )  # fmt: skip

    def _without(self, graph: int, degrees: Numbers, node: int) -> Numbers:
        """Return the flows of nodes without those to or from one of them."""
        left = degrees.copy()
        for other, column in self.ends[graph].get(node, ()):
            left[other, column] -= 1
        return left

    def _cost(self, pairs: Sequence[tuple[int, int]]) -> int:
        """Return the cost of the edit path that a complete assignment stands for."""
        import numpy as np

        rows = [row for row, _ in pairs]
        columns = [column for _, column in pairs]
        ours, theirs = self.relation[0][np.ix_(rows, rows)], self.relation[1][np.ix_(columns, columns)]
        each = np.triu(np.ones(ours.shape, dtype=bool))  # a relation holds the flows of both directions
        relabelled = sum(self.smaller.labels[row] != self.larger.labels[column] for row, column in pairs)
        inserted = (
            self.larger.size - self.smaller.size + len(self.larger.flows) - int(self.turned[0][theirs[each]].sum())
        )
        return relabelled + inserted + int(self.turned[ours[each], theirs[each]].sum())


def _regrets(costs: Numbers) -> Numbers:
    """Return for each row the difference between its cheapest and its second cheapest cost."""
    import numpy as np

    if costs.shape[1] < 2:
        return np.zeros(costs.shape[0], dtype=np.int64)
    least = np.partition(costs, 1, axis=1)
    return least[:, 1] - least[:, 0]
