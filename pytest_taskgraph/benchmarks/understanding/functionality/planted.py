"""What was planted in a workflow, as the patterns read it, and the answers made of it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from ....trial import Json
from ....workflow.model import Workflow


def details(workflow: Workflow, kind: str, width: int) -> Iterator[tuple[str, ...]]:
    """What a flaw of that kind remembers, in tuples of that width; nothing where the workflow has no such flaw."""
    if workflow.flaw is not None and workflow.flaw.kind == kind:
        told = workflow.flaw.details
        yield from (told[i : i + width] for i in range(0, len(told), width))


def whole_of(level: Workflow) -> str:
    """Return the name of the workflow that the level is, or lies in."""
    return level.others[0].name if level.others else level.name


def task_reasons(reasons: Mapping[str, str]) -> Json:
    """The answer of the form task-reasons: tasks in alphabetical order, and why each of them."""
    return {"tasks": [*sorted(reasons)], "reasons": {name: reasons[name] for name in sorted(reasons)}}


def within(sentence: str) -> str:
    """A sentence as part of another: without its full stop, its first letter small."""
    return sentence[:1].lower() + sentence[1:].rstrip(".")
