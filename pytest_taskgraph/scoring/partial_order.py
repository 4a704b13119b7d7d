"""The partial order that an answer in order is compared with: nodes with labels, and which nodes come before which.

A reference is JSON, `{"tasks": [label, ...], "before": [[i, j], ...]}`: the tasks that run, each once for every time
it runs, and pairs of indices into them, the first of which runs before the second. Nodes may share a label, as those
of an unrolled loop do. Pairs that others imply may be stated or omitted.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from ..errors import OrderTooWideError, UsageError
from ..trial import Json
from ..workflow.graph import cyclic_components, digraph, reachable_from

MOST_STATES = 500_000
"""The states that a search through a partial order may visit: about 2 seconds and 100 MB."""


@dataclass(frozen=True, slots=True)
class PartialOrder:
    """Labels of the nodes, and for each node the bit masks of all nodes before it and of all nodes after it.

    They are bit masks because searches compare and extend sets of nodes at every step.
    """

    labels: tuple[str, ...]
    ancestors: tuple[int, ...]
    descendants: tuple[int, ...]


def partial_order(reference: Json) -> PartialOrder:
    """Return the partial order that a reference states.

    Raises:
        UsageError: if the reference has another shape, or a cycle.
    """
    labels, pairs = task_labels(reference), list(_pairs(reference))
    children: list[list[int]] = [[] for _ in labels]
    for first, second in pairs:
        children[first].append(second)
    ancestors, descendants = [0] * len(labels), [0] * len(labels)
    topological = _topological_order(labels, children)
    for node in topological:
        for child in children[node]:
            ancestors[child] |= ancestors[node] | 1 << node
    for node in reversed(topological):
        for child in children[node]:
            descendants[node] |= descendants[child] | 1 << child
    return PartialOrder(tuple(labels), tuple(ancestors), tuple(descendants))


def task_labels(reference: Json) -> list[str]:
    """Return the labels of the nodes that a reference states, in its order.

    Raises:
        UsageError: if the reference has another shape.
    """
    tasks = reference.get("tasks") if isinstance(reference, dict) else None
    if not isinstance(tasks, list) or not all(isinstance(label, str) for label in tasks):
        raise _malformed_reference_error(f"found {str(reference)[:80]}")
    return [str(label) for label in tasks]


def linear_extension(reference: Json) -> list[str]:
    """Return one order of the tasks that the reference allows, with tasks as early as their declaration permits.

    Raises:
        UsageError: if the reference is no partial order.
    """
    order = partial_order(reference)
    placed, labels = 0, []
    for _ in order.labels:
        node = next(ready_nodes(order, placed))
        placed |= 1 << node
        labels.append(order.labels[node])
    return labels


def count_downsets(order: PartialOrder, most: int = MOST_STATES) -> int:
    """Return the number of downsets: sets of nodes that hold all nodes before each of their nodes.

    Args:
        order: The partial order.
        most: The largest number that is counted.

    Raises:
        OrderTooWideError: if there are more than `most`.
    """
    level, count = {0}, 1
    while level:
        next_level: set[int] = set()
        for downset in level:
            next_level.update(downset | 1 << node for node in ready_nodes(order, downset))
            if count + len(next_level) > most:
                raise OrderTooWideError(len(order.labels), most)
        count += len(next_level)
        level = next_level
    return count


def ready_nodes(order: PartialOrder, placed: int) -> Iterator[int]:
    """Yield the nodes outside the downset `placed` that may come next, in their order."""
    for node, ancestors in enumerate(order.ancestors):
        if not placed >> node & 1 and not ancestors & ~placed:
            yield node


def _pairs(reference: Json) -> Iterator[tuple[int, int]]:
    pairs = reference.get("before") if isinstance(reference, dict) else None
    nodes = len(task_labels(reference))
    if not isinstance(pairs, list):
        raise _malformed_reference_error(f'found no list "before" in {str(reference)[:80]}')
    for pair in pairs:
        match pair:
            case [int(first), int(second)] if 0 <= first < nodes and 0 <= second < nodes:
                yield first, second
            case _:
                raise _malformed_reference_error(f'found {str(pair)[:80]} in "before", with {nodes} tasks')


def _malformed_reference_error(description: str) -> UsageError:
    shape = '{"tasks": [label, ...], "before": [[i, j], ...]} with indices of tasks'
    return UsageError(f"the reference of a question about order: {description}, expected {shape}")


def _topological_order(labels: list[str], children: list[list[int]]) -> list[int]:
    """Return the nodes, parents first.

    Raises:
        UsageError: if there is a cycle; the message names the nodes that lie on or behind it.
    """
    import networkx as nx

    graph = digraph(dict(enumerate(children)))
    try:
        return list(nx.topological_sort(graph))
    except nx.NetworkXUnfeasible:
        cyclic = frozenset[int]().union(*cyclic_components(graph))
    blocked = sorted(reachable_from(dict(enumerate(children)), cyclic))
    names = ", ".join(f"{labels[node]} ({node})" for node in blocked)[:200]
    raise UsageError(f"the reference of a question about order has a cycle among {names}; a cycle has no order")
