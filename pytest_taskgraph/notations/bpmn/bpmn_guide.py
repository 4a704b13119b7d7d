"""The guide to a BPMN file: the sentences by which a model can read it as its workflows were read."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from ...workflow.model import OTHERWISE, Workflow
from ...workflow.project import every_level
from ..notation import DURATIONS, EXCEPTIONAL_LINKS
from .written_style import DURATION_DOCUMENTATION

GUIDE: Final = (
    "The workflow is a BPMN 2.0 process in XML, without its diagram. Activities (all kinds of tasks, sub-processes and "
    "call activities) are the tasks, called by their names. Start events are START, end events are END; they, other "
    "events and gateways are no tasks, and the flow passes through them. Of several start events, one starts a run. On "
    "a level without start events, START leads to all nodes to which no flow leads; nodes without a flow out lead to "
    "END."
)
_TOKENS: Final = (
    "All sequence flows out of an activity that have no condition, or whose condition holds, are taken, by the token "
    "semantics of BPMN."
)
_IDS: Final = "Activities and data without a name, or with one that occurs twice on a level, are called by their ids."
_VERBATIM: Final = (
    "Its diagram, the extensions of tools, incoming and outgoing are no part of the workflow, and line breaks in names "
    "count as spaces."
)
_COMPOSITE: Final = (
    "A sub-process with activities is a composite task, and a call activity that calls a process of the file with "
    "activities is one too."
)


def guide_to(
    workflows: tuple[Workflow, ...],
    has_doubts: bool,
    has_pools: bool = False,
    has_ids: bool = False,
    is_verbatim: bool = False,
) -> tuple[str, ...]:
    """Return the guide to a file.

    Args:
        workflows: The workflows that were read.
        has_doubts: True if something of the file is not part of the questions.
        has_pools: True if a process is called by its pool.
        has_ids: True if an activity or data is called by its id.
        is_verbatim: True if the text holds the diagram, extensions, or what the flows state again.
    """
    first, *sentences = _sentences(workflows, has_doubts, has_pools, has_ids)
    if is_verbatim:
        return first.replace(", without its diagram", ""), _VERBATIM, *sentences
    return first, *sentences


def _sentences(workflows: tuple[Workflow, ...], has_doubts: bool, has_pools: bool, has_ids: bool) -> Iterator[str]:
    levels = [level for workflow in workflows for level in every_level(workflow)]
    guards = {link.guard for level in levels for link in level.links}
    yield GUIDE
    if has_ids:
        yield _IDS
    yield _TOKENS
    if any(level.gateways for level in levels):
        yield (
            "A gateway with several flows out of it is a split: parallel, exclusive or inclusive; one with several "
            "flows into it is a join. An event-based gateway is an exclusive choice by what happens."
        )
    if guards - {None}:
        yield (
            "The condition of a flow is the text of its conditionExpression; without one, the name of a flow out of an "
            "exclusive or inclusive split is its condition."
        )
    if OTHERWISE in guards:
        yield f"A default flow has the condition '{OTHERWISE}': it is taken if no other flow there is."
    if any(task.composite for level in levels for task in level.tasks):
        yield _COMPOSITE
    if any(level.data_links for level in levels):
        yield (
            "Data objects and data stores are data: a data input association is read by its activity, an output "
            "association is written."
        )
    if len(workflows) > 1:
        called = ", called by its pool if it has one with a name" if has_pools else ""
        yield f"Each process is a workflow of its own{called}; messages between them do not count."
    yield from _special_sentences(levels, has_doubts)


def _special_sentences(levels: list[Workflow], has_doubts: bool) -> Iterator[str]:
    """Yield the sentences on what few files have."""
    exceptional = any(level.exceptional_links for level in levels)
    if exceptional:
        yield (
            "The flow out of an error boundary event is an exceptional link out of the activity that has the event. "
            + EXCEPTIONAL_LINKS
        )
    if any(task.duration for level in levels for task in level.tasks):
        yield f"{DURATION_DOCUMENTATION} {DURATIONS}"
    if has_doubts:
        yield (
            f"{'Other boundary' if exceptional else 'Boundary'} events, event sub-processes, compensation and loop "
            "markers are no part of the questions: these are about runs in which none of them occurs."
        )
