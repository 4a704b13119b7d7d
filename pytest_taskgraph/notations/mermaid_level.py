"""What the nodes and links of one level of a Mermaid flowchart mean: its tasks, data, gateways and links."""

from __future__ import annotations

import re
from collections import Counter
from typing import Any, Literal

from ..workflow.model import END, START, Data, DataLink, Gateway, GatewayKind, Link, Task, Workflow
from . import mermaid_labels as labels
from .mermaid_chart import Edge
from .mermaid_cursor import Vertex
from .source import Source

_Role = Literal["split", "join"]
_Kind = Literal["start", "end", "data", "gateway", "task"]
_OURS = re.compile(r"(parallel|exclusive|inclusive) (split|join)")
_WORDS: dict[GatewayKind, re.Pattern[str]] = {
    "parallel": re.compile(r"(?:and|\+|&|∥|fork|join|parallel(?: (?:gateway|fork|join|split|merge))?)[ _-]?\d*"),
    "inclusive": re.compile(r"(?:or|o|inclusive(?: (?:gateway|or|choice|decision|split|join|merge))?)[ _-]?\d*"),
    "exclusive": re.compile(r"(?:xor|x|exclusive(?: (?:gateway|or|choice|decision|split|join|merge))?)[ _-]?\d*"),
}


def read_label(source: Source, label: str, known: tuple[str, ...], offset: int) -> tuple[str, dict[str, Any]]:
    """Name and fields that a label holds. Raises ReadError at the offset."""
    try:
        return labels.read_label(label, known)
    except labels.LabelError as error:
        source.fail(offset, error.found, error.expected)


def _kind(vertex: Vertex) -> _Kind:
    """What a node is, by its shape and its label."""
    text = (vertex.id if vertex.label is None else vertex.label).strip("`").strip().lower()
    if vertex.shape == "[(":
        return "data"
    if text in labels.EDGES:
        return "start" if text == "start" else "end"
    if vertex.shape == "{" or (vertex.shape == "{{" and _gateway_kind(text)):
        return "gateway"
    return "task"


def _gateway_kind(text: str) -> GatewayKind | None:
    """The kind that a gateway's label tells, in lower case; None if it tells none."""
    if ours := _OURS.fullmatch(text):
        text = ours[1]
    return next((kind for kind, words in _WORDS.items() if words.fullmatch(text)), None)


class Level:
    """The nodes of one level under the names they have there."""

    def __init__(self, source: Source, box: str | None, edges: list[Edge], name: str) -> None:
        self.source, self.edges, self.name = source, edges, name
        self.prefix = f"{box}__" if box else ""
        self.names: dict[str, str] = {}  # id -> name
        self.taken = {START, END}
        self.kinds: dict[str, _Kind] = {}
        self.tasks: list[tuple[int, Task]] = []
        self.data: list[Data] = []
        self.waiting: list[Vertex] = []  # gateways, which are named last
        self.entries: dict[str, str] = {}  # name of a split -> that of the join before it

    def add(self, vertex: Vertex) -> None:
        """Take in a node. Raises ReadError."""
        kind = self.kinds[vertex.id] = _kind(vertex)
        if kind == "task":
            name, said = self._label(vertex, labels.OF_TASK)
            self.add_task(vertex.id, Task(name, **said), vertex.offset)
        elif kind == "data":
            name, said = self._label(vertex, labels.OF_DATA)
            self._name(vertex.id, name, vertex.offset)
            self.data.append(Data(name, **said))
        elif kind == "gateway":
            self.waiting.append(vertex)
        else:
            self.names[vertex.id] = START if kind == "start" else END

    def add_task(self, id: str, task: Task, offset: int) -> None:
        """Take in a task. Raises ReadError."""
        self.kinds[id] = "task"
        self._name(id, task.name, offset)
        self.tasks.append((offset, task))

    def _label(self, vertex: Vertex, known: tuple[str, ...]) -> tuple[str, dict[str, Any]]:
        name, said = read_label(self.source, vertex.label or vertex.id, known, vertex.offset)
        return name or vertex.id, said

    def _name(self, id: str, name: str, offset: int) -> None:
        if name in self.taken:
            self.source.fail(offset, f"a second node that is called {name[:60]!r}", "a label of its own")
        self.names[id] = name
        self.taken.add(name)

    def workflow(self) -> Workflow:
        """The level as a workflow. Raises ReadError."""
        control = [edge for edge in self.edges if not self._of_data(edge)]
        gateways = self._gateways(control)
        links = [*map(self._link, control), *(Link(join, split) for split, join in self.entries.items())]
        return Workflow(
            name=self.name,
            tasks=tuple(task for _, task in sorted(self.tasks, key=lambda one: one[0])),
            data=tuple(self.data),
            gateways=gateways,
            links=self._closed(links),
            data_links=tuple(map(self._data_link, filter(self._of_data, self.edges))),
        )

    def _of_data(self, edge: Edge) -> bool:
        return "data" in (self.kinds[edge.source], self.kinds[edge.target])

    def _gateways(self, control: list[Edge]) -> tuple[Gateway, ...]:
        """The gateways, named; where one node of a foreign chart both joins and splits, two."""
        made: list[Gateway] = []
        into, out = (Counter(getattr(edge, end) for edge in control) for end in ("target", "source"))
        for vertex in self.waiting:
            name = self.names[vertex.id] = self._free(vertex.id.removeprefix(self.prefix))
            text = labels.decode(vertex.label or "").strip("` ").lower()
            kind, ours = _gateway_kind(text) or "exclusive", _OURS.fullmatch(text)
            role: _Role = "join" if into[vertex.id] > 1 >= out[vertex.id] else "split"
            if ours:
                role = "join" if ours[2] == "join" else "split"
            elif into[vertex.id] > 1 < out[vertex.id]:
                self.entries[name] = self._free(f"{name}_join")
                made.append(Gateway(self.entries[name], kind, "join"))
            made.append(Gateway(name, kind, role))
        return tuple(made)

    def _free(self, wanted: str) -> str:
        """The wanted name, or the first with a number behind it that is free; it is taken then."""
        name, number = wanted, 2
        while name in self.taken:
            name, number = f"{wanted}_{number}", number + 1
        self.taken.add(name)
        return name

    def _link(self, edge: Edge) -> Link:
        source, target = self.names[edge.source], self.names[edge.target]
        if source == END or target == START:
            self.source.fail(edge.offset, "a link into START or out of END", "a link the other way round")
        guard = None if edge.text is None else labels.decode(edge.text) if edge.text.strip() else ""
        return Link(source, self.entries.get(target, target), guard)

    def _data_link(self, edge: Edge) -> DataLink:
        if sorted((self.kinds[edge.source], self.kinds[edge.target])) != ["data", "task"]:
            self.source.fail(edge.offset, "a link of data", "data at one end and a task at the other")
        return DataLink(self.names[edge.source], self.names[edge.target])

    def _closed(self, links: list[Link]) -> tuple[Link, ...]:
        """The links, and from START to all sources where none is drawn, to END from all sinks where none is."""
        nodes = [self.names[id] for id, kind in self.kinds.items() if kind in ("task", "gateway")]
        if not links and len(nodes) > 1:  # a chart of data flow alone says nothing of order
            return ()
        drawn = set(self.kinds.values())
        sources, targets = {link.source for link in links}, {link.target for link in links}
        entries = [self.entries.get(name, name) for name in nodes]
        first = [Link(START, name) for name in entries if name not in targets] if "start" not in drawn else []
        last = [Link(name, END) for name in nodes if name not in sources] if "end" not in drawn else []
        return (*first, *links, *last)
