"""Hypothesis strategies of procedural graphs: any texts and flows, however odd."""

from __future__ import annotations

from hypothesis import strategies as st

from pytest_taskgraph.workflow.procedural_graph import (
    GATEWAY_NAMES,
    GATEWAYS,
    NodeSort,
    ProceduralFlow,
    ProceduralGraph,
    ProceduralNode,
)

ODD = st.sampled_from(
    [
        "Start", "End", "XOR1", "AND", "DataConstraint(x)", "TextAnnotation(y)", "For clerk:", "clerk: pay", "(re)send",
        "press (A -> B) twice", 'say "hi"', '"quoted"', '("x', "a → b", "a) first", ":-(", "->", "x --> y", "tea: hot",
        "clerk", "C:\\new", "- item", "Größe prüfen", "注文する", "a\nb", " edge ", "()", "a\u2028b", '"', "\\", '": "',
    ]
)  # fmt: skip
TEXTS = (ODD | st.text(max_size=12)).filter(str.strip)
WORDS = st.lists(
    st.sampled_from(["check", "send", "order", "pay", "form", "(new)", "goods", "cook", "wash"]), min_size=1, max_size=3
).map(" ".join)


def nodes(texts: st.SearchStrategy[str], actors: st.SearchStrategy[str]) -> st.SearchStrategy[ProceduralNode]:
    """Return nodes of every sort; gateways have names of the text form."""
    constraints: st.SearchStrategy[NodeSort] = st.sampled_from(["data", "notice"])
    gateways = st.builds(
        lambda sort, number: ProceduralNode(sort, GATEWAY_NAMES[sort] + number),
        st.sampled_from(GATEWAYS),
        st.sampled_from(["", "1", "2", "10"]),
    )
    return st.one_of(
        st.sampled_from([ProceduralNode("start"), ProceduralNode("end")]),
        gateways,
        st.builds(ProceduralNode, constraints, texts),
        st.builds(ProceduralNode, st.just("action"), texts, actors),
        st.builds(ProceduralNode, st.just("action"), texts, actors),
    )


def graphs(
    texts: st.SearchStrategy[str] = TEXTS, actors: st.SearchStrategy[str] | None = None
) -> st.SearchStrategy[ProceduralGraph]:
    """Return graphs of nodes with such texts and flows between any two."""
    node = nodes(texts, st.just("") | (texts if actors is None else actors))
    flows = st.builds(ProceduralFlow, node, node, st.just("") | texts)
    return st.lists(flows, max_size=8).map(ProceduralGraph.of)
