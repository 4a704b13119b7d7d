"""The gold graph and the graph of an answer as diagrams that stand side by side."""

from __future__ import annotations

from dataclasses import replace

from ...diagram import Diagram, DiagramEdge, DiagramNode, DiagramPair
from ...errors import UnmeasuredError
from ...scoring.task_graphs.shared_parts import alike_pairs
from ...scoring.task_graphs.step_graphs import StepGraph, answered_graph, gold_graph
from ...scoring.task_graphs.step_matching import similarity_matrix
from ...trial import Question, Score


def graph_pair(question: Question, score: Score) -> DiagramPair | None:
    """Return the gold graph and that of an answer; None if the similarity that an embedder measures is missing.

    A step of the answer is drawn as a step of the gold graph where `graph_f1` takes them for the same.
    """
    gold, given = gold_graph(question.reference), answered_graph(score.given)
    try:
        matrix = similarity_matrix(score.given, question.reference)
    except UnmeasuredError:
        return None
    if question.section == "step_generation":  # dependencies were not asked for: none are missing
        gold, given = replace(gold, dependencies=()), replace(given, dependencies=())
    ids = {mine: f"gold-{theirs}" for mine, theirs in alike_pairs(matrix)}
    title = question.text.partition("\n")[0]
    return DiagramPair(_diagram(title, gold, {}, "gold"), _diagram(title, given, ids, "given"))


def _diagram(title: str, graph: StepGraph, ids: dict[int, str], own: str) -> Diagram:
    names = [ids.get(at, f"{own}-{at}") for at in range(len(graph.steps))]
    nodes = [DiagramNode(name, step) for name, step in zip(names, graph.steps, strict=True)]
    return Diagram(title, nodes, [DiagramEdge(names[before], names[after]) for before, after in graph.dependencies])
