"""Labels: what a reader of results may want to group questions by, and a gate may be about."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

from ....generation.edits import EDITS
from ....generation.recipe import TASKS
from ....notations import NOTATIONS
from ....workflow.graph import starts, task_graph
from ....workflow.model import Workflow
from ....workflow.references import nested_task_paths
from ...family import Label
from ..family_options import UnderstandingSettings
from ..own_files.planting import KINDS as PLANTED
from ..patterns.pattern import PATTERNS
from ..prompts import PROMPTS, prompt_template
from .ingredients import PatternReference
from .phrasings import phrasing_of, worded
from .sample import NAMES

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
        "prompt": Label(tuple(PROMPTS)),
        "phrasing": Label(("1", "2")),
    }


def known_labels(
    references: Iterable[PatternReference], settings: UnderstandingSettings
) -> Iterator[Mapping[str, str | int | None]]:
    """Yield how each question will be asked, as far as that takes no building; nothing for one that is varied.

    None stands for a label that a question will not have: the size, about the user's own workflow. Equal ones are the
    same object.
    """
    made: dict[tuple[int, str, int], dict[str, str | int | None]] = {}
    chosen = prompt_template(settings.prompt, settings.templates).name
    for one in references:
        if one.relation:
            yield {}
            continue
        words = worded(PATTERNS[one.pattern], settings.templates)
        phrasing = phrasing_of(words, one.ordinal, settings.phrasing) + 1
        labels = {"size": one.tasks or None, "notation": one.notation, "prompt": chosen, "phrasing": phrasing}
        yield made.setdefault((one.tasks, one.notation, phrasing), labels)


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
        "nested": len(nested_task_paths(workflow)),
    }


def _layers(graph: dict[str, tuple[str, ...]], first: tuple[str, ...]) -> list[tuple[str, ...]]:
    layers: list[tuple[str, ...]] = []
    seen: set[str] = set()
    while first:
        layers.append(first)
        seen.update(first)
        first = tuple(dict.fromkeys(after for task in first for after in graph[task] if after not in seen))
    return layers
