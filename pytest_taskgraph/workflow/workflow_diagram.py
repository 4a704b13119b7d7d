"""The diagram of a workflow: what is drawn of it, as plain data (DESIGN.md, section 2, "Diagram").

What is inside a composite task is drawn inside it, whether it stands there inline or by reference. Workflows that come
back inside themselves are drawn once, each in a box of its own, and the tasks that call them say so.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence

from ..diagram import MOST_EDGES, MOST_NODES, Diagram, DiagramEdge, DiagramGroup, DiagramNode, NodeKind
from ..errors import WorkflowError
from .model import END, START, Task, Workflow
from .references import assemble, expand

_Item = tuple[str, NodeKind]


def diagram(workflow: Workflow) -> Diagram:
    """The diagram of a workflow with derivation resolved; the same for equal workflows.

    Levels are opened from the outside in while there is room for all that is in them; a composite task without room is
    drawn closed, with a note. Of a single level over MOST_NODES the first are drawn, and `omitted` counts the others.
    """
    whole = _resolved(workflow)
    drawing = _Drawing(whole)
    drawing.open(whole, "")
    for other in whole.others:
        drawing.open_other(other)
    while drawing.waiting:
        drawing.draw(*drawing.waiting.popleft())
    return drawing.made


def _resolved(workflow: Workflow) -> Workflow:
    """The workflow with its references inline; as it stands where that comes to too much or does not hold together."""
    for resolve in (expand, assemble):
        try:
            return resolve(workflow)
        except WorkflowError:
            continue
    return workflow


class _Drawing:
    """A diagram in the making; levels whose group is made wait for what is in them."""

    def __init__(self, whole: Workflow) -> None:
        self.title = str(whole.qualified)
        self.nodes: list[DiagramNode] = []
        self.edges: list[DiagramEdge] = []
        self.groups: list[DiagramGroup] = []
        self.room = MOST_NODES
        self.omitted = 0
        self.waiting: deque[tuple[Workflow, str, int]] = deque()

    @property
    def made(self) -> Diagram:
        return Diagram(self.title, self.nodes, self.edges, self.groups, self.omitted)

    def open(self, level: Workflow, group: str) -> None:
        """Reserves room for the level, as much as it needs or there is."""
        wanted = _size(level)
        given = min(wanted, self.room)
        self.room -= given
        self.omitted += wanted - given
        self.waiting.append((level, group, given))

    def open_other(self, other: Workflow) -> None:
        """A box for a further workflow, unless there is no room for all of it."""
        if _size(other) > self.room:
            self.omitted += _size(other)
        else:
            self.open(other, self.group(str(other.qualified), "", ""))

    def group(self, label: str, parent: str, note: str) -> str:
        """The id of a new group."""
        self.groups.append(DiagramGroup(f"g{len(self.groups)}", label, parent, note))
        return self.groups[-1].id

    def node(self, label: str, kind: NodeKind, group: str, note: str = "") -> str:
        """The id of a new node."""
        self.nodes.append(DiagramNode(f"n{len(self.nodes)}", label, kind, group, note))
        return self.nodes[-1].id

    def draw(self, level: Workflow, group: str, most: int) -> None:
        """The first `most` nodes of a level, and the links between them."""
        ids = {START: self.node(START, "start", group)} if _linked(level, START) else {}
        for task in level.tasks[:most]:
            ids[task.name] = self.task(task, group)
        for name, kind in _others_than_tasks(level)[: max(0, most - len(level.tasks))]:
            ids[name] = self.node(name, kind, group)
        if _linked(level, END):
            ids[END] = self.node(END, "end", group)
        control = [DiagramEdge(ids[one.source], ids[one.target], one.guard or "")
                   for one in level.links if one.source in ids and one.target in ids]  # fmt: skip
        data = [DiagramEdge(ids[one.source], ids[one.target], kind="data")
                for one in level.data_links if one.source in ids and one.target in ids]  # fmt: skip
        self.link([*control, *data])

    def link(self, edges: Sequence[DiagramEdge]) -> None:
        """Takes in as many of the edges as there is room for."""
        kept = edges[: MOST_EDGES - len(self.edges)]
        self.omitted += len(edges) - len(kept)
        self.edges += kept

    def task(self, task: Task, group: str) -> str:
        """The id of a task: a node, or a group around its sub-workflow."""
        below = task.subworkflow
        if below is None:
            called = f"calls {task.reference}" if task.reference else ""
            return self.node(task.name, "composite" if called else "task", group, called)
        if not (inside := _size(below)) or inside > self.room:
            return self.node(task.name, "composite", group, f"{len(below.tasks)} tasks inside")
        named = str(below.qualified) if below.name != task.name else ""
        box = self.group(task.name, group, named)
        self.open(below, box)
        return box


def _size(level: Workflow) -> int:
    return len(level.tasks) + len(level.gateways) + len(level.data)


def _others_than_tasks(level: Workflow) -> list[_Item]:
    return [*((one.name, one.kind) for one in level.gateways), *((one.name, "data") for one in level.data)]


def _linked(level: Workflow, end: str) -> bool:
    return any(end in (link.source, link.target) for link in level.links)
