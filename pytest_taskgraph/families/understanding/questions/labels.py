"""Labels of questions, by which results are grouped and gates restricted."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

from ....benchmarks.family import Label
from ....generation.edits import EDITS
from ....generation.recipe import TASKS
from ....notations import known_notations
from ....workflow.model import START, Workflow
from ....workflow.references import nested_task_paths
from ..own_files.planting import KINDS as PLANTED
from ..patterns.pattern import PATTERNS
from ..prompts import PROMPTS, prompt_template
from ..understanding_settings import UnderstandingSettings
from .ingredients import PatternReference
from .phrasings import apply_phrasings, phrasing_of
from .sample import NAMES

# Labels that require building the question: its difficulty and its case.
BUILT = (
    *("tasks", "links", "guards", "depth", "width", "nested"),
    *(
        "answers",
        "block",
        "blocks",
        "candidate",
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
    *("delay", "path", "preceding", "units", "workers"),
)


def labels() -> dict[str, Label]:
    """Return the labels of the patterns; those that require building a question come first."""
    return {
        **dict.fromkeys(BUILT, Label()),
        "size": Label(tuple(map(str, TASKS)), closed=True),
        "notation": Label(tuple(each.name for each in known_notations()), closed=True),
        "names": Label(NAMES, closed=True),
        "edit": Label((*EDITS, *PLANTED), closed=True),
        "prompt": Label(tuple(PROMPTS)),
        "phrasing": Label(("1", "2")),
    }


def known_labels(
    references: Iterable[PatternReference], settings: UnderstandingSettings
) -> Iterator[Mapping[str, str | int | None]]:
    """Yield the labels of each question that are known before it is built; none for a varied question.

    None stands for a label that a question will not have: the size, about the user's own workflow. Equal dictionaries
    are the same object.
    """
    labels_by_key: dict[tuple[int, str, int], dict[str, str | int | None]] = {}
    chosen = prompt_template(settings.prompt, settings.templates).name
    for reference in references:
        if reference.relation:
            yield {}
            continue
        phrased = apply_phrasings(PATTERNS[reference.pattern], settings.templates)
        phrasing = phrasing_of(phrased, reference.turn, settings.phrasing) + 1
        labels = {
            "size": reference.tasks or None,
            "notation": reference.notation,
            "prompt": chosen,
            "phrasing": phrasing,
        }
        yield labels_by_key.setdefault((reference.tasks, reference.notation, phrasing), labels)


def difficulty(workflow: Workflow, nested: int | None = None) -> dict[str, str | int]:
    """Return numbers of tasks, links and guards, and the depth and width of the task graph, of a level.

    `depth` is the largest number of links from START to a task on shortest paths, `width` the largest number of tasks
    at one depth, `nested` the number of tasks below composite tasks.

    Args:
        workflow: The level.
        nested: The number of tasks below composite tasks, if it is known already.
    """
    widths = _layer_widths(workflow)
    return {
        "tasks": len(workflow.tasks),
        "links": len(workflow.links) + len(workflow.data_links),
        "guards": len([link for link in workflow.links if link.guard is not None]),
        "depth": len(widths),
        "width": max(widths, default=0),
        "nested": len(nested_task_paths(workflow)) if nested is None else nested,
    }


def _layer_widths(workflow: Workflow) -> list[int]:
    """Return the number of tasks at each depth below START in the control flow, through gateways, from depth 1 on.

    One search over the links: `workflow.graph.task_graph` would first find the successors of every task.
    """
    following: dict[str, list[str]] = {}
    for link in workflow.links:
        following.setdefault(link.source, []).append(link.target)
    tasks, gateways = set(workflow.task_names), {gateway.name for gateway in workflow.gateways}
    widths: list[int] = []
    seen: set[str] = set()
    ahead = list(following.get(START, ()))
    while ahead:
        width, next_ahead = 0, list[str]()
        for node in ahead:  # grows by what lies behind gateways
            if node not in seen:
                seen.add(node)
                if node in tasks:
                    width += 1
                    next_ahead += following.get(node, ())
                elif node in gateways:
                    ahead += following.get(node, ())
        widths += [width] if width else []
        ahead = next_ahead
    return widths
