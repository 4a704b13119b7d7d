"""The steps and dependencies of an answer, whatever it holds, and those of a reference, which must be well-formed.

Both are JSON: `{"steps": [text, ...], "dependencies": [[i, j], ...]}`, with pairs of indices into the steps, the first
of which must be done before the second.
"""

from __future__ import annotations

from dataclasses import dataclass

from ...errors import UsageError
from ...trial import Json
from .precedence import Edge, distinct_edges


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
