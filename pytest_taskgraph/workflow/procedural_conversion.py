"""Procedural graphs as workflows, and workflows as procedural graphs.

Actions become tasks, named by their text. A parameter `actor` of the task holds who performs it, `text` its text where
the task needed another name; `notices` are the action constraints that lead to it, `annotations` those that it leads
to. Data constraints become data, which tasks read or write. Gateways keep their names. Conditions become guards, see
`procedural_guards.py`.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Final

from .model import END, START, Data, DataLink, Gateway, Link, Parameter, Task, Value, Workflow
from .procedural_graph import ProceduralFlow, ProceduralGraph, ProceduralNode
from .procedural_guards import condition_of, formal_guards
from .references import assemble

ACTOR: Final = "actor"
TEXT: Final = "text"
NOTICES: Final = "notices"
ANNOTATIONS: Final = "annotations"


@dataclass(frozen=True, slots=True)
class WorkflowPart:
    """The part of a procedural graph that a workflow can hold, and what is lost, a sentence each."""

    graph: ProceduralGraph
    losses: tuple[str, ...] = ()


def workflow_part(graph: ProceduralGraph) -> WorkflowPart:
    """Return the part of a graph that a workflow can hold: all of it, if its flows are as the format intends.

    Flows into the start or out of the end are dropped, and constraint flows that do not join a constraint and an
    action; other constraint flows lose their conditions; gateways or data with the name of another node get a number.
    """
    losses: list[str] = []
    names = _rename_nodes(graph, losses)
    flows = []
    for flow in graph.with_nodes(names).flows:
        where = f"flow from {_describe_node(flow.source)} to {_describe_node(flow.target)}"
        if flow.target.sort == "start" or flow.source.sort == "end":
            losses.append(f"{where}: left out, for nothing leads into the start or out of the end")
        elif flow.sort == "constraint" and not _constrains(flow):
            losses.append(f"{where}: left out, for a constraint flow joins a constraint and an action")
        elif flow.sort == "constraint" and flow.condition:
            losses.append(f"{where}: its condition is left out, for a constraint flow has none")
            flows.append(replace(flow, condition=""))
        else:
            flows.append(flow)
    return WorkflowPart(ProceduralGraph.of(flows), tuple(losses))


def workflow_of(graph: ProceduralGraph, name: str) -> Workflow:
    """Return the workflow of a graph, or of the part that `workflow_part` returns."""
    whole = workflow_part(graph).graph
    names = _names(whole)
    formal = formal_guards(whole)
    flows = [flow for flow in whole.flows if flow.sort != "constraint"]
    return Workflow(
        name=name,
        tasks=tuple(_task(node, names[node], whole) for node in whole.nodes_of("action")),
        data=tuple(Data(node.text) for node in whole.nodes_of("data")),
        gateways=tuple(_gateways(whole)),
        links=tuple(
            Link(names[flow.source], names[flow.target], formal.guards.get(flow, flow.condition or None))
            for flow in flows
        ),
        data_links=tuple(
            DataLink(names[flow.source], names[flow.target])
            for flow in whole.flows
            if "data" in (flow.source.sort, flow.target.sort)
        ),
        parameters=formal.parameters,
    )


def procedural_graph_of(workflow: Workflow) -> ProceduralGraph:
    """Return the graph of a workflow's own level, bases included; a composite task is an action.

    For a workflow from `workflow_of`, that is the original graph, or the part that `workflow_part` returns.

    Raises:
        WorkflowError: if the workflow is derived from one that is not among its others.
    """
    workflow = assemble(workflow) if workflow.base else workflow
    tasks = {task.name: _action(task) for task in workflow.tasks}
    gateways = {gateway.name: ProceduralNode(gateway.kind, gateway.name) for gateway in workflow.gateways}
    data = {item.name: ProceduralNode("data", item.name) for item in workflow.data}
    nodes = {START: ProceduralNode("start"), END: ProceduralNode("end"), **tasks, **gateways, **data}
    flows = [
        ProceduralFlow(nodes[link.source], nodes[link.target], condition_of(link, workflow))
        for link in workflow.links
        if link.source in nodes and link.target in nodes
    ]
    flows += [
        ProceduralFlow(nodes[link.source], nodes[link.target])
        for link in workflow.data_links
        if link.source in nodes and link.target in nodes
    ]
    return ProceduralGraph.of([*flows, *(flow for task in workflow.tasks for flow in _notice_flows(task))])


def _constrains(flow: ProceduralFlow) -> bool:
    return (flow.source.sort == "action") != (flow.target.sort == "action") and (
        flow.source.is_constraint != flow.target.is_constraint
    )


def _describe_node(node: ProceduralNode) -> str:
    return f"{node.sort} {node.text!r:.60}" if node.text else node.sort


def _rename_nodes(graph: ProceduralGraph, losses: list[str]) -> dict[ProceduralNode, ProceduralNode]:
    """Return the gateways and data that need another name, with that name, and add each to the losses."""
    renamed: dict[ProceduralNode, ProceduralNode] = {}
    owners = [*graph.nodes_of("exclusive", "inclusive", "parallel"), *graph.nodes_of("data")]
    own_names = {node.text for node in owners}
    taken = {START, END}
    for node in owners:
        if node.text in taken:
            renamed[node] = replace(node, text=_fresh(node.text, taken | own_names))
            losses.append(f"{_describe_node(node)}: called {renamed[node].text!r:.60}, for another node has its name")
        taken.add(renamed.get(node, node).text)
    return renamed


def _names(graph: ProceduralGraph) -> dict[ProceduralNode, str]:
    """Return the names of all nodes in the workflow; those of tasks give way to the others."""
    ends = {node: START if node.sort == "start" else END for node in graph.nodes_of("start", "end")}
    names = ends | {node: node.text for node in graph.nodes if node.is_gateway or node.sort == "data"}
    taken = {START, END, *names.values()}
    for node in graph.nodes_of("action"):
        text = " ".join(node.text.split())
        if text in taken and node.actor:
            text = f"{text} ({' '.join(node.actor.split())})"
        names[node] = _fresh(text, taken)
        taken.add(names[node])
    return names


def _fresh(name: str, taken: set[str]) -> str:
    """Return the name, or the name with the first number from 2 on that makes it new."""
    fresh, number = name, 2
    while fresh in taken:
        fresh, number = f"{name} {number}", number + 1
    return fresh


def _task(node: ProceduralNode, name: str, graph: ProceduralGraph) -> Task:
    notices = tuple(flow.source.text for flow in graph.incoming(node) if flow.source.sort == "notice")
    annotations = tuple(flow.target.text for flow in graph.outgoing(node) if flow.target.sort == "notice")
    values: Mapping[str, Value] = {
        ACTOR: node.actor,
        TEXT: node.text if name != node.text else "",
        NOTICES: notices,
        ANNOTATIONS: annotations,
    }
    return Task(name, parameters=tuple(Parameter(key, value) for key, value in values.items() if value))


def _gateways(graph: ProceduralGraph) -> Iterator[Gateway]:
    for node in graph.nodes:
        if node.sort in ("exclusive", "inclusive", "parallel"):
            into, out = len(graph.incoming(node)), graph.outgoing(node)
            splits = len(out) > 1 or (into < 2 and any(flow.condition for flow in out))
            yield Gateway(node.text, node.sort, "split" if splits else "join")


def _action(task: Task) -> ProceduralNode:
    stated = {
        parameter.name: parameter.value
        for parameter in task.parameters
        if isinstance(parameter.value, str) and parameter.value.strip()
    }
    return ProceduralNode("action", str(stated.get(TEXT, task.name)), str(stated.get(ACTOR, "")))


def _notice_flows(task: Task) -> Iterator[ProceduralFlow]:
    action = _action(task)
    for parameter in task.parameters:
        texts = parameter.value if isinstance(parameter.value, tuple) else (parameter.value,)
        notices = [ProceduralNode("notice", text) for text in texts if isinstance(text, str) and text.strip()]
        if parameter.name == NOTICES:
            yield from (ProceduralFlow(notice, action) for notice in notices)
        elif parameter.name == ANNOTATIONS:
            yield from (ProceduralFlow(action, notice) for notice in notices)
