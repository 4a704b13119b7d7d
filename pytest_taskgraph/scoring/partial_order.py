"""The partial order that an answer in order is measured against: nodes with labels, and what must come before what.

As a reference it is JSON, `{"tasks": [label, ...], "before": [[i, j], ...]}`: the tasks that run, each once for every
time it runs, and pairs of indices into them, the first of which runs before the second. Nodes may share a label, as
those of an unrolled loop do. Pairs may be left out or in where others imply them.
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
    """Labels of the nodes, and per node the bit masks of all the nodes before it and of all those after it.

    Bit masks, since searches compare and extend sets of nodes at every step; networkx gives the order to fill them in.
    """

    labels: tuple[str, ...]
    ancestors: tuple[int, ...]
    descendants: tuple[int, ...]


def partial_order(reference: Json) -> PartialOrder:
    """The partial order that a reference states. Raises UsageError where it is none: another shape, or a cycle."""
    labels, pairs = task_labels(reference), list(_pairs(reference))
    children: list[list[int]] = [[] for _ in labels]
    for first, second in pairs:
        children[first].append(second)
    ancestors, descendants = [0] * len(labels), [0] * len(labels)
    topological = _topological(labels, children)
    for node in topological:
        for child in children[node]:
            ancestors[child] |= ancestors[node] | 1 << node
    for node in reversed(topological):
        for child in children[node]:
            descendants[node] |= descendants[child] | 1 << child
    return PartialOrder(tuple(labels), tuple(ancestors), tuple(descendants))


def task_labels(reference: Json) -> list[str]:
    """The labels of the nodes that a reference states, in its order. Raises UsageError where it states none."""
    tasks = reference.get("tasks") if isinstance(reference, dict) else None
    if not isinstance(tasks, list) or not all(isinstance(label, str) for label in tasks):
        raise _no_order(f"found {str(reference)[:80]}")
    return [str(label) for label in tasks]


def linear_extension(reference: Json) -> list[str]:
    """One order of the tasks that the reference allows: what is declared first comes as early as it may.

    Raises UsageError where the reference is no partial order.
    """
    order = partial_order(reference)
    placed, labels = 0, []
    for _ in order.labels:
        node = next(ready_nodes(order, placed))
        placed |= 1 << node
        labels.append(order.labels[node])
    return labels


def count_downsets(order: PartialOrder, most: int = MOST_STATES) -> int:
    """How many sets of nodes hold all that is before each of their nodes: what has run at some time.

    Raises OrderTooWideError where there are more than `most`.
    """
    level, count = {0}, 1
    while level:
        further: set[int] = set()
        for placed in level:
            further.update(placed | 1 << node for node in ready_nodes(order, placed))
            if count + len(further) > most:
                raise OrderTooWideError(len(order.labels), most)
        count += len(further)
        level = further
    return count


def ready_nodes(order: PartialOrder, placed: int) -> Iterator[int]:
    """The nodes outside the downset `placed` that may come next, in their order."""
    for node, ancestors in enumerate(order.ancestors):
        if not placed >> node & 1 and not ancestors & ~placed:
            yield node


def _pairs(reference: Json) -> Iterator[tuple[int, int]]:
    pairs = reference.get("before") if isinstance(reference, dict) else None
    nodes = len(task_labels(reference))
    if not isinstance(pairs, list):
        raise _no_order(f'found no list "before" in {str(reference)[:80]}')
    for pair in pairs:
        match pair:
            case [int(first), int(second)] if 0 <= first < nodes and 0 <= second < nodes:
                yield first, second
            case _:
                raise _no_order(f'found {str(pair)[:80]} in "before", with {nodes} tasks')


def _no_order(found: str) -> UsageError:
    shape = '{"tasks": [label, ...], "before": [[i, j], ...]} with indices of tasks'
    return UsageError(f"the reference of a question about order: {found}, expected {shape}")


def _topological(labels: list[str], children: list[list[int]]) -> list[int]:
    """The nodes, parents first. Raises UsageError, which names the nodes that lie on or behind a cycle."""
    import networkx as nx

    graph = digraph(dict(enumerate(children)))
    try:
        return list(nx.topological_sort(graph))
    except nx.NetworkXUnfeasible:
        cyclic = frozenset[int]().union(*cyclic_components(graph))
    stuck = sorted(reachable_from(dict(enumerate(children)), cyclic))
    names = ", ".join(f"{labels[node]} ({node})" for node in stuck)[:200]
    raise UsageError(f"the reference of a question about order has a cycle among {names}; a cycle has no order")
