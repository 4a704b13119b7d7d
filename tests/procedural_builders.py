"""Procedural graphs made by hand and at random, for tests of what is measured and written about them."""

from __future__ import annotations

from hypothesis import strategies as st

from pytest_taskgraph.trial import Json
from pytest_taskgraph.workflow.procedural_graph import (
    NodeSort,
    ProceduralFlow,
    ProceduralGraph,
    ProceduralNode,
)

START, END = ProceduralNode("start"), ProceduralNode("end")
TEXTS = ("close the ledger", "close the big ledger", "ledger", "a", "wash the car", "find an empty seat")


def action(text: str, actor: str = "") -> ProceduralNode:
    return ProceduralNode("action", text, actor)


def gateway(name: str) -> ProceduralNode:
    sorts: dict[str, NodeSort] = {"X": "exclusive", "O": "inclusive", "A": "parallel"}
    return ProceduralNode(sorts[name[0]], name)


def graph(
    *flows: tuple[ProceduralNode, ProceduralNode] | tuple[ProceduralNode, ProceduralNode, str],
) -> ProceduralGraph:
    return ProceduralGraph.of(ProceduralFlow(*flow) for flow in flows)


def stated(one: ProceduralGraph) -> Json:
    return {"flows": [*one.to_json()]}


def procedural_nodes(texts: tuple[str, ...] = TEXTS) -> st.SearchStrategy[ProceduralNode]:
    """Draw a node: few texts, so that some are alike, and few gateways."""
    some = st.sampled_from(texts)
    gateways = st.sampled_from(["XOR1", "XOR2", "OR1", "OR2", "AND1", "AND2"]).map(gateway)
    constraints = st.builds(ProceduralNode, st.sampled_from(["data", "notice"]), some)
    return st.one_of(
        st.sampled_from([START, END]), st.builds(action, some, st.sampled_from(["", "clerk", "the boss"])),
        gateways, constraints,
    )  # fmt: skip


def procedural_graphs(least: int = 0) -> st.SearchStrategy[ProceduralGraph]:
    """Draw any graph, however untidy: loops, several flows between two nodes, gateways that stand alone."""
    node, condition = procedural_nodes(), st.sampled_from(["", "", "dirty", "the car is dirty", "still clean"])
    flow = st.builds(ProceduralFlow, node, node, condition)
    return st.lists(flow, min_size=least, max_size=8).map(ProceduralGraph.of)
