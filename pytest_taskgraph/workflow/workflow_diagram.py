"""The diagram of a workflow: what is drawn of it, as plain data.

The inside of a composite task is drawn inside it, whether it is inline or a reference. Workflows that contain
themselves are drawn once, each in a box of its own, and the tasks that call them name it in a note.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence

from ..diagram import MOST_EDGES, MOST_NODES, Diagram, DiagramBar, DiagramEdge, DiagramGroup, DiagramNode, NodeKind
from ..errors import WorkflowError
from .model import END, SECONDS, START, Task, TimeUnit, Workflow
from .references import assemble, expand
from .semantics.run_times import timing, units_in

_NameAndKind = tuple[str, NodeKind]


def diagram(workflow: Workflow) -> Diagram:
    """Return the diagram of a workflow with derivation resolved; the same for equal workflows.

    Levels are opened from the outside in while there is room for all that is in them; a composite task without room is
    drawn closed, with a note. Of a single level over MOST_NODES the first are drawn, and `omitted` counts the others.
    """
    resolved = _resolve_references(workflow)
    drawing = _Drawing(resolved)
    drawing.open(resolved, "")
    for other in resolved.others:
        drawing.open_other(other)
    while drawing.waiting:
        drawing.draw(*drawing.waiting.popleft())
    return drawing.diagram


def _resolve_references(workflow: Workflow) -> Workflow:
    """Return the workflow with its references inline; unchanged where that is too large or impossible."""
    for resolve in (expand, assemble):
        try:
            return resolve(workflow)
        except WorkflowError:
            continue
    return workflow


def _times(level: Workflow) -> tuple[list[DiagramBar], TimeUnit | str]:
    """Return when the tasks of a level run and the unit of these times; nothing unless durations alone decide it."""
    units = units_in(level)
    conditional = any(link.guard is not None for link in level.links)
    timed = timing(level, {}) if units and not conditional else None
    if timed is None:
        return [], ""
    size = SECONDS[units[0]]
    bars = [
        DiagramBar(task, start // size, length // size, slack == 0)
        for task, start, length, slack in zip(timed.run.tasks, timed.starts, timed.lengths, timed.slacks, strict=True)
    ]
    return sorted(bars, key=lambda bar: bar.start)[:MOST_NODES], units[0]


class _Drawing:
    """A diagram that is being drawn; levels whose group is drawn wait for what is in them."""

    def __init__(self, project: Workflow) -> None:
        self.title = str(project.qualified)
        self.nodes: list[DiagramNode] = []
        self.edges: list[DiagramEdge] = []
        self.groups: list[DiagramGroup] = []
        self.room = MOST_NODES
        self.omitted = 0
        self.times = _times(project)
        self.waiting: deque[tuple[Workflow, str, int]] = deque()

    @property
    def diagram(self) -> Diagram:
        """Return the diagram as drawn so far."""
        return Diagram(self.title, self.nodes, self.edges, self.groups, self.omitted, *self.times)

    def open(self, level: Workflow, group: str) -> None:
        """Reserve room for the level, as much as it needs or there is."""
        needed = _node_count(level)
        reserved = min(needed, self.room)
        self.room -= reserved
        self.omitted += needed - reserved
        self.waiting.append((level, group, reserved))

    def open_other(self, other: Workflow) -> None:
        """Open a box for a further workflow, unless there is no room for all of it."""
        if _node_count(other) > self.room:
            self.omitted += _node_count(other)
        else:
            self.open(other, self.group(str(other.qualified), "", ""))

    def group(self, label: str, parent: str, note: str) -> str:
        """Add a group and return its id."""
        self.groups.append(DiagramGroup(f"g{len(self.groups)}", label, parent, note))
        return self.groups[-1].id

    def node(self, label: str, kind: NodeKind, group: str, note: str = "") -> str:
        """Add a node and return its id."""
        self.nodes.append(DiagramNode(f"n{len(self.nodes)}", label, kind, group, note))
        return self.nodes[-1].id

    def draw(self, level: Workflow, group: str, most: int) -> None:
        """Draw the first `most` nodes of a level, and the links between them."""
        ids = {START: self.node(START, "start", group)} if _is_linked(level, START) else {}
        for task in level.tasks[:most]:
            ids[task.name] = self.task(task, group)
        for name, kind in _nodes_without_tasks(level)[: max(0, most - len(level.tasks))]:
            ids[name] = self.node(name, kind, group)
        if _is_linked(level, END):
            ids[END] = self.node(END, "end", group)
        control = [DiagramEdge(ids[link.source], ids[link.target], link.guard or "")
                   for link in level.links if link.source in ids and link.target in ids]  # fmt: skip
        control += [DiagramEdge(ids[link.source], ids[link.target], "exception")
                    for link in level.exceptional_links if link.source in ids and link.target in ids]  # fmt: skip
        data = [DiagramEdge(ids[link.source], ids[link.target], kind="data")
                for link in level.data_links if link.source in ids and link.target in ids]  # fmt: skip
        self.link([*control, *data])

    def link(self, edges: Sequence[DiagramEdge]) -> None:
        """Draw as many of the edges as there is room for, and count the others as omitted."""
        drawn_edges = edges[: MOST_EDGES - len(self.edges)]
        self.omitted += len(edges) - len(drawn_edges)
        self.edges += drawn_edges

    def task(self, task: Task, group: str) -> str:
        """Draw a task, as a node or as a group around its sub-workflow, and return its id."""
        subworkflow = task.subworkflow
        if subworkflow is None:
            reference = f"calls {task.reference}" if task.reference else ""
            return self.node(task.name, "composite" if reference else "task", group, reference)
        if not (inside := _node_count(subworkflow)) or inside > self.room:
            return self.node(task.name, "composite", group, f"{len(subworkflow.tasks)} tasks inside")
        note = str(subworkflow.qualified) if subworkflow.name != task.name else ""
        box = self.group(task.name, group, note)
        self.open(subworkflow, box)
        return box


def _node_count(level: Workflow) -> int:
    return len(level.tasks) + len(level.gateways) + len(level.data)


def _nodes_without_tasks(level: Workflow) -> list[_NameAndKind]:
    return [
        *((element.name, element.kind) for element in level.gateways),
        *((element.name, "data") for element in level.data),
    ]


def _is_linked(level: Workflow, end: str) -> bool:
    return any(end in (link.source, link.target) for link in level.links)
