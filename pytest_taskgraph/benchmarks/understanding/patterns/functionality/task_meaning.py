"""Patterns about the kinds of tasks and about an order that makes no sense (docs/reference/patterns.md: F4, F8, F9)."""

from __future__ import annotations

from collections import Counter
from itertools import permutations

from .....generation.vocabularies import vocabulary, vocabulary_names
from .....workflow.graph import ancestors
from .....workflow.model import Workflow
from .....workflow.references import levels
from ..pattern import OWN_LEVEL, Cases, case, pattern
from .planted_flaws import details, within

CLOSE = 1  # by how many tasks two kinds differ at most whose numbers are compared


@pattern(
    "{% if other %}Are there more tasks of kind '{{ kind }}' than of kind '{{ other }}' in {{ place }}?{% else %}Is "
    "there a task of kind '{{ kind }}' in {{ place }}?{% endif %}" + OWN_LEVEL,
    "{% if other %}Count the tasks that stand directly in {{ place }} by their kind: do more of them belong to the "
    "kind '{{ kind }}' than to the kind '{{ other }}'?{% else %}Does at least one of the tasks that stand directly in "
    "{{ place }} belong to the kind '{{ kind }}'?{% endif %}",
    form="yes-no",
    needs={"kinds"},
    avoids={"references", "loop", "data"},
    varies={"hierarchy"},
    domain=True,
    recipe={"omit_kind": True},
)
def task_of_kind(workflow: Workflow) -> Cases:
    """Can the model tell what kinds of work a workflow holds?

    Whether there is one is one look at the text (difficulty easy): the kind stands there, or not. The negatives ask
    about kinds of the same domain; each generated workflow lacks one, whatever the answer, so that no kind is
    likelier to be there than another. The harder half asks which of two kinds has more tasks, kinds with as many
    tasks included.
    """
    kinds = Counter(_kinds(workflow).values())
    for kind in sorted(kinds):
        labels: dict[str, str | int] = {"of_kind": kinds[kind], "difficulty": "easy"}
        yield case(True, stratum="easy", kind=kind, other="", labels=labels)
    for kind in _absent(workflow, set(kinds)):
        yield case(False, stratum="easy", kind=kind, other="", labels={"of_kind": 0, "difficulty": "easy"})
    for kind, other in permutations(sorted(kinds), 2):
        if abs(kinds[kind] - kinds[other]) <= CLOSE:
            labels = {"of_kind": kinds[kind], "difficulty": "hard"}
            yield case(kinds[kind] > kinds[other], stratum="hard", kind=kind, other=other, labels=labels)


@pattern(
    "In {{ place }}, does a task of kind '{{ kind }}' run {{ side }} task '{{ task }}'?" + OWN_LEVEL,
    "Is at least one task of the kind '{{ kind }}' carried out {{ side }} task '{{ task }}' whenever {{ place }} is "
    "executed?" + OWN_LEVEL,
    form="yes-no",
    needs={"kinds"},
    avoids={"references", "loop", "guards"},
    varies={"hierarchy"},
    domain=True,
)
def task_of_kind_before(workflow: Workflow) -> Cases:
    """Can the model find what comes before a task, or after it, by what it means?

    Hard positives have one such task; hard negatives have tasks of the kind, but all on the other side. Left out where
    the only ones are in no order with the task. Asked about levels without guards or cycles, where every task runs.
    """
    kinds = {} if any(link.guard is not None for link in workflow.links) else _kinds(workflow)
    before = {task: frozenset(ancestors(workflow, task)) for task in kinds}
    if any(task in earlier for task, earlier in before.items()):
        return
    for task in kinds:
        after = frozenset(other for other in kinds if task in before[other])
        for kind in sorted(set(kinds.values())):
            same = {other for other in kinds if kinds[other] == kind and other != task}
            for side, here, there in (("before", before[task], after), ("after", after, before[task])):
                if same & here or same <= there:
                    rank = int(len(same & here) > 1 or not same)
                    yield case(bool(same & here), rank=rank, kind=kind, side=side, task=task, stratum=side)


def _kinds(workflow: Workflow) -> dict[str, str]:
    """Return the kind of every atomic task; nothing where one has none."""
    found = {task.name: task.kind for task in workflow.tasks if not task.composite}
    return found if all(found.values()) else {}


def _absent(workflow: Workflow, held: set[str]) -> list[str]:
    """Kinds that the level has not, of domains that all its kinds are of; else those of other tasks in the project."""
    if not held:
        return []
    domains = [set(vocabulary(name).kinds) for name in vocabulary_names()]
    near = {kind for kinds in domains if held <= kinds for kind in kinds}
    if near:
        return sorted(near - held)
    every = [level for whole in (workflow, *workflow.others) for _, level in levels(whole)]
    return sorted({task.kind for level in every for task in level.tasks if task.kind} - held)


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
