"""The meaning of the nodes and links of one level of a Mermaid flowchart: tasks, data, gateways, START and END."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection, Mapping
from dataclasses import dataclass, replace
from typing import Any, Literal

from ...source import Source
from ...workflow.model import END, OTHERWISE, START, Data, DataLink, Gateway, GatewayKind, Link, Task, Workflow
from ..attribute_lines import DATA_KEYS, TASK_KEYS, LineError
from .chart import Chart, ChartEdge, read_charts
from .conventions import Conventions
from .node_text import END_LABELS, drawn_text, has_duration_line, read_label, written_lines
from .scanner import BAR, BEGIN, STOP, Vertex
from .write_mermaid import EXCEPTION

GatewayRole = Literal["split", "join"]
_Kind = Literal["start", "end", "data", "gateway", "task"]
_END_SHAPES = {BEGIN: START, STOP: END}
_OWN_LABEL = re.compile(r"(parallel|exclusive|inclusive) (split|join)")
_KIND_LABELS: dict[GatewayKind, re.Pattern[str]] = {
    "parallel": re.compile(r"(?:and|\+|&|∥|fork|join|parallel(?: (?:gateway|fork|join|split|merge))?)[ _-]?\d*"),
    "inclusive": re.compile(r"(?:or|o|inclusive(?: (?:gateway|or|choice|decision|split|join|merge))?)[ _-]?\d*"),
    "exclusive": re.compile(r"(?:xor|x|exclusive(?: (?:gateway|or|choice|decision|split|join|merge))?)[ _-]?\d*"),
}


def read_placed_label(
    source: Source, label: str, known_keys: tuple[str, ...], offset: int
) -> tuple[str, dict[str, Any]]:
    """Return the name and the attributes in a label.

    Raises:
        ReadError: at the offset, if an attribute is malformed or repeated.
    """
    try:
        return read_label(label, known_keys)
    except LineError as error:
        source.fail(offset, error.found, error.expected)


def start_or_end(vertex: Vertex) -> str:
    """Return START or END if the label or the shape of a node marks it as such, else ""."""
    # Character codes stay encoded: the writer encodes the first letter of a task that is called START or END.
    label = " ".join(written_lines(vertex.label or vertex.id)).strip().lower()
    if label in END_LABELS:
        return START if label == "start" else END
    return _END_SHAPES.get(vertex.shape, "")


def end_sign(vertex: Vertex) -> str:
    """Return the sign by which a node is START or END: its label, or `shape: NAME`."""
    by_label = " ".join(written_lines(vertex.label or vertex.id)).strip().lower() in END_LABELS
    return drawn_text(vertex.label or vertex.id) if by_label else f"shape: {vertex.shape_name}"


def is_gateway(vertex: Vertex) -> bool:
    """Return True if the shape and the label of a node make it a gateway."""
    return vertex.shape in ("{", BAR) or (vertex.shape == "{{" and _gateway_kind(_gateway_text(vertex)) is not None)


def _gateway_text(vertex: Vertex) -> str:
    """Return the label of a gateway in lower case, without decoration, as `_KIND_LABELS` expect it."""
    return drawn_text(vertex.label or vertex.id).strip("` ").lower()


def _gateway_kind(text: str) -> GatewayKind | None:
    """Return the kind that a gateway's label in lower case states; None if it states none."""
    if own_label := _OWN_LABEL.fullmatch(text):
        text = own_label[1]
    return next((kind for kind, words in _KIND_LABELS.items() if words.fullmatch(text)), None)


class ChartLevel:
    """The nodes of one level by name; the conventions by which they were understood are recorded in `applied`."""

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
        self.unnamed_gateways: list[Vertex] = []  # named last
        self.entries: dict[str, str] = {}  # name of a split -> name of the join before it

    def add(self, vertex: Vertex, has_name: bool) -> None:
        """Add a node.

        Args:
            vertex: The node.
            has_name: True for a task or data, False for START, END or a gateway.

        Raises:
            ReadError: for a malformed label.
        """
        if vertex.shape == "[(" and vertex.shape_name:
            self.applied.shapes[vertex.shape_name] = "cylinder"
        if not has_name:
            self._add_unnamed(vertex)
        elif vertex.shape == "[(" and not self.applied.cylinders_as_tasks and not start_or_end(vertex):
            self.kinds[vertex.id], self.applied.cylinders = "data", True
            attributes = self._attributes_of(vertex, DATA_KEYS)
            self.taken.add(self.names[vertex.id])
            self.data.append(Data(self.names[vertex.id], **attributes))
        else:
            self.applied.cylinders |= vertex.shape == "[(" and not start_or_end(vertex)
            attributes = self._attributes_of(vertex, TASK_KEYS)
            self.add_task(vertex.id, Task(self.names[vertex.id], **attributes), vertex.offset)

    def _add_unnamed(self, vertex: Vertex) -> None:
        end_name, sign = start_or_end(vertex), end_sign(vertex)
        if end_name and sign == f"shape: {vertex.shape_name}":
            self.applied.end_shapes[vertex.shape_name] = end_name
        elif end_name:
            self.applied.ends.add(sign)
        if end_name:
            self.names[vertex.id] = end_name
            self.kinds[vertex.id] = "start" if end_name == START else "end"
        else:
            self.kinds[vertex.id] = "gateway"
            self.unnamed_gateways.append(vertex)

    def add_task(self, node_id: str, task: Task, offset: int) -> None:
        """Add a task."""
        self.kinds[node_id] = "task"
        self.taken.add(task.name)
        self.tasks.append((offset, task))

    def _attributes_of(self, vertex: Vertex, known_keys: tuple[str, ...]) -> dict[str, Any]:
        """Return the attributes that the label states besides the name, by the names of the model's fields."""
        label = vertex.label or vertex.id
        name, attributes = read_placed_label(self.source, label, known_keys, vertex.offset)
        self.applied.described |= bool(attributes)
        if "duration" in attributes:
            self.applied.durations |= has_duration_line(label)
            self.applied.times_in_names |= not has_duration_line(label)
        self.applied.markup |= name not in label or (not attributes and name != label.strip())
        return attributes

    def workflow(self) -> Workflow:
        """Return the level as a workflow.

        Raises:
            ReadError: for a link into START or out of END, and for a malformed link of data.
        """
        control = [edge for edge in self.edges if not self._is_data_flow(edge)]
        exceptional = [edge for edge in control if self._is_exceptional(edge)]
        control = [edge for edge in control if not self._is_exceptional(edge)]
        gateways = self._gateways(control)
        exceptional_links = tuple(replace(self._link(edge), guard=None) for edge in exceptional)
        links = [*map(self._link, control), *(Link(join, split) for split, join in self.entries.items())]
        self._record_conventions(control, links)
        return Workflow(
            name=self.name,
            tasks=tuple(task for _, task in sorted(self.tasks, key=lambda placed_task: placed_task[0])),
            data=tuple(self.data),
            gateways=gateways,
            links=self._with_ends(links, {link.target for link in exceptional_links}),
            exceptional_links=exceptional_links,
            data_links=tuple(map(self._data_link, filter(self._is_data_flow, self.edges))),
        )

    def _record_conventions(self, control: list[ChartEdge], links: list[Link]) -> None:
        self.applied.control |= bool(control)
        self.applied.exceptional |= any(map(self._is_exceptional, self.edges))
        self.applied.conditions |= any(link.guard is not None for link in links)
        self.applied.otherwise |= any(link.guard == OTHERWISE for link in links)
        tasks = {task.name for _, task in self.tasks}
        ways = Counter(link.source for link in links if link.source in tasks)
        self.applied.branches |= any(times > 1 for times in ways.values())

    def _is_exceptional(self, edge: ChartEdge) -> bool:
        """Return True for an arrow out of a task with a cross at its end and the text "exception"."""
        return edge.sign == "x" and self.kinds[edge.source] == "task" and drawn_text(edge.text or "") == EXCEPTION

    def _is_data_flow(self, edge: ChartEdge) -> bool:
        return "data" in (self.kinds[edge.source], self.kinds[edge.target])

    def _gateways(self, control: list[ChartEdge]) -> tuple[Gateway, ...]:
        """Return the gateways with names; two for a node of another author's chart that joins and splits."""
        gateways: list[Gateway] = []
        # A link from a node to itself does not count for its role.
        between = [edge for edge in control if edge.source != edge.target]
        into, out = (Counter(getattr(edge, end) for edge in between) for end in ("target", "source"))
        for vertex in self.unnamed_gateways:
            name = self.names[vertex.id] = self._claim_name(vertex.id.removeprefix(self.prefix))
            kind, own_role = self._kind_of(vertex)
            role: GatewayRole = "join" if into[vertex.id] > 1 >= out[vertex.id] else "split"
            if own_role:
                role = self._role_by_links(own_role, into[vertex.id], out[vertex.id])
            elif into[vertex.id] > 1 < out[vertex.id]:
                self.entries[name] = self._claim_name(f"{name}_join")
                gateways.append(Gateway(self.entries[name], kind, "join"))
            gateways.append(Gateway(name, kind, role))
        return tuple(gateways)

    def _role_by_links(self, stated: GatewayRole, into: int, out: int) -> GatewayRole:
        """Return the stated role, or the other role if the links contradict it, as in charts of other authors."""
        kinds = self.kinds.values()
        into += into == 0 and "start" not in kinds
        out += out == 0 and "end" not in kinds
        if stated == "split" and into > 1 == out:
            return "join"
        return "split" if stated == "join" and into == 1 < out else stated

    def _kind_of(self, vertex: Vertex) -> tuple[GatewayKind, GatewayRole | None]:
        """Return the kind of a gateway, and the role that its label states in charts that `write_mermaid` wrote."""
        applied, text, label = self.applied, _gateway_text(vertex), drawn_text(vertex.label or vertex.id)
        if vertex.shape_name and vertex.shape != BAR:
            applied.shapes[vertex.shape_name] = "diamond" if vertex.shape == "{" else "hexagon"
        if own_label := _OWN_LABEL.fullmatch(text):
            applied.role_labels.add(label)
            return _gateway_kind(text) or "exclusive", "join" if own_label[2] == "join" else "split"
        kind = "parallel" if vertex.shape == BAR else _gateway_kind(text) or "exclusive"
        if vertex.shape == BAR:
            applied.bars.add(vertex.shape_name)
        elif kind == "parallel":
            applied.parallel.add(label)
        elif kind == "inclusive":
            applied.inclusive.add(label)
        elif vertex.shape == "{":
            applied.choices = True
        else:
            applied.choice_hexagons.add(label)
        return kind, None

    def _claim_name(self, preferred: str) -> str:
        """Return the preferred name, or the first free name that adds a number to it, and mark it as taken."""
        name, number = preferred, 2
        while name in self.taken:
            name, number = f"{preferred}_{number}", number + 1
        self.taken.add(name)
        return name

    def _link(self, edge: ChartEdge) -> Link:
        source, target = self.names[edge.source], self.names[edge.target]
        if source == END or target == START:
            self.source.fail(edge.offset, "a link into START or out of END", "a link the other way round")
        guard = drawn_text(edge.text) if edge.text else None
        guard = None if guard == "" and edge.text and edge.text.strip() else guard  # markup alone is no condition
        return Link(source, self.entries.get(target, target), guard)

    def _data_link(self, edge: ChartEdge) -> DataLink:
        if sorted((self.kinds[edge.source], self.kinds[edge.target])) != ["data", "task"]:
            self.source.fail(edge.offset, "a link of data", "data at one end and a task at the other")
        return DataLink(self.names[edge.source], self.names[edge.target])

    def _with_ends(self, links: list[Link], entered: Collection[str]) -> tuple[Link, ...]:
        """Return the links; if START or END is not drawn, add links from START to sources, and from sinks to END.

        Args:
            links: The links of the control flow.
            entered: Nodes to which exceptional links lead: they are no sources.
        """
        nodes = [self.names[node_id] for node_id, kind in self.kinds.items() if kind in ("task", "gateway")]
        if not links and len(nodes) > 1:  # data flow alone gives no order
            self.applied.unordered = True
            return ()
        kinds = set(self.kinds.values())
        sources, targets = {link.source for link in links}, {link.target for link in links}
        entries = [self.entries.get(name, name) for name in nodes]
        first = (
            [Link(START, name) for name in entries if name not in targets and name not in entered]
            if "start" not in kinds
            else []
        )
        last = [Link(name, END) for name in nodes if name not in sources] if "end" not in kinds else []
        self.applied.open_start |= "start" not in kinds
        self.applied.open_end |= "end" not in kinds
        return (*first, *links, *last)


ENDS = frozenset({START, END})


@dataclass(frozen=True, slots=True)
class DrawnEnds:
    """The START and END nodes that charts draw.

    Args:
        whole: True if all charts draw both START and END outside of subgraphs.
        subgraphs: The number of subgraphs that draw both.
    """

    whole: bool
    subgraphs: int


def drawn_ends(text: str) -> DrawnEnds:
    """Return where the Mermaid charts of a text draw START and END."""
    levels_of_charts = [_by_subgraph(chart) for chart in read_charts(Source(text, ""))]
    inner = sum(ends >= ENDS for chart in levels_of_charts for owner, ends in chart.items() if owner)
    return DrawnEnds(all(chart.get("", set()) >= ENDS for chart in levels_of_charts), inner)


def _by_subgraph(chart: Chart) -> dict[str, set[str]]:
    """Return which of START and END each subgraph draws; the empty name stands for the level outside of subgraphs."""
    ends: dict[str, set[str]] = {}
    for vertex in chart.vertices.values():
        if end := start_or_end(vertex):
            ends.setdefault(chart.owner.get(vertex.id) or "", set()).add(end)
    return ends
