"""Patterns about kinds of tasks and about a wrong order (docs/reference/patterns.md)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from itertools import permutations

from .....generation.vocabularies import vocabulary, vocabulary_names
from .....workflow.graph import ancestors_of_each
from .....workflow.model import Workflow
from .....workflow.references import levels
from ..pattern import OWN_LEVEL, Cases, case, pattern
from .planted_flaws import as_clause, details

MOST_MENTIONS = 3  # larger numbers of tasks of a kind count as this
CLOSE = 1  # maximum difference of two kinds whose numbers of tasks are compared


@pattern(
    "{% if other %}Are there more tasks of kind '{{ kind }}' than of kind '{{ other }}' in {{ place }}?{% else %}Is "
    "there a task of kind '{{ kind }}' in {{ place }}?{% endif %}" + OWN_LEVEL,
    "{% if other %}Count the tasks that stand directly in {{ place }} by their kind: do more of them belong to the "
    "kind '{{ kind }}' than to the kind '{{ other }}'?{% else %}Does at least one of the tasks that stand directly in "
    "{{ place }} belong to the kind '{{ kind }}'?{% endif %}",
    form="yes-no",
    needs={"kinds", "hierarchy"},
    avoids={"references", "loop", "data"},
    domain=True,
    recipe={"omit_kind": True},
    matched=0.9,
    exceptional=True,
)
def task_of_kind(workflow: Workflow) -> Cases:
    """Check that the model recognizes what kinds of work a workflow contains.

    A third of the questions ask whether there is one, two thirds (difficulty hard) which of two kinds has more tasks,
    kinds with equal numbers included. Every generated workflow has composite tasks with kinds of their own. The
    negatives of the first third ask about kinds that the text mentions, but at other levels, as often as it mentions
    those of positives; kinds that it does not mention come last. Of two kinds, the text mentions either as often for
    yes as for no, and at other levels too or not. So how often a kind occurs says nothing about the level asked about.
    """
    kinds = Counter(_kinds(workflow).values())
    if not kinds:
        return
    mentions = _mentions(workflow)
    for kind in sorted({*kinds, *_absent_kinds(workflow, set(kinds))}):
        labels: dict[str, str | int] = {"of_kind": kinds[kind], "difficulty": "easy"}
        rank, profile = int(not mentions[kind]), f"{min(mentions[kind], MOST_MENTIONS)} mentions"
        yield case(kinds[kind] > 0, rank=rank, stratum="easy", profile=profile, kind=kind, other="", labels=labels)
    for kind, other in permutations(sorted(kinds), 2):
        if abs(kinds[kind] - kinds[other]) <= CLOSE:
            labels = {"of_kind": kinds[kind], "difficulty": "hard"}
            answer, profile = kinds[kind] > kinds[other], _mention_profile(kind, other, kinds, mentions)
            yield case(answer, stratum="hard", share=2, profile=profile, kind=kind, other=other, labels=labels)


def _mention_profile(kind: str, other: str, kinds: Mapping[str, int], mentions: Mapping[str, int]) -> str:
    """Return how often the text mentions two kinds, and which of them it mentions at other levels."""
    counts = [min(mentions[name], MOST_MENTIONS) for name in (kind, other)]
    return f"{counts} mentions, elsewhere {[mentions[name] > kinds[name] for name in (kind, other)]}"


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
    """Check that the model finds what comes before or after a task by its meaning.

    Hard positives have one such task; hard negatives have tasks of the kind, but all on the other side. Left out where
    the only tasks of the kind are in no order with the task. Asked about levels without guards or cycles, where every
    task runs.
    """
    kinds = {} if any(link.guard is not None for link in workflow.links) else _kinds(workflow)
    before = {task: frozenset(names) for task, names in ancestors_of_each(workflow, kinds).items()}
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
    """Return the kind of every atomic task; an empty dictionary if one of them has no kind."""
    kinds = {task.name: task.kind for task in workflow.tasks if not task.composite}
    return kinds if all(kinds.values()) else {}


def _mentions(workflow: Workflow) -> Counter[str]:
    """Return how many tasks of each kind the whole text has, at any level."""
    wholes = workflow.others if workflow.others and _inside(workflow) else (workflow, *workflow.others)
    return Counter(task.kind for whole in wholes for _, level in levels(whole) for task in level.tasks if task.kind)


def _inside(workflow: Workflow) -> bool:
    """Return True if the level lies inside a composite task of the first of its other workflows."""
    alike = (level for path, level in levels(workflow.others[0]) if path and level.name == workflow.name)
    return any(level.tasks == workflow.tasks for level in alike)


def _absent_kinds(workflow: Workflow, present: set[str]) -> list[str]:
    """Return the kinds of the level's domains that it lacks; without a domain, those of other tasks of the project."""
    if not present:
        return []
    domains = [set(vocabulary(name).kinds) for name in vocabulary_names()]
    domain_kinds = {kind for kinds in domains if present <= kinds for kind in kinds}
    if domain_kinds:
        return sorted(domain_kinds - present)
    every = [level for whole in (workflow, *workflow.others) for _, level in levels(whole)]
    return sorted({task.kind for level in every for task in level.tasks if task.kind} - present)


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
    """Check that the model notices a task that comes before what it needs.

    Two tasks have changed places, and all others are in an order that makes sense: the vocabulary decides every pair of
    tasks (before, after, or free), and of all ordered pairs, at any depth, only that of the two tasks is violated. That
    the first of them must come before the second is undisputed. Nothing is described, and there are no data: the names
    alone show it.
    """
    for first, second, early, late in details(workflow, "swap-order", 4):
        reason = (
            f"Task '{second}', which {as_clause(late)}, must come after task '{first}', which {as_clause(early)}, but "
            "it comes before it."
        )
        yield case({"tasks": sorted((first, second)), "reasons": {"": reason}})
