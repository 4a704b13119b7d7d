"""What a Mermaid flowchart means: a workflow of it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

from ..workflow.model import Task, Workflow
from . import mermaid_labels as labels
from .mermaid_chart import Chart, Comment, Edge, charts
from .mermaid_cursor import Vertex
from .mermaid_level import Level, read_label
from .source import Source


def parse(text: str, where: str = "") -> tuple[Workflow, ...]:
    """The workflows of the flowcharts of a text, in its order. Raises ReadError."""
    source = Source(text, where)
    found = [_Meaning(source, chart).level(None, "") for chart in charts(source)]
    if not found:
        source.fail(len(text), "no flowchart", "'flowchart TD', or 'graph' in its place")
    return tuple(_named(found))


def _named(found: list[Workflow]) -> Iterator[Workflow]:
    """The workflows, those without a name numbered."""
    nameless = sum(not one.name for one in found)
    number = 0
    for one in found:
        number += not one.name
        yield one if one.name else replace(one, name="Flowchart" if nameless == 1 else f"Flowchart{number}")


class _Meaning:
    """One chart: which boxes are composite tasks, what is on which level, and what every id is called there."""

    def __init__(self, source: Source, chart: Chart) -> None:
        self.source, self.chart = source, chart
        for box in chart.subgraphs:
            chart.vertices.pop(box, None)  # a mention of the box, no node
        self.groups: set[str] = set()
        for edge in chart.edges:
            one, other = self._around(edge.source), self._around(edge.target)
            shared = sum(1 for a, b in zip(one, other, strict=False) if a == b)
            self.groups.update(one[shared:], other[shared:])
        self.vertices: dict[str | None, list[Vertex]] = {}
        self.boxes: dict[str | None, list[str]] = {}
        self.edges: dict[str | None, list[Edge]] = {}
        self.comments: dict[str | None, list[Comment]] = {}
        self._sort()

    def _around(self, id: str) -> tuple[str, ...]:
        """The boxes around a node or a box, the outermost first."""
        box = self.chart.subgraphs.get(id)
        parent = box.parent if box else self.chart.owner.get(id)
        around: list[str] = []
        while parent is not None:
            around.append(parent)
            parent = self.chart.subgraphs[parent].parent
        return tuple(reversed(around))

    def _home(self, id: str) -> str | None:
        """The composite task whose level a node or a box is on; None is the workflow's own level."""
        return next((box for box in reversed(self._around(id)) if box not in self.groups), None)

    def _sort(self) -> None:
        for vertex in self.chart.vertices.values():
            self.vertices.setdefault(self._home(vertex.id), []).append(vertex)
        for box in self.chart.subgraphs:
            if box not in self.groups:
                self.boxes.setdefault(self._home(box), []).append(box)
        for edge in self.chart.edges:
            for end in (edge.source, edge.target):
                if end in self.groups:
                    expected = "either links to the subgraph itself or links across its border"
                    self.source.fail(
                        edge.offset, f"a link to the subgraph {end!r}, whose border others cross", expected
                    )
            self.edges.setdefault(self._home(edge.source), []).append(edge)
        for one in self.chart.comments:
            inside = self._home(one.inside) if one.inside in self.groups else one.inside
            self.comments.setdefault(inside, []).append(one)

    def level(self, box: str | None, name: str) -> Workflow:
        """The workflow that a box holds; None is the whole chart. Raises ReadError."""
        said = self._said(box)
        made = Level(self.source, box, self.edges.get(box, []), said.pop("workflow", "") or name or self.chart.title)
        for vertex in self.vertices.get(box, []):
            made.add(vertex)
        for inner in self.boxes.get(box, []):
            made.add_task(inner, self._composite(inner), self.chart.subgraphs[inner].offset)
        return replace(made.workflow(), **said)

    def _composite(self, box: str) -> Task:
        subgraph = self.chart.subgraphs[box]
        name, said = read_label(self.source, subgraph.title or box, labels.OF_TASK, subgraph.offset)
        return Task(name or box, subworkflow=self.level(box, name or box), **said)

    def _said(self, box: str | None) -> dict[str, Any]:
        """What the comment lines of a level say of it, by the names of the model's fields. Raises ReadError."""
        said: dict[str, Any] = {}
        for one in self.comments.get(box, []):
            try:
                new = labels.read_lines([(one.key, labels.decode(one.text))])
            except labels.LabelError as error:
                self.source.fail(one.offset, error.found, error.expected)
            if "parameters" in new:
                new["parameters"] = (*said.get("parameters", ()), *new["parameters"])
            said.update(new)
        return said
