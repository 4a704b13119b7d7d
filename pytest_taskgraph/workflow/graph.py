"""Questions about the graph of one level: what comes before and after what, in the control flow and the data flow.

The control flow is read through gateways (specs/patterns.md, "Words"): B comes directly after A if a path from A to B
passes gateways only. START and END are no tasks. Inline sub-workflows are not entered: each of them is a level of its
own. Links to nodes that are not declared are passed over; `check.py` is what reports them.

Cycles and components are found by networkx, imported at the first such question.

Results are in the order of declaration. Where a name is neither a node nor data of the level, UnknownNameError is
raised.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping
from typing import TYPE_CHECKING, TypeVar

from ..errors import UnknownNameError
from .model import END, START, DataLink, Flow, Link, Workflow

if TYPE_CHECKING:
    import networkx as nx

Graph = dict[str, list[str]]
_Node = TypeVar("_Node", bound=Hashable)


def successors(workflow: Workflow, node: str, flow: Flow = "control") -> tuple[str, ...]:
    """The tasks directly after a node. In the control flow, the node is a task, a gateway or START.

    In the data flow: for a task, the tasks that read data which it writes (itself included, if it does); for data, the
    tasks that read it.
    """
    return _next(workflow, node, _targets(workflow, flow), flow)


def predecessors(workflow: Workflow, node: str, flow: Flow = "control") -> tuple[str, ...]:
    """The tasks directly before a node, as `successors` has it the other way: END is a node of the control flow too."""
    return _next(workflow, node, _sources(workflow, flow), flow)


def task_graph(workflow: Workflow, flow: Flow = "control") -> dict[str, tuple[str, ...]]:
    """Every task of the level with the tasks directly after it."""
    return _nexts(workflow, workflow.task_names, _targets(workflow, flow), flow)


def starts(workflow: Workflow, flow: Flow = "control") -> tuple[str, ...]:
    """The tasks that come first: directly after START; in the data flow, those that read nothing another task writes.

    In the data flow only tasks count that read or write something.
    """
    if flow == "control":
        return successors(workflow, START)
    return _without_others(_sources(workflow, flow), _targets(workflow, flow), workflow, flow)


def ends(workflow: Workflow, flow: Flow = "control") -> tuple[str, ...]:
    """The tasks that come last: those after which no other task comes; in the data flow, whose data no other reads.

    A task without any link is not in the flow and so is no end of it. A task that only repeats itself is an end.
    """
    return _without_others(_targets(workflow, flow), _sources(workflow, flow), workflow, flow)


def shortest_cycle(workflow: Workflow, flow: Flow = "control") -> tuple[str, ...]:
    """The tasks of a shortest cycle, in the direction of the links; () if there is none. A self-loop is a cycle of one.

    Of several equally short ones, the one with the task that is declared first; it begins there. A cycle that passes
    gateways only has no task and does not count.
    """
    return shortest_cycle_in(task_graph(workflow, flow))


def shortest_cycle_in(graph: Mapping[_Node, Iterable[_Node]]) -> tuple[_Node, ...]:
    """The nodes of a shortest cycle of any graph, given as every node with its successors; () if there is none.

    Of several equally short ones, the one with the node that comes first in the mapping; it begins there.
    """
    best: tuple[_Node, ...] = ()
    network = digraph(graph)
    cyclic = frozenset().union(*cyclic_components(network))
    for node in (node for node in graph if node in cyclic):
        cycle = _cycle_through(network, node)
        if not best or len(cycle) < len(best):
            best = cycle
        if len(best) == 1:
            break
    return best


def shortest_path(graph: Mapping[_Node, Iterable[_Node]], first: _Node, last: _Node) -> list[_Node]:
    """Return the nodes of a shortest path in any graph, both ends among them: one node for a path to itself; or [].

    Of several equally short ones, the one whose nodes were added first: a search from both ends returns another.
    """
    import networkx as nx

    network = digraph(graph)
    network.add_node(first)
    return _path(dict(nx.bfs_predecessors(network, first)), first, last)


def reachable(graph: Mapping[_Node, Iterable[_Node]], node: _Node) -> set[_Node]:
    """The nodes to which a path of at least one step leads in any graph, given as nodes with their successors."""
    return set(reachable_from(graph, graph.get(node, ())))


def distances(graph: Mapping[_Node, Iterable[_Node]], first: Iterable[_Node]) -> dict[_Node, int]:
    """Return the number of nodes on a shortest way from the first ones to each that they lead to; 1 for themselves.

    The nodes are in the order in which they are met, nearer ones first. Hand-written for speed, as `reachable_from` is.
    """
    found = dict.fromkeys(first, 1)
    waiting = list(found)
    for node in waiting:
        for target in graph.get(node, ()):
            if target not in found:
                found[target] = found[node] + 1
                waiting.append(target)
    return found


def reachable_from(
    graph: Mapping[_Node, Iterable[_Node]], begin: Iterable[_Node], without: object = None
) -> frozenset[_Node]:
    """The nodes of a graph to which a path leads from those where it begins, and they; none that passes `without`.

    Hand-written: it is called for many nodes, and `nx.bfs_layers` takes 3.5 times as long, with its graph 14 times.
    """
    waiting = [node for node in begin if node != without]
    found = set(waiting)
    while waiting:
        for after in graph.get(waiting.pop(), ()):
            if after != without and after not in found:
                found.add(after)
                waiting.append(after)
    return frozenset(found)


def digraph(graph: Mapping[_Node, Iterable[_Node]]) -> nx.DiGraph[_Node]:
    """Return any graph, given as nodes with their successors, for networkx; nodes and links keep their order."""
    import networkx as nx

    network: nx.DiGraph[_Node] = nx.DiGraph()
    network.add_nodes_from(graph)
    network.add_edges_from((node, after) for node, further in graph.items() for after in further)
    return network


def cyclic_components(network: nx.DiGraph[_Node]) -> list[frozenset[_Node]]:
    """Return the strongly connected components that hold a cycle: of several nodes, or of one that leads to itself."""
    import networkx as nx

    parts = nx.strongly_connected_components(network)
    return [frozenset(part) for part in parts if len(part) > 1 or any(network.has_edge(node, node) for node in part)]


def is_connected(workflow: Workflow) -> bool:
    """Whether every task lies on a path from START to END; False where there is no task (metrics-spec, section 9)."""
    begun = reachable(_targets(workflow, "control"), START)
    ended = reachable(_sources(workflow, "control"), END)
    return bool(workflow.tasks) and all(task in begun and task in ended for task in workflow.task_names)


def ancestors(workflow: Workflow, node: str, flow: Flow = "control") -> tuple[str, ...]:
    """The tasks, in the data flow also the data, from which a path of links leads to a node: tasks first, then data.

    The node itself is among them only if it lies on a cycle. A path in the data flow leads from each input of a task
    to each of its outputs.
    """
    _known(workflow, node, flow)
    before = reachable(_sources(workflow, flow), node)
    data = tuple(one.name for one in workflow.data) if flow == "data" else ()
    return tuple(name for name in workflow.task_names + data if name in before)


def links_between(workflow: Workflow, a: str, b: str) -> tuple[Link, ...]:
    """The links that lead from a to b with no gateway between."""
    return tuple(link for link in workflow.links if link.source == a and link.target == b)


def joined_by_gateway_only(workflow: Workflow, a: str, b: str) -> bool:
    """Whether b comes directly after a, but through gateways only and by no link of its own."""
    return not links_between(workflow, a, b) and b in successors(workflow, a)


def inputs(workflow: Workflow, task: str) -> tuple[str, ...]:
    """The data that a task reads."""
    return _neighbours(workflow, task, _sources(workflow, "data"), [one.name for one in workflow.data])


def outputs(workflow: Workflow, task: str) -> tuple[str, ...]:
    """The data that a task writes."""
    return _neighbours(workflow, task, _targets(workflow, "data"), [one.name for one in workflow.data])


def producers(workflow: Workflow, data: str) -> tuple[str, ...]:
    """The tasks that write the data."""
    return _neighbours(workflow, data, _sources(workflow, "data"), workflow.task_names)


def readers(workflow: Workflow, data: str) -> tuple[str, ...]:
    """The tasks that read the data."""
    return _neighbours(workflow, data, _targets(workflow, "data"), workflow.task_names)


def _links(workflow: Workflow, flow: Flow) -> tuple[Link, ...] | tuple[DataLink, ...]:
    return workflow.links if flow == "control" else workflow.data_links


def _targets(workflow: Workflow, flow: Flow) -> Graph:
    graph: Graph = {}
    for link in _links(workflow, flow):
        graph.setdefault(link.source, []).append(link.target)
    return graph


def _sources(workflow: Workflow, flow: Flow) -> Graph:
    graph: Graph = {}
    for link in _links(workflow, flow):
        graph.setdefault(link.target, []).append(link.source)
    return graph


def _next(workflow: Workflow, node: str, graph: Graph, flow: Flow) -> tuple[str, ...]:
    _known(workflow, node, flow)
    return _nexts(workflow, [node], graph, flow)[node]


def _nexts(workflow: Workflow, nodes: Iterable[str], graph: Graph, flow: Flow) -> dict[str, tuple[str, ...]]:
    """For each of the nodes, the tasks that a graph of links leads to directly."""
    order = {task: i for i, task in enumerate(workflow.task_names)}
    tasks, between = set(order), {one.name for one in (workflow.gateways if flow == "control" else workflow.data)}
    found = {node: _through(graph, node, tasks, between) for node in nodes}
    return {node: tuple(sorted(near, key=order.__getitem__)) for node, near in found.items()}


def _through(graph: Graph, node: str, tasks: set[str], between: set[str]) -> set[str]:
    """The tasks that are reached from the node by way of the nodes `between` only; gateways may go round in circles."""
    found: set[str] = set()
    passed: set[str] = set()
    waiting = list(graph.get(node, ()))
    while waiting:
        name = waiting.pop()
        if name in tasks:
            found.add(name)
        elif name in between and name not in passed:
            passed.add(name)
            waiting.extend(graph.get(name, ()))
    return found


def _without_others(ahead: Graph, behind: Graph, workflow: Workflow, flow: Flow) -> tuple[str, ...]:
    """The tasks in the flow that have no other task ahead of them."""
    linked = [task for task in workflow.task_names if task in ahead or task in behind]
    return tuple(task for task, near in _nexts(workflow, linked, ahead, flow).items() if set(near) <= {task})


def _cycle_through(network: nx.DiGraph[_Node], node: _Node) -> tuple[_Node, ...]:
    """A shortest cycle through a node that is on one, the first found breadth first."""
    import networkx as nx

    before = dict(nx.bfs_predecessors(network, node))
    last = next(found for found in (node, *before) if network.has_edge(found, node))
    return tuple(_path(before, node, last))


def _path(before: Mapping[_Node, _Node], first: _Node, last: _Node) -> list[_Node]:
    """The nodes from the first to the last, each found from the one `before` it; [] if the last is not found."""
    path = [last]
    while path[-1] != first:
        if path[-1] not in before:
            return []
        path.append(before[path[-1]])
    return path[::-1]


def _neighbours(workflow: Workflow, node: str, graph: Graph, among: Iterable[str]) -> tuple[str, ...]:
    _known(workflow, node, "data")
    found = set(graph.get(node, ()))
    return tuple(name for name in among if name in found)


def _known(workflow: Workflow, node: str, flow: Flow) -> None:
    further = workflow.gateways if flow == "control" else workflow.data
    names = [*workflow.task_names, *(one.name for one in further), *((START, END) if flow == "control" else ())]
    if node not in names:
        raise UnknownNameError(f"node of the {flow} flow of {workflow.name!r}", node, names)
