"""A diagram as plain data: what is drawn and what is linked, without a place for anything."""

from __future__ import annotations

import json
from base64 import b85decode, b85encode
from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from typing import Any, Literal
from zlib import compress, decompress

from .trial import read_fields

Flow = Literal["control", "data"]
NodeKind = Literal["task", "composite", "start", "end", "parallel", "exclusive", "inclusive", "data"]


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
    """A box around nodes and groups: the inside of a composite task, or a further workflow."""

    id: str
    label: str
    parent: str = ""  # the group it stands in, listed before it; none where empty
    note: str = ""


@dataclass(frozen=True, slots=True)
class Diagram:
    """A workflow as it can be drawn: what there is and what is linked, without a place for anything."""

    title: str
    nodes: list[DiagramNode] = field(default_factory=list)
    edges: list[DiagramEdge] = field(default_factory=list)
    groups: list[DiagramGroup] = field(default_factory=list)
    omitted: int = 0  # nodes and links that were too many to be drawn

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


def pack(diagram: Mapping[str, Any]) -> str:
    """The JSON of a Diagram as a text a fifth as long, for a run holds thousands; `unpack` gives it back."""
    return b85encode(compress(json.dumps(diagram).encode(), 1)).decode()


def unpack(text: str) -> dict[str, Any]:
    """What `pack` made the text of."""
    found: dict[str, Any] = json.loads(decompress(b85decode(text)))
    return found


def _unlike_default(part: DiagramNode | DiagramEdge | DiagramGroup) -> dict[str, Any]:
    values = ((one.name, getattr(part, one.name), one.default) for one in fields(part))
    return {name: value for name, value, default in values if value != default}
