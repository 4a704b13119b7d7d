"""What a Mermaid flowchart means: a workflow, and the conventions by which it was read."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import replace
from pathlib import PurePath
from typing import Any

from ...source import Source
from ...workflow.model import END, START, Task, Workflow
from ..notation import Interpretation
from .chart import LARGEST, Chart, ChartEdge, Comment, charts, without_markdown
from .conventions import Conventions, guide
from .meaning import ChartLevel, end_sign, is_end, is_gateway, read_placed_label
from .node_text import OF_DATA, OF_TASK, LabelError, decode, has_markup, label_spellings, read_lines
from .scanner import Vertex


def parse(text: str, where: str = "") -> tuple[Workflow, ...]:
    """Return the workflows of the flowcharts of a text, in its order. Raises ReadError."""
    return interpret(text, where).workflows


def interpret(text: str, where: str = "") -> Interpretation:
    """Return what the flowcharts of a text say, with the guide that tells how they were read. Raises ReadError."""
    source = Source(without_markdown(text), where)
    found = charts(source)
    if not found:
        source.fail(len(text), "no flowchart", "'flowchart TD', or 'graph' in its place")
    applied, layouts = Conventions(), [_Layout(source, chart) for chart in found]
    applied.cylinders_as_tasks = any(one.links_cylinders_otherwise() for one in layouts)
    applied.ends_as_tasks = {label for one in layouts for label in one.ends_passed(applied.cylinders_as_tasks)}
    meanings = [_Meaning(one, applied) for one in layouts]
    if applied.all_by_id:  # of one chart it is so, and the guide is to hold for all
        for one in meanings:
            one.call_by_id(set(one.names))
    workflows = [one.level(None, "") for one in meanings]
    names = _names([one.name for one in workflows], found, where)
    return Interpretation(
        tuple(replace(one, name=name) for one, name in zip(workflows, names, strict=True)),
        guide(applied),
        _shown(source, found, workflows, names, text),
        unnamed=len(found) == 1 and not workflows[0].name and not found[0].file,
        spellings={name: one.spellings() for name, one in zip(names, meanings, strict=True)},
    )


def _names(titles: list[str], found: list[Chart], where: str) -> list[str]:
    """Return the names of the charts: their titles, else those of their files; numbered where several have the same."""
    wanted = [
        title or PurePath(chart.file or where).stem or "Flowchart" for title, chart in zip(titles, found, strict=True)
    ]
    counts, seen, names = Counter(wanted), Counter[str](), list[str]()
    for name in wanted:
        seen[name] += 1
        names.append(name if counts[name] == 1 else f"{name} {seen[name]}")
    return names


def _shown(source: Source, found: list[Chart], workflows: list[Workflow], names: list[str], text: str) -> str:
    """Return the text as it is presented: without the Markdown around it, and with names where charts had none."""
    parts = [source.text[chart.begin : chart.end].strip("\r\n") for chart in found]
    if len(found) == 1:
        return text if source.text == text else parts[0].rstrip()
    if source.text == text and [one.name for one in workflows] == names:
        return text
    file = PurePath(source.where).name or "charts"
    headed = (f"%% file: {file}\n%% workflow: {name}\n{part.rstrip()}" for name, part in zip(names, parts, strict=True))
    return "\n\n".join(headed)


class _Layout:
    """One chart: which boxes only group nodes, and what is on which level."""

    def __init__(self, source: Source, chart: Chart) -> None:
        self.source, self.chart = source, chart
        for box in chart.subgraphs:
            chart.vertices.pop(box, None)  # a mention of the box, no node
        self.groups: set[str] = set()
        for edge in chart.edges:
            one, other = self._around(edge.source), self._around(edge.target)
            shared = sum(1 for a, b in zip(one, other, strict=False) if a == b)
            self.groups.update(one[shared:], other[shared:])
        self.group_links = any(end in self.groups for edge in chart.edges for end in (edge.source, edge.target))
        self.links: list[ChartEdge] = []
        for written in chart.edges:
            self.links += self._spread(written)
            if len(self.links) > LARGEST:
                source.fail(written.offset, "too many links", f"at most {LARGEST}")

    def _around(self, id: str) -> tuple[str, ...]:
        """Return the boxes around a node or a box, the outermost first."""
        box = self.chart.subgraphs.get(id)
        parent = box.parent if box else self.chart.owner.get(id)
        around: list[str] = []
        while parent is not None:
            around.append(parent)
            parent = self.chart.subgraphs[parent].parent
        return tuple(reversed(around))

    def home(self, id: str) -> str | None:
        """Return the composite task whose level a node or a box is on; None is the workflow's own level."""
        return next((box for box in reversed(self._around(id)) if box not in self.groups), None)

    def _spread(self, edge: ChartEdge) -> Iterator[ChartEdge]:
        """Yield the edge; one to or from a group is one to or from each node in it. Raises ReadError."""
        if edge.source not in self.groups and edge.target not in self.groups:
            yield edge
            return
        sources, targets = self._members(edge.source), self._members(edge.target)
        if set(sources) & set(targets):
            self.source.fail(
                edge.offset, "a link between a subgraph and a node inside it, which is not supported", "other ends"
            )
        if len(sources) * len(targets) > LARGEST:
            self.source.fail(edge.offset, "too many links", f"at most {LARGEST}")
        yield from (replace(edge, source=one, target=other) for one in sources for other in targets)

    def _members(self, id: str) -> list[str]:
        """Return the nodes that a group stands for at the end of an edge; of anything else the id alone."""
        if id not in self.groups:
            return [id]
        inside = [one for one in self.chart.subgraphs if one not in self.groups]
        known = [*self.chart.vertices, *inside]
        return [one for one in known if id in self._around(one) and self.home(one) == self.home(id)]

    def links_cylinders_otherwise(self) -> bool:
        """Return True if an edge joins a cylinder with anything but a task, so that cylinders cannot be data."""
        return any(
            "cylinder" in kinds and "task" not in kinds
            for kinds in ({self.kind(edge.source), self.kind(edge.target)} for edge in self.links)
        )

    def kind(self, id: str) -> str:
        """Return what the shape and the label of a node make it: "cylinder", "end", "gateway" or "task"."""
        vertex = self.chart.vertices.get(id)
        if vertex is None:
            return "task"
        if is_end(vertex):
            return "end"
        return "cylinder" if vertex.shape == "[(" else "gateway" if is_gateway(vertex) else "task"

    def ends_passed(self, cylinders_as_tasks: bool) -> Iterator[str]:
        """Yield the labels of nodes called start that edges lead to, and of those called end that edges leave.

        Of a node that its shape makes START or END, the shape.
        """
        for edge in self.links:
            if not cylinders_as_tasks and "cylinder" in (self.kind(edge.source), self.kind(edge.target)):
                continue
            for id, passed in ((edge.source, END), (edge.target, START)):
                vertex = self.chart.vertices.get(id)
                if vertex is not None and is_end(vertex) == passed:
                    yield end_sign(vertex)


class _Meaning:
    """One chart: what every id is called, and the workflows on its levels."""

    def __init__(self, layout: _Layout, applied: Conventions) -> None:
        self.layout, self.source, self.chart, self.applied = layout, layout.source, layout.chart, applied
        self.vertices: dict[str | None, list[Vertex]] = {}
        self.boxes: dict[str | None, list[str]] = {}
        self.edges: dict[str | None, list[ChartEdge]] = {}
        self.comments: dict[str | None, list[Comment]] = {}
        self._sort()
        self.labels = dict(self._labels())
        self.names: dict[str, str] = {}
        self._name()
        self._note_layout()

    def _sort(self) -> None:
        layout = self.layout
        for vertex in self.chart.vertices.values():
            self.vertices.setdefault(layout.home(vertex.id), []).append(vertex)
        for box in self.chart.subgraphs:
            if box not in layout.groups:
                self.boxes.setdefault(layout.home(box), []).append(box)
        for edge in layout.links:
            self.edges.setdefault(layout.home(edge.source), []).append(edge)
        for one in self.chart.comments:
            inside = layout.home(one.inside) if one.inside in layout.groups else one.inside
            self.comments.setdefault(inside, []).append(one)

    def _note_layout(self) -> None:
        applied, layout = self.applied, self.layout
        applied.composites |= any(self.boxes.values())
        applied.groups |= bool(layout.groups)
        applied.group_links |= layout.group_links
        applied.invisible |= self.chart.invisible
        for edge in self.chart.edges:
            applied.headless |= edge.sign == ""
            applied.two_headed |= len(edge.sign) == 2
            applied.marked_heads |= bool(set(edge.sign) & set("ox"))

    def _labels(self) -> Iterator[tuple[str, str]]:
        """Yield ids and labels, as written, of all tasks and data."""
        for vertex in self.chart.vertices.values():
            if self._named(vertex):
                yield vertex.id, vertex.label or vertex.id
        for box, subgraph in self.chart.subgraphs.items():
            if box not in self.layout.groups:
                yield box, subgraph.title or box

    def _named(self, vertex: Vertex) -> bool:
        """Return True if the node has a name: it is a task or data."""
        kind = self.layout.kind(vertex.id)
        return kind in ("task", "cylinder") or (kind == "end" and end_sign(vertex) in self.applied.ends_as_tasks)

    def _name(self) -> None:
        """Enter what each task and data is called: by its label; by its id where others on its level share that."""
        names = {id: self._label_name(id) for id in self.labels}
        homes = {id: self.layout.home(id) for id in names}
        counts = Counter((homes[id], name) for id, name in names.items())
        by_id = {id for id, name in names.items() if counts[homes[id], name] > 1 or name in (START, END)}
        by_label = {(homes[id], name) for id, name in names.items() if id not in by_id}
        self.applied.all_by_id |= any((homes[id], id) in by_label for id in by_id)
        self.applied.by_id |= by_id
        self.names = names
        self.call_by_id(by_id)

    def call_by_id(self, ids: set[str]) -> None:
        """Call these nodes by their ids from now on. Raises ReadError where an id does not stand in the text."""
        for id in ids:
            if not self._is_written(id) or id in (START, END):
                found = f"a second node called {self.names[id][:60]!r}, which is not supported"
                self.source.fail(self._offset(id), found, "a label or an id of its own")
        self.names |= {id: id for id in ids}

    def _is_written(self, id: str) -> bool:
        """Return True unless the id was made here, for a subgraph whose title is no id."""
        return " " not in id

    def _offset(self, id: str) -> int:
        box = self.chart.subgraphs.get(id)
        return box.offset if box else self.chart.vertices[id].offset

    def _label_name(self, id: str) -> str:
        known = (*OF_TASK, *OF_DATA)
        return read_placed_label(self.source, self.labels[id], known, self._offset(id))[0] or id

    def spellings(self) -> dict[str, str]:
        """Return the further ways in which an answer may write the names: labels as they stand in the text, and ids."""
        known, meant = set(self.names.values()), dict[str, set[str]]()
        for id, name in self.names.items():
            written = [id] if name == id else [id, *label_spellings(self.labels[id])]
            for text in written:
                if text.strip() and text not in known:
                    meant.setdefault(text.strip(), set()).add(name)
        return {text: next(iter(names)) for text, names in meant.items() if len(names) == 1 and text not in known}

    def level(self, box: str | None, name: str) -> Workflow:
        """Return the workflow that a box holds; None is the whole chart. Raises ReadError."""
        said = self._said(box)
        own = said.pop("workflow", "") or name or ("" if box else self.chart.title)
        made = ChartLevel(self.source, box, self.edges.get(box, []), own, self.names, self.applied)
        for vertex in self.vertices.get(box, []):
            made.add(vertex, self._named(vertex))
        for inner in self.boxes.get(box, []):
            made.add_task(inner, self._composite(inner), self.chart.subgraphs[inner].offset)
        return replace(made.workflow(), **said)

    def _composite(self, box: str) -> Task:
        subgraph, name = self.chart.subgraphs[box], self.names[box]
        _, said = read_placed_label(self.source, subgraph.title or box, OF_TASK, subgraph.offset)
        self.applied.markup |= has_markup(subgraph.title or box)
        return Task(name, subworkflow=self.level(box, name), **said)

    def _said(self, box: str | None) -> dict[str, Any]:
        """Return what the comment lines of a level say of it, by the names of the model's fields. Raises ReadError."""
        said: dict[str, Any] = {}
        for one in self.comments.get(box, []):
            try:
                new = read_lines([(one.key, decode(one.text))])
            except LabelError as error:
                self.source.fail(one.offset, error.found, error.expected)
            if "parameters" in new:
                new["parameters"] = (*said.get("parameters", ()), *new["parameters"])
            said.update(new)
        return said
