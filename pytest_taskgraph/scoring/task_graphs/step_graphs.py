"""The steps and dependencies of an answer, whatever it holds, and those of a reference, which must be well-formed.

Both are JSON: `{"steps": [text, ...], "dependencies": [[i, j], ...]}`, with pairs of indices into the steps, the first
of which must be done before the second.

Dependencies have a transitive reduction and closure. Their nodes are the numbers from 0 to n - 1; self-loops,
repetitions and edges to other numbers are ignored.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from ...errors import UsageError
from ...trial import Json
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


@dataclass(frozen=True, slots=True)
class StepGraph:
    """Steps in their order, and the distinct dependencies between two of them: index before, index after."""

    steps: tuple[str, ...]
    dependencies: tuple[Edge, ...]

    def neighbours(self) -> tuple[list[list[int]], list[list[int]]]:
        """Return the parents and the children of every step, as indices in the order of the steps."""
        parents: list[list[int]] = [[] for _ in self.steps]
        children: list[list[int]] = [[] for _ in self.steps]
        for before, after in sorted(self.dependencies):
            parents[after].append(before)
            children[before].append(after)
        return parents, children


def answered_graph(given: Json) -> StepGraph:
    """Return the graph that an answer states; never fails.

    An answer of another shape has no steps. A step that is no text counts as a step without words. Dependencies that
    are no pair of indices of steps, self-loops and repetitions are ignored.
    """
    stated = given if isinstance(given, dict) else {}
    steps, pairs = stated.get("steps"), stated.get("dependencies")
    texts = [step if isinstance(step, str) else "" for step in steps] if isinstance(steps, list) else []
    edges = [edge for pair in pairs if (edge := _edge(pair))] if isinstance(pairs, list) else []
    return StepGraph(tuple(texts), tuple(distinct_edges(len(texts), edges)))


def unread_pairs(given: Json) -> list[Edge]:
    """Return the pairs of an answer about which the model gave no parseable answer."""
    pairs = given.get("unread") if isinstance(given, dict) else None
    return [edge for pair in pairs if (edge := _edge(pair))] if isinstance(pairs, list) else []


def gold_graph(reference: Json) -> StepGraph:
    """Return the graph that a reference states; self-loops and repetitions are ignored.

    Raises:
        UsageError: if the reference has another shape, or an index of no step.
    """
    stated = reference if isinstance(reference, dict) else {}
    steps, pairs = stated.get("steps"), stated.get("dependencies")
    if not isinstance(steps, list) or not all(isinstance(step, str) for step in steps):
        raise _no_graph(f'no list of texts "steps" in {str(reference)[:80]}')
    if not isinstance(pairs, list):
        raise _no_graph(f'no list "dependencies" in {str(reference)[:80]}')
    edges: list[Edge] = []
    for pair in pairs:
        edge = _edge(pair)
        if edge is None or not all(0 <= end < len(steps) for end in edge):
            raise _no_graph(f'{str(pair)[:80]} in "dependencies", with {len(steps)} steps')
        edges.append(edge)
    return StepGraph(tuple(map(str, steps)), tuple(distinct_edges(len(steps), edges)))


def _edge(pair: Json) -> Edge | None:
    """Return the value as a pair of whole numbers, None for any other value; true and false are no numbers."""
    match pair:
        case [int(before), int(after)] if not isinstance(before, bool) and not isinstance(after, bool):
            return before, after
    return None


def _no_graph(description: str) -> UsageError:
    shape = '{"steps": [text, ...], "dependencies": [[i, j], ...]} with indices of steps'
    return UsageError(
        f"reference of a question about steps: found {description}; expected {shape}; correct the reference"
    )
