"""The gold graph and the graph of an answer as diagrams that stand side by side."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from ...diagram import Diagram, DiagramEdge, DiagramNode, DiagramPair, NodeKind
from ...scoring.procedural_graphs.answered_graphs import answered_procedure, gold_procedure
from ...scoring.procedural_graphs.node_matches import procedural_counterparts
from ...trial import Question, Score
from ...workflow.procedural_graph import NodeSort, ProceduralGraph, ProceduralNode

_KINDS: Final[Mapping[NodeSort, NodeKind]] = {
    "start": "start",
    "end": "end",
    "action": "task",
    "data": "data",
    "notice": "data",
    "exclusive": "exclusive",
    "inclusive": "inclusive",
    "parallel": "parallel",
}
_NOTES: Final[Mapping[NodeSort, str]] = {"data": "data constraint", "notice": "action constraint"}


def procedure_pair(question: Question, score: Score) -> DiagramPair:
    """Return the gold graph and that of an answer.

    An element of the answer is drawn as its counterpart in the gold graph, unless that is a gateway of another sort.
    """
    gold, given = gold_procedure(question.reference), answered_procedure(score.given)
    partners = {node: other for node, other in procedural_counterparts(given, gold).items() if node.sort == other.sort}
    own = {node: f"gold-{at}" for at, node in enumerate(gold.nodes)}
    ids = {node: own[partners[node]] if node in partners else f"given-{at}" for at, node in enumerate(given.nodes)}
    title = question.text.partition("\n")[0]
    return DiagramPair(_diagram(title, gold, own), _diagram(title, given, ids))


def _diagram(title: str, graph: ProceduralGraph, ids: Mapping[ProceduralNode, str]) -> Diagram:
    nodes = [
        DiagramNode(ids[node], node.text or node.sort.upper(), _KINDS[node.sort], note=node.actor or _note(node))
        for node in graph.nodes
    ]
    edges = [DiagramEdge(ids[flow.source], ids[flow.target], flow.condition) for flow in graph.flows]
    return Diagram(title, nodes, edges)


def _note(node: ProceduralNode) -> str:
    return _NOTES.get(node.sort, "")
