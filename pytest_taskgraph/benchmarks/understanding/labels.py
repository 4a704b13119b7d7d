"""Labels of difficulty: what a reader of results may want to group questions by."""

from __future__ import annotations

from ...workflow.graph import starts, task_graph
from ...workflow.model import Workflow
from ...workflow.references import nested


def difficulty(workflow: Workflow) -> dict[str, str | int]:
    """Numbers of tasks, links and guards, and the depth and width of the task graph, of the level asked about.

    `depth` is the largest number of links from START to a task on shortest ways, `width` the largest number of tasks
    at one depth, `nested` the number of tasks below composite tasks.
    """
    layers = _layers(task_graph(workflow), starts(workflow))
    return {
        "tasks": len(workflow.tasks),
        "links": len(workflow.links) + len(workflow.data_links),
        "guards": sum(link.guard is not None for link in workflow.links),
        "depth": len(layers),
        "width": max((len(layer) for layer in layers), default=0),
        "nested": len(nested(workflow)),
    }


def _layers(graph: dict[str, tuple[str, ...]], first: tuple[str, ...]) -> list[tuple[str, ...]]:
    layers: list[tuple[str, ...]] = []
    seen: set[str] = set()
    while first:
        layers.append(first)
        seen.update(first)
        first = tuple(dict.fromkeys(after for task in first for after in graph[task] if after not in seen))
    return layers
