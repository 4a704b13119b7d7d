"""The gold graph and the graph of an answer as diagrams that stand side by side."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Final

from ...diagram import Diagram, DiagramEdge, DiagramNode, DiagramPair, NodeKind
from ...scoring.procedural_graphs.answered_graphs import answered_procedure, gold_procedure
from ...scoring.procedural_graphs.bleu import MATCHED, bleu1
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
Partners = Mapping[ProceduralNode, ProceduralNode]


def procedure_pair(question: Question, score: Score) -> DiagramPair:
    """Return the gold graph and that of an answer.

    An element of the answer is drawn as the gold element that it is most like, one to one: actions and constraints with
    a BLEU of at least 0.5, gateways of a sort by the partners that they have in common.
    """
    gold, given = gold_procedure(question.reference), answered_procedure(score.given)
    partners = _text_partners(given, gold)
    partners |= _gateway_partners(given, gold, partners)
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


def _text_partners(given: ProceduralGraph, gold: ProceduralGraph) -> dict[ProceduralNode, ProceduralNode]:
    """Return the gold partners of everything but gateways."""

    def likeness(node: ProceduralNode, other: ProceduralNode) -> float:
        value = bleu1(node.text, other.text) if node.text or other.text else 1.0
        return value if value >= MATCHED else 0.0

    return _assign_partners(
        [node for node in given.nodes if not node.is_gateway],
        [node for node in gold.nodes if not node.is_gateway],
        likeness,
    )


def _gateway_partners(
    given: ProceduralGraph, gold: ProceduralGraph, partners: Partners
) -> dict[ProceduralNode, ProceduralNode]:
    """Return the gold partners of gateways, by the neighbours that have partners among each other's."""

    def likeness(node: ProceduralNode, other: ProceduralNode) -> float:
        before = {partners.get(flow.source) for flow in given.incoming(node)}
        after = {partners.get(flow.target) for flow in given.outgoing(node)}
        shared = len(before.intersection(flow.source for flow in gold.incoming(other)))
        return float(shared + len(after.intersection(flow.target for flow in gold.outgoing(other))))

    return _assign_partners(
        [node for node in given.nodes if node.is_gateway], [node for node in gold.nodes if node.is_gateway], likeness
    )


def _assign_partners(
    nodes: Sequence[ProceduralNode],
    others: Sequence[ProceduralNode],
    likeness: Callable[[ProceduralNode, ProceduralNode], float],
) -> dict[ProceduralNode, ProceduralNode]:
    """Return partners of the same sort, one to one, with the largest sum of likenesses; none with a likeness of 0."""
    if not nodes or not others:
        return {}
    from scipy.optimize import linear_sum_assignment

    values = [[likeness(node, other) if node.sort == other.sort else 0.0 for other in others] for node in nodes]
    rows, columns = linear_sum_assignment(values, maximize=True)
    pairs = [(int(row), int(column)) for row, column in zip(rows, columns, strict=True)]
    return {nodes[row]: others[column] for row, column in pairs if values[row][column] > 0.0}
