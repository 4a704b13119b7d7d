"""Diagrams and pairs of diagrams as plain data: nodes, links and groups, without positions."""

from __future__ import annotations

import json
from base64 import b64decode, b64encode
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Literal, TypeVar
from zlib import compress, decompress

from .trial import read_fields

Flow = Literal["control", "data"]
_T = TypeVar("_T")
_Part = TypeVar("_Part", "DiagramNode", "DiagramEdge", "DiagramGroup")
NodeKind = Literal["task", "composite", "start", "end", "parallel", "exclusive", "inclusive", "data"]


MOST_NODES = 400  # of a drawing; a larger drawing is illegible and takes seconds
MOST_EDGES = 800
LONGEST_LABEL = 1_000  # characters of a label or note in a pair, which may hold text of a model


@dataclass(frozen=True, slots=True)
class DiagramNode:
    """A task, gateway, data, START or END. The kind `composite` is a composite task whose inside is not drawn."""

    id: str  # unique among nodes and groups
    label: str
    kind: NodeKind = "task"
    group: str = ""  # the group it stands in; none where empty
    note: str = ""  # a short addition to the label, such as what a composite task calls


@dataclass(frozen=True, slots=True)
class DiagramEdge:
    """A link between two nodes or groups that stand in the same group; `label` is its guard."""

    source: str
    target: str
    label: str = ""
    kind: Flow = "control"


@dataclass(frozen=True, slots=True)
class DiagramGroup:
    """A box around nodes and groups: the inside of a node that is made of others, or a further graph."""

    id: str
    label: str
    parent: str = ""  # the group it stands in, listed before it; none where empty
    note: str = ""


@dataclass(frozen=True, slots=True)
class DiagramBar:
    """A task with the time at which it runs, in a unit of the diagram."""

    label: str
    start: int
    length: int
    critical: bool = False  # True if the whole ends later where the task does


@dataclass(frozen=True, slots=True)
class Diagram:
    """A graph to be drawn: nodes, links and groups, without positions; and when tasks run, if that is known."""

    title: str
    nodes: list[DiagramNode] = field(default_factory=list)
    edges: list[DiagramEdge] = field(default_factory=list)
    groups: list[DiagramGroup] = field(default_factory=list)
    omitted: int = 0  # number of nodes and links left out of a drawing that is too large
    bars: list[DiagramBar] = field(default_factory=list)  # in the order of their starts
    unit: str = ""  # of the bars, such as "minutes"

    @property
    def parts(self) -> list[DiagramGroup | DiagramNode]:
        """Return everything with an id: the groups, then the nodes."""
        return [*self.groups, *self.nodes]

    def to_json(self) -> dict[str, Any]:
        """Return the diagram as plain JSON values without default values; `from_json` reverses it."""
        return {
            "title": self.title,
            "nodes": [_without_defaults(node) for node in self.nodes],
            "edges": [_without_defaults(edge) for edge in self.edges],
            "groups": [_without_defaults(group) for group in self.groups],
            "omitted": self.omitted,
            **({"bars": [_without_defaults(bar) for bar in self.bars], "unit": self.unit} if self.bars else {}),
        }

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> Diagram:
        """Return the diagram that `to_json` wrote."""
        return cls(
            data["title"],
            [read_fields(DiagramNode, node) for node in data["nodes"]],
            [read_fields(DiagramEdge, edge) for edge in data["edges"]],
            [read_fields(DiagramGroup, group) for group in data["groups"]],
            data.get("omitted", 0),
            [read_fields(DiagramBar, bar) for bar in data.get("bars", ())],
            data.get("unit", ""),
        )


@dataclass(frozen=True, slots=True)
class DiagramPair:
    """The expected and the given diagram, to be drawn side by side with their differences.

    Nodes and groups with the same id correspond to each other, whatever their labels. Links correspond to each other if
    ends, kind and label are equal.
    """

    expected: Diagram
    given: Diagram

    def to_json(self) -> dict[str, Any]:
        """Return the pair as plain JSON values; `from_json` reverses it."""
        return {"expected": self.expected.to_json(), "given": self.given.to_json()}

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> DiagramPair:
        """Return the pair that `to_json` wrote."""
        return cls(Diagram.from_json(data["expected"]), Diagram.from_json(data["given"]))

    def bounded(self) -> DiagramPair:
        """Return the pair within the bounds of one drawing, which both diagrams share; the expected one has priority.

        `omitted` counts the parts left out: nodes and groups over MOST_NODES, links over MOST_EDGES, duplicates, and
        links with an end that is left out. Labels are cut at LONGEST_LABEL characters.
        """
        nodes: set[str] = set()
        groups: set[str] = set()
        edges: set[DiagramEdge] = set()
        both = [_bounded(diagram, nodes, groups, edges) for diagram in (self.expected, self.given)]
        return DiagramPair(*both)


def _bounded(diagram: Diagram, nodes: set[str], groups: set[str], edges: set[DiagramEdge]) -> Diagram:
    """Return the diagram with the parts that fit beside the nodes, groups and links of both diagrams so far."""
    own_ids: set[str] = set()
    kept_groups = [_cut(group) for group in diagram.groups if _add_if_fits(group.id, own_ids, groups, MOST_NODES)]
    kept_nodes = [_cut(node) for node in diagram.nodes if _add_if_fits(node.id, own_ids, nodes, MOST_NODES)]
    own_edges: set[DiagramEdge] = set()
    kept_edges = [
        edge
        for edge in map(_cut, diagram.edges)
        if {edge.source, edge.target} <= own_ids and _add_if_fits(edge, own_edges, edges, MOST_EDGES)
    ]
    parts = len(diagram.nodes) + len(diagram.edges) + len(diagram.groups)
    left_out = parts - len(kept_nodes) - len(kept_edges) - len(kept_groups)
    return Diagram(diagram.title, kept_nodes, kept_edges, kept_groups, diagram.omitted + left_out)


def _add_if_fits(part: _T, own: set[_T], of_both: set[_T], most: int) -> bool:
    """Add a part to both sets and return True, unless it is a duplicate in its diagram or exceeds the bound.

    Args:
        part: An id or a link.
        own: The parts of its diagram so far.
        of_both: The parts of both diagrams so far.
        most: The bound on the parts of both.
    """
    if part in own or (part not in of_both and len(of_both) >= most):
        return False
    own.add(part)
    of_both.add(part)
    return True


def _cut(part: _Part) -> _Part:
    """Return the part with its label and note cut at LONGEST_LABEL characters."""
    label = _cut_text(part.label)
    if isinstance(part, DiagramEdge):
        return replace(part, label=label)
    return replace(part, label=label, note=_cut_text(part.note))


def _cut_text(text: str) -> str:
    return text if len(text) <= LONGEST_LABEL else f"{text[: LONGEST_LABEL - 1]}…"


def pack(diagram: Mapping[str, Any]) -> str:
    """Compress the JSON of a diagram or a pair to a text a fifth as long, for a run holds thousands of them.

    `unpack` reverses it.
    """
    return b64encode(compress(json.dumps(diagram).encode(), 1)).decode()


def unpack(text: str) -> dict[str, Any]:
    """Return the JSON that `pack` compressed."""
    diagram: dict[str, Any] = json.loads(decompress(b64decode(text)))
    return diagram


def _without_defaults(part: DiagramNode | DiagramEdge | DiagramGroup | DiagramBar) -> dict[str, Any]:
    defaults = part.__dataclass_fields__  # `fields` computes a tuple at each call
    return {name: value for name in defaults if (value := getattr(part, name)) != defaults[name].default}
