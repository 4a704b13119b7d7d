from __future__ import annotations

import json

from hypothesis import given
from hypothesis import strategies as st

from pytest_taskgraph.diagram import (
    LONGEST_LABEL,
    MOST_EDGES,
    MOST_NODES,
    Diagram,
    DiagramEdge,
    DiagramGroup,
    DiagramNode,
    DiagramPair,
)

IDS = st.sampled_from("abcdefg")
LABELS = st.text(max_size=6) | st.just("x" * (LONGEST_LABEL + 1))
DIAGRAMS = st.builds(
    Diagram,
    LABELS,
    st.lists(st.builds(DiagramNode, IDS, LABELS, group=IDS | st.just(""), note=LABELS), max_size=8),
    st.lists(st.builds(DiagramEdge, IDS, IDS, LABELS), max_size=8),
    st.lists(st.builds(DiagramGroup, IDS, LABELS, IDS | st.just(""), LABELS), max_size=3),
)
PAIRS = st.builds(DiagramPair, DIAGRAMS, DIAGRAMS)


def parts_of(diagram: Diagram) -> int:
    return len(diagram.nodes) + len(diagram.edges) + len(diagram.groups) + diagram.omitted


@given(PAIRS)
def test_diagram_pair_to_json_reads_back(pair: DiagramPair) -> None:
    assert DiagramPair.from_json(json.loads(json.dumps(pair.to_json()))) == pair


@given(PAIRS)
def test_bounded_keeps_drawable_parts_and_counts_others(pair: DiagramPair) -> None:
    bounded = pair.bounded()
    for before, after in ((pair.expected, bounded.expected), (pair.given, bounded.given)):
        ids = [part.id for part in after.parts]
        assert len(ids) == len(set(ids))
        assert set(ids) == {part.id for part in before.parts}
        assert len(after.edges) == len(set(after.edges))
        assert {end for edge in after.edges for end in (edge.source, edge.target)} <= set(ids)
        assert all(len(part.label) <= LONGEST_LABEL for part in (*after.parts, *after.edges))
        assert parts_of(after) == parts_of(before)
    assert bounded.bounded() == bounded


def test_bounded_large_pair_keeps_expected_diagram() -> None:
    def chain(first: int, last: int) -> Diagram:
        ids = [str(at) for at in range(first, last)]
        links = [DiagramEdge(ids[at], ids[at + step]) for step in (1, 2, 3) for at in range(len(ids) - step)]
        return Diagram("W", [DiagramNode(node_id, node_id) for node_id in ids], links)

    bounded = DiagramPair(chain(0, 100), chain(50, 50_000)).bounded()
    assert bounded.expected == chain(0, 100)
    assert [node.id for node in bounded.given.nodes] == [str(at) for at in range(50, MOST_NODES)]
    assert len({*bounded.expected.edges, *bounded.given.edges}) <= MOST_EDGES
    assert parts_of(bounded.given) == parts_of(chain(50, 50_000))
