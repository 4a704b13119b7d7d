"""Patterns that ask for a description that is not shown (specs/patterns.md, F1 and F5)."""

from __future__ import annotations

from ....workflow.model import Workflow
from ..pattern import Cases, case, pattern
from .planted import details


@pattern(
    "In {{ place }}, task '{{ task }}' is given without a description. Describe in one sentence what it does.",
    "What does task '{{ task }}' of {{ place }} do? It has no description of its own; write one, of a single sentence.",
    form="text",
    needs={"descriptions"},
    avoids={"references", "loop"},
    varies={"hierarchy"},
    flaws={"": "hide-description"},
    planted=True,
    domain=True,
)
def describe_task(workflow: Workflow) -> Cases:
    """Does the model infer what a task does from its name and from what stands around it?

    All other tasks of its level are described. The reference is the description that was taken away.
    """
    for name, description in details(workflow, "hide-description", 2):
        yield case(description, task=name)


@pattern(
    "Describe in one sentence what {{ place }} does.",
    "What is the purpose of {{ place }} as a whole? Answer in a single sentence.",
    form="text",
    needs={"descriptions"},
    avoids={"references", "loop"},
    varies={"hierarchy"},
    flaws={"": "hide-purpose"},
    levels="workflow",
    planted=True,
    domain=True,
)
def describe_workflow(workflow: Workflow) -> Cases:
    """Does the model see what a whole workflow is for, and not only its steps?

    The tasks are described, the workflow is not. The reference is the description that was taken away.
    """
    for (description,) in details(workflow, "hide-purpose", 1):
        yield case(description)
