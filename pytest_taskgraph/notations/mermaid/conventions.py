"""The conventions by which a Mermaid flowchart was read, and the guide that states them.

The reader records each decision here, and the guide is written from these records alone, so that a prompt describes a
chart as its answers were computed.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field

from ..notation import DURATIONS, EXCEPTIONAL_LINKS, WAYS_OUT
from .write_mermaid import DURATION_LINE, EXCEPTIONAL_ARROW

TIME_IN_NAME = (
    'A time at the end of a label, in brackets as in "(30 min)" or on a line of its own, is the duration of the task, '
    "and part of its name, too."
)


@dataclass(slots=True)
class Conventions:
    """The conventions applied to the charts of one text. Sets hold labels, ids or shapes as written in the text."""

    by_id: set[str] = field(default_factory=set)  # nodes named by their id because others share their label
    all_by_id: bool = False
    markup: bool = False  # a label with line breaks, tags, entities or Markdown
    described: bool = False  # a label with further lines, such as "kind: user"
    durations: bool = False  # a label with a line that states a duration
    times_in_names: bool = False  # a label whose name ends in a duration
    ends: set[str] = field(default_factory=set)  # labels of nodes that are START or END
    end_shapes: dict[str, str] = field(default_factory=dict)  # shape -> "START" or "END"
    ends_as_tasks: set[str] = field(
        default_factory=set
    )  # such labels and shapes, where arrows lead into START or out of END
    cylinders: bool = False
    cylinders_as_tasks: bool = False
    shapes: dict[str, str] = field(default_factory=dict)  # named shapes -> "cylinder", "diamond" or "hexagon"
    control: bool = False
    conditions: bool = False
    exceptional: bool = False
    otherwise: bool = False
    branches: bool = False  # a task that several arrows leave
    headless: bool = False
    two_headed: bool = False
    marked_heads: bool = False  # circles and crosses as heads
    invisible: bool = False
    role_labels: set[str] = field(default_factory=set)  # labels of gateways that state kind and role
    parallel: set[str] = field(default_factory=set)  # labels of parallel gateways
    inclusive: set[str] = field(default_factory=set)
    choices: bool = False  # exclusive diamonds
    choice_hexagons: set[str] = field(default_factory=set)
    bars: set[str] = field(default_factory=set)  # named shapes that are parallel gateways
    composites: bool = False
    groups: bool = False
    group_links: bool = False
    own_ids: set[str] = field(default_factory=set)  # ids of subgraphs that are also ids of nodes inside them
    open_start: bool = False  # a level without START, which begins where no control flow leads
    open_end: bool = False
    unordered: bool = False  # a level of several nodes without control flow


def write_guide(applied: Conventions) -> tuple[str, ...]:
    """Return the sentences that state the conventions, in the order of the guide."""
    return tuple(
        filter(
            None,
            (
                "The workflow is a Mermaid flowchart.",
                *_names(applied),
                *_ends(applied),
                *_cylinders(applied),
                *_arrows(applied),
                *_gateways(applied),
                *_subgraphs(applied),
                *_borders(applied),
                DURATION_LINE if applied.durations else "",
                TIME_IN_NAME if applied.times_in_names else "",
                DURATIONS if applied.durations or applied.times_in_names else "",
            ),
        )
    )


def _quoted(labels: Iterable[str], last: str = "or") -> str:
    """Return the labels in double quotes, as in a sentence."""
    *first, final = (json.dumps(label, ensure_ascii=False) for label in sorted(labels))
    return f"{', '.join(first)} {last} {final}" if first else final


def _names(applied: Conventions) -> Iterator[str]:
    otherwise = "Each node is a task unless the following says otherwise"
    if applied.all_by_id:
        yield f"{otherwise}; its name is its id, such as A for A[Cook], since labels are not unique."
    else:
        yield f"{otherwise}; its name is its label, or its id where it has no label."
        if applied.by_id:
            yield f"Nodes that share a label have their ids as names: {_quoted(applied.by_id, 'and')}."
    if applied.markup:
        yield "In a name, line breaks of the label are blanks, and other markup is left out."
    if applied.described:
        yield 'Lines of a label that begin with a word such as "kind:" or "description:" are no part of the name.'


def _ends(applied: Conventions) -> Iterator[str]:
    shapes = {label.removeprefix("shape: ") for label in applied.ends_as_tasks if label.startswith("shape: ")}
    if task_labels := {label for label in applied.ends_as_tasks if not label.startswith("shape: ")}:
        yield f"A node labelled {_quoted(task_labels)} is a task like any other."
    if shapes:
        yield f"A node of the shape {_quoted(shapes)} is a task like any other, unless its label says START or END."
    if applied.ends:
        yield f"A node labelled {_quoted(applied.ends)} is no task, but stands for START or END."
    for shape, edge in sorted(applied.end_shapes.items()):
        yield f'A node of the shape "{shape}" is no task, but stands for {edge}.'


def _cylinders(applied: Conventions) -> Iterator[str]:
    for shape, meaning in sorted(applied.shapes.items()):
        yield f'The shape "{shape}" is a {meaning}.'
    if applied.cylinders_as_tasks:
        yield "A cylinder is a task like any other."
    elif applied.cylinders:
        yield (
            "A cylinder is no task, but data; an arrow that begins or ends at a cylinder is data flow, from data to a "
            "task that reads it or from a task to data that it writes, and a text on it means nothing."
        )


def _arrows(applied: Conventions) -> Iterator[str]:
    if applied.control:
        which = "Every other arrow" if applied.cylinders and not applied.cylinders_as_tasks else "Every arrow"
        yield f"{which}, whether solid, dotted or thick, is control flow."
    if applied.conditions:
        yield "An arrow of the control flow with a text is taken only under the condition that the text states."
    if applied.otherwise:
        yield 'The condition "otherwise" means that no other condition at that node holds.'
    if applied.exceptional:
        yield f"{EXCEPTIONAL_ARROW} {EXCEPTIONAL_LINKS}"
    if applied.branches:
        yield WAYS_OUT
    if applied.headless:
        yield "A line without an arrow head leads from the node that is written first to the other."
    if applied.two_headed:
        yield "An arrow with heads at both ends stands for two arrows, one in each direction."
    if applied.marked_heads:
        yield "A circle or a cross at the end of a line is an arrow head."
    if applied.invisible:
        yield "An invisible link (~~~) means nothing."


def _gateways(applied: Conventions) -> Iterator[str]:
    if applied.role_labels:
        yield (
            f"A node labelled {_quoted(applied.role_labels)} is no task: a split starts all branches (parallel), "
            "exactly one (exclusive) or one or more (inclusive), a join brings them together."
        )
    if applied.parallel:
        yield (
            f"A diamond or hexagon labelled {_quoted(applied.parallel)} is no task: it waits for all arrows that lead "
            "to it, then all arrows that leave it are taken."
        )
    if applied.bars:
        yield (
            f"A node of the shape {_quoted(applied.bars)} is no task: it waits for all arrows that lead to it, then "
            "all arrows that leave it are taken."
        )
    if applied.inclusive:
        yield (
            f"A diamond or hexagon labelled {_quoted(applied.inclusive)} is no task: one or more of the arrows that "
            "leave it are taken."
        )
    others = "other " if applied.role_labels or applied.parallel or applied.inclusive or applied.ends else ""
    choice = "is no task but a choice: any arrow may lead to it, and exactly one of the arrows that leave it is taken."
    if applied.choices:
        yield f"{'Every' if others else 'A'} {others}diamond {choice}"
    if applied.choice_hexagons:
        yield f"A hexagon labelled {_quoted(applied.choice_hexagons)} {choice}"


def _subgraphs(applied: Conventions) -> Iterator[str]:
    for own_id in sorted(applied.own_ids):
        yield f"The id {_quoted([own_id])} means the node inside the subgraph of this id, never the subgraph."
    group = "is only a group and no task: what is inside it belongs to the level around it."
    if applied.groups and applied.composites:
        yield f"A subgraph {group[:-1]}, if an arrow leads from a node inside it to a node outside of it, or back."
    elif applied.groups:
        yield f"A subgraph {group}"
    if applied.group_links:
        yield "An arrow to or from such a subgraph stands for one to or from each node inside it."
    if applied.composites:
        which = "Any other subgraph" if applied.groups else "A subgraph"
        title = "its id" if applied.all_by_id else "its title, or its id without one"
        yield (
            f"{which} is a composite task, whose name is {title}; it contains what is inside it, and an arrow to or "
            "from the subgraph is one to or from that task."
        )
    if applied.composites or applied.group_links:
        yield (
            "A node is inside a subgraph if a line there mentions the node; if several do, inside the one that ends "
            "first."
        )


def _borders(applied: Conventions) -> Iterator[str]:
    level = "the chart or a composite task" if applied.composites else "the chart"
    if applied.open_start:
        yield f"If {level} draws no START, it begins with each node in it that no control flow leads to."
    if applied.open_end:
        yield f"If {level} draws no END, it ends after each node in it that no control flow leaves."
    if applied.unordered:
        yield f"If {level} holds several nodes and no control flow between them, they have no order, START and END."
