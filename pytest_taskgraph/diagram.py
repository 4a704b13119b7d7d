"""Diagrams as plain data: what is drawn and what is linked, without a place for anything; one, or a pair."""

from __future__ import annotations

import json
from base64 import b85decode, b85encode
from collections.abc import Mapping
from dataclasses import dataclass, field, fields, replace
from typing import Any, Literal, TypeVar
from zlib import compress, decompress

from .trial import read_fields

Flow = Literal["control", "data"]
_T = TypeVar("_T")
_Part = TypeVar("_Part", "DiagramNode", "DiagramEdge", "DiagramGroup")
NodeKind = Literal["task", "composite", "start", "end", "parallel", "exclusive", "inclusive", "data"]


MOST_NODES = 400  # of a drawing; one of more cannot be read, and takes seconds
MOST_EDGES = 800
LONGEST_LABEL = 1_000  # characters of a label or note in a pair, which may hold texts of a model


@dataclass(frozen=True, slots=True)
class DiagramNode:
    """A task, gateway, data, START or END. `composite` is a task whose inside is not drawn."""

    id: str  # unlike any other of a node or group
    label: str
    kind: NodeKind = "task"
    group: str = ""  # the group it stands in; none where empty
    note: str = ""  # a few more words, for instance what a composite task calls


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
class Diagram:
    """A graph as it can be drawn: what there is and what is linked, without a place for anything."""

    title: str
    nodes: list[DiagramNode] = field(default_factory=list)
    edges: list[DiagramEdge] = field(default_factory=list)
    groups: list[DiagramGroup] = field(default_factory=list)
    omitted: int = 0  # nodes and links that were too many to be drawn

    @property
    def parts(self) -> list[DiagramGroup | DiagramNode]:
        """The groups, then the nodes: all that has an id."""
        return [*self.groups, *self.nodes]

    def to_json(self) -> dict[str, Any]:
        """The diagram as plain JSON values, without what has its default; `from_json` gives it back."""
        return {
            "title": self.title,
            "nodes": [_unlike_default(one) for one in self.nodes],
            "edges": [_unlike_default(one) for one in self.edges],
            "groups": [_unlike_default(one) for one in self.groups],
            "omitted": self.omitted,
        }

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> Diagram:
        """The diagram that `to_json` wrote."""
        return cls(
            data["title"],
            [read_fields(DiagramNode, one) for one in data["nodes"]],
            [read_fields(DiagramEdge, one) for one in data["edges"]],
            [read_fields(DiagramGroup, one) for one in data["groups"]],
            data.get("omitted", 0),
        )


@dataclass(frozen=True, slots=True)
class DiagramPair:
    """What was expected and what an answer gives, to be drawn side by side with their differences.

    A node or group of one is that of the other with the same id, whatever both are called. Links are the same if ends,
    kind and label are.
    """

    expected: Diagram
    given: Diagram

    def to_json(self) -> dict[str, Any]:
        """Return the pair as plain JSON values; `from_json` gives it back."""
        return {"expected": self.expected.to_json(), "given": self.given.to_json()}

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> DiagramPair:
        """Return the pair that `to_json` wrote."""
        return cls(Diagram.from_json(data["expected"]), Diagram.from_json(data["given"]))

    def bounded(self) -> DiagramPair:
        """Return the pair as it can be drawn: both together within the bounds of one drawing, the expected part first.

        What is left out is counted in `omitted`: nodes and groups over MOST_NODES, links over MOST_EDGES, what stands
        there twice, and links to what does not stand there. Labels are cut at LONGEST_LABEL characters.
        """
        nodes: set[str] = set()
        groups: set[str] = set()
        edges: set[DiagramEdge] = set()
        both = [_bounded(diagram, nodes, groups, edges) for diagram in (self.expected, self.given)]
        return DiagramPair(*both)


def _bounded(diagram: Diagram, nodes: set[str], groups: set[str], edges: set[DiagramEdge]) -> Diagram:
    """Return the diagram without what no longer fits beside the nodes, groups and links that are kept already."""
    own: set[str] = set()
    kept_groups = [_cut(group) for group in diagram.groups if _fits(group.id, own, groups, MOST_NODES)]
    kept_nodes = [_cut(node) for node in diagram.nodes if _fits(node.id, own, nodes, MOST_NODES)]
    found: set[DiagramEdge] = set()
    kept_edges = [
        edge
        for edge in map(_cut, diagram.edges)
        if {edge.source, edge.target} <= own and _fits(edge, found, edges, MOST_EDGES)
    ]
    listed = len(diagram.nodes) + len(diagram.edges) + len(diagram.groups)
    left_out = listed - len(kept_nodes) - len(kept_edges) - len(kept_groups)
    return Diagram(diagram.title, kept_nodes, kept_edges, kept_groups, diagram.omitted + left_out)


def _fits(item: _T, own: set[_T], kept: set[_T], most: int) -> bool:
    """Return True, and take the item in, if it is not there yet and is one of those kept or fits beside them."""
    if item in own or (item not in kept and len(kept) >= most):
        return False
    own.add(item)
    kept.add(item)
    return True


def _cut(part: _Part) -> _Part:
    """Return the part with its texts cut."""
    label = _cut_text(part.label)
    if isinstance(part, DiagramEdge):
        return replace(part, label=label)
    return replace(part, label=label, note=_cut_text(part.note))


def _cut_text(text: str) -> str:
    return text if len(text) <= LONGEST_LABEL else f"{text[: LONGEST_LABEL - 1]}…"


def pack(diagram: Mapping[str, Any]) -> str:
    """Return the JSON of a diagram or a pair as a text a fifth as long, for a run holds thousands.

    `unpack` gives it back.
    """
    return b85encode(compress(json.dumps(diagram).encode(), 1)).decode()


def unpack(text: str) -> dict[str, Any]:
    """What `pack` made the text of."""
    found: dict[str, Any] = json.loads(decompress(b85decode(text)))
    return found


def _unlike_default(part: DiagramNode | DiagramEdge | DiagramGroup) -> dict[str, Any]:
    values = ((one.name, getattr(part, one.name), one.default) for one in fields(part))
    return {name: value for name, value, default in values if value != default}
