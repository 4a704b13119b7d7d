"""The reader of Mermaid flowcharts: a chart becomes a workflow and the conventions by which it was read."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import replace
from pathlib import PurePath
from typing import Any

from ...source import Source
from ...workflow.model import END, START, Task, Workflow
from ..attribute_lines import DATA_KEYS, TASK_KEYS, LineError, read_lines
from ..notation import Interpretation
from .chart import LARGEST, Chart, ChartEdge, Comment, is_numbered, read_charts, without_markdown
from .conventions import Conventions, write_guide
from .meaning import ChartLevel, end_sign, is_gateway, read_placed_label, start_or_end
from .node_text import decode, has_duration_line, has_markup, label_spellings
from .scanner import Vertex


def parse(text: str, where: str = "") -> tuple[Workflow, ...]:
    """Return the workflows of the flowcharts of a text, in its order.

    Raises:
        ReadError: if the text is no flowchart, or the chart has no meaning as a workflow.
    """
    return interpret(text, where).workflows


def interpret(text: str, where: str = "") -> Interpretation:
    """Return the workflows of the flowcharts of a text, with the guide that states how they were read.

    Raises:
        ReadError: if the text is no flowchart, or the chart has no meaning as a workflow.
    """
    source = Source(without_markdown(text), where)
    flowcharts = read_charts(source)
    if not flowcharts:
        source.fail(len(text), "no flowchart", "'flowchart TD', or 'graph' in its place")
    applied, layouts = Conventions(), [_Layout(source, chart) for chart in flowcharts]
    applied.cylinders_as_tasks = any(layout.has_cylinder_without_task() for layout in layouts)
    applied.ends_as_tasks = {label for layout in layouts for label in layout.passed_ends(applied.cylinders_as_tasks)}
    meanings = [_Meaning(layout, applied) for layout in layouts]
    if applied.all_by_id:  # if one chart names nodes by id, the guide holds for all charts
        for meaning in meanings:
            meaning.call_by_id(set(meaning.names))
    workflows = [meaning.level(None, "") for meaning in meanings]
    names = _chart_names([workflow.name for workflow in workflows], flowcharts, where)
    return Interpretation(
        tuple(replace(workflow, name=name) for workflow, name in zip(workflows, names, strict=True)),
        write_guide(applied),
        _presented_text(source, flowcharts, workflows, names, text),
        unnamed=len(flowcharts) == 1 and not workflows[0].name and not flowcharts[0].file,
        spellings={name: meaning.spellings() for name, meaning in zip(names, meanings, strict=True)},
    )


def _chart_names(titles: list[str], flowcharts: list[Chart], where: str) -> list[str]:
    """Return the names of the charts: titles, else stems of their files; numbered if several are the same."""
    candidates = [
        title or PurePath(chart.file or where).stem or "Flowchart"
        for title, chart in zip(titles, flowcharts, strict=True)
    ]
    counts, seen, names = Counter(candidates), Counter[str](), list[str]()
    for name in candidates:
        seen[name] += 1
        names.append(name if counts[name] == 1 else f"{name} {seen[name]}")
    return names


def _presented_text(
    source: Source, flowcharts: list[Chart], workflows: list[Workflow], names: list[str], text: str
) -> str:
    """Return the text as a model sees it: without Markdown around it, and with names for unnamed charts."""
    parts = [source.text[chart.begin : chart.end].strip("\r\n") for chart in flowcharts]
    if len(flowcharts) == 1:
        return text if source.text == text else parts[0].rstrip()
    if source.text == text and [workflow.name for workflow in workflows] == names:
        return text
    file = PurePath(source.where).name or "charts"
    headed = (f"%% file: {file}\n%% workflow: {name}\n{part.rstrip()}" for name, part in zip(names, parts, strict=True))
    return "\n\n".join(headed)


class _Layout:
    """The layout of one chart: which boxes only group nodes, and which nodes are on which level."""

    def __init__(self, source: Source, chart: Chart) -> None:
        self.source, self.chart = source, chart
        for box in chart.subgraphs:
            chart.vertices.pop(box, None)  # mentions of the box, not a node
        self.groups: set[str] = set()
        for edge in chart.edges:  # a box whose border an edge crosses only groups nodes
            source_boxes, target_boxes = self._enclosing_boxes(edge.source), self._enclosing_boxes(edge.target)
            shared = sum(1 for a, b in zip(source_boxes, target_boxes, strict=False) if a == b)
            self.groups.update(source_boxes[shared:], target_boxes[shared:])
        self.group_links = any(end in self.groups for edge in chart.edges for end in (edge.source, edge.target))
        self.links: list[ChartEdge] = []
        for edge in chart.edges:
            self.links += self._expand_groups(edge)
            if len(self.links) > LARGEST:
                source.fail(edge.offset, "too many links", f"at most {LARGEST}")

    def _enclosing_boxes(self, node_id: str) -> tuple[str, ...]:
        """Return the boxes around a node or a box, the outermost first."""
        box = self.chart.subgraphs.get(node_id)
        parent = box.parent if box else self.chart.owner.get(node_id)
        around: list[str] = []
        while parent is not None:
            around.append(parent)
            parent = self.chart.subgraphs[parent].parent
        return tuple(reversed(around))

    def level_of(self, node_id: str) -> str | None:
        """Return the composite task on whose level a node or a box is; None is the workflow's own level."""
        return next((box for box in reversed(self._enclosing_boxes(node_id)) if box not in self.groups), None)

    def _expand_groups(self, edge: ChartEdge) -> Iterator[ChartEdge]:
        """Yield the edge; an edge to or from a group becomes an edge to or from each node in it.

        Raises:
            ReadError: for an edge between a group and a node inside it, and for too many edges.
        """
        if edge.source not in self.groups and edge.target not in self.groups:
            yield edge
            return
        sources, targets = self._group_members(edge.source), self._group_members(edge.target)
        if set(sources) & set(targets):
            self.source.fail(
                edge.offset, "a link between a subgraph and a node inside it, which is not supported", "other ends"
            )
        if len(sources) * len(targets) > LARGEST:
            self.source.fail(edge.offset, "too many links", f"at most {LARGEST}")
        yield from (replace(edge, source=source, target=target) for source in sources for target in targets)

    def _group_members(self, node_id: str) -> list[str]:
        """Return the nodes that a group stands for at the end of an edge; of anything else only the id."""
        if node_id not in self.groups:
            return [node_id]
        inside = [box for box in self.chart.subgraphs if box not in self.groups]
        candidates = [*self.chart.vertices, *inside]
        return [
            node
            for node in candidates
            if node_id in self._enclosing_boxes(node) and self.level_of(node) == self.level_of(node_id)
        ]

    def has_cylinder_without_task(self) -> bool:
        """Return True if an edge joins a cylinder with a node other than a task.

        Cylinders cannot be data then.
        """
        return any(
            "cylinder" in kinds and "task" not in kinds
            for kinds in ({self.kind(edge.source), self.kind(edge.target)} for edge in self.links)
        )

    def kind(self, node_id: str) -> str:
        """Return the kind of a node by its shape and label: "cylinder", "end", "gateway" or "task"."""
        vertex = self.chart.vertices.get(node_id)
        if vertex is None:
            return "task"
        if start_or_end(vertex):
            return "end"
        return "cylinder" if vertex.shape == "[(" else "gateway" if is_gateway(vertex) else "task"

    def passed_ends(self, cylinders_as_tasks: bool) -> Iterator[str]:
        """Yield the labels of START nodes that edges lead to, and of END nodes that edges leave.

        For a node that is START or END by its shape, the shape is yielded.
        """
        for edge in self.links:
            if not cylinders_as_tasks and "cylinder" in (self.kind(edge.source), self.kind(edge.target)):
                continue
            for node_id, passed_end in ((edge.source, END), (edge.target, START)):
                vertex = self.chart.vertices.get(node_id)
                if vertex is not None and start_or_end(vertex) == passed_end:
                    yield end_sign(vertex)


class _Meaning:
    """The meaning of one chart: the name for every id, and the workflows on its levels."""

    def __init__(self, layout: _Layout, applied: Conventions) -> None:
        self.layout, self.source, self.chart, self.applied = layout, layout.source, layout.chart, applied
        self.vertices: dict[str | None, list[Vertex]] = {}
        self.boxes: dict[str | None, list[str]] = {}
        self.edges: dict[str | None, list[ChartEdge]] = {}
        self.comments: dict[str | None, list[Comment]] = {}
        self._sort_by_level()
        self.labels = dict(self._labels())
        self.names: dict[str, str] = {}
        self._assign_names()
        self._record_layout()

    def _sort_by_level(self) -> None:
        layout = self.layout
        for vertex in self.chart.vertices.values():
            self.vertices.setdefault(layout.level_of(vertex.id), []).append(vertex)
        for box in self.chart.subgraphs:
            if box not in layout.groups:
                self.boxes.setdefault(layout.level_of(box), []).append(box)
        for edge in layout.links:
            self.edges.setdefault(layout.level_of(edge.source), []).append(edge)
        for comment in self.chart.comments:
            inside = layout.level_of(comment.inside) if comment.inside in layout.groups else comment.inside
            self.comments.setdefault(inside, []).append(comment)

    def _record_layout(self) -> None:
        applied, layout = self.applied, self.layout
        applied.composites |= any(self.boxes.values())
        applied.groups |= bool(layout.groups)
        applied.group_links |= layout.group_links
        applied.invisible |= self.chart.invisible
        applied.own_ids |= self.chart.own_ids
        for edge in self.chart.edges:
            applied.headless |= edge.sign == ""
            applied.two_headed |= len(edge.sign) == 2
            applied.marked_heads |= bool(set(edge.sign) & set("ox"))

    def _labels(self) -> Iterator[tuple[str, str]]:
        """Yield ids and labels, as written, of all tasks and data."""
        for vertex in self.chart.vertices.values():
            if self._has_name(vertex):
                yield vertex.id, vertex.label or vertex.id
        for box, subgraph in self.chart.subgraphs.items():
            if box not in self.layout.groups:
                yield box, subgraph.title or box

    def _has_name(self, vertex: Vertex) -> bool:
        """Return True if the node has a name, which is the case for a task or data."""
        kind = self.layout.kind(vertex.id)
        return kind in ("task", "cylinder") or (kind == "end" and end_sign(vertex) in self.applied.ends_as_tasks)

    def _assign_names(self) -> None:
        """Set the names of tasks and data: the label, or the id if others on the level share the label."""
        names = {node_id: self._label_name(node_id) for node_id in self.labels}
        levels = {node_id: self.layout.level_of(node_id) for node_id in names}
        counts = Counter((levels[node_id], name) for node_id, name in names.items())
        by_id = {
            node_id for node_id, name in names.items() if counts[levels[node_id], name] > 1 or name in (START, END)
        }
        by_label = {(levels[node_id], name) for node_id, name in names.items() if node_id not in by_id}
        self.applied.all_by_id |= any((levels[node_id], node_id) in by_label for node_id in by_id)
        self.applied.by_id |= by_id
        self.names = names
        self.call_by_id(by_id)

    def call_by_id(self, ids: set[str]) -> None:
        """Set the names of these nodes to their ids.

        Raises:
            ReadError: if an id does not stand in the text.
        """
        for node_id in ids:
            if not self._is_written(node_id) or node_id in (START, END):
                description = f"a second node called {self.names[node_id][:60]!r}, which is not supported"
                self.source.fail(self._offset(node_id), description, "a label or an id of its own")
        self.names |= {node_id: node_id for node_id in ids}

    def _is_written(self, node_id: str) -> bool:
        """Return True unless the id is generated, for a subgraph that no written id means."""
        return not is_numbered(node_id)

    def _offset(self, node_id: str) -> int:
        box = self.chart.subgraphs.get(node_id)
        return box.offset if box else self.chart.vertices[node_id].offset

    def _label_name(self, node_id: str) -> str:
        known_keys = (*TASK_KEYS, *DATA_KEYS)
        return read_placed_label(self.source, self.labels[node_id], known_keys, self._offset(node_id))[0] or node_id

    def spellings(self) -> dict[str, str]:
        """Return the other ways in which an answer may write the names: labels as written, and ids."""
        known_names, names_by_text = set(self.names.values()), dict[str, set[str]]()
        for node_id, name in self.names.items():
            texts = [node_id] if name == node_id else [node_id, *label_spellings(self.labels[node_id])]
            for text in texts:
                if text.strip() and text not in known_names:
                    names_by_text.setdefault(text.strip(), set()).add(name)
        return {
            text: next(iter(names))
            for text, names in names_by_text.items()
            if len(names) == 1 and text not in known_names
        }

    def level(self, box: str | None, name: str) -> Workflow:
        """Return the workflow that a box holds; None is the whole chart.

        Raises:
            ReadError: for a malformed label, comment or link.
        """
        attributes = self._level_attributes(box)
        own_name = attributes.pop("workflow", "") or name or ("" if box else self.chart.title)
        level = ChartLevel(self.source, box, self.edges.get(box, []), own_name, self.names, self.applied)
        for vertex in self.vertices.get(box, []):
            level.add(vertex, self._has_name(vertex))
        for inner in self.boxes.get(box, []):
            level.add_task(inner, self._composite(inner), self.chart.subgraphs[inner].offset)
        return replace(level.workflow(), **attributes)

    def _composite(self, box: str) -> Task:
        subgraph, name = self.chart.subgraphs[box], self.names[box]
        _, attributes = read_placed_label(self.source, subgraph.title or box, TASK_KEYS, subgraph.offset)
        if has_duration_line(subgraph.title or box):
            self.applied.durations |= "duration" in attributes
        else:  # a composite task lasts as long as its inside, whatever its title says
            attributes.pop("duration", None)
        self.applied.markup |= has_markup(subgraph.title or box)
        return Task(name, subworkflow=self.level(box, name), **attributes)

    def _level_attributes(self, box: str | None) -> dict[str, Any]:
        """Return the attributes that the comments of a level state, by the names of the model's fields.

        Raises:
            ReadError: for a malformed comment.
        """
        attributes: dict[str, Any] = {}
        for comment in self.comments.get(box, []):
            try:
                added = read_lines([(comment.key, decode(comment.text))])
            except LineError as error:
                self.source.fail(comment.offset, error.found, error.expected)
            if "parameters" in added:
                added["parameters"] = (*attributes.get("parameters", ()), *added["parameters"])
            attributes.update(added)
        return attributes
