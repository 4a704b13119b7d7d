"""Labels: what a reader of results may want to group questions by, and a gate may be about."""

from __future__ import annotations

from ...generation.edits import EDITS
from ...generation.recipe import TASKS
from ...notations import NOTATIONS
from ...workflow.graph import starts, task_graph
from ...workflow.model import Workflow
from ...workflow.references import nested
from ..family import Label, QuestionReference
from ..frames import FRAMES, frame
from .pattern import PATTERNS
from .phrasings import phrasing_of, worded
from .planting import KINDS as PLANTED
from .sample import NAMES
from .settings import UnderstandingSettings

# Those that take building the question: how hard it is, and what its case is.
BUILT = (
    *("tasks", "links", "guards", "depth", "width", "nested"),
    *(
        "answers",
        "block",
        "blocks",
        "change",
        "conditions",
        "cycle",
        "difficulty",
        "distance",
        "edit",
        "flow",
        "gateway",
        "mixed",
        "nesting",
    ),
    *("names", "of_kind", "operator", "pair", "planted", "property", "relation", "runs", "sequence"),
)


def labels() -> dict[str, Label]:
    """The labels of our patterns, those that take building a question first."""
    return {
        **dict.fromkeys(BUILT, Label()),
        "size": Label(tuple(map(str, TASKS)), closed=True),
        "notation": Label(tuple(NOTATIONS), closed=True),
        "names": Label(NAMES, closed=True),
        "edit": Label((*EDITS, *PLANTED), closed=True),
        "frame": Label(tuple(FRAMES)),
        "phrasing": Label(("1", "2")),
    }


def known_labels(reference: QuestionReference, settings: UnderstandingSettings) -> dict[str, str | int | None]:
    """How the question will be asked, which is known before it is built; None for a label that it will not have."""
    words = worded(PATTERNS[reference.pattern], settings.templates)
    return {
        "size": reference.tasks or None,
        "notation": reference.notation,
        "frame": frame(settings.frame, settings.templates).name,
        "phrasing": phrasing_of(words, reference.ordinal, settings.phrasing) + 1,
    }


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
