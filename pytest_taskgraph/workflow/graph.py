"""Functions on the graph of one level: what comes before and after what, in the control flow and the data flow.

The control flow passes through gateways (docs/explanation/patterns.md): B comes directly after A if a path from A to B
passes gateways only. START and END are not tasks. Inline sub-workflows are not entered: each of them is a level of its
own. Links to nodes that are not declared are ignored; `check.py` reports them.

Cycles and components are found by networkx, imported when first needed.

Results are in the order of declaration. UnknownNameError is raised if a name is neither a node nor data of the level.
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
    """Return the tasks directly after a node; in the control flow, the node is a task, a gateway or START.

    In the data flow: for a task, the tasks that read data which it writes (itself included, if it does); for data, the
    tasks that read it.
    """
    return _next_tasks(workflow, node, _targets_by_source(workflow, flow), flow)


def task_graph(workflow: Workflow, flow: Flow = "control") -> dict[str, tuple[str, ...]]:
    """Return every task of the level with the tasks directly after it."""
    return _next_tasks_of_each(workflow, workflow.task_names, _targets_by_source(workflow, flow), flow)


def starts(workflow: Workflow, flow: Flow = "control") -> tuple[str, ...]:
    """Return the tasks directly after START; in the data flow, those that read nothing another task writes.

    In the data flow only tasks count that read or write something.
    """
    if flow == "control":
        return successors(workflow, START)
    return _outermost_tasks(_sources_by_target(workflow, flow), _targets_by_source(workflow, flow), workflow, flow)


def ends(workflow: Workflow, flow: Flow = "control") -> tuple[str, ...]:
    """Return the tasks after which no other task comes; in the data flow, those whose data no other task reads.

    A task without any link is not in the flow and so is not an end of it. A task that only repeats itself is an end.
    """
    return _outermost_tasks(_targets_by_source(workflow, flow), _sources_by_target(workflow, flow), workflow, flow)


def shortest_cycle(workflow: Workflow, flow: Flow = "control") -> tuple[str, ...]:
    """Return the tasks of a shortest cycle, in the direction of the links; () if there is none.

    A self-loop is a cycle of one task. Of several equally short cycles, that through the task declared first is
    returned, beginning there. A cycle that passes gateways only has no task and does not count.
    """
    return shortest_cycle_in(task_graph(workflow, flow))


def shortest_cycle_in(graph: Mapping[_Node, Iterable[_Node]]) -> tuple[_Node, ...]:
    """Return the nodes of a shortest cycle of any graph, given as every node with its successors; () if there is none.

    Of several equally short cycles, that through the node first in the mapping is returned, beginning there.
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
    """Return the nodes of a shortest path in any graph, both ends included; [] if there is no path.

    The path from a node to itself is that node. Of several equally short paths, that is returned whose nodes were added
    first; a search from both ends returns another.
    """
    import networkx as nx

    network = digraph(graph)
    network.add_node(first)
    return _path(dict(nx.bfs_predecessors(network, first)), first, last)


def reachable(graph: Mapping[_Node, Iterable[_Node]], node: _Node) -> set[_Node]:
    """Return the nodes to which a path of at least one step leads in any graph, given as nodes with successors."""
    return set(reachable_from(graph, graph.get(node, ())))


def distances(graph: Mapping[_Node, Iterable[_Node]], first_nodes: Iterable[_Node]) -> dict[_Node, int]:
    """Return the number of nodes on a shortest path from the first nodes to each reachable node; 1 for the first nodes.

    The nodes are in the order in which they are met, nearer ones first. Hand-written for speed, as `reachable_from` is.
    """
    distance = dict.fromkeys(first_nodes, 1)
    waiting = list(distance)
    for node in waiting:
        for target in graph.get(node, ()):
            if target not in distance:
                distance[target] = distance[node] + 1
                waiting.append(target)
    return distance


def reachable_from(
    graph: Mapping[_Node, Iterable[_Node]], first_nodes: Iterable[_Node], avoid: object = None
) -> frozenset[_Node]:
    """Return the first nodes of a graph and all nodes to which a path from them leads that does not pass `avoid`.

    Hand-written: it is called for many nodes, and `nx.bfs_layers` takes 3.5 times as long, with its graph 14 times.
    """
    waiting = [node for node in first_nodes if node != avoid]
    nodes = set(waiting)
    while waiting:
        for after in graph.get(waiting.pop(), ()):
            if after != avoid and after not in nodes:
                nodes.add(after)
                waiting.append(after)
    return frozenset(nodes)


def digraph(graph: Mapping[_Node, Iterable[_Node]]) -> nx.DiGraph[_Node]:
    """Return any graph, given as nodes with their successors, as a networkx graph; nodes and links keep their order."""
    import networkx as nx

    network: nx.DiGraph[_Node] = nx.DiGraph()
    network.add_nodes_from(graph)
    network.add_edges_from((node, after) for node, further in graph.items() for after in further)
    return network


def cyclic_components(network: nx.DiGraph[_Node]) -> list[frozenset[_Node]]:
    """Return the strongly connected components that hold a cycle: several nodes, or a node that leads to itself."""
    import networkx as nx

    parts = nx.strongly_connected_components(network)
    return [frozenset(part) for part in parts if len(part) > 1 or any(network.has_edge(node, node) for node in part)]


def is_connected(workflow: Workflow) -> bool:
    """Return True if every task lies on a path from START to END; False for a level without tasks."""
    from_start = reachable(_targets_by_source(workflow, "control"), START)
    to_end = reachable(_sources_by_target(workflow, "control"), END)
    return bool(workflow.tasks) and all(task in from_start and task in to_end for task in workflow.task_names)


def ancestors(workflow: Workflow, node: str, flow: Flow = "control") -> tuple[str, ...]:
    """Return the tasks from which a path of links leads to a node; in the data flow the tasks, then the data.

    The node itself is among them only if it lies on a cycle. A path in the data flow leads from each input of a task
    to each of its outputs.
    """
    return ancestors_of_each(workflow, [node], flow)[node]


def ancestors_of_each(workflow: Workflow, nodes: Iterable[str], flow: Flow = "control") -> dict[str, tuple[str, ...]]:
    """Return the `ancestors` of each of some nodes."""
    sources = _sources_by_target(workflow, flow)
    names = workflow.task_names
    if flow == "data":
        names += tuple(data_object.name for data_object in workflow.data)
    found: dict[str, tuple[str, ...]] = {}
    for node in nodes:
        _check_node(workflow, node, flow)
        before = reachable(sources, node)
        found[node] = tuple([name for name in names if name in before])
    return found


def tasks_by_data(workflow: Workflow) -> tuple[dict[str, set[str]], dict[str, set[str]]]:
    """Return, for each data of the level by name, the tasks that read it, and those that write it."""
    readers: dict[str, set[str]] = {data.name: set() for data in workflow.data}
    writers: dict[str, set[str]] = {name: set() for name in readers}
    for link in workflow.data_links:
        readers.get(link.source, set()).add(link.target)
        writers.get(link.target, set()).add(link.source)
    return readers, writers


def inputs(workflow: Workflow, task: str) -> tuple[str, ...]:
    """Return the data that a task reads."""
    return _neighbours_among(workflow, task, _sources_by_target(workflow, "data"), _data_names(workflow))


def outputs(workflow: Workflow, task: str) -> tuple[str, ...]:
    """Return the data that a task writes."""
    return _neighbours_among(workflow, task, _targets_by_source(workflow, "data"), _data_names(workflow))


def producers(workflow: Workflow, data: str) -> tuple[str, ...]:
    """Return the tasks that write the data."""
    return _neighbours_among(workflow, data, _sources_by_target(workflow, "data"), workflow.task_names)


def readers(workflow: Workflow, data: str) -> tuple[str, ...]:
    """Return the tasks that read the data."""
    return _neighbours_among(workflow, data, _targets_by_source(workflow, "data"), workflow.task_names)


def _data_names(workflow: Workflow) -> list[str]:
    return [data.name for data in workflow.data]


def _links(workflow: Workflow, flow: Flow) -> tuple[Link, ...] | tuple[DataLink, ...]:
    return workflow.links if flow == "control" else workflow.data_links


def _targets_by_source(workflow: Workflow, flow: Flow) -> Graph:
    graph: Graph = {}
    for link in _links(workflow, flow):
        graph.setdefault(link.source, []).append(link.target)
    return graph


def _sources_by_target(workflow: Workflow, flow: Flow) -> Graph:
    graph: Graph = {}
    for link in _links(workflow, flow):
        graph.setdefault(link.target, []).append(link.source)
    return graph


def _next_tasks(workflow: Workflow, node: str, graph: Graph, flow: Flow) -> tuple[str, ...]:
    _check_node(workflow, node, flow)
    return _next_tasks_of_each(workflow, [node], graph, flow)[node]


def _next_tasks_of_each(
    workflow: Workflow, nodes: Iterable[str], graph: Graph, flow: Flow
) -> dict[str, tuple[str, ...]]:
    """Return, for each of the nodes, the tasks that a graph of links leads to directly."""
    order = {task: i for i, task in enumerate(workflow.task_names)}
    tasks, between = (
        set(order),
        {node_between.name for node_between in (workflow.gateways if flow == "control" else workflow.data)},
    )
    neighbours = {node: _tasks_through(graph, node, tasks, between) for node in nodes}
    return {node: tuple(sorted(next_tasks, key=order.__getitem__)) for node, next_tasks in neighbours.items()}


def _tasks_through(graph: Graph, node: str, tasks: set[str], between: set[str]) -> set[str]:
    """Return the tasks that are reached from the node through the nodes `between` only; gateways may form cycles."""
    found_tasks: set[str] = set()
    seen: set[str] = set()
    waiting = list(graph.get(node, ()))
    while waiting:
        name = waiting.pop()
        if name in tasks:
            found_tasks.add(name)
        elif name in between and name not in seen:
            seen.add(name)
            waiting.extend(graph.get(name, ()))
    return found_tasks


def _outermost_tasks(ahead: Graph, behind: Graph, workflow: Workflow, flow: Flow) -> tuple[str, ...]:
    """Return the tasks in the flow that have no other task ahead of them."""
    linked = [task for task in workflow.task_names if task in ahead or task in behind]
    return tuple(
        task for task, near in _next_tasks_of_each(workflow, linked, ahead, flow).items() if set(near) <= {task}
    )


def _cycle_through(network: nx.DiGraph[_Node], node: _Node) -> tuple[_Node, ...]:
    """Return a shortest cycle through a node that is on a cycle: the first found breadth first."""
    import networkx as nx

    before = dict(nx.bfs_predecessors(network, node))
    last = next(candidate for candidate in (node, *before) if network.has_edge(candidate, node))
    return tuple(_path(before, node, last))


def _path(before: Mapping[_Node, _Node], first: _Node, last: _Node) -> list[_Node]:
    """Return the nodes from the first to the last, walking back through `before`; [] if there is no path."""
    path = [last]
    while path[-1] != first:
        if path[-1] not in before:
            return []
        path.append(before[path[-1]])
    return path[::-1]


def _neighbours_among(workflow: Workflow, node: str, graph: Graph, among: Iterable[str]) -> tuple[str, ...]:
    _check_node(workflow, node, "data")
    neighbours = set(graph.get(node, ()))
    return tuple(name for name in among if name in neighbours)


def _check_node(workflow: Workflow, node: str, flow: Flow) -> None:
    if node in workflow.task_names:
        return
    others = workflow.gateways if flow == "control" else workflow.data
    names = [*workflow.task_names, *(other.name for other in others), *((START, END) if flow == "control" else ())]
    if node not in names:
        raise UnknownNameError(f"node of the {flow} flow of {workflow.name!r}", node, names)
