"""What the nodes and links of one level of a Mermaid flowchart mean: tasks, data, gateways, START and END."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal

from ...source import Source
from ...workflow.model import END, OTHERWISE, START, Data, DataLink, Gateway, GatewayKind, Link, Task, Workflow
from .chart import Chart, ChartEdge, charts
from .conventions import Conventions
from .node_text import EDGES, OF_DATA, OF_TASK, LabelError, plain, read_label, written_lines
from .scanner import BAR, BEGIN, STOP, Vertex

_Role = Literal["split", "join"]
_Kind = Literal["start", "end", "data", "gateway", "task"]
_END_SHAPES = {BEGIN: START, STOP: END}
_OURS = re.compile(r"(parallel|exclusive|inclusive) (split|join)")
_WORDS: dict[GatewayKind, re.Pattern[str]] = {
    "parallel": re.compile(r"(?:and|\+|&|∥|fork|join|parallel(?: (?:gateway|fork|join|split|merge))?)[ _-]?\d*"),
    "inclusive": re.compile(r"(?:or|o|inclusive(?: (?:gateway|or|choice|decision|split|join|merge))?)[ _-]?\d*"),
    "exclusive": re.compile(r"(?:xor|x|exclusive(?: (?:gateway|or|choice|decision|split|join|merge))?)[ _-]?\d*"),
}


def read_placed_label(source: Source, label: str, known: tuple[str, ...], offset: int) -> tuple[str, dict[str, Any]]:
    """Name and fields that a label holds. Raises ReadError at the offset."""
    try:
        return read_label(label, known)
    except LabelError as error:
        source.fail(offset, error.found, error.expected)


def is_end(vertex: Vertex) -> str:
    """Return START or END for a node that its label or its shape makes that, "" for any other."""
    # Codes are not decoded: a first letter as a code tells a task of that name from START and END.
    text = " ".join(written_lines(vertex.label or vertex.id)).strip().lower()
    if text in EDGES:
        return START if text == "start" else END
    return _END_SHAPES.get(vertex.shape, "")


def end_sign(vertex: Vertex) -> str:
    """Return what makes a node START or END: its label, or `shape: NAME`."""
    by_label = " ".join(written_lines(vertex.label or vertex.id)).strip().lower() in EDGES
    return plain(vertex.label or vertex.id) if by_label else f"shape: {vertex.named}"


def is_gateway(vertex: Vertex) -> bool:
    """Return True if the shape and the label of a node make it a gateway."""
    return vertex.shape in ("{", BAR) or (vertex.shape == "{{" and _gateway_kind(_text(vertex)) is not None)


def _text(vertex: Vertex) -> str:
    """Return the label of a gateway as its kind is looked for in it."""
    return plain(vertex.label or vertex.id).strip("` ").lower()


def _gateway_kind(text: str) -> GatewayKind | None:
    """The kind that a gateway's label tells, in lower case; None if it tells none."""
    if ours := _OURS.fullmatch(text):
        text = ours[1]
    return next((kind for kind, words in _WORDS.items() if words.fullmatch(text)), None)


class ChartLevel:
    """The nodes of one level under the names they have there; what is decided about them is entered in `applied`."""

    def __init__(
        self, source: Source, box: str | None, edges: list[ChartEdge], name: str, names: Mapping[str, str],
        applied: Conventions,
    ) -> None:  # fmt: skip
        self.source, self.edges, self.name, self.applied = source, edges, name, applied
        self.prefix = f"{box}__" if box else ""
        self.names = dict(names)  # id -> name
        self.taken = {START, END}
        self.kinds: dict[str, _Kind] = {}
        self.tasks: list[tuple[int, Task]] = []
        self.data: list[Data] = []
        self.waiting: list[Vertex] = []  # gateways, which are named last
        self.entries: dict[str, str] = {}  # name of a split -> that of the join before it

    def add(self, vertex: Vertex, named: bool) -> None:
        """Take in a node; one that is named is a task or data, any other START, END or a gateway. Raises ReadError."""
        if vertex.shape == "[(" and vertex.named:
            self.applied.shapes[vertex.named] = "cylinder"
        if not named:
            self._add_unnamed(vertex)
        elif vertex.shape == "[(" and not self.applied.cylinders_as_tasks and not is_end(vertex):
            self.kinds[vertex.id], self.applied.cylinders = "data", True
            said = self._said(vertex, OF_DATA)
            self.taken.add(self.names[vertex.id])
            self.data.append(Data(self.names[vertex.id], **said))
        else:
            self.applied.cylinders |= vertex.shape == "[(" and not is_end(vertex)
            said = self._said(vertex, OF_TASK)
            self.add_task(vertex.id, Task(self.names[vertex.id], **said), vertex.offset)

    def _add_unnamed(self, vertex: Vertex) -> None:
        edge, sign = is_end(vertex), end_sign(vertex)
        if edge and sign == f"shape: {vertex.named}":
            self.applied.end_shapes[vertex.named] = edge
        elif edge:
            self.applied.ends.add(sign)
        if edge:
            self.names[vertex.id] = edge
            self.kinds[vertex.id] = "start" if edge == START else "end"
        else:
            self.kinds[vertex.id] = "gateway"
            self.waiting.append(vertex)

    def add_task(self, id: str, task: Task, offset: int) -> None:
        """Take in a task."""
        self.kinds[id] = "task"
        self.taken.add(task.name)
        self.tasks.append((offset, task))

    def _said(self, vertex: Vertex, known: tuple[str, ...]) -> dict[str, Any]:
        """Return what the label says besides the name, by the names of the model's fields."""
        label = vertex.label or vertex.id
        name, said = read_placed_label(self.source, label, known, vertex.offset)
        self.applied.described |= bool(said)
        self.applied.markup |= name not in label or (not said and name != label.strip())
        return said

    def workflow(self) -> Workflow:
        """Return the level as a workflow. Raises ReadError."""
        control = [edge for edge in self.edges if not self._of_data(edge)]
        gateways = self._gateways(control)
        links = [*map(self._link, control), *(Link(join, split) for split, join in self.entries.items())]
        self._note(control, links)
        return Workflow(
            name=self.name,
            tasks=tuple(task for _, task in sorted(self.tasks, key=lambda one: one[0])),
            data=tuple(self.data),
            gateways=gateways,
            links=self._closed(links),
            data_links=tuple(map(self._data_link, filter(self._of_data, self.edges))),
        )

    def _note(self, control: list[ChartEdge], links: list[Link]) -> None:
        self.applied.control |= bool(control)
        self.applied.conditions |= any(link.guard is not None for link in links)
        self.applied.otherwise |= any(link.guard == OTHERWISE for link in links)
        tasks = {task.name for _, task in self.tasks}
        branches = Counter(link.source for link in links if link.guard is None and link.source in tasks)
        self.applied.unconditional_branches |= any(times > 1 for times in branches.values())

    def _of_data(self, edge: ChartEdge) -> bool:
        return "data" in (self.kinds[edge.source], self.kinds[edge.target])

    def _gateways(self, control: list[ChartEdge]) -> tuple[Gateway, ...]:
        """Return the gateways, named; where one node of a foreign chart both joins and splits, two."""
        made: list[Gateway] = []
        # A link from a node to itself says nothing of its role.
        between = [edge for edge in control if edge.source != edge.target]
        into, out = (Counter(getattr(edge, end) for edge in between) for end in ("target", "source"))
        for vertex in self.waiting:
            name = self.names[vertex.id] = self._free(vertex.id.removeprefix(self.prefix))
            kind, ours = self._kind_of(vertex)
            role: _Role = "join" if into[vertex.id] > 1 >= out[vertex.id] else "split"
            if ours:
                role = self._fitting(ours, into[vertex.id], out[vertex.id])
            elif into[vertex.id] > 1 < out[vertex.id]:
                self.entries[name] = self._free(f"{name}_join")
                made.append(Gateway(self.entries[name], kind, "join"))
            made.append(Gateway(name, kind, role))
        return tuple(made)

    def _fitting(self, told: _Role, into: int, out: int) -> _Role:
        """Return the role that a label tells, or the other one where the links of a foreign chart contradict it."""
        drawn = self.kinds.values()
        into += into == 0 and "start" not in drawn
        out += out == 0 and "end" not in drawn
        if told == "split" and into > 1 == out:
            return "join"
        return "split" if told == "join" and into == 1 < out else told

    def _kind_of(self, vertex: Vertex) -> tuple[GatewayKind, _Role | None]:
        """Return the kind of a gateway, and the role that its label tells in our charts."""
        applied, text, label = self.applied, _text(vertex), plain(vertex.label or vertex.id)
        if vertex.named and vertex.shape != BAR:
            applied.shapes[vertex.named] = "diamond" if vertex.shape == "{" else "hexagon"
        if ours := _OURS.fullmatch(text):
            applied.ours.add(label)
            return _gateway_kind(text) or "exclusive", "join" if ours[2] == "join" else "split"
        kind = "parallel" if vertex.shape == BAR else _gateway_kind(text) or "exclusive"
        if vertex.shape == BAR:
            applied.bars.add(vertex.named)
        elif kind == "parallel":
            applied.parallel.add(label)
        elif kind == "inclusive":
            applied.inclusive.add(label)
        elif vertex.shape == "{":
            applied.choices = True
        else:
            applied.choice_hexagons.add(label)
        return kind, None

    def _free(self, wanted: str) -> str:
        """Return the wanted name, or the first with a number behind it that is free; it is taken then."""
        name, number = wanted, 2
        while name in self.taken:
            name, number = f"{wanted}_{number}", number + 1
        self.taken.add(name)
        return name

    def _link(self, edge: ChartEdge) -> Link:
        source, target = self.names[edge.source], self.names[edge.target]
        if source == END or target == START:
            self.source.fail(edge.offset, "a link into START or out of END", "a link the other way round")
        guard = plain(edge.text) if edge.text else None
        guard = None if guard == "" and edge.text and edge.text.strip() else guard  # markup alone says nothing
        return Link(source, self.entries.get(target, target), guard)

    def _data_link(self, edge: ChartEdge) -> DataLink:
        if sorted((self.kinds[edge.source], self.kinds[edge.target])) != ["data", "task"]:
            self.source.fail(edge.offset, "a link of data", "data at one end and a task at the other")
        return DataLink(self.names[edge.source], self.names[edge.target])

    def _closed(self, links: list[Link]) -> tuple[Link, ...]:
        """Return the links, and from START to all sources where none is drawn, to END from all sinks where none is."""
        nodes = [self.names[id] for id, kind in self.kinds.items() if kind in ("task", "gateway")]
        if not links and len(nodes) > 1:  # a chart of data flow alone says nothing of order
            self.applied.unordered = True
            return ()
        drawn = set(self.kinds.values())
        sources, targets = {link.source for link in links}, {link.target for link in links}
        entries = [self.entries.get(name, name) for name in nodes]
        first = [Link(START, name) for name in entries if name not in targets] if "start" not in drawn else []
        last = [Link(name, END) for name in nodes if name not in sources] if "end" not in drawn else []
        self.applied.open_start |= "start" not in drawn
        self.applied.open_end |= "end" not in drawn
        return (*first, *links, *last)


ENDS = frozenset({START, END})


@dataclass(frozen=True, slots=True)
class DrawnEnds:
    """Whether all charts draw START and END outside of subgraphs, and how many subgraphs draw both."""

    whole: bool
    subgraphs: int


def drawn_ends(text: str) -> DrawnEnds:
    """Return where the Mermaid charts of a text draw START and END."""
    found = [_by_subgraph(chart) for chart in charts(Source(text, ""))]
    inner = sum(drawn >= ENDS for chart in found for owner, drawn in chart.items() if owner)
    return DrawnEnds(all(chart.get("", set()) >= ENDS for chart in found), inner)


def _by_subgraph(chart: Chart) -> dict[str, set[str]]:
    """Return which of START and END stand in each subgraph; those outside of all under the empty name."""
    drawn: dict[str, set[str]] = {}
    for vertex in chart.vertices.values():
        if end := is_end(vertex):
            drawn.setdefault(chart.owner.get(vertex.id) or "", set()).add(end)
    return drawn
