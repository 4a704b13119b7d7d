"""The pattern about an order that makes no sense (specs/patterns.md, F8)."""

from __future__ import annotations

from ....workflow.model import Workflow
from ..pattern import Cases, case, pattern
from .planted import details, within


@pattern(
    "Which two tasks that stand directly in {{ place }} are in the wrong order, judging by what they do?",
    "Identify the potential error in the order of the tasks that stand directly in {{ place }}: which two of them "
    "should change places?",
    form="pair-reason",
    avoids={"references", "loop", "guards", "data"},
    varies={"parallel", "hierarchy"},
    flaws={"": "swap-order"},
    planted=True,
    least=6,
    domain=True,
)
def wrong_task_order(workflow: Workflow) -> Cases:
    """Does the model notice that a task comes before what it needs?

    Two tasks stand in each other's place, and all others in an order that makes sense: the vocabulary decides every
    pair of tasks (before, after, or free), and of all pairs in order, at any depth, just this is violated. The first
    of them must come before the second in everybody's eyes. Nothing is described, and there are no data: names alone
    tell it.
    """
    for first, second, early, late in details(workflow, "swap-order", 4):
        reason = (
            f"Task '{second}', which {within(late)}, must come after task '{first}', which {within(early)}, but it "
            "comes before it."
        )
        yield case({"tasks": sorted((first, second)), "reasons": {"": reason}})
